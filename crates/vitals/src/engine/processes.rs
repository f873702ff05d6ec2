//! Groups of processes, whose members are looked up repeatedly while they come and go.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::time::{Duration, Instant};

use crate::group::{Group, GroupKind, ObservedProcess, Tracker};
use crate::parse;

use super::file::KeptFile;

/// The shortest interval between two listings of all processes, because a listing takes a while.
const PAUSE: Duration = Duration::from_secs(1);
/// The shortest interval between two listings, in multiples of the duration of the last one.
const TIMES: u32 = 200;

/// The size of a page, bytes.
const PAGE: u64 = 4_096;

/// The longest name of a process in the kernel, bytes.
const NAME: usize = 15;

/// A selection of processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WhichProcesses {
    /// A process and its descendants.
    Pid(i32),
    /// The processes with a name and their descendants.
    Name(String),
    /// The processes in the network namespace with this inode number, and the name of that host.
    Namespace(u64, String),
}

/// The processes of one group.
#[derive(Debug)]
pub(super) struct Processes {
    which: WhichProcesses,
    known: HashMap<i32, Files>,
    tracker: Tracker,
    look_at: Option<Instant>,
}

/// The files of a process. They yield nothing after the process has ended.
#[derive(Debug)]
struct Files {
    stat: KeptFile,
    io: Option<KeptFile>,
}

impl Files {
    fn open(pid: i32) -> Option<Files> {
        let io = KeptFile::maybe(format!("/proc/{pid}/io"));
        Some(Files { stat: KeptFile::open(format!("/proc/{pid}/stat")).ok()?, io })
    }

    fn read(&mut self) -> Option<ObservedProcess> {
        let mut process = parse::process(self.stat.read().ok()?)?;
        // The files of other users' processes may be unreadable.
        let io = self.io.as_mut().and_then(|io| parse::io(io.read().ok()?));
        [process.used.read_bytes, process.used.written_bytes] = io.unwrap_or_default();
        Some(process)
    }
}

impl Processes {
    pub(super) fn new(which: WhichProcesses) -> Processes {
        let (known, tracker) = (HashMap::new(), Tracker::default());
        Processes { which, known, tracker, look_at: None }
    }

    /// Returns how many processes there were at the last reading.
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    /// Returns the process id of one of them.
    pub(super) fn any(&self) -> Option<i32> {
        self.known.keys().min().copied()
    }

    pub(super) fn read(&mut self) -> Group {
        let now = Instant::now();
        if self.look_at.is_none_or(|at| now >= at) {
            self.look();
            self.look_at = Some(Instant::now() + PAUSE.max(now.elapsed() * TIMES));
        }
        let mut alive = Vec::new();
        self.known.retain(|_, files| match files.read() {
            Some(process) => {
                alive.push(process);
                true
            }
            None => false,
        });
        let counters = self.tracker.see(&alive, ticks());
        let (name, kind) = match &self.which {
            WhichProcesses::Pid(pid) => (pid.to_string(), GroupKind::Pid),
            WhichProcesses::Name(name) => (name.clone(), GroupKind::Service),
            WhichProcesses::Namespace(_, host) => (host.clone(), GroupKind::Host),
        };
        let sum = |of: fn(&ObservedProcess) -> u64| alive.iter().map(of).sum::<u64>();
        Group {
            name,
            kind,
            processes: alive.len() as u64,
            threads: sum(|process| process.threads),
            memory_bytes: sum(|process| process.resident_pages).saturating_mul(PAGE),
            counters,
        }
    }

    fn look(&mut self) {
        let wanted = match &self.which {
            WhichProcesses::Namespace(number, _) => inside(*number),
            WhichProcesses::Pid(_) | WhichProcesses::Name(_) => self.descendants(),
        };
        self.known.retain(|pid, _| wanted.contains(pid));
        for pid in wanted {
            if let Entry::Vacant(place) = self.known.entry(pid)
                && let Some(files) = Files::open(pid)
            {
                place.insert(files);
            }
        }
    }

    /// Returns the selected processes and their descendants.
    fn descendants(&self) -> HashSet<i32> {
        let own = i32::try_from(std::process::id()).unwrap_or(0);
        let read = |pid| parse::process(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?);
        let all: Vec<ObservedProcess> =
            numbers().filter(|pid| *pid != own).filter_map(read).collect();
        let is_meant = |process: &ObservedProcess| match &self.which {
            WhichProcesses::Pid(pid) => process.pid == *pid,
            WhichProcesses::Name(name) => process.name.as_bytes() == shortened(name),
            WhichProcesses::Namespace(..) => false,
        };
        let mut found: HashSet<i32> =
            all.iter().filter(|process| is_meant(process)).map(|process| process.pid).collect();
        loop {
            let before = found.len();
            let children = all.iter().filter(|process| found.contains(&process.parent));
            let children: Vec<i32> = children.map(|process| process.pid).collect();
            found.extend(children);
            if found.len() == before {
                return found;
            }
        }
    }
}

/// Returns a name as the kernel truncates it.
fn shortened(name: &str) -> &[u8] {
    let bytes = name.as_bytes();
    bytes.get(..NAME).unwrap_or(bytes)
}

fn numbers() -> impl Iterator<Item = i32> {
    let found = fs::read_dir("/proc").into_iter().flatten().flatten();
    found.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Returns the processes in a network namespace, except this one, which may have entered it to
/// generate load.
fn inside(number: u64) -> HashSet<i32> {
    let own = i32::try_from(std::process::id()).unwrap_or(0);
    let is_there = |pid: &i32| {
        fs::metadata(format!("/proc/{pid}/ns/net")).is_ok_and(|file| file.ino() == number)
    };
    numbers().filter(|pid| *pid != own).filter(is_there).collect()
}

/// Returns the ticks since the machine started, in the unit of /proc/PID/stat.
fn ticks() -> u64 {
    let text = fs::read_to_string("/proc/uptime").unwrap_or_default();
    let seconds = text.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    (seconds.unwrap_or(0.0) * 100.0) as u64
}
