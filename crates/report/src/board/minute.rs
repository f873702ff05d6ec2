//! The figures of a load over its last minute.

use sixmark_sheet::board::{BoardColumn, LastMinute};
use sixmark_units::quantity::{duration_us, write_count};

use sixmark_tally::tally::SliceTally;

/// The length below which the rest of a second is not shown, in nanoseconds.
const SHORT_NS: u64 = 500_000_000;

/// The figures of a load over its last minute.
#[derive(Debug, Default)]
pub struct LoadMinute {
    rate: LastMinute,
    p50: LastMinute,
    p99: LastMinute,
}

impl LoadMinute {
    /// Adds second number `second` of a load, from 0, which was `length_ns` nanoseconds long. What is
    /// left of a load after its last whole second is omitted: its rate is of a few exchanges.
    pub fn push(&mut self, of: &SliceTally, second: u64, length_ns: u64) {
        if second > 0 && length_ns < SHORT_NS {
            return;
        }
        let seconds = (length_ns as f64 / 1e9).max(1e-3);
        let quantile = |q| of.response.quantile(q).map(|ns| ns as f64 / 1e3);
        self.rate.push(Some(of.completed as f64 / seconds));
        self.p50.push(quantile(0.5));
        self.p99.push(quantile(0.99));
    }

    /// Adds a second in which there was no such load.
    pub fn push_none(&mut self) {
        self.rate.push(None);
        self.p50.push(None);
        self.p99.push(None);
    }

    /// Returns the column of a page with these figures.
    pub fn column(&self, name: String) -> BoardColumn {
        let per_s = |value: f64| write_count(value.round() as u64);
        let traces = vec![
            self.rate.trace("requests/s", per_s),
            self.p50.trace("response median", duration_us),
            self.p99.trace("response p99", duration_us),
        ];
        BoardColumn { name, traces }
    }
}
