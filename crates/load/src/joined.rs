//! Merging consecutive loads into one.

use sixmark_document::provenance::Ended;
use sixmark_record::clocks::Clocks;
use sixmark_record::interval::Interval;
use sixmark_record::lapses::Lapses;
use sixmark_record::tally::Tally;
use sixmark_record::truth::TruthBook;
use sixmark_sys::usage::Usage;

use super::Loaded;

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

fn nothing() -> Loaded {
    Loaded {
        tally: Tally::default(),
        intervals: Vec::new(),
        busiest: 0.0,
        elapsed_ns: 0,
        ended: Ended::Complete,
        driver: "none",
        clocks: Clocks::default(),
        lapses: Lapses::default(),
        usage: Usage::default(),
        book: TruthBook::default(),
    }
}
