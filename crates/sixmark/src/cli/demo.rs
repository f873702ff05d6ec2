//! `sixmark demo`.

use clap::Parser as _;

use super::out::print;
use super::{Cli, SixmarkCommand, run};
use sixmark_origin::{Options, Origin};
use sixmark_sys::command_error::CommandError;

/// Measure a built-in server on loopback: a first look.
#[derive(Debug, clap::Args)]
pub(super) struct DemoArgs {
    /// Duration of the load
    #[arg(short, long, value_name = "TIME", default_value = "3s")]
    duration: String,
}

/// Starts an origin, prints the command that loads it, and runs that command.
pub(super) fn main(args: &DemoArgs) -> Result<u8, CommandError> {
    let origin =
        Origin::start(Options::default()).map_err(|e| CommandError::Measure(e.to_string()))?;
    let mut words = vec!["sixmark".to_owned(), "run".to_owned()];
    words.extend(["-d", &args.duration, "-c", "32"].map(str::to_owned));
    words.extend(origin.addresses().iter().map(|address| format!("http://{address}/bytes/4096")));
    print(&format!("$ {}\n", words.join(" ")))?;
    // The result is not stored: it only demonstrates sixmark.
    words.extend(["--store", "none"].map(str::to_owned));
    let cli = Cli::try_parse_from(&words).map_err(|e| {
        CommandError::Usage(sixmark_options::one_line(&e.to_string(), "sixmark demo --help"))
    })?;
    let done = match cli.command {
        SixmarkCommand::Run(args) => run::main(&args),
        _ => unreachable!("the words above are those of a run"),
    };
    origin.stop();
    done
}
