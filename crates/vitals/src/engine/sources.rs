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

/// The share of a processor's time that reading sockets usually may take.
pub const USUAL_SOCKET_SHARE: f64 = 0.002;

/// What to sample besides the machine and its network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WantedVitals {
    /// Processes by their process ids.
    pub pids: Vec<i32>,
    /// Services, by the name of their processes.
    pub services: Vec<String>,
    /// Control groups of version 2, by their paths.
    pub cgroups: Vec<String>,
    /// The processes in the network namespace with this inode number, and the name of that host.
    pub host: Option<(u64, String)>,
    /// The largest share (above 0, at most 1) of a processor's time that counting sockets by state
    /// may take; none means that they are not counted.
    pub sockets: Option<f64>,
}

/// When sockets may be read again; none means at once.
#[derive(Clone, Copy, Debug, Default)]
struct SocketTimes {
    /// All of them.
    all: Option<Instant>,
    /// Those that are not in TIME-WAIT.
    live: Option<Instant>,
}

/// Files and netlink sockets that stay open.
#[derive(Debug)]
pub struct Sources {
    machine: Machine,
    namespace: Namespace,
    diag: Option<Diag>,
    /// When sockets may be read again: all of them, and those that are not in TIME-WAIT.
    sockets_at: SocketTimes,
    /// The reciprocal of the share of time that reading sockets may take.
    sparing: f64,
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
            diag: wanted.sockets.map(|_| Diag::open()).transpose().map_err(cannot)?,
            sockets_at: SocketTimes::default(),
            sparing: 1.0 / wanted.sockets.unwrap_or(USUAL_SOCKET_SHARE),
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
            own_cpu_us: Counter::default(),
        };
        sample.groups.extend(self.cgroups.iter_mut().map(Cgroup::read));
        sample.network.sockets = self.sockets()?;
        // Read last, so that it includes what this sample took.
        sample.own_cpu_us = Counter(processor_us());
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
        self.sockets_at = SocketTimes::default();
    }

    fn sockets(&mut self) -> io::Result<Option<PerFamily<Sockets>>> {
        let now = Instant::now();
        let Some(diag) = &mut self.diag else { return Ok(None) };
        let is_due = |at: Option<Instant>| at.is_none_or(|at| now >= at);
        let all = is_due(self.sockets_at.all);
        if !all && !is_due(self.sockets_at.live) {
            return Ok(None);
        }
        let before_us = processor_us();
        let found = diag.read(all)?;
        let used_us = processor_us().saturating_sub(before_us);
        let pause = used_us as f64 / 1e6 * self.sparing;
        let after = |pause: f64| Duration::try_from_secs_f64(pause).ok().map(|pause| now + pause);
        // Passing over the sockets in TIME-WAIT takes about half as long as reading them.
        self.sockets_at.live = after(if all { pause / 2.0 } else { pause });
        if all {
            self.sockets_at.all = after(pause);
        }
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
