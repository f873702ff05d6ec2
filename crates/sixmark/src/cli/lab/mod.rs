//! `sixmark lab`.

mod diagram;
mod up;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command as Program;
use std::time::{Duration, Instant};

use clap::Subcommand;
use sixmark_lab::plan::{Lab, parse_lab};

use super::out::{complain, print};
use sixmark_lab::control_socket::{self, Answer, Question};
use sixmark_lab::enter;
use sixmark_study::engine::{Source, builtin_names};
use sixmark_sys::command_error::CommandError;
use sixmark_sys::text_file;

/// Maximum time that a lab may take to end.
const GOING: Duration = Duration::from_secs(60);

/// Build a network of hosts and links, run programs in it.
///
/// A file describes the hosts, routers and links (docs/lab.md). A lab consists of namespaces that belong to this command: when it ends, however it ends, nothing
/// remains. No packet of a lab leaves this machine.
#[derive(Debug, clap::Args)]
pub(super) struct LabArgs {
    #[command(subcommand)]
    command: LabCommand,
}

#[derive(Debug, Subcommand)]
enum LabCommand {
    /// Build a lab and start its services; runs until Ctrl-C or `sixmark lab down`
    Up(up::LabUpArgs),
    /// Run a program in a host
    Exec(ExecArgs),
    /// Show running labs: hosts, addresses, links, services
    #[command(alias = "list")]
    Status(NameArgs),
    /// Take a lab down
    Down(NameArgs),
    /// Check a lab's file: report each mistake with line, key and allowed values
    Check(FileArgs),
    /// Draw a lab, as text or as a picture, without building it
    Diagram(diagram::LabDiagramArgs),
}

/// Which lab.
#[derive(Debug, clap::Args)]
struct NameArgs {
    /// Name of the lab; optional if only one is running
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

#[derive(Debug, clap::Args)]
struct ExecArgs {
    /// Name of the lab; optional if only one is running
    #[arg(long, value_name = "NAME")]
    lab: Option<String>,

    /// Host to run the program in
    #[arg(value_name = "HOST")]
    host: String,

    /// Program and its arguments
    #[arg(
        value_name = "CMD",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    command: Vec<std::ffi::OsString>,
}

/// A lab's file, and what is chosen of its variants.
#[derive(Debug, clap::Args)]
struct FileArgs {
    /// The lab's file, or the name of a built-in study
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Choose one of the file's variants; repeatable
    #[arg(long, value_name = "VARIANT=VALUE", value_parser = choice)]
    set: Vec<(String, String)>,
}

fn choice(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| "expected VARIANT=VALUE, as in offload=off".to_owned())?;
    Ok((name.to_owned(), value.to_owned()))
}

pub(super) fn main(args: LabArgs) -> Result<u8, CommandError> {
    match args.command {
        LabCommand::Up(args) => up::main(&args),
        LabCommand::Exec(args) => exec(&args),
        LabCommand::Status(args) => show_status(args.name),
        LabCommand::Down(args) => down(args.name.as_deref()),
        LabCommand::Check(args) => check_file(&args),
        LabCommand::Diagram(args) => diagram::main(&args),
    }
}

fn exec(args: &ExecArgs) -> Result<u8, CommandError> {
    let namespaces =
        control_socket::ask_namespaces(&control_socket::choose(args.lab.as_deref())?, &args.host)?;
    let [program, arguments @ ..] = args.command.as_slice() else {
        return Err(CommandError::Usage("no program to run: add one after the host".to_owned()));
    };
    let mut command = Program::new(program);
    command.args(arguments);
    enter::run_inside(&namespaces, &mut command)
}

fn show_status(name: Option<String>) -> Result<u8, CommandError> {
    let names = name.map_or_else(control_socket::names_of_labs, |name| Ok(vec![name]))?;
    if names.is_empty() {
        print("No lab is up.\n")?;
    }
    for name in names {
        if let Answer::Status(text) = control_socket::ask(&name, &Question::Status)? {
            print(&text)?;
        }
    }
    Ok(0)
}

fn down(name: Option<&str>) -> Result<u8, CommandError> {
    let name = control_socket::choose(name)?;
    let owner = control_socket::owner(&name)?;
    control_socket::ask(&name, &Question::Down)?;
    // The socket vanishes when the lab's last process ends. From then on, the name is free.
    let began = Instant::now();
    while control_socket::is_there(&name)? {
        check_going(&name, owner, began.elapsed())?;
        std::thread::sleep(Duration::from_millis(10));
    }
    print(&format!("{name} is down.\n"))?;
    Ok(0)
}

/// Fails if a lab does not end within its time. A lab whose process is stopped (SIGSTOP) can't end,
/// and fails after the shorter time limit for an answer.
fn check_going(name: &str, owner: u32, since: Duration) -> Result<(), CommandError> {
    let stopped =
        if since >= control_socket::ANSWER { control_socket::stopped_process(owner) } else { None };
    let line = match stopped {
        Some(process) => format!(
            "the lab '{name}' can't end, because its process {process} is stopped; continue it \
             with `kill -CONT {process}`"
        ),
        None if since >= GOING => {
            format!("the lab '{name}' did not end within {} s", GOING.as_secs())
        }
        None => return Ok(()),
    };
    Err(CommandError::Measure(line))
}

fn check_file(args: &FileArgs) -> Result<u8, CommandError> {
    match args.read()? {
        Some(lab) => {
            print(&format!("{}: no mistakes found.\n", lab.name))?;
            Ok(0)
        }
        None => Ok(2),
    }
}

impl FileArgs {
    /// Reads the lab. `None` if the file has mistakes, which have been printed.
    fn read(&self) -> Result<Option<Lab>, CommandError> {
        let shown = self.file.display().to_string();
        let text = match built_in(&shown) {
            Some(text) => text.to_owned(),
            None => text_file::read_file(&self.file).map_err(|error| {
                CommandError::Usage(format!("can't read the lab's file '{shown}': {error}"))
            })?,
        };
        let chosen: BTreeMap<String, String> = self.set.iter().cloned().collect();
        match parse_lab(&text, None, &chosen) {
            Ok(lab) => Ok(Some(lab)),
            Err(wrongs) => {
                wrongs.iter().for_each(|wrong| complain(&wrong.of_file(&shown)));
                Ok(None)
            }
        }
    }
}

/// Returns the lab of the built-in study of this name, if there is one.
pub(super) fn built_in(name: &str) -> Option<&'static str> {
    let known = builtin_names().contains(&name);
    let (_, text) = known.then(|| Source::find(name).ok())??.lab()?;
    Some(text)
}
