//! When a load begins and ends.

use sixmark_plan::plan::LoadPlan;

/// When the load of a worker begins and ends, in nanoseconds of the driver's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LoadTimes {
    /// When the load begins, with its warm-up.
    pub(crate) begin: u64,
    /// When the measurement begins.
    pub(crate) measure_from: u64,
    /// When the load ends; `u64::MAX` if its number of requests ends it.
    pub(crate) end: u64,
}

impl LoadTimes {
    /// Returns the times of a load that begins at `begin`.
    pub(crate) fn from_begin(load: &LoadPlan, begin: u64) -> LoadTimes {
        let measure_from = begin + load.warmup.as_nanos() as u64;
        let end =
            load.duration.map_or(u64::MAX, |duration| measure_from + duration.as_nanos() as u64);
        LoadTimes { begin, measure_from, end }
    }
}
