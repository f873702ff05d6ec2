//! Parses the files of a process.

use procfs_core::process::{Io, Stat};
use procfs_core::{FromBufRead as _, FromRead as _};

use super::TICK_US;
use crate::counter::Counter;
use crate::group::{GroupCounters, ObservedProcess};

/// Parses `/proc/PID/stat`. Returns `None` if it can't be parsed, for example because the process
/// has ended.
pub fn process(text: &str) -> Option<ObservedProcess> {
    let found = Stat::from_read(text.as_bytes()).ok()?;
    // The times of children are signed in procfs-core; negative values are taken as 0.
    let us = |own: u64, waited: i64| {
        let ticks = own.saturating_add(u64::try_from(waited).unwrap_or(0));
        Counter(ticks.saturating_mul(TICK_US))
    };
    Some(ObservedProcess {
        pid: found.pid,
        began: found.starttime,
        parent: found.ppid,
        threads: u64::try_from(found.num_threads).unwrap_or(0),
        resident_pages: found.rss,
        used: GroupCounters {
            user_us: us(found.utime, found.cutime),
            system_us: us(found.stime, found.cstime),
            major_faults: Counter(found.majflt.saturating_add(found.cmajflt)),
            ..GroupCounters::default()
        },
        name: found.comm,
    })
}

/// Returns the bytes read from disks and written to disks (`/proc/PID/io`), including those of
/// children that were waited for, or `None` if the file could not be read.
pub fn io(text: &str) -> Option<[Counter; 2]> {
    let found = Io::from_buf_read(text.as_bytes()).ok()?;
    Some([found.read_bytes, found.write_bytes].map(Counter))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "4711 (nginx: (w) x) S 4710 4710 4710 0 -1 4194624 291 0 5 2 1200 340 10 20 20 \
        0 3 0 987654 12345678 1500 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 \
        0 0 0 0 0 0\n";

    #[test]
    fn parses_a_process_with_any_name() {
        let found = process(STAT).unwrap();
        assert_eq!((found.pid, found.parent, found.began), (4_711, 4_710, 987_654));
        assert_eq!(
            (found.name.as_str(), found.threads, found.resident_pages),
            ("nginx: (w) x", 3, 1_500)
        );
        assert_eq!(found.used.user_us, Counter(12_100_000));
        assert_eq!(found.used.system_us, Counter(3_600_000));
        assert_eq!(found.used.major_faults, Counter(7));
        assert_eq!(process("4711 (nginx"), None);
        assert_eq!(process(""), None);
    }

    #[test]
    fn reads_the_disk_bytes_of_a_process() {
        let text = "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 4096\nwrite_bytes: 8192\n\
                    cancelled_write_bytes: 0\n";
        assert_eq!(io(text), Some([Counter(4_096), Counter(8_192)]));
        assert_eq!(io(""), None);
    }
}
