//! `--in`: a command in a host of a lab.

use sixmark_lab::{control_socket, enter};
use sixmark_sys::command_error::CommandError;

/// Where a command runs, if not here.
#[derive(Clone, Debug, Default, clap::Args)]
// It would have the name of the commands' own arguments.
#[group(skip)]
pub(super) struct InsideArgs {
    /// Run on this host of a running lab (`sixmark lab up`)
    #[arg(long = "in", value_name = "HOST", help_heading = "Lab")]
    in_host: Option<String>,

    /// Name of the lab; optional if only one is running
    #[arg(long = "lab", value_name = "NAME", requires = "in_host", help_heading = "Lab")]
    in_lab: Option<String>,
}

impl InsideArgs {
    /// Returns true if a host was named.
    pub(super) fn is_given(&self) -> bool {
        self.in_host.is_some()
    }

    /// Returns the host, if one was named.
    pub(super) fn host(&self) -> Option<&str> {
        self.in_host.as_deref()
    }

    /// Returns the lab, if one was named.
    pub(super) fn lab(&self) -> Option<&str> {
        self.in_lab.as_deref()
    }

    /// Returns the lab and the host as `LAB/HOST`, if a host was named.
    ///
    /// # Errors
    /// No lab was named, and not exactly one is running.
    pub(super) fn lab_host(&self) -> Result<Option<String>, CommandError> {
        let Some(host) = &self.in_host else { return Ok(None) };
        let lab = control_socket::choose(self.in_lab.as_deref())?;
        Ok(Some(format!("{lab}/{host}")))
    }

    /// Moves this process into the namespaces of the host, if one was named. Must be called before
    /// the process starts threads, opens files or looks up names.
    ///
    /// # Errors
    /// There is no such lab or host, or the kernel refuses.
    pub(super) fn go(&self) -> Result<(), CommandError> {
        let Some(host) = &self.in_host else { return Ok(()) };
        let lab = control_socket::choose(self.in_lab.as_deref())?;
        enter::go(&control_socket::ask_namespaces(&lab, host)?)
    }
}
