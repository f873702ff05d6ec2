//! The options of `sixmark run` that a cell of a study may use.

use clap::builder::Resettable;
use clap::{Args as _, FromArgMatches as _, Id};

use sixmark_run::{Draft, Extras, FleetSize};
use sixmark_sys::command_error::CommandError;

use crate::args::{MeasureArgs, ScheduleArgs, SeedArgs, WorkloadArgs};
use crate::draft::{draft, random_seed};
use crate::plan_options::PlanOptions;
use crate::{one_line, vitals_from};

/// The options of a load and of what is measured beside it.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct CellArgs {
    /// What is loaded, and how.
    #[command(flatten)]
    pub workload: WorkloadArgs,

    /// How the load proceeds, and when it ends.
    #[command(flatten)]
    pub schedule: ScheduleArgs,

    /// What is measured beside it.
    #[command(flatten)]
    pub measure: MeasureArgs,

    /// The seed.
    #[command(flatten)]
    pub seed: SeedArgs,

    /// Write credentials to the documents of the cell
    #[arg(long, help_heading = "Output")]
    pub keep_secrets: bool,

    /// Also capture packets, and compare their times with sixmark's; needs root or CAP_NET_RAW
    #[arg(long, help_heading = "Measurement", display_order = 2)]
    pub truth: bool,
}

impl CellArgs {
    /// Parses the words after `sixmark run`, without a URL: a cell has the URLs of its server.
    ///
    /// # Errors
    /// They are wrong. The message is that of `sixmark run`, in one line.
    pub fn read(words: &[String]) -> Result<CellArgs, String> {
        let matches = cell_command().try_get_matches_from(words);
        let read = matches.and_then(|matches| CellArgs::from_arg_matches(&matches));
        read.map_err(|error| one_line(&error.render().to_string(), "sixmark run --help"))
    }

    /// Returns the names of its long options.
    pub fn long_options() -> Vec<String> {
        let command = cell_command();
        command.get_arguments().filter_map(clap::Arg::get_long).map(str::to_owned).collect()
    }

    /// Creates the plan that the options describe. `fleet` are the agents that carry it out, if it
    /// is not this process.
    ///
    /// # Errors
    /// See [`draft`].
    pub fn draft(&self, fleet: Option<FleetSize>) -> Result<Draft, CommandError> {
        draft(&PlanOptions {
            workload: &self.workload,
            schedule: &self.schedule,
            seed: self.seed.seed.unwrap_or_else(random_seed),
            keep_secrets: self.keep_secrets,
            fleet,
        })
    }

    /// Returns what is measured beside the load.
    ///
    /// # Errors
    /// The server's vitals are not available from the given source.
    pub fn extras(&self) -> Result<Extras, CommandError> {
        let vitals_from_text = self.measure.vitals_from.clone();
        Ok(Extras {
            calibrate: self.measure.calibrate,
            truth: self.truth,
            vitals_from: vitals_from::elsewhere(vitals_from_text.as_deref())?,
            vitals_from_text,
        })
    }
}

fn cell_command() -> clap::Command {
    CellArgs::augment_args(clap::Command::new("run"))
        .no_binary_name(true)
        .mut_arg("urls", |urls| urls.required_unless_present(Resettable::<Id>::Reset))
}
