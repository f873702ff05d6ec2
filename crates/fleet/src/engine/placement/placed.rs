//! An agent that has been placed.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sixmark_sys::process::Running;

use super::last_words::{LastWords, last_line};
use super::terms::LineSink;
use super::tunnel::ControllerTunnel;
use crate::hosts::HostName;
use crate::names::AgentName;

/// How long the last words of a process that has ended are waited for.
pub(super) const LAST_WORDS: Duration = Duration::from_secs(1);

/// The time that a process has to end after SIGTERM.
pub(super) const TERM: Duration = Duration::from_secs(1);

/// An agent on a host. It is ended when this value is dropped.
pub struct Placed {
    pub(super) host: HostName,
    pub(super) name: AgentName,
    pub(super) answer: Vec<u8>,
    pub(super) tunnel: ControllerTunnel,
    pub(super) process: Running,
    pub(super) words: LastWords,
}

impl Placed {
    /// Returns the host.
    pub fn host(&self) -> &HostName {
        &self.host
    }

    /// Returns the agent's name.
    pub fn name(&self) -> &AgentName {
        &self.name
    }

    /// Returns what the agent answered to its start.
    pub fn answer(&self) -> &[u8] {
        &self.answer
    }

    /// Returns the id of the process on this machine: that of ssh(1) or, in a lab, the agent's.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Returns false once the agent or the connection to it is gone.
    pub fn is_alive(&mut self) -> bool {
        self.tunnel.is_open() && matches!(self.process.wait(Duration::ZERO), Ok(None))
    }

    /// Returns the last 4 KiB that the agent, or ssh(1) for it, has written to standard error. It
    /// is not safe to show as it is.
    pub fn last_words(&self) -> String {
        self.words.text(Duration::ZERO)
    }

    /// Returns the line that says why the agent is gone; `None` if it is alive.
    pub fn loss(&mut self) -> Option<String> {
        if self.is_alive() {
            return None;
        }
        let ended = self.process.wait(LAST_WORDS).ok().flatten();
        let text = self.words.text(if ended.is_some() { LAST_WORDS } else { Duration::ZERO });
        let (host, last) = (&self.host, last_line(&text));
        let reason = if last.is_empty() { self.tunnel.reason().unwrap_or_default() } else { last };
        Some(match ended {
            Some(exit) if !reason.is_empty() => {
                format!("the agent on {host} is gone ({}): {reason}", exit.status)
            }
            Some(exit) => format!("the agent on {host} is gone ({})", exit.status),
            None => format!("the agent on {host} is gone: {reason}"),
        })
    }

    /// Ends the agent: closes its input, and kills the process here if it has not ended after
    /// `patience`. An agent that ssh reaches ends by itself when its input ends.
    pub fn end(mut self, patience: Duration) {
        self.tunnel.close();
        self.wait(Instant::now() + patience);
    }

    fn wait(&mut self, until: Instant) {
        // A signal may end a wait early.
        while let Ok(None) = self.process.wait(until.saturating_duration_since(Instant::now())) {
            if Instant::now() >= until {
                // There is nowhere to report a failure.
                let _ = self.process.stop(TERM);
                return;
            }
        }
    }

    /// Passes the agent's lines on, from now on.
    pub(super) fn pass_lines_on(&self, lines: &LineSink) {
        let (lines, name) = (Arc::clone(lines), self.name.clone());
        self.words.pass_on(Box::new(move |line| lines(&name, line)));
    }
}

impl fmt::Debug for Placed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Placed")
            .field("host", &self.host)
            .field("name", &self.name)
            .field("id", &self.id())
            .finish_non_exhaustive()
    }
}

/// Ends all agents, at the same time. Those that have not ended after `patience` are killed.
pub fn end_all(mut all: Vec<Placed>, patience: Duration) {
    all.iter().for_each(|one| one.tunnel.close());
    let until = Instant::now() + patience;
    all.iter_mut().for_each(|one| one.wait(until));
}
