//! How much of the waits is this machine's own delay: the waits of a sample of exchanges by two
//! clocks. The client reads a response when it is woken, and the kernel has a timestamp of when the
//! response arrived. What lies between is work of the client and of other programs.

use serde::{Deserialize, Serialize};

use crate::tally_part::tally_parts;
use sixmark_document::timing::{Summary, Timing};
use sixmark_document::untrusted::is_default;

/// A delay is told if it exceeds this many microseconds plus [`TOLD_SHARE`] of the time shown.
const TOLD_US: f64 = 5.0;
/// See [`TOLD_US`].
const TOLD_SHARE: f64 = 0.05;
/// The sample describes a median that its own differs from by at most this share.
const UNLIKE_SHARE: f64 = 0.25;
/// The fewest exchanges whose medians are told.
const FEWEST: u64 = 20;

/// The waits of the exchanges of one family whose responses have a timestamp, by two clocks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WaitSampleTally {
    /// From the request's last byte handed to the kernel to the response's arrival at the kernel.
    #[serde(skip_serializing_if = "is_default")]
    pub kernel: Timing,
    /// The waits of the same exchanges by the client's clock, to when it read the response.
    #[serde(skip_serializing_if = "is_default")]
    pub client: Timing,
}

impl WaitSampleTally {
    /// Records a wait of `wait` nanoseconds by the client's clock, of which the response lay unread
    /// for `late`. A response can't have arrived before its request was sent: then the clock of the
    /// timestamps was set, and nothing is recorded.
    pub fn record(&mut self, wait: u64, late: u64) {
        if let Some(kernel) = wait.checked_sub(late) {
            self.kernel.record(kernel);
            self.client.record(wait);
        }
    }

    /// Returns the figures for a result document; `None` if there are none.
    pub fn result(&self) -> Option<WaitSampleResult> {
        (self.client.count() > 0).then(|| WaitSampleResult {
            kernel_us: self.kernel.summary(),
            client_us: self.client.summary(),
        })
    }
}

tally_parts!(WaitSampleTally { kernel, client });

/// Waits of a sample of exchanges by two clocks. Both are of the same exchanges. Their difference is
/// this machine's own delay, which the family's `wait_us` includes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitSampleResult {
    /// From the request's last byte handed to the kernel to the response's arrival at the kernel, by
    /// the kernel's timestamp of the last segment that was read together with the response's first
    /// byte.
    pub kernel_us: Summary,
    /// From the request's last byte handed to the kernel to the response's first byte read, by
    /// sixmark's clock.
    pub client_us: Summary,
}

/// How much of a median is this machine's own delay, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OwnDelay {
    /// The median shown.
    pub shown_us: f64,
    /// The part of it.
    pub delay_us: f64,
}

impl WaitSampleResult {
    /// Returns by how many microseconds the client's median exceeds the kernel's, or `None` if there
    /// are too few exchanges.
    pub fn delay_us(&self) -> Option<f64> {
        self.delay_us_of(|waits| waits.p50)
    }

    /// Returns by how many microseconds a statistic of the client's waits exceeds that of the
    /// kernel's, or `None` if there are too few exchanges.
    pub fn delay_us_of(&self, statistic: impl Fn(&Summary) -> Option<f64>) -> Option<f64> {
        let WaitSampleResult { kernel_us, client_us } = self;
        let enough = client_us.count >= FEWEST;
        let delay = statistic(client_us)? - statistic(kernel_us)?;
        Some(delay.max(0.0)).filter(|_| enough)
    }

    /// Returns this machine's own delay in the median wait `shown_us`, if it is large enough to be
    /// told.
    pub fn delay_in(&self, shown_us: f64) -> Option<OwnDelay> {
        // The sample is of connections. Where their waits are others than those shown, so may their
        // delays be.
        let alike = (self.client_us.p50? - shown_us).abs() <= UNLIKE_SHARE * shown_us;
        if !alike {
            return None;
        }
        let delay_us = self.delay_us()?.min(shown_us);
        (delay_us > TOLD_US + TOLD_SHARE * shown_us).then_some(OwnDelay { shown_us, delay_us })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(waits: u64, [wait, late]: [u64; 2]) -> WaitSampleTally {
        let mut tally = WaitSampleTally::default();
        (0..waits).for_each(|_| tally.record(wait, late));
        tally
    }

    #[test]
    fn reports_a_delay_above_5_us_plus_a_twentieth_of_the_wait() {
        let told = |late| of(100, [620_000, late]).result().unwrap().delay_in(620.0);
        assert_eq!(told(230_000), Some(OwnDelay { shown_us: 620.0, delay_us: 230.0 }));
        // 5 us + 31 us.
        assert_eq!(told(35_000), None);
        assert!(told(37_000).is_some());
        assert_eq!(told(0), None);
    }

    #[test]
    fn reports_no_delay_if_the_sample_differs_from_the_median() {
        let result = of(100, [620_000, 230_000]).result().unwrap();
        assert!(result.delay_in(800.0).is_some());
        assert_eq!(result.delay_in(900.0), None);
        assert_eq!(result.delay_in(400.0), None);
    }

    #[test]
    fn reports_no_delay_for_too_few_exchanges() {
        let told = |waits| of(waits, [620_000, 230_000]).result().unwrap().delay_us();
        assert_eq!((told(FEWEST - 1), told(FEWEST)), (None, Some(230.0)));
        assert!(WaitSampleTally::default().result().is_none());
    }

    #[test]
    fn ignores_waits_that_a_clock_change_made_negative() {
        assert_eq!(of(1, [1_000, 1_001]), WaitSampleTally::default());
        assert_eq!(of(1, [1_000, 1_000]).kernel.count(), 1);
    }

    #[test]
    fn merging_does_not_depend_on_order() {
        let [a, b] = [of(30, [100_000, 10_000]), of(10, [300_000, 200_000])];
        let [mut one, mut other] = [a.clone(), b.clone()];
        one += &b;
        other += &a;
        assert_eq!(one, other);
        assert_eq!(one.result().unwrap().client_us.count, 40);
    }
}
