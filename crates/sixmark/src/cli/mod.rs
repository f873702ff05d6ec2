//! The command line: the only part that prints and decides the exit status.

mod check;
mod colour;
mod compare;
mod completions;
mod demo;
mod detail;
mod doctor;
mod eyes;
mod files;
mod fleet;
mod gates;
mod help;
mod history;
mod inside;
mod keep;
mod lab;
mod listen;
mod man;
mod only6;
mod origin;
mod out;
mod progress;
mod report;
mod run;
mod signals;
mod study;
mod suggestion;
mod traffic;
mod version;
mod vitals;
mod watch;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use help::HelpLength;
use signals::stop_flag;

/// Is this web service as good over IPv6 as over IPv4, under load?
#[derive(Debug, Parser)]
#[command(name = "sixmark", version, max_term_width = 80)]
#[command(before_help = "To begin with:\n  \
                         sixmark demo\n  \
                         sixmark check https://www.example.net/\n  \
                         sixmark run https://www.example.net/\n  \
                         sixmark compare https://www.example.net/")]
#[command(
    after_help = "Exit status: 0 success, 1 a gate failed, 2 wrong usage, 3 could not measure, 130 \
                  interrupted by a signal."
)]
struct Cli {
    /// With --version: also print the commit, the target, the compiler and the libraries
    // Read where clap reports --version, before there are values.
    #[arg(id = "verbose", long = "verbose", requires = "version")]
    _verbose: bool,
    #[command(subcommand)]
    command: SixmarkCommand,
}

// These have no doc comments: they would replace those of the structs, all of whose paragraphs
// `--help` shows.
#[derive(Debug, Subcommand)]
enum SixmarkCommand {
    Check(check::SiteCheckArgs),
    Eyes(eyes::EyesArgs),
    Only6(only6::Only6Args),
    Verify(only6::VerifyArgs),
    Run(Box<run::RunArgs>),
    Compare(Box<compare::CompareArgs>),
    History(history::HistoryArgs),
    Report(report::ReportArgs),
    Origin(origin::OriginArgs),
    Study(study::StudyArgs),
    Lab(lab::LabArgs),
    Traffic(traffic::TrafficArgs),
    Watch(Box<watch::WatchArgs>),
    Vitals(Box<vitals::VitalsArgs>),
    Doctor(doctor::DoctorArgs),
    Agent(Box<fleet::agent::AgentArgs>),
    Fleet(fleet::FleetCommandArgs),
    Demo(demo::DemoArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

/// Runs the command that the arguments name. Returns the exit status: 0 success, 1 a gate failed, 2
/// wrong usage, 3 could not measure, 130 interrupted by a signal.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    // If this fails, writing a file beyond the size limit ends the command with a signal.
    let _ = sixmark_sys::limit::survive_file_size();
    version::declare_commit();
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let cli = match parse_arguments(&arguments) {
        Ok(cli) => cli,
        Err(error) => return refuse(&error, &arguments),
    };
    out::fit_terminal();
    let done = match cli.command {
        SixmarkCommand::Check(args) => check::main(&args),
        SixmarkCommand::Eyes(args) => eyes::main(&args),
        SixmarkCommand::Only6(args) => only6::main(&args),
        SixmarkCommand::Verify(args) => only6::verify(&args),
        SixmarkCommand::Run(args) => run::main(&args),
        SixmarkCommand::Compare(args) => compare::main(&args),
        SixmarkCommand::History(args) => history::main(args),
        SixmarkCommand::Report(args) => report::main(&args),
        SixmarkCommand::Origin(args) => origin::main(&args),
        SixmarkCommand::Study(args) => study::main(args),
        SixmarkCommand::Lab(args) => lab::main(args),
        SixmarkCommand::Traffic(args) => traffic::main(&args),
        SixmarkCommand::Watch(args) => watch::main(&args),
        SixmarkCommand::Vitals(args) => vitals::main(&args),
        SixmarkCommand::Doctor(args) => doctor::main(&args),
        SixmarkCommand::Agent(args) => fleet::agent::main(&args),
        SixmarkCommand::Fleet(args) => fleet::main(args),
        SixmarkCommand::Demo(args) => demo::main(&args),
        SixmarkCommand::Completions(args) => completions::main(&args),
        SixmarkCommand::Man(args) => man::main(&args),
    };
    match done {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            out::complain(&error.to_string());
            ExitCode::from(error.status())
        }
    }
}

/// Parses the arguments.
fn parse_arguments(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    let length = if arguments.iter().any(|word| word == "-h") {
        HelpLength::Short
    } else {
        HelpLength::Whole
    };
    let mut command = whole_command(length);
    let matches = command.try_get_matches_from_mut(arguments)?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// Creates the parser of the command line. `compare` has most options of `run`, some with another
/// default.
fn whole_command(length: HelpLength) -> clap::Command {
    help::add_examples(Cli::command().mut_subcommand("compare", compare::adapt), length)
}

/// Prints one line about what is wrong with the arguments, or the help that was asked for.
fn refuse(error: &clap::Error, arguments: &[OsString]) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayVersion if version::wants_all(arguments) => {
            // As below.
            let _ = out::print(&version::describe_build());
            ExitCode::SUCCESS
        }
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // If even the help can't be printed, nothing can be done.
            let _ = error.print();
            ExitCode::SUCCESS
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            ExitCode::from(2)
        }
        _ => {
            let lacks = match command_name(arguments) {
                Some("compare") => compare::explain_lack(error),
                _ => None,
            };
            let line = || {
                let whole = whole_command(HelpLength::Whole);
                let text = match suggestion::suggest_command(error, arguments, &whole) {
                    Some(text) => text,
                    None => error.render().to_string(),
                };
                sixmark_options::one_line(&text, help_for(arguments))
            };
            out::complain(&lacks.unwrap_or_else(line));
            ExitCode::from(2)
        }
    }
}

/// Returns the name of the command in use.
fn command_name(arguments: &[OsString]) -> Option<&str> {
    arguments.get(1)?.to_str()
}

/// Returns the command that explains the options of the command in use.
fn help_for(arguments: &[OsString]) -> &'static str {
    match command_name(arguments) {
        Some("run") => "sixmark run --help",
        Some("compare") => "sixmark compare --help",
        Some("history") => "sixmark history --help",
        Some("report") => "sixmark report --help",
        Some("origin") => "sixmark origin --help",
        Some("study") => "sixmark study --help",
        Some("lab") => "sixmark lab --help",
        Some("traffic") => "sixmark traffic --help",
        Some("watch") => "sixmark watch --help",
        Some("vitals") => "sixmark vitals --help",
        Some("check") => "sixmark check --help",
        Some("eyes") => "sixmark eyes --help",
        Some("only6") => "sixmark only6 --help",
        Some("verify") => "sixmark verify --help",
        Some("doctor") => "sixmark doctor --help",
        Some("agent") => "sixmark agent --help",
        Some("fleet") => "sixmark fleet --help",
        Some("demo") => "sixmark demo --help",
        Some("completions") => "sixmark completions --help",
        Some("man") => "sixmark man --help",
        _ => "sixmark --help",
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_well_formed() {
        super::whole_command(super::HelpLength::Whole).debug_assert();
    }
}
