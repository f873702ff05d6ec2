//! Why the effects of pairs scatter: the largest cause that was measured on this machine.

use sixmark_document::verdict::Verdict;
use sixmark_tally::timed_phase::TimePoint;
use sixmark_vitals::engine::ProcessorsUse;

use crate::comparison_result::{Block, BlockCpu, ComparisonResult};
use crate::undecided::UndecidedCause;

/// A smaller share of the time in which sixmark stood still is no cause.
const STALLED: f64 = 0.005;

/// A cause of noise that was measured on this machine, with what it was measured by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NoiseCause {
    /// The processors were busy for this share of the time.
    Busy(f64),
    /// The hypervisor took this share of processor time.
    Stolen(f64),
    /// This share of a side's median wait is this machine's own delay.
    OwnDelay(f64),
    /// sixmark stood still for this share of the time.
    Stalled(f64),
}

impl NoiseCause {
    /// Returns how much longer this makes what takes one second.
    fn lengthens_by(self) -> f64 {
        match self {
            // The wait for a processor, by the formula for one queue (M/M/1).
            NoiseCause::Busy(share) => share / (1.0 - share.min(0.99)),
            NoiseCause::Stolen(share)
            | NoiseCause::OwnDelay(share)
            | NoiseCause::Stalled(share) => share / (1.0 - share.min(0.99)),
        }
    }
}

/// Returns the largest cause, if the interval of the primary metric is too wide. `None` if it is
/// not, or no cause was measured that is large enough.
pub(crate) fn largest_cause(result: &ComparisonResult) -> Option<NoiseCause> {
    let primary = result.comparison.metrics.first()?;
    let noisy = [None, Some(UndecidedCause::Noise), Some(UndecidedCause::NoiseFloor)];
    if primary.verdict != Verdict::Inconclusive || !noisy.contains(&primary.cause) {
        return None;
    }
    let causes = [
        mean(result, |cpu| cpu.machine_busy)
            .filter(|share| *share >= ProcessorsUse::NOISY_BUSY)
            .map(NoiseCause::Busy),
        mean(result, |cpu| cpu.machine_stolen)
            .filter(|share| *share >= ProcessorsUse::NOISY_STOLEN)
            .map(NoiseCause::Stolen),
        own_delay(result).map(NoiseCause::OwnDelay),
        stalled(result).map(NoiseCause::Stalled),
    ];
    let by_size = |a: &NoiseCause, b: &NoiseCause| a.lengthens_by().total_cmp(&b.lengthens_by());
    causes.into_iter().flatten().max_by(by_size)
}

/// Returns the mean of a share over the blocks that have it.
fn mean(result: &ComparisonResult, of: fn(&BlockCpu) -> Option<f64>) -> Option<f64> {
    let compared = |block: &&Block| block.pair.is_some();
    let shares = result.blocks.iter().filter(compared).filter_map(|block| of(&block.cpu));
    let (sum, count) = shares.fold((0.0, 0), |(sum, count), share| (sum + share, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// Returns this machine's share of the median wait, of the side of which it is larger, if it is
/// larger than the margin.
fn own_delay(result: &ComparisonResult) -> Option<f64> {
    let share = |side: &crate::comparison_result::ComparedSide| {
        let of = &side.figures;
        let delay = of.wait_sample.as_ref()?.delay_us_of(|waits| TimePoint::P50.value_us(waits))?;
        let wait = TimePoint::P50.value_us(&of.wait_us).filter(|wait| *wait > 0.0)?;
        Some((delay / wait).min(1.0))
    };
    let shares = [&result.sides.a, &result.sides.b].into_iter().filter_map(share);
    shares.max_by(f64::total_cmp).filter(|share| *share > result.comparison.settings.margin)
}

fn stalled(result: &ComparisonResult) -> Option<f64> {
    let share = result.generator.stalled_s / result.elapsed_s;
    (share >= STALLED).then_some(share.min(1.0))
}

#[cfg(test)]
mod tests {
    use sixmark_document::provenance::Ended;

    use super::*;
    use crate::comparison_result::SideName;
    use crate::fixture::comparison_result;

    /// Returns a noisy result whose blocks had these shares of processor time.
    fn noisy(busy: f64, stolen: f64) -> ComparisonResult {
        let mut result = comparison_result();
        result.comparison.metrics[0].verdict = Verdict::Inconclusive;
        result.comparison.metrics[0].cause = Some(UndecidedCause::Noise);
        let block = |pair| Block {
            side: SideName::A,
            pair,
            started_s: 0.0,
            elapsed_s: 1.0,
            ended: Ended::Complete,
            figures: result.sides.a.figures.clone(),
            busiest: 0.5,
            saturated: false,
            counts: None,
            cpu: BlockCpu {
                machine_busy: pair.map(|_| busy),
                machine_stolen: pair.map(|_| stolen),
                ..BlockCpu::default()
            },
        };
        result.blocks = [None, Some(0), Some(1)].map(block).to_vec();
        for side in [&mut result.sides.a, &mut result.sides.b] {
            side.figures.wait_sample = None;
        }
        result
    }

    #[test]
    fn names_the_largest_cause_of_noise() {
        assert_eq!(largest_cause(&noisy(0.97, 0.02)), Some(NoiseCause::Busy(0.97)));
        assert_eq!(largest_cause(&noisy(0.5, 0.02)), Some(NoiseCause::Stolen(0.02)));
        assert_eq!(largest_cause(&noisy(0.5, 0.0)), None);
        let mut stalled = noisy(0.5, 0.01);
        stalled.generator.stalled_s = stalled.elapsed_s * 0.1;
        assert_eq!(largest_cause(&stalled), Some(NoiseCause::Stalled(0.1)));
    }

    #[test]
    fn names_no_cause_for_a_decided_metric() {
        let mut decided = noisy(0.97, 0.02);
        decided.comparison.metrics[0].verdict = Verdict::Worse;
        assert_eq!(largest_cause(&decided), None);
    }
}
