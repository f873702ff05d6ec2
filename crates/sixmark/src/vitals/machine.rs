//! The machine: processors, memory, disks, NFS, packets as processors take them.

use std::collections::HashSet;
use std::io;

use sixmark_core::vitals::counter::Widened;
use sixmark_core::vitals::host::{Host, Softnet};
use sixmark_core::vitals::parse;

use super::file::{Kept, text};

/// Its files.
#[derive(Debug)]
pub(super) struct Machine {
    stat: Kept,
    memory: Kept,
    vm: Kept,
    softirqs: Option<Kept>,
    disks: Option<Kept>,
    softnet: Option<Kept>,
    nfs: [Option<Kept>; 2],
    /// Those that are no partitions.
    whole: HashSet<String>,
    packets: [Widened; 3],
}

impl Machine {
    pub(super) fn open() -> io::Result<Machine> {
        let names = std::fs::read_dir("/sys/block").into_iter().flatten().flatten();
        Ok(Machine {
            stat: Kept::open("/proc/stat")?,
            memory: Kept::open("/proc/meminfo")?,
            vm: Kept::open("/proc/vmstat")?,
            softirqs: Kept::maybe("/proc/softirqs"),
            disks: Kept::maybe("/proc/diskstats"),
            softnet: Kept::maybe("/proc/net/softnet_stat"),
            nfs: ["nfs", "nfsd"].map(|name| Kept::maybe(format!("/proc/net/rpc/{name}"))),
            whole: names.map(|name| name.file_name().to_string_lossy().into_owned()).collect(),
            packets: Default::default(),
        })
    }

    /// Processors and events alone, which is what changes all the time.
    pub(super) fn processors(&mut self) -> io::Result<Host> {
        parse::stat(self.stat.read()?).map_err(io::Error::other)
    }

    pub(super) fn read(&mut self) -> io::Result<Host> {
        let mut host = self.processors()?;
        [host.events.softirq_net_rx, host.events.softirq_net_tx] =
            parse::softirqs(text(&mut self.softirqs));
        host.memory = parse::memory(self.memory.read()?).map_err(io::Error::other)?;
        host.paging = parse::paging(self.vm.read()?).map_err(io::Error::other)?;
        let is_whole = |name: &str| self.whole.is_empty() || self.whole.contains(name);
        host.disks = parse::disks(text(&mut self.disks), is_whole).map_err(io::Error::other)?;
        let [client, server] = &mut self.nfs;
        host.nfs_client = parse::nfs_client(text(client));
        host.nfs_server = parse::nfs_server(text(server));
        let counted = parse::softnet(text(&mut self.softnet));
        let mut each = self.packets.iter_mut().zip(&counted).map(|(sum, now)| sum.see(now));
        let mut next = || each.next().unwrap_or_default();
        host.softnet = Softnet { processed: next(), dropped: next(), squeezed: next() };
        Ok(host)
    }
}
