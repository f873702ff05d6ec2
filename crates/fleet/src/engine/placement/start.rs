//! The start of one agent: a process, and a thread that makes a tunnel of its streams.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter};
use std::process::Command;
use std::thread::Builder;
use std::time::{Duration, Instant};

use sixmark_sys::process::Running;
use sixmark_sys::threads::no_thread;

use super::frames::TunnelError;
use super::last_words::LastWords;
use super::placed::{LAST_WORDS, Placed, TERM};
use super::terms::PlacementTerms;
use super::tunnel::ControllerTunnel;
use super::{lab, remote, ssh};
use crate::hosts::HostName;
use crate::names::AgentName;

/// The time that a process has to end by itself after its output ended, before it is stopped.
const PARTING: Duration = Duration::from_secs(5);

/// What the thread reports.
pub(super) enum Event {
    /// The program was sent, if it had to be: from now on the host has to answer.
    Sent,
    /// The tunnel, with the agent's answer, or why there is none.
    Met(Result<(ControllerTunnel, Vec<u8>), TunnelError>),
}

/// A process that is to become an agent.
pub(super) struct Starting {
    host: HostName,
    name: AgentName,
    process: Running,
    words: LastWords,
    /// When the host's time began.
    since: Option<Instant>,
    met: Option<Result<(ControllerTunnel, Vec<u8>), Failing>>,
}

/// Why a tunnel could not be established.
enum Failing {
    Tunnel(TunnelError),
    /// No answer in this time.
    Late(Duration),
}

/// Why an agent could not be placed.
pub(super) struct Failure {
    /// The host.
    pub(super) host: HostName,
    /// One line that names it.
    pub(super) line: String,
}

/// This program's ends of the standard streams of a process.
struct Pipes {
    input: PipeWriter,
    output: PipeReader,
    errors: PipeReader,
}

impl Starting {
    /// Starts the process and the thread, which reports to `tell`.
    ///
    /// # Errors
    /// One line: the program can't be started.
    pub(super) fn begin(
        host: &HostName,
        name: &AgentName,
        hello: Vec<u8>,
        terms: &PlacementTerms<'_>,
        tell: impl Fn(Event) + Send + 'static,
    ) -> Result<Starting, String> {
        let cannot = |error: io::Error| format!("can't place an agent on {host}: {error}");
        let (command, file) = command(host, terms)?;
        let (process, pipes) = start(command, host, terms).map_err(|error| match host {
            HostName::Ssh(_) => terms.ssh.explain_start(&error),
            HostName::Lab { .. } => cannot(error),
        })?;
        let words = LastWords::collect(pipes.errors).map_err(cannot)?;
        let (server, mut input, output) = (terms.server, pipes.input, pipes.output);
        let meet = move || {
            let sent = file.map_or(Ok(0), |mut file| io::copy(&mut file, &mut input));
            tell(Event::Sent);
            let met = sent.map_err(TunnelError::from);
            tell(Event::Met(
                met.and_then(|_| ControllerTunnel::establish(output, input, &hello, server)),
            ));
        };
        // It ends with the process, whose end of the pipes it waits for.
        let thread = Builder::new().name("placement".into()).spawn(meet);
        thread.map_err(|error| cannot(no_thread(&error)))?;
        let (host, name) = (host.clone(), name.clone());
        Ok(Starting { host, name, process, words, since: None, met: None })
    }

    /// Returns true until it is known whether it is an agent.
    pub(super) fn is_waiting(&self) -> bool {
        self.met.is_none()
    }

    /// Notes what the thread reported.
    pub(super) fn take(&mut self, event: Event, now: Instant) {
        match event {
            Event::Sent => self.since = Some(now),
            // One that was given up stays so.
            Event::Met(met) if self.is_waiting() => self.met = Some(met.map_err(Failing::Tunnel)),
            Event::Met(_) => {}
        }
    }

    /// Gives a host up that has not answered in time.
    pub(super) fn check_patience(&mut self, now: Instant, patience: Duration) {
        if self.is_waiting() && self.since.is_some_and(|since| now - since >= patience) {
            self.met = Some(Err(Failing::Late(patience)));
        }
    }

    /// Returns the agent, or why there is none. A process that is none has been ended.
    pub(super) fn finish(mut self) -> Result<Placed, Failure> {
        match self.met.take() {
            Some(Ok((tunnel, answer))) => Ok(Placed {
                host: self.host,
                name: self.name,
                answer,
                tunnel,
                process: self.process,
                words: self.words,
            }),
            Some(Err(failing)) => {
                let line = self.explain(failing);
                Err(Failure { host: self.host, line })
            }
            None => {
                let _ = self.process.stop(TERM);
                Err(Failure {
                    line: format!("{}: it was not waited for", self.host),
                    host: self.host,
                })
            }
        }
    }

    fn explain(&mut self, failing: Failing) -> String {
        let host = &self.host;
        let error = match failing {
            Failing::Late(patience) => {
                let _ = self.process.stop(TERM);
                return format!("{host} did not answer within {} s", patience.as_secs_f64());
            }
            Failing::Tunnel(error) => error,
        };
        let patience = match error {
            TunnelError::Gone => PARTING,
            // Also a process that printed something before it failed.
            TunnelError::Stranger(_) => TERM,
            _ => Duration::ZERO,
        };
        let ended = self.process.wait(patience).ok().flatten();
        let text = ended.map_or_else(String::new, |_| self.words.text(LAST_WORDS));
        match (ended, host) {
            (Some(_), _) if matches!(error, TunnelError::Stranger(_)) && text.trim().is_empty() => {
            }
            (Some(exit), HostName::Ssh(_)) => {
                return ssh::explain_end(host, exit.status.code(), &text);
            }
            (Some(exit), HostName::Lab { .. }) => {
                return lab::explain_end(host, exit.status.code(), &text);
            }
            // It still runs, but what it wrote is no agent's.
            (None, _) => drop(self.process.stop(TERM)),
        }
        format!("can't place an agent on {host}: {error}")
    }
}

/// Returns what starts the agent, and the file that is sent to it first.
fn command(host: &HostName, terms: &PlacementTerms<'_>) -> Result<(Command, Option<File>), String> {
    let program = &terms.program;
    let (words, executable) = (&program.words, &program.executable);
    match host {
        HostName::Lab { .. } if terms.own_lab.is_some() => {
            Ok((lab::start_here(executable, words), None))
        }
        HostName::Lab { lab, host } => {
            Ok((lab::start_in_lab(executable, words, lab.as_deref(), host), None))
        }
        HostName::Ssh(to) if program.copied => {
            let cannot = |error| format!("can't copy {}: {error}", executable.display());
            let file = File::open(executable).map_err(cannot)?;
            let size = file.metadata().map_err(cannot)?.len();
            Ok((terms.ssh.to(to, &remote::start_copied(words, size)?), Some(file)))
        }
        HostName::Ssh(to) => Ok((terms.ssh.to(to, &remote::start_installed(words)?), None)),
    }
}

fn start(
    mut command: Command,
    host: &HostName,
    terms: &PlacementTerms<'_>,
) -> io::Result<(Running, Pipes)> {
    let (its_input, input) = io::pipe()?;
    let (output, its_output) = io::pipe()?;
    let (errors, its_errors) = io::pipe()?;
    command.stdin(its_input).stdout(its_output).stderr(its_errors);
    let process = match (host, terms.own_lab) {
        (HostName::Lab { host, .. }, Some(start)) => start(host, &mut command)?,
        _ => Running::start(&mut command)?,
    };
    // With the command go this program's copies of the other ends.
    drop(command);
    Ok((process, Pipes { input, output, errors }))
}
