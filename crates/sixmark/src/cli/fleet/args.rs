//! The options of commands that load from a fleet.

use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use sixmark_fleet::engine::controller::Wanted;
use sixmark_fleet::engine::hosts_fleet::{HostsOrder, OwnLab, take_hosts};
use sixmark_fleet::engine::nats::address::NatsAddress;
use sixmark_fleet::engine::nats::credentials::Credentials;
use sixmark_fleet::engine::standing::take_standing;
use sixmark_fleet::hosts::{HostList, HostName};
use sixmark_lab::{TEMPORARY, Up};
use sixmark_run::Generators;
use sixmark_sys::command_error::CommandError;

use crate::cli::inside::InsideArgs;
use crate::cli::out::complain;

/// Which machines generate the load, if not this one.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
#[command(next_help_heading = "Fleet")]
pub(in crate::cli) struct FleetArgs {
    /// Generate the load from these hosts together, in equal shares: destinations of ssh(1)
    /// (server, user@server), or hosts of a running lab, in a study with a lab of that (lab:HOST)
    #[arg(long, value_name = "HOST,…", conflicts_with = "fleet")]
    pub(in crate::cli) hosts: Option<HostList>,

    /// Copy this sixmark to the hosts for this command, and remove it afterwards
    #[arg(long, requires = "hosts")]
    pub(in crate::cli) copy_sixmark: bool,

    /// Generate the load from the agents (`sixmark agent`) of this NATS server together:
    /// nats://HOST[:PORT] or tls://HOST[:PORT]
    #[arg(long, value_name = "URL", requires = "creds")]
    pub(in crate::cli) fleet: Option<NatsAddress>,

    /// Use this many agents, the first by name [default: all that answer]
    #[arg(long, value_name = "N", requires = "fleet")]
    pub(in crate::cli) agents: Option<NonZeroUsize>,

    /// Credentials of the controller (`sixmark fleet init` writes them)
    #[arg(long, value_name = "FILE", requires = "fleet")]
    pub(in crate::cli) creds: Option<PathBuf>,
}

impl FleetArgs {
    /// Returns true if a fleet generates the load.
    pub(in crate::cli) fn is_given(&self) -> bool {
        self.hosts.is_some() || self.fleet.is_some()
    }

    /// Returns the files that the options name.
    pub(in crate::cli) fn creds(&self) -> Option<&std::path::Path> {
        self.creds.as_deref()
    }

    /// Finds the fleet and takes it. Returns `None` if no fleet is wanted. The agents that this
    /// places end with the calling thread: it must be the main one.
    ///
    /// # Errors
    /// An agent can't be placed, is missing or is busy; or another controller has the fleet.
    pub(in crate::cli) fn take(
        &self,
        inside: &InsideArgs,
        stop: &AtomicBool,
    ) -> Result<Option<Arc<dyn Generators>>, CommandError> {
        if let Some(hosts) = &self.hosts {
            let in_lab = |(host, _): &(HostName, _)| matches!(host, HostName::Lab { .. });
            if inside.is_given() && hosts.hosts().iter().any(in_lab) {
                let line = "--hosts names hosts of a lab, which can't be reached from within one; \
                            omit --in";
                return Err(CommandError::Usage(line.to_owned()));
            }
            return self.place(hosts, None, stop).map(Some);
        }
        let (Some(server), Some(creds)) = (&self.fleet, &self.creds) else { return Ok(None) };
        let credentials = Credentials::read(creds).map_err(CommandError::Usage)?;
        let wanted = self.agents.map_or(Wanted::All, |number| Wanted::Number(number.get()));
        Ok(Some(Arc::new(take_standing(server, &credentials, wanted, Arc::new(complain))?)))
    }

    /// Places agents in hosts of a lab that this process has built. Returns `None` if no hosts are
    /// named. The agents end with the calling thread: it must be the main one.
    ///
    /// # Errors
    /// The lab has no such host, or an agent can't be placed.
    pub(in crate::cli) fn take_in(
        &self,
        lab: &Up,
        stop: &AtomicBool,
    ) -> Result<Option<Arc<dyn Generators>>, CommandError> {
        let start = |host: &str, command: &mut Command| {
            let host = lab.hosts().get(host).map_err(io::Error::other)?;
            host.start(command, None)
        };
        let own = OwnLab { start: &start, temporary: Path::new(TEMPORARY) };
        let place = |hosts| self.place(hosts, Some(own), stop);
        self.hosts.as_ref().map(place).transpose()
    }

    fn place(
        &self,
        hosts: &HostList,
        own_lab: Option<OwnLab<'_>>,
        stop: &AtomicBool,
    ) -> Result<Arc<dyn Generators>, CommandError> {
        let lines = Arc::new(|agent: &_, line: &str| complain(&format!("agent {agent}: {line}")));
        let reports = Arc::new(complain);
        let order = HostsOrder { copied: self.copy_sixmark, own_lab, lines, reports };
        Ok(Arc::new(take_hosts(hosts, &order, stop)?))
    }
}
