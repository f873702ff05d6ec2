//! What `sixmark eyes` writes, and where.

use sixmark_eyes::eyes_result::EyesResult;
use sixmark_eyes::sheet::eyes_text;
use sixmark_sys::command_error::CommandError;

use super::super::files::CommandFiles;
use super::super::out::{OutputPlace, do_all, encoded, print};

/// Where the result goes.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub(super) struct EyesOutputArgs {
    /// Write the document (sixmark.eyes/1)
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    json: Option<OutputPlace>,
}

impl EyesOutputArgs {
    /// Refuses files that can't be written, before the client is started.
    pub(super) fn check_files(&self) -> Result<(), CommandError> {
        CommandFiles::default().document("--json", self.json.as_ref()).check()
    }
}

/// Prints the report, and writes the document to the place of --json.
pub(super) fn write_outputs(
    args: &EyesOutputArgs,
    result: &EyesResult,
) -> Result<(), CommandError> {
    let printed = match args.json {
        Some(OutputPlace::Standard) => Ok(()),
        _ => print(&eyes_text(result)),
    };
    let written = match args.json.as_ref() {
        Some(place) => place.write(&encoded(result)?),
        None => Ok(()),
    };
    do_all([printed, written])
}
