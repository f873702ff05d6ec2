//! Counters of the whole machine, which do not depend on the network namespace.

use serde::{Deserialize, Serialize};

use super::counter::{Counter, counters};

counters! {
    /// Processor time since the machine started, microseconds. The kernel reports it with a
    /// resolution of 10 ms.
    pub struct CpuTimes {
        /// In user mode, guests of virtual machines included.
        user_us,
        /// In user mode, by processes of low priority.
        nice_us,
        /// In kernel mode, on behalf of processes.
        system_us,
        /// In hardware interrupts.
        irq_us,
        /// In softirqs, the deferred part of interrupts, which does most of the network's work.
        softirq_us,
        /// Taken by the hypervisor of this virtual machine (steal).
        steal_us,
        /// Idle.
        idle_us,
        /// Idle while waiting for a disk.
        iowait_us,
    }
}

impl CpuTimes {
    /// Returns the busy time, microseconds. Idle and stolen time is not busy.
    pub fn busy_us(&self) -> u64 {
        [self.user_us, self.nice_us, self.system_us, self.irq_us, self.softirq_us]
            .iter()
            .map(|part| part.0)
            .sum()
    }

    /// Returns the time of all states together, microseconds.
    pub fn all_us(&self) -> u64 {
        self.busy_us() + self.steal_us.0 + self.idle_us.0 + self.iowait_us.0
    }

    /// Returns the busy share (0 to 1) of a change, or `None` if no time passed.
    pub fn busy_share(&self) -> Option<f64> {
        self.share(self.busy_us())
    }

    /// Returns the stolen share (0 to 1) of a change, or `None` if no time passed.
    pub fn steal_share(&self) -> Option<f64> {
        self.share(self.steal_us.0)
    }

    /// Returns the share (0 to 1) of a change that was spent in softirqs, or `None` if no time
    /// passed.
    pub fn softirq_share(&self) -> Option<f64> {
        self.share(self.softirq_us.0)
    }

    fn share(&self, part: u64) -> Option<f64> {
        let all = self.all_us();
        (all > 0).then(|| part as f64 / all as f64)
    }
}

counters! {
    /// Events in the kernel.
    pub struct Events {
        /// Context switches: a processor began to run another thread.
        context_switches,
        /// Interrupts by devices and timers.
        interrupts,
        /// Runs of the softirq that processes received packets.
        softirq_net_rx,
        /// Runs of the softirq that completes the sending of packets.
        softirq_net_tx,
        /// Processes and threads started.
        forks,
    }
}

counters! {
    /// Transfers of memory from and to disks, and page faults.
    pub struct Paging {
        /// Bytes read from disks.
        paged_in_bytes,
        /// Bytes written to disks.
        paged_out_bytes,
        /// Pages read from swap.
        swapped_in_pages,
        /// Pages written to swap.
        swapped_out_pages,
        /// Page faults.
        faults,
        /// Page faults that required a read from a disk.
        major_faults,
    }
}

/// Memory at one moment, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Memory {
    /// All memory.
    pub total_bytes: u64,
    /// Unused memory.
    pub free_bytes: u64,
    /// Memory that processes could get without swapping; null if the kernel does not report it.
    pub available_bytes: Option<u64>,
    /// Cached blocks of disks.
    pub buffers_bytes: u64,
    /// Cached files.
    pub cached_bytes: u64,
    /// Data that has yet to be written to disks.
    pub dirty_bytes: u64,
    /// Swap space.
    pub swap_total_bytes: u64,
    /// Unused swap space.
    pub swap_free_bytes: u64,
}

impl Memory {
    /// Returns the memory that is available to processes, bytes.
    pub fn usable_bytes(&self) -> u64 {
        self.available_bytes.unwrap_or(self.free_bytes)
    }

    /// Returns the memory that is in use, bytes.
    pub fn used_bytes(&self) -> u64 {
        self.total_bytes.saturating_sub(self.usable_bytes())
    }
}

counters! {
    /// Counters of a disk.
    pub struct DiskCounters {
        /// Completed reads.
        reads,
        /// Bytes read.
        read_bytes,
        /// Completed writes.
        writes,
        /// Bytes written.
        written_bytes,
        /// Time with at least one operation in progress, microseconds.
        busy_us,
    }
}

/// One disk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Disk {
    /// The name of the disk.
    pub name: String,
    /// Its counters.
    #[serde(flatten)]
    pub counters: DiskCounters,
}

counters! {
    /// NFS calls.
    pub struct Nfs {
        /// Calls that a client made or a server received.
        calls,
        /// Calls that a client retransmitted, or bad calls that a server received.
        repeated_or_bad,
        /// Bytes that a server read for clients.
        read_bytes,
        /// Bytes that a server wrote for clients.
        written_bytes,
    }
}

/// The state of a machine and its counters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MachineVitals {
    /// Time of all processors together.
    pub cpu: CpuTimes,
    /// Time of each processor.
    pub cores: Vec<CpuTimes>,
    /// Events in the kernel.
    pub events: Events,
    /// Threads that are running or ready to run, at the moment.
    pub running: u64,
    /// Threads that wait for a disk, at the moment.
    pub blocked: u64,
    /// Memory.
    pub memory: Memory,
    /// Paging.
    pub paging: Paging,
    /// Each disk with any operation since the machine started.
    pub disks: Vec<Disk>,
    /// This machine as an NFS client; null if it is none.
    pub nfs_client: Option<Nfs>,
    /// This machine as an NFS server; null if it is none.
    pub nfs_server: Option<Nfs>,
    /// Packets that the processors took from interfaces, over all network namespaces.
    pub softnet: Softnet,
}

counters! {
    /// Packets that the processors took from interfaces.
    pub struct Softnet {
        /// Packets processed.
        processed,
        /// Packets dropped because the processor's queue was full (net.core.netdev_max_backlog).
        dropped,
        /// How often processing stopped with packets left, because its budget of packets or time
        /// was used up (net.core.netdev_budget).
        squeezed,
    }
}

impl MachineVitals {
    /// Returns the growth of the counters since `before`; all other values are the current ones.
    #[must_use]
    pub fn since(&self, before: &MachineVitals, resets: &mut u64) -> MachineVitals {
        use super::counter::Counters as _;
        // Time spent waiting for a disk may decrease slightly (proc_stat(5)).
        let mut spare = 0;
        MachineVitals {
            cpu: cpu_since(&self.cpu, &before.cpu, &mut spare),
            cores: match self.cores.len() == before.cores.len() {
                true => self.cores.iter().zip(&before.cores),
                false => self.cores.iter().zip(&self.cores),
            }
            .map(|(now, before)| cpu_since(now, before, &mut spare))
            .collect(),
            events: self.events.since(&before.events, resets),
            paging: self.paging.since(&before.paging, resets),
            disks: self.disks_since(before, resets),
            nfs_client: since(self.nfs_client, before.nfs_client, resets),
            nfs_server: since(self.nfs_server, before.nfs_server, resets),
            softnet: self.softnet.since(&before.softnet, resets),
            ..self.clone()
        }
    }

    fn disks_since(&self, before: &MachineVitals, resets: &mut u64) -> Vec<Disk> {
        use super::counter::Counters as _;
        let of = |disk: &Disk| {
            let known = before.disks.iter().find(|known| known.name == disk.name);
            let counters =
                known.map_or(disk.counters, |known| disk.counters.since(&known.counters, resets));
            Disk { name: disk.name.clone(), counters }
        };
        self.disks.iter().map(of).collect()
    }

    /// Adds the counters of a later change; all other values are replaced by the later ones.
    pub fn add(&mut self, later: &MachineVitals) {
        use super::counter::Counters as _;
        let before = std::mem::replace(self, later.clone());
        self.cpu.add(&before.cpu);
        if self.cores.len() == before.cores.len() {
            self.cores.iter_mut().zip(&before.cores).for_each(|(core, by)| core.add(by));
        }
        self.events.add(&before.events);
        self.paging.add(&before.paging);
        for disk in &mut self.disks {
            let known = before.disks.iter().find(|known| known.name == disk.name);
            known.into_iter().for_each(|known| disk.counters.add(&known.counters));
        }
        add(&mut self.nfs_client, before.nfs_client);
        add(&mut self.nfs_server, before.nfs_server);
        self.softnet.add(&before.softnet);
    }
}

/// Returns the growth of processor times. A time that fell counts as unchanged, not as reset,
/// because idle time may fall by a tick.
fn cpu_since(now: &CpuTimes, before: &CpuTimes, fallen: &mut u64) -> CpuTimes {
    use super::counter::Counters as _;
    let mut grown = *now;
    grown.with(before, &mut |now, before| {
        *fallen += u64::from(*now < before);
        *now = now.since(before).unwrap_or(Counter(0));
    });
    grown
}

/// Returns the growth of counters that may be absent. Without earlier counters, the current ones
/// are returned.
pub(super) fn since<T: super::counter::Counters>(
    now: Option<T>,
    before: Option<T>,
    resets: &mut u64,
) -> Option<T> {
    now.map(|now| before.map_or(now, |before| now.since(&before, resets)))
}

pub(super) fn add<T: super::counter::Counters>(sum: &mut Option<T>, by: Option<T>) {
    match (sum, by) {
        (Some(sum), Some(by)) => sum.add(&by),
        (sum @ None, by) => *sum = by,
        (Some(_), None) => {}
    }
}
