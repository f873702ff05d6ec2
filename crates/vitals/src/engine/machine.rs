//! Counters of the machine: processors, memory, disks, NFS, and packets per processor.

use std::collections::HashSet;
use std::io;
use std::time::{Duration, Instant};

use crate::counter::Widened;
use crate::host::{MachineVitals, Softnet};
use crate::parse;

use super::file::{KeptFile, text_of_file};

/// The files of the machine's counters.
#[derive(Debug)]
pub(super) struct Machine {
    stat: KeptFile,
    memory: KeptFile,
    vm: KeptFile,
    softirqs: Option<KeptFile>,
    disks: Option<KeptFile>,
    softnet: Option<KeptFile>,
    nfs: [Option<KeptFile>; 2],
    /// The names of whole disks, without partitions.
    whole: HashSet<String>,
    packets: [Widened; 3],
    /// The last reading of memory, paging, disks and NFS, and its time.
    slow: Option<(Instant, MachineVitals)>,
}

/// The interval between two readings of what is slow.
const PAUSE: Duration = Duration::from_secs(1);

impl Machine {
    pub(super) fn open() -> io::Result<Machine> {
        let names = std::fs::read_dir("/sys/block").into_iter().flatten().flatten();
        Ok(Machine {
            stat: KeptFile::open("/proc/stat")?,
            memory: KeptFile::open("/proc/meminfo")?,
            vm: KeptFile::open("/proc/vmstat")?,
            softirqs: KeptFile::maybe("/proc/softirqs"),
            disks: KeptFile::maybe("/proc/diskstats"),
            softnet: KeptFile::maybe("/proc/net/softnet_stat"),
            nfs: ["nfs", "nfsd"].map(|name| KeptFile::maybe(format!("/proc/net/rpc/{name}"))),
            whole: names.map(|name| name.file_name().to_string_lossy().into_owned()).collect(),
            packets: Default::default(),
            slow: None,
        })
    }

    /// Reads processors and events only, which change all the time.
    pub(super) fn processors(&mut self) -> io::Result<MachineVitals> {
        parse::stat(self.stat.read()?).map_err(io::Error::other)
    }

    /// Reads all counters. Those that are slow to read and to change are read once a second, or if
    /// `afresh` is true.
    pub(super) fn read(&mut self, afresh: bool) -> io::Result<MachineVitals> {
        let now = Instant::now();
        if afresh || self.slow.as_ref().is_none_or(|(at, _)| now >= *at + PAUSE) {
            self.slow = Some((now, self.read_slow()?));
        }
        let slow = self.slow.as_ref().map(|(_, host)| host.clone()).unwrap_or_default();
        let host = self.processors()?;
        let mut host = MachineVitals {
            cpu: host.cpu,
            cores: host.cores,
            events: host.events,
            running: host.running,
            blocked: host.blocked,
            ..slow
        };
        [host.events.softirq_net_rx, host.events.softirq_net_tx] =
            parse::softirqs(text_of_file(&mut self.softirqs));
        let counted = parse::softnet(text_of_file(&mut self.softnet));
        let mut each = self.packets.iter_mut().zip(&counted).map(|(sum, now)| sum.see(now));
        let mut next = || each.next().unwrap_or_default();
        host.softnet = Softnet { processed: next(), dropped: next(), squeezed: next() };
        Ok(host)
    }

    /// Reads memory, paging, disks and NFS. The other fields stay empty.
    fn read_slow(&mut self) -> io::Result<MachineVitals> {
        let is_whole = |name: &str| self.whole.is_empty() || self.whole.contains(name);
        let [client, server] = &mut self.nfs;
        Ok(MachineVitals {
            memory: parse::memory(self.memory.read()?).map_err(io::Error::other)?,
            paging: parse::paging(self.vm.read()?).map_err(io::Error::other)?,
            disks: parse::disks(text_of_file(&mut self.disks), is_whole)
                .map_err(io::Error::other)?,
            nfs_client: parse::nfs_client(text_of_file(client)),
            nfs_server: parse::nfs_server(text_of_file(server)),
            ..MachineVitals::default()
        })
    }
}
