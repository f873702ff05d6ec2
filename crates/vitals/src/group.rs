//! Processes that somebody wants to know of: one by its number, a service, a cgroup.

use serde::{Deserialize, Serialize};

use super::counter::{Counter, Counters as _, counters};

/// What makes the processes one group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum GroupKind {
    /// A process and those that it began, by its number.
    #[default]
    Pid,
    /// Processes of a name and those that they began.
    Service,
    /// A control group, version 2: the kernel's own sum.
    Cgroup,
    /// Those in a network namespace, a host of a lab.
    Host,
}

counters! {
    /// What processes used.
    pub struct GroupCounters {
        /// Processor time in programs, microseconds.
        user_us,
        /// Processor time in the kernel, microseconds.
        system_us,
        /// Bytes that had to come from disks.
        read_bytes,
        /// Bytes that had to go to disks.
        written_bytes,
        /// Pages for which a disk was read.
        major_faults,
    }
}

/// A group as it is at a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Group {
    /// What it was asked for by: a number, a name, a path.
    pub name: String,
    /// What that is.
    pub kind: GroupKind,
    /// Processes at the moment.
    pub processes: u64,
    /// Their threads; 0 of a cgroup, which does not tell.
    pub threads: u64,
    /// Their memory that is resident, or what the cgroup counts as its own, bytes.
    pub memory_bytes: u64,
    /// What they used since they were first looked at.
    #[serde(flatten)]
    pub counters: GroupCounters,
}

impl Group {
    /// Processor time, microseconds.
    pub fn cpu_us(&self) -> u64 {
        self.counters.user_us.0 + self.counters.system_us.0
    }

    /// How much its counters grew since `before`.
    #[must_use]
    pub fn since(&self, before: &[Group], resets: &mut u64) -> Group {
        let known = before.iter().find(|known| self.is(known));
        let counters =
            known.map_or(self.counters, |known| self.counters.since(&known.counters, resets));
        Group { counters, ..self.clone() }
    }

    /// True where both were asked for by the same.
    pub fn is(&self, other: &Group) -> bool {
        (self.kind, &self.name) == (other.kind, &other.name)
    }
}

/// One process as the kernel shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedProcess {
    /// Its number.
    pub pid: i32,
    /// When it began, in ticks since the machine started: numbers are given out again.
    pub began: u64,
    /// The number of the process that began it.
    pub parent: i32,
    /// Its name.
    pub name: String,
    /// Its threads.
    pub threads: u64,
    /// Its resident memory, pages.
    pub resident_pages: u64,
    /// What it used, and those of its children that it waited for.
    pub used: GroupCounters,
}

/// Sums up what the processes of a group use, while they come and go.
///
/// What a process used includes its children that it waited for, so that the sum over all of them goes
/// on when one of them ends. One that nobody waited for takes what it used with it: the sum then
/// stands still for a moment rather than fall.
#[derive(Clone, Debug, Default)]
pub struct Tracker {
    begun: Option<u64>,
    known: Vec<(i32, u64)>,
    last: GroupCounters,
    sum: GroupCounters,
}

impl Tracker {
    /// Takes in the processes that the group has now, `now` in ticks since the machine started; what
    /// all of them used since the first call.
    pub fn see(&mut self, processes: &[ObservedProcess], now: u64) -> GroupCounters {
        let begun = *self.begun.get_or_insert(now);
        let mut all = GroupCounters::default();
        for process in processes {
            all.add(&process.used);
            let id = (process.pid, process.began);
            // One that was there before, and was not seen: what it has used by now is not ours.
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
    fn what_was_used_before_is_not_counted() {
        let mut tracker = Tracker::default();
        assert_eq!(seen(&mut tracker, &[process(1, 5, 1_000)], 100), 0);
        assert_eq!(seen(&mut tracker, &[process(1, 5, 1_300)], 101), 300);
        // An old one takes on the name.
        let both = [process(1, 5, 1_300), process(2, 50, 9_000)];
        assert_eq!(seen(&mut tracker, &both, 102), 300);
        // A new one counts from its beginning.
        let three = [both.as_slice(), &[process(3, 102, 40)]].concat();
        assert_eq!(seen(&mut tracker, &three, 103), 340);
    }

    #[test]
    fn a_child_that_was_waited_for_counts_once() {
        let mut tracker = Tracker::default();
        let _ = tracker.see(&[process(1, 5, 0)], 100);
        assert_eq!(seen(&mut tracker, &[process(1, 5, 10), process(2, 101, 500)], 102), 510);
        // The parent has it now.
        assert_eq!(seen(&mut tracker, &[process(1, 5, 530)], 103), 530);
        // One nobody waited for: the sum stands still, and goes on.
        assert_eq!(seen(&mut tracker, &[process(1, 5, 530), process(3, 103, 70)], 104), 600);
        assert_eq!(seen(&mut tracker, &[process(1, 5, 530)], 105), 600);
        assert_eq!(seen(&mut tracker, &[process(1, 5, 550)], 106), 620);
    }

    #[test]
    fn a_number_given_out_again_is_another_process() {
        let mut tracker = Tracker::default();
        let _ = tracker.see(&[process(7, 5, 400)], 100);
        assert_eq!(seen(&mut tracker, &[process(7, 150, 30)], 151), 0);
        assert_eq!(seen(&mut tracker, &[process(7, 150, 90)], 152), 60);
    }
}
