//! The sources of samples.

use std::io;
use std::time::{Duration, Instant};

use crate::network::Sockets;
use crate::series::Point;
use crate::{Counter, VitalsSample, parse};
use sixmark_sys::clock;
use sixmark_sys::usage::processor_us;
use sixmark_units::family::PerFamily;

use super::cgroups::Cgroup;
use super::machine::Machine;
use super::namespace::Namespace;
use super::processes::{Processes, WhichProcesses};
use super::sockets::Diag;
use sixmark_sys::command_error::CommandError;

/// Reading sockets takes at most one in this many parts of a processor's time.
const SPARING: u32 = 500;

/// What to sample besides the machine and its network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WantedVitals {
    /// Processes by their process ids.
    pub pids: Vec<i32>,
    /// Services, by the name of their processes.
    pub services: Vec<String>,
    /// Control groups of version 2, by their paths.
    pub cgroups: Vec<String>,
    /// The processes in the network namespace with this inode number, and the name of that host.
    pub host: Option<(u64, String)>,
    /// Whether to count sockets by state.
    pub sockets: bool,
}

/// Files and netlink sockets that stay open.
#[derive(Debug)]
pub struct Sources {
    machine: Machine,
    namespace: Namespace,
    diag: Option<Diag>,
    sockets_at: Option<Instant>,
    /// Whether the next sample reads everything anew.
    afresh: bool,
    processes: Vec<Processes>,
    cgroups: Vec<Cgroup>,
    /// The monotonic clock and the wall clock at the beginning, nanoseconds. Later times are
    /// derived from the monotonic clock, which is never set.
    began: (u64, u64),
}

impl Sources {
    /// Opens the sources in the network namespace of the calling thread.
    ///
    /// # Errors
    /// Returns an error if something in `wanted` does not exist, or if the kernel's counters can't
    /// be read.
    pub fn open(wanted: &WantedVitals) -> Result<Sources, CommandError> {
        let cannot = |error: io::Error| {
            CommandError::Measure(format!("can't read kernel counters: {error}"))
        };
        let mut sources = Sources {
            machine: Machine::open().map_err(cannot)?,
            namespace: Namespace::open().map_err(cannot)?,
            diag: wanted.sockets.then(Diag::open).transpose().map_err(cannot)?,
            sockets_at: None,
            afresh: true,
            processes: Vec::new(),
            cgroups: Vec::new(),
            began: (clock::now(), clock::real()),
        };
        sources.find(wanted)?;
        Ok(sources)
    }

    fn find(&mut self, wanted: &WantedVitals) -> Result<(), CommandError> {
        for &pid in &wanted.pids {
            let absent = || CommandError::Usage(format!("--pid {pid}: there is no such process"));
            self.add(WhichProcesses::Pid(pid)).ok_or_else(absent)?;
        }
        for name in &wanted.services {
            let absent = || {
                CommandError::Usage(format!(
                    "--service {name}: no process has this name; start it first, or see `ps -eo \
                     comm`"
                ))
            };
            let one = self.add(WhichProcesses::Name(name.clone())).ok_or_else(absent)?;
            self.cgroups.extend(own_cgroup(one, name));
        }
        if let Some((number, name)) = &wanted.host {
            // A host may have no processes yet.
            let _ = self.add(WhichProcesses::Namespace(*number, name.clone()));
        }
        for name in &wanted.cgroups {
            self.cgroups.push(Cgroup::open(name)?);
        }
        Ok(())
    }

    /// Adds processes. Returns the process id of one of them, if there are any.
    fn add(&mut self, which: WhichProcesses) -> Option<i32> {
        let mut processes = Processes::new(which);
        let _ = processes.read();
        let (any, some) = (processes.any(), processes.len() > 0);
        self.processes.push(processes);
        any.filter(|_| some)
    }

    /// Reads all counters.
    ///
    /// # Errors
    /// Returns an error if the kernel's counters can't be read.
    pub fn sample(&mut self) -> io::Result<VitalsSample> {
        let (at_us, since_us) = self.now();
        let mut sample = VitalsSample {
            at_us,
            since_us,
            host: self.machine.read(std::mem::take(&mut self.afresh))?,
            network: self.namespace.read()?,
            groups: self.processes.iter_mut().map(Processes::read).collect(),
            own_cpu_us: Counter(processor_us()),
        };
        sample.groups.extend(self.cgroups.iter_mut().map(Cgroup::read));
        sample.network.sockets = self.sockets()?;
        Ok(sample)
    }

    /// Reads processor time only, which is cheap.
    ///
    /// # Errors
    /// Returns an error if the kernel's counters can't be read.
    pub fn point(&mut self) -> io::Result<Point> {
        let (at_us, _) = self.now();
        let host = self.machine.processors()?;
        let groups: Vec<_> = self
            .processes
            .iter_mut()
            .map(Processes::read)
            .chain(self.cgroups.iter_mut().map(Cgroup::read))
            .collect();
        Ok(Point::of(&VitalsSample { at_us, host, groups, ..VitalsSample::default() }))
    }

    /// Makes the next sample complete, including sockets, whatever that costs.
    pub fn want_all(&mut self) {
        self.afresh = true;
        self.sockets_at = None;
    }

    fn sockets(&mut self) -> io::Result<Option<PerFamily<Sockets>>> {
        let now = Instant::now();
        let Some(diag) = &mut self.diag else { return Ok(None) };
        if self.sockets_at.is_some_and(|at| now < at) {
            return Ok(None);
        }
        let found = diag.read()?;
        let took: Duration = now.elapsed();
        self.sockets_at = Some(now + took * SPARING);
        Ok(Some(found))
    }

    /// Returns the wall clock, as it would be if it had not been set since the beginning, and the
    /// time since then, microseconds.
    fn now(&self) -> (u64, u64) {
        let since = clock::now().saturating_sub(self.began.0);
        ((self.began.1 + since) / 1_000, since / 1_000)
    }
}

/// Returns the control group of a service, if it has one of its own, as under systemd.
fn own_cgroup(pid: i32, service: &str) -> Option<Cgroup> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    let path = parse::path_of(&text)?;
    let last = path.rsplit('/').next()?;
    (last.strip_suffix(".service") == Some(service)).then(|| Cgroup::open(&path).ok()).flatten()
}
