//! `sixmark lab up`.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use sixmark_lab::plan::Lab;
use sixmark_lab::plan::services::Service;
use sixmark_lab::service::probe::missing_program;
use sixmark_sys::enclosure::Rights;

use super::FileArgs;
use crate::cli::out::{complain, print};
use crate::cli::stop_flag;
use sixmark_lab::control_socket::{self, Answer, ControlSocket, Question, Visit};
use sixmark_lab::{self as lab, Ground, TEMPORARY, Up};
use sixmark_sys::command_error::CommandError;

/// Interval between checks whether a lab in the background is up, and between checks of the socket
/// of a running lab.
const LOOK: Duration = Duration::from_millis(20);

#[derive(Debug, clap::Args)]
pub(super) struct LabUpArgs {
    #[command(flatten)]
    file: FileArgs,

    /// Name of the lab for other commands [default: that of the file]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Folder of files that services serve, `{www}` [default: a temporary one]
    #[arg(long, value_name = "FOLDER")]
    www: Option<PathBuf>,

    /// Folder for the services' output [default: a temporary one, removed with the lab]
    #[arg(long, value_name = "FOLDER")]
    logs: Option<PathBuf>,

    /// Return when the lab is up; it stays in the background
    #[arg(long)]
    detach: bool,
}

pub(super) fn main(args: &LabUpArgs) -> Result<u8, CommandError> {
    let Some(mut plan) = args.file.read()? else { return Ok(2) };
    plan.demand(None);
    let name = args.name.clone().unwrap_or_else(|| plan.name.clone());
    if args.detach {
        return detach(&name);
    }
    // The socket is opened before the namespaces are entered, where other commands can reach it.
    let socket = ControlSocket::open(&name)?;
    let rights = match lab::enclose()? {
        Ok(rights) => rights,
        Err(status) => return Ok(status),
    };
    inside(args, &name, plan, &socket, rights)
}

/// Reports whether a service can run: only an optional one may be missing.
fn can_run(service: &Service) -> bool {
    let missing = service.optional.as_ref().and_then(|_| missing_program(service));
    if let Some(why) = &missing {
        complain(&format!("{} is omitted: {why}", service.name));
    }
    missing.is_none()
}

fn inside(
    args: &LabUpArgs,
    name: &str,
    mut plan: Lab,
    socket: &ControlSocket,
    rights: Rights,
) -> Result<u8, CommandError> {
    plan.services.retain(can_run);
    let stop = stop_flag()?;
    let began = Instant::now();
    let own = |name: &str, given: &Option<PathBuf>| folder(name, given.as_deref());
    let (www, logs) = (own("www", &args.www)?, own("logs", &args.logs)?);
    let ground = Ground { rights, logs: &logs, www: &www, stop: &stop };
    let Some(mut up) = Up::build(plan, &ground)? else {
        return Err(CommandError::Interrupted(format!("stopped before the lab '{name}' was up")));
    };
    let took = began.elapsed().as_secs_f64();
    let text = format!(
        "{}up after {took:.2} s; `sixmark lab exec HOST CMD` runs a program in it\n",
        up.status(name)
    );
    print(&(text + "Ctrl-C ends it.\n"))?;
    while !stop.load(Ordering::Relaxed) {
        for line in up.newly_ended()? {
            complain(&format!("{line}; the lab continues without it"));
        }
        match socket.answer(|question| answer(&up, name, question))? {
            Visit::Leave => break,
            Visit::Answered => {}
            Visit::Nobody => std::thread::sleep(LOOK),
        }
    }
    Ok(0)
}

fn answer(up: &Up, name: &str, question: &Question) -> (Answer, Vec<OwnedFd>) {
    match question {
        Question::Status => (Answer::Status(up.status(name)), Vec::new()),
        Question::Enter(host) => up.open_namespaces(host),
        Question::Down => (Answer::Down, Vec::new()),
    }
}

/// Creates the given folder, or a folder of the lab's own.
fn folder(name: &str, given: Option<&Path>) -> Result<PathBuf, CommandError> {
    let path = given.map_or_else(|| Path::new(TEMPORARY).join(name), Path::to_owned);
    let made = fs::create_dir_all(&path).and_then(|()| fs::canonicalize(&path));
    made.map_err(|error| {
        CommandError::Measure(format!("can't make the folder '{}': {error}", path.display()))
    })
}

/// Starts the same command without `--detach` in a session of its own, and waits until the lab is
/// up. The child inherits none of this process's streams: anyone who reads them to their end would
/// otherwise wait as long as the lab is up.
fn detach(name: &str) -> Result<u8, CommandError> {
    let cannot =
        |error| CommandError::Measure(format!("can't start the lab in the background: {error}"));
    let own = std::env::current_exe().map_err(cannot)?;
    let same = std::env::args_os().skip(1).filter(|word| word != "--detach");
    let mut command = Command::new(own);
    command.args(same).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = sixmark_sys::process::start_apart(&mut command).map_err(cannot)?;
    loop {
        let up = control_socket::ask_process(name, child.id(), &Question::Status);
        if let Ok(Answer::Status(text)) = up {
            print(&text)?;
            return Ok(0);
        }
        if let Some(status) = child.try_wait().map_err(cannot)? {
            // The child's standard error says why it failed.
            if let Some(mut why) = child.stderr.take() {
                io::copy(&mut why, &mut io::stderr().lock()).map_err(cannot)?;
            }
            return Ok(status.code().map_or(3, |code| code as u8));
        }
        std::thread::sleep(LOOK);
    }
}
