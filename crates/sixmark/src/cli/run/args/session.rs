//! What a command that loads says beside the load.

use std::path::Path;

use crate::cli::files::CommandFiles;
use crate::cli::fleet::args::FleetArgs;
use crate::cli::gates::GateArgs;
use crate::cli::inside::InsideArgs;
use crate::cli::keep::KeepArgs;
use crate::cli::out::OutputPlace;
use crate::cli::progress::ProgressArgs;
use sixmark_options::args::{MeasureArgs, SeedArgs};

/// Options of a command as a whole: where it runs, what else it measures, its gates, and where
/// documents are written.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub(in crate::cli) struct SessionArgs {
    #[command(flatten)]
    pub(in crate::cli) inside: InsideArgs,

    #[command(flatten)]
    pub(in crate::cli) fleet: FleetArgs,

    #[command(flatten)]
    pub(in crate::cli) measure: MeasureArgs,

    #[command(flatten)]
    pub(in crate::cli) gates: GateArgs,

    /// Write the result document (sixmark.result/1)
    #[arg(long, value_name = "FILE|-", help_heading = "Output", display_order = 1)]
    pub(in crate::cli) json: Option<OutputPlace>,

    /// Write the report as a self-contained HTML page
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    pub(in crate::cli) html: Option<OutputPlace>,

    #[command(flatten)]
    pub(in crate::cli) keep: KeepArgs,

    /// Print only warnings and errors
    #[arg(short, long, help_heading = "Output")]
    pub(in crate::cli) quiet: bool,

    #[command(flatten)]
    pub(in crate::cli) progress: ProgressArgs,

    #[command(flatten)]
    pub(in crate::cli) seed: SeedArgs,
}

impl SessionArgs {
    /// Returns the files that the options name.
    pub(in crate::cli) fn files(&self) -> CommandFiles {
        CommandFiles::default()
            .document("--json", self.json.as_ref())
            .document("--junit", self.gates.junit.as_ref())
            .document("--html", self.html.as_ref())
            // A URL or `lab:HOST` does not match the name of any file.
            .input("--vitals-from", self.measure.vitals_from.as_deref().map(Path::new))
            .input("--creds", self.fleet.creds())
            .store(self.keep.store())
    }
}
