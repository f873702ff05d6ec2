//! The total change over many samples.

use super::host::CpuTimes;
use super::sample::VitalsSample;

/// The sum of the changes between consecutive samples. A counter that was reset in between does not
/// reduce the sum.
#[derive(Clone, Debug, Default)]
pub struct Total {
    last: Option<VitalsSample>,
    /// The last sample that included sockets.
    sockets: Option<VitalsSample>,
    /// The change since the first sample; `None` before the second.
    pub change: Option<VitalsSample>,
    /// The number of counter resets.
    pub resets: u64,
    /// The largest share (0 to 1) of busy processor time between two consecutive samples, over all
    /// processors. Samples less than 90 ms apart are not considered.
    pub busiest: f64,
    /// The same for the busiest single processor.
    pub busiest_core: f64,
}

impl Total {
    /// Adds the next sample. Returns the change since the first sample, or `None` if this is the
    /// first.
    pub fn see(&mut self, sample: &VitalsSample) -> Option<&VitalsSample> {
        let Some(last) = self.last.replace(sample.clone()) else {
            self.sockets = sample.network.sockets.is_some().then(|| sample.clone());
            return None;
        };
        let mut step = sample.since(&last, &mut self.resets);
        self.of_sockets(sample, &mut step);
        self.look_at(&step);
        match &mut self.change {
            Some(sum) => sum.add(&step),
            sum @ None => *sum = Some(step),
        }
        self.change.as_ref()
    }

    /// Replaces the change of the sockets, which may be read less often than the rest, by the
    /// change since they were last read.
    fn of_sockets(&mut self, sample: &VitalsSample, step: &mut VitalsSample) {
        if sample.network.sockets.is_none() {
            return;
        }
        if let Some(before) = self.sockets.replace(sample.clone()) {
            let mut spare = 0;
            step.network.sockets = sample.network.since(&before.network, &mut spare).sockets;
        }
    }

    fn look_at(&mut self, step: &VitalsSample) {
        let share = |cpu: &CpuTimes| cpu.busy_share().unwrap_or(0.0);
        // Processor time has a resolution of 10 ms, so the share over a shorter time is too
        // inaccurate.
        if step.since_us >= 90_000 {
            self.busiest = self.busiest.max(share(&step.host.cpu));
            let cores = step.host.cores.iter().map(share);
            self.busiest_core = cores.fold(self.busiest_core, f64::max);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counter::Counter;
    use crate::network::Sockets;
    use sixmark_units::family::{Family, PerFamily};

    fn sample(at: u64, in_packets: u64, again: Option<u64>) -> VitalsSample {
        let mut sample = VitalsSample { at_us: at, since_us: at, ..VitalsSample::default() };
        sample.network.families[Family::Ipv6].in_packets = Counter(in_packets);
        sample.network.sockets = again.map(|again| {
            let mut sockets = PerFamily::<Sockets>::default();
            sockets.ipv6.counters.retransmitted = Counter(again);
            sockets
        });
        sample.host.cpu.user_us = Counter(at);
        sample
    }

    #[test]
    fn sums_changes_across_a_counter_reset() {
        let mut total = Total::default();
        assert!(total.see(&sample(0, 100, None)).is_none());
        for (at, packets) in [(100_000, 150), (200_000, 20), (300_000, 30)] {
            let _ = total.see(&sample(at, packets, None));
        }
        let change = total.change.unwrap();
        assert_eq!(change.network.families.ipv6.in_packets, Counter(50 + 20 + 10));
        assert_eq!((total.resets, change.since_us), (1, 300_000));
        assert_eq!(change.host.cpu.busy_us(), 300_000);
        assert!((total.busiest - 1.0).abs() < 1e-9);
    }

    #[test]
    fn loses_no_counts_of_sockets_that_are_read_less_often() {
        let mut total = Total::default();
        for (at, again) in [(0, Some(5)), (1, None), (2, Some(9)), (3, None), (4, Some(10))] {
            let _ = total.see(&sample(at, 0, again));
        }
        let sockets = total.change.unwrap().network.sockets.unwrap();
        assert_eq!(sockets.ipv6.counters.retransmitted, Counter(5));
    }
}
