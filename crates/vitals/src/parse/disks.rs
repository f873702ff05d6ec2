//! Parses the counters of disks.

use procfs_core::{DiskStats, FromBufRead as _};

use crate::counter::Counter;
use crate::host::{Disk, DiskCounters};

/// The size of a sector in the kernel's counters, bytes, whatever the sector size of the disk is.
const SECTOR: u64 = 512;

/// Returns the disks in `/proc/diskstats` with any operation for which `is_whole` returns true; the
/// file lists partitions like disks.
///
/// # Errors
/// Returns a one-line error if the text does not have the kernel's format.
pub fn disks(text: &str, is_whole: impl Fn(&str) -> bool) -> Result<Vec<Disk>, String> {
    let found = DiskStats::from_buf_read(text.as_bytes())
        .map_err(|error| format!("/proc/diskstats: {error}"))?;
    let used = found.0.into_iter().filter(|disk| disk.reads + disk.writes > 0);
    let whole = used.filter(|disk| is_whole(&disk.name));
    let disk = |disk: procfs_core::DiskStat| Disk {
        counters: DiskCounters {
            reads: Counter(disk.reads),
            read_bytes: Counter(disk.sectors_read.saturating_mul(SECTOR)),
            writes: Counter(disk.writes),
            written_bytes: Counter(disk.sectors_written.saturating_mul(SECTOR)),
            busy_us: Counter(disk.time_in_progress.saturating_mul(1_000)),
        },
        name: disk.name,
    };
    Ok(whole.map(disk).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_only_whole_disks_with_activity() {
        let text = "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n \
                    254       0 vda 600 5 8000 70 40 3 1600 90 0 120 160 0 0 0 0 9 9\n \
                    254       1 vda1 500 5 7000 70 40 3 1600 90 0 120 160\n";
        let found = disks(text, |name| name != "vda1").unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].name, "vda");
        let counted = found[0].counters;
        assert_eq!((counted.reads, counted.read_bytes), (Counter(600), Counter(8_000 * 512)));
        assert_eq!((counted.written_bytes, counted.busy_us), (Counter(819_200), Counter(120_000)));
    }
}
