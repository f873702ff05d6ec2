//! Parses the counters of memory and paging.

use procfs_core::{FromBufRead as _, Meminfo, VmStat};

use crate::counter::Counter;
use crate::host::{Memory, Paging};

/// Parses `/proc/meminfo`.
///
/// # Errors
/// Returns a one-line error if the text does not have the kernel's format.
pub fn memory(text: &str) -> Result<Memory, String> {
    let found = Meminfo::from_buf_read(text.as_bytes())
        .map_err(|error| format!("/proc/meminfo: {error}"))?;
    Ok(Memory {
        total_bytes: found.mem_total,
        free_bytes: found.mem_free,
        available_bytes: found.mem_available,
        buffers_bytes: found.buffers,
        cached_bytes: found.cached,
        dirty_bytes: found.dirty,
        swap_total_bytes: found.swap_total,
        swap_free_bytes: found.swap_free,
    })
}

/// Parses the paging counters in `/proc/vmstat`.
///
/// # Errors
/// Returns a one-line error if the text does not have the kernel's format.
pub fn paging(text: &str) -> Result<Paging, String> {
    let found =
        VmStat::from_buf_read(text.as_bytes()).map_err(|error| format!("/proc/vmstat: {error}"))?;
    let of = |name: &str| found.0.get(name).map_or(0, |&number| number.max(0).unsigned_abs());
    // These two counters are in KiB (mm/vmstat.c halves the number of sectors).
    let kib = |name| Counter(of(name).saturating_mul(1_024));
    Ok(Paging {
        paged_in_bytes: kib("pgpgin"),
        paged_out_bytes: kib("pgpgout"),
        swapped_in_pages: Counter(of("pswpin")),
        swapped_out_pages: Counter(of("pswpout")),
        faults: Counter(of("pgfault")),
        major_faults: Counter(of("pgmajfault")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMINFO: &str = "MemTotal:       24551568 kB\nMemFree:          967532 kB\n\
        MemAvailable:   23456789 kB\nBuffers:          123456 kB\nCached:         22345678 kB\n\
        SwapCached:            0 kB\nActive:          1 kB\nInactive:        1 kB\n\
        SwapTotal:       2097148 kB\nSwapFree:        2097140 kB\nDirty:             58700 kB\n\
        Writeback:             0 kB\nMapped: 1 kB\nSlab: 1 kB\nCommitted_AS: 1 kB\n\
        VmallocTotal:   34359738367 kB\nVmallocUsed: 1 kB\nVmallocChunk: 0 kB\n";

    #[test]
    fn memory_is_in_bytes() {
        let found = memory(MEMINFO).unwrap();
        assert_eq!(found.total_bytes, 24_551_568 * 1_024);
        assert_eq!(found.available_bytes, Some(23_456_789 * 1_024));
        assert_eq!((found.dirty_bytes, found.swap_free_bytes), (58_700 * 1_024, 2_097_140 * 1_024));
        assert!(memory("MemTotal: x kB\n").is_err());
    }

    #[test]
    fn paging_is_read_by_name() {
        let text = "nr_free_pages 314656\npgpgin 100\npgpgout 7\npswpin 1\npswpout 2\npgfault 3\n\
                    pgmajfault 4\nnr_foll_pin -1\n";
        let found = paging(text).unwrap();
        assert_eq!(
            (found.paged_in_bytes, found.paged_out_bytes),
            (Counter(102_400), Counter(7_168))
        );
        assert_eq!((found.swapped_out_pages, found.major_faults), (Counter(2), Counter(4)));
    }
}
