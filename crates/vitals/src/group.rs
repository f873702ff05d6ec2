//! Groups of processes to observe: a process and its descendants, a service, a control group, or
//! the processes in a network namespace.

use serde::{Deserialize, Serialize};

use super::counter::{Counter, Counters as _, counters};

/// How the processes of a group are selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum GroupKind {
    /// A process, by its process id, and its descendants.
    #[default]
    Pid,
    /// Processes with a given name, and their descendants.
    Service,
    /// A control group of version 2, with the sums that the kernel keeps.
    Cgroup,
    /// Processes in a network namespace, which is a host of a lab.
    Host,
}

counters! {
    /// Resources that a group of processes used.
    pub struct GroupCounters {
        /// Processor time in user mode, microseconds.
        user_us,
        /// Processor time in kernel mode, microseconds.
        system_us,
        /// Bytes read from disks.
        read_bytes,
        /// Bytes written to disks.
        written_bytes,
        /// Page faults that required a read from a disk.
        major_faults,
    }
}

/// The state of a group at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Group {
    /// The process id, name or path by which the group was selected.
    pub name: String,
    /// How the group was selected.
    pub kind: GroupKind,
    /// Number of processes at that moment.
    pub processes: u64,
    /// Number of threads; 0 for a control group, which does not report it.
    pub threads: u64,
    /// Resident memory of the processes, or the memory charged to the control group, bytes.
    pub memory_bytes: u64,
    /// Resources used since the group was first observed; for a control group, since it was
    /// created.
    #[serde(flatten)]
    pub counters: GroupCounters,
}

impl Group {
    /// Returns the processor time of both modes, microseconds.
    pub fn cpu_us(&self) -> u64 {
        self.counters.user_us.0 + self.counters.system_us.0
    }

    /// Returns this group with the growth of its counters since the same group in `before`.
    #[must_use]
    pub fn since(&self, before: &[Group], resets: &mut u64) -> Group {
        let known = before.iter().find(|known| self.is(known));
        let counters =
            known.map_or(self.counters, |known| self.counters.since(&known.counters, resets));
        Group { counters, ..self.clone() }
    }

    /// Reports whether both groups were selected in the same way, by the same name.
    pub fn is(&self, other: &Group) -> bool {
        (self.kind, &self.name) == (other.kind, &other.name)
    }
}

/// The state of one process, as the kernel reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedProcess {
    /// The process id.
    pub pid: i32,
    /// The time at which the process started, in ticks since the machine started. It distinguishes
    /// processes that had the same process id.
    pub began: u64,
    /// The process id of the parent.
    pub parent: i32,
    /// The name of the process.
    pub name: String,
    /// Number of threads.
    pub threads: u64,
    /// Resident memory, pages.
    pub resident_pages: u64,
    /// Resources used by the process and by those of its children that it waited for.
    pub used: GroupCounters,
}

/// Sums the resources used by the processes of a group, while processes start and end.
///
/// The usage of a process includes the children that it waited for, so the sum over all processes
/// continues when one of them ends. If nobody waited for a process, its usage disappears with it;
/// the sum then pauses instead of falling.
#[derive(Clone, Debug, Default)]
pub struct Tracker {
    begun: Option<u64>,
    known: Vec<(i32, u64)>,
    last: GroupCounters,
    sum: GroupCounters,
}

impl Tracker {
    /// Takes the current processes of the group; `now` is in ticks since the machine started.
    /// Returns the resources that all of them used since the first call.
    pub fn see(&mut self, processes: &[ObservedProcess], now: u64) -> GroupCounters {
        let begun = *self.begun.get_or_insert(now);
        let mut all = GroupCounters::default();
        for process in processes {
            all.add(&process.used);
            let id = (process.pid, process.began);
            // A process that is older than the tracker but was not in the group before: its usage
            // until now is not counted.
            if !self.known.contains(&id) && process.began < begun {
                self.last.add(&process.used);
            }
        }
        self.known = processes.iter().map(|process| (process.pid, process.began)).collect();
        let mut grown = all;
        grown.with(&self.last, &mut |now, last| *now = now.since(last).unwrap_or(Counter(0)));
        self.sum.add(&grown);
        self.last = all;
        self.sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, began: u64, user_us: u64) -> ObservedProcess {
        let used = GroupCounters { user_us: Counter(user_us), ..GroupCounters::default() };
        ObservedProcess { pid, began, used, ..ObservedProcess::default() }
    }

    fn seen(tracker: &mut Tracker, processes: &[ObservedProcess], now: u64) -> u64 {
        tracker.see(processes, now).user_us.0
    }

    #[test]
    fn does_not_count_processor_time_used_before_tracking() {
        let mut tracker = Tracker::default();
        assert_eq!(seen(&mut tracker, &[process(1, 5, 1_000)], 100), 0);
        assert_eq!(seen(&mut tracker, &[process(1, 5, 1_300)], 101), 300);
        // A process that started before tracking joins the group.
        let both = [process(1, 5, 1_300), process(2, 50, 9_000)];
        assert_eq!(seen(&mut tracker, &both, 102), 300);
        // A process that started after tracking counts from its start.
        let three = [both.as_slice(), &[process(3, 102, 40)]].concat();
        assert_eq!(seen(&mut tracker, &three, 103), 340);
    }

    #[test]
    fn counts_a_reaped_child_once() {
        let mut tracker = Tracker::default();
        let _ = tracker.see(&[process(1, 5, 0)], 100);
        assert_eq!(seen(&mut tracker, &[process(1, 5, 10), process(2, 101, 500)], 102), 510);
        // The parent's usage now includes the child's.
        assert_eq!(seen(&mut tracker, &[process(1, 5, 530)], 103), 530);
        // Nobody waits for this child: the sum pauses and then continues.
        assert_eq!(seen(&mut tracker, &[process(1, 5, 530), process(3, 103, 70)], 104), 600);
        assert_eq!(seen(&mut tracker, &[process(1, 5, 530)], 105), 600);
        assert_eq!(seen(&mut tracker, &[process(1, 5, 550)], 106), 620);
    }

    #[test]
    fn treats_a_reused_pid_as_another_process() {
        let mut tracker = Tracker::default();
        let _ = tracker.see(&[process(7, 5, 400)], 100);
        assert_eq!(seen(&mut tracker, &[process(7, 150, 30)], 151), 0);
        assert_eq!(seen(&mut tracker, &[process(7, 150, 90)], 152), 60);
    }
}
