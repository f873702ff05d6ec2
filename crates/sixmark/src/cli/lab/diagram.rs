//! `sixmark lab diagram`.

use sixmark_lab::plan::diagram::{diagram_text, svg};

use super::FileArgs;
use crate::cli::files::CommandFiles;
use crate::cli::out::{OutputPlace, print};
use sixmark_sys::command_error::CommandError;

#[derive(Debug, clap::Args)]
pub(super) struct LabDiagramArgs {
    #[command(flatten)]
    file: FileArgs,

    /// Write an SVG picture to this file instead of printing text; `-` for standard output
    #[arg(long, value_name = "FILE")]
    svg: Option<OutputPlace>,
}

pub(super) fn main(args: &LabDiagramArgs) -> Result<u8, CommandError> {
    let files = CommandFiles::default().document("--svg", args.svg.as_ref());
    files.needed(Some(&args.file.file), "it is the lab's file").check()?;
    let Some(lab) = args.file.read()? else { return Ok(2) };
    match &args.svg {
        Some(place) => place.write(&svg(&lab))?,
        None => print(&diagram_text(&lab))?,
    }
    Ok(0)
}
