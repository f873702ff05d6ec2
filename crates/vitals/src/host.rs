//! What the machine counts, whatever namespace looks.

use serde::{Deserialize, Serialize};

use super::counter::{Counter, counters};

counters! {
    /// Processor time since the machine started, microseconds; the kernel tells it in hundredths of a
    /// second.
    pub struct CpuTimes {
        /// In programs; those of guests included.
        user_us,
        /// In programs of low priority.
        nice_us,
        /// In the kernel for programs.
        system_us,
        /// In interrupts.
        irq_us,
        /// In what interrupts leave for later: most of the network's work.
        softirq_us,
        /// Taken by the host of this virtual machine.
        steal_us,
        /// Nothing to do.
        idle_us,
        /// Nothing to do while a disk was waited for.
        iowait_us,
    }
}

impl CpuTimes {
    /// Time in which something was done, microseconds: neither idle nor stolen.
    pub fn busy_us(&self) -> u64 {
        [self.user_us, self.nice_us, self.system_us, self.irq_us, self.softirq_us]
            .iter()
            .map(|part| part.0)
            .sum()
    }

    /// All time.
    pub fn all_us(&self) -> u64 {
        self.busy_us() + self.steal_us.0 + self.idle_us.0 + self.iowait_us.0
    }

    /// The part (0 to 1) of a change in which something was done; none where no time passed.
    pub fn busy_share(&self) -> Option<f64> {
        self.share(self.busy_us())
    }

    /// The part (0 to 1) of a change that was stolen.
    pub fn steal_share(&self) -> Option<f64> {
        self.share(self.steal_us.0)
    }

    fn share(&self, part: u64) -> Option<f64> {
        let all = self.all_us();
        (all > 0).then(|| part as f64 / all as f64)
    }
}

counters! {
    /// What the kernel was called for.
    pub struct Events {
        /// Another thread got a processor.
        context_switches,
        /// Interrupts of devices and timers.
        interrupts,
        /// Runs of the softirq that receives packets.
        softirq_net_rx,
        /// Runs of the softirq that frees what was sent.
        softirq_net_tx,
        /// Processes and threads begun.
        forks,
    }
}

counters! {
    /// Memory that went to disks or came from there, or was not there.
    pub struct Paging {
        /// Bytes read from disks.
        paged_in_bytes,
        /// Bytes written to disks.
        paged_out_bytes,
        /// Pages that came back from swap.
        swapped_in_pages,
        /// Pages that went to swap.
        swapped_out_pages,
        /// Pages that were not mapped when they were touched.
        faults,
        /// Of those, the ones for which a disk was read.
        major_faults,
    }
}

/// Memory as it is at the moment, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Memory {
    /// All there is.
    pub total_bytes: u64,
    /// Used for nothing.
    pub free_bytes: u64,
    /// What programs could get without swapping; `null` where the kernel does not tell.
    pub available_bytes: Option<u64>,
    /// Blocks of disks kept.
    pub buffers_bytes: u64,
    /// Files kept.
    pub cached_bytes: u64,
    /// To be written to disks.
    pub dirty_bytes: u64,
    /// Swap space.
    pub swap_total_bytes: u64,
    /// Swap space in no use.
    pub swap_free_bytes: u64,
}

counters! {
    /// What a disk did.
    pub struct DiskCounters {
        /// Reads done.
        reads,
        /// Bytes read.
        read_bytes,
        /// Writes done.
        writes,
        /// Bytes written.
        written_bytes,
        /// Time in which anything was in progress, microseconds.
        busy_us,
    }
}

/// One disk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Disk {
    /// Its name.
    pub name: String,
    /// What it did.
    #[serde(flatten)]
    pub counters: DiskCounters,
}

counters! {
    /// Calls of NFS.
    pub struct Nfs {
        /// Calls, made by a client or answered by a server.
        calls,
        /// A client's calls sent again; a server's bad ones.
        repeated_or_bad,
        /// Bytes that a server read for clients.
        read_bytes,
        /// Bytes that a server wrote for clients.
        written_bytes,
    }
}

/// The machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MachineVitals {
    /// All processors together.
    pub cpu: CpuTimes,
    /// Each of them.
    pub cores: Vec<CpuTimes>,
    /// What the kernel was called for.
    pub events: Events,
    /// Threads that have a processor or wait for one, at the moment.
    pub running: u64,
    /// Threads that wait for a disk, at the moment.
    pub blocked: u64,
    /// Memory.
    pub memory: Memory,
    /// Paging.
    pub paging: Paging,
    /// Each disk that did anything since the machine started.
    pub disks: Vec<Disk>,
    /// This machine as a client of NFS; `null` where it is none.
    pub nfs_client: Option<Nfs>,
    /// This machine as a server of NFS; `null` where it is none.
    pub nfs_server: Option<Nfs>,
    /// Packets as each processor takes them from interfaces: of all namespaces together.
    pub softnet: Softnet,
}

counters! {
    /// Packets as processors take them from interfaces.
    pub struct Softnet {
        /// Taken.
        processed,
        /// Dropped since the queue was full (net.core.netdev_max_backlog).
        dropped,
        /// How often there was more to take than time for it (net.core.netdev_budget).
        squeezed,
    }
}

impl MachineVitals {
    /// How much its counters grew since `before`; the rest is as it is now.
    #[must_use]
    pub fn since(&self, before: &MachineVitals, resets: &mut u64) -> MachineVitals {
        use super::counter::Counters as _;
        // Time in which a disk was waited for may fall by a little (proc_stat(5)).
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

    /// Adds the counters of a later change; the rest becomes the later one's.
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

/// What fell counts as not grown: idle time may fall by a tick, and is no reset.
fn cpu_since(now: &CpuTimes, before: &CpuTimes, fallen: &mut u64) -> CpuTimes {
    use super::counter::Counters as _;
    let mut grown = *now;
    grown.with(before, &mut |now, before| {
        *fallen += u64::from(*now < before);
        *now = now.since(before).unwrap_or(Counter(0));
    });
    grown
}

/// The change of what may not be there; nothing where it was not before.
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
