//! Merging several loads into one.

use sixmark_document::provenance::Ended;
use sixmark_sys::usage::Usage;
use sixmark_tally::client_records::ClientRecords;
use sixmark_tally::clocks::Clocks;
use sixmark_tally::interval::Interval;
use sixmark_tally::lapses::Lapses;
use sixmark_tally::tally::Tally;

use super::{Loaded, classify_in_flight, worst};

/// Merges consecutive loads. The seconds of each load are numbered after those of the loads before
/// it.
pub fn one_after_the_other<'a>(loads: impl Iterator<Item = &'a Loaded>) -> Loaded {
    let mut one = nothing();
    for (at, load) in loads.enumerate() {
        let seconds = one.intervals.last().map_or(0, |interval| interval.second + 1);
        let later = |of: &Interval| Interval { second: of.second + seconds, ..of.clone() };
        one.intervals.extend(load.intervals.iter().map(later));
        one.busiest = one.busiest.max(load.busiest);
        one.tally += &load.tally;
        one.clocks += &load.clocks;
        one.lapses.add_later(&load.lapses);
        one.elapsed_ns += load.elapsed_ns;
        one.driver = load.driver;
        one.usage.user_s += load.usage.user_s;
        one.usage.system_s += load.usage.system_s;
        one.usage.peak_rss_bytes = one.usage.peak_rss_bytes.max(load.usage.peak_rss_bytes);
        if at == 0 || load.ended != Ended::Hopeless {
            one.ended = load.ended;
        }
    }
    one
}

/// Merges the shares of one load, which ran at the same time. `intervals` are the seconds of all
/// shares together.
pub fn at_the_same_time<'a>(
    shares: impl Iterator<Item = &'a Loaded> + Clone,
    intervals: Vec<Interval>,
) -> Loaded {
    let mut one =
        Loaded { intervals, ended: worst(shares.clone().map(|share| share.ended)), ..nothing() };
    let times = shares.clone().map(|share| (share.put_off_ns, share.elapsed_ns));
    (one.put_off_ns, one.elapsed_ns) = joined_time(times);
    for share in shares {
        one.busiest = one.busiest.max(share.busiest);
        one.tally += &share.tally;
        one.clocks += &share.clocks;
        one.lapses.add_worker(&share.lapses);
        one.driver = share.driver;
        one.usage.user_s += share.usage.user_s;
        one.usage.system_s += share.usage.system_s;
        // Of several machines, that of the one that used the most memory.
        one.usage.peak_rss_bytes = one.usage.peak_rss_bytes.max(share.usage.peak_rss_bytes);
    }
    classify_in_flight(&mut one);
    one
}

/// Returns when the measurement of parts of one load, which ran at the same time, began after the
/// warm-up, and how long it lasted: from the first beginning to the last end. Each part has both of
/// its own, in nanoseconds; one that never began has no beginning.
pub(crate) fn joined_time(
    parts: impl Iterator<Item = (Option<u64>, u64)> + Clone,
) -> (Option<u64>, u64) {
    let first = parts.clone().filter_map(|(put_off, _)| put_off).min();
    let ends = parts.map(|(put_off, elapsed)| put_off.unwrap_or(0).saturating_add(elapsed));
    (first, ends.max().unwrap_or(0).saturating_sub(first.unwrap_or(0)))
}

fn nothing() -> Loaded {
    Loaded {
        tally: Tally::default(),
        intervals: Vec::new(),
        tenths: Vec::new(),
        busiest: 0.0,
        elapsed_ns: 0,
        put_off_ns: None,
        begun_late_ns: 0,
        ended: Ended::Complete,
        driver: "none",
        clocks: Clocks::default(),
        lapses: Lapses::default(),
        usage: Usage::default(),
        client_records: ClientRecords::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_lasts_from_the_first_beginning_to_the_last_end() {
        let time = |parts: &[(Option<u64>, u64)]| joined_time(parts.iter().copied());
        assert_eq!(time(&[]), (None, 0));
        assert_eq!(time(&[(Some(0), 9), (Some(0), 7)]), (Some(0), 9));
        assert_eq!(time(&[(Some(5), 10), (Some(3), 10)]), (Some(3), 12));
        // A part without a request does not move the beginning to the end of the warm-up.
        assert_eq!(time(&[(None, 0), (Some(5), 10)]), (Some(5), 10));
        assert_eq!(time(&[(Some(u64::MAX), u64::MAX), (Some(1), 1)]), (Some(1), u64::MAX - 1));
    }
}
