//! This machine's own delay in waits and responses. Where it alone may be what differs between the
//! sides, there is no verdict.

use sixmark_document::verdict::Verdict;
use sixmark_tally::family_result::FamilyResult;
use sixmark_tally::metric::Metric;
use sixmark_tally::timed_phase::{TimePoint, TimedPhase};
use sixmark_units::quantity::duration_us;

use crate::undecided::UndecidedCause;
use crate::{Compared, Comparison, Estimate};

/// A difference of delays up to this many microseconds is not told.
const LEAST_APART_US: f64 = 5.0;

/// The delays of both sides in one quantile of the wait, which differ by more than the margin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DelaysApart {
    /// Side A's and side B's, microseconds.
    pub(crate) us: [f64; 2],
}

/// Returns this machine's delays in a quantile of the waits of both sides if they differ by more than
/// 5 us and `margin`, a share of the shorter wait.
pub(crate) fn delays_apart(
    sides: [&FamilyResult; 2],
    point: TimePoint,
    margin: f64,
) -> Option<DelaysApart> {
    let [a, b] = sides.map(|of| {
        let delay = of.wait_sample.as_ref()?.delay_us_of(|waits| point.value_us(waits))?;
        Some((delay, point.value_us(&of.wait_us)?))
    });
    let ((a, wait_a), (b, wait_b)) = (a?, b?);
    let apart = (a - b).abs();
    let differ = apart > LEAST_APART_US && apart > margin * wait_a.min(wait_b);
    differ.then_some(DelaysApart { us: [a, b] })
}

/// Withdraws verdicts on waits and responses that this machine's own delay may have caused: those
/// that the difference of the delays of `sides`, A's and B's, would change.
#[must_use]
pub fn with_own_delays(mut comparison: Comparison, sides: [&FamilyResult; 2]) -> Comparison {
    let margin = comparison.settings.margin;
    for compared in &mut comparison.metrics {
        let Metric::Time(TimedPhase::Wait | TimedPhase::Response, point) = compared.metric else {
            continue;
        };
        if let Some(apart) = delays_apart(sides, point, margin) {
            doubt(compared, apart, margin);
        }
    }
    comparison
}

fn doubt(compared: &mut Compared, apart: DelaysApart, margin: f64) {
    let Some(without) = ratio_without(compared, apart) else { return };
    let stands = match compared.verdict {
        Verdict::Better => without.high < 1.0,
        Verdict::Worse => without.low > 1.0,
        Verdict::Equivalent => without.value.ln().abs() <= margin.ln_1p(),
        _ => true,
    };
    if !stands {
        let [a, b] = apart.us.map(duration_us);
        compared.verdict = Verdict::Inconclusive;
        compared.cause = Some(UndecidedCause::OwnDelay);
        compared.reason =
            Some(format!("this machine's own delay, {a} of A's and {b} of B's, may decide it"));
    }
}

/// Returns the ratio and its interval after the delays are subtracted from the figures of the sides.
/// `None` if nothing is left of a figure, or without a ratio.
fn ratio_without(compared: &Compared, apart: DelaysApart) -> Option<Estimate> {
    let (ratio, [delay_a, delay_b]) = (compared.ratio?, apart.us);
    let rest = |figure: f64, delay: f64| (figure > delay).then(|| (figure - delay) / figure);
    let factor = rest(compared.a?, delay_a)? / rest(compared.b?, delay_b)?;
    Some(Estimate {
        value: ratio.value * factor,
        low: ratio.low * factor,
        high: ratio.high * factor,
    })
}

#[cfg(test)]
mod tests {
    use sixmark_tally::counted::family_result;
    use sixmark_tally::tally::FamilyTally;

    use super::*;
    use crate::fixture;

    /// A side whose median wait is `wait` us, of which `late` us are this machine's.
    fn side([wait, late]: [u64; 2]) -> FamilyResult {
        let mut tally = FamilyTally::default();
        for _ in 0..100 {
            tally.phases.wait.record(wait * 1_000);
            tally.wait_sample.record(wait * 1_000, late * 1_000);
        }
        family_result(&tally, Vec::new(), 1.0, false)
    }

    /// The verdict on the median response, which was `before` for the given figures, interval and
    /// delays.
    fn judged(before: Verdict, [a, b]: [[u64; 2]; 2], [low, high]: [f64; 2]) -> Compared {
        let mut comparison = fixture::comparison();
        let of = &mut comparison.metrics[0];
        let value = a[0] as f64 / b[0] as f64;
        (of.a, of.b, of.verdict) = (Some(a[0] as f64), Some(b[0] as f64), before);
        of.ratio = Some(Estimate { value, low, high });
        let [a, b] = [a, b].map(side);
        with_own_delays(comparison, [&a, &b]).metrics.swap_remove(0)
    }

    #[test]
    fn does_not_decide_a_difference_due_to_the_machines_own_delays() {
        let of = judged(Verdict::Worse, [[620, 230], [420, 30]], [1.4, 1.55]);
        assert_eq!((of.verdict, of.cause), (Verdict::Inconclusive, Some(UndecidedCause::OwnDelay)));
        let said = of.reason.unwrap();
        assert!(said.contains("230 us of A's and 30.0 us of B's"), "{said}");
        let of = judged(Verdict::Better, [[420, 30], [620, 230]], [0.65, 0.7]);
        assert_eq!(of.verdict, Verdict::Inconclusive);
    }

    #[test]
    fn a_difference_that_remains_without_the_delays_stands() {
        let of = judged(Verdict::Worse, [[1_620, 230], [420, 30]], [3.7, 4.0]);
        assert_eq!((of.verdict, of.cause), (Verdict::Worse, None));
        let of = judged(Verdict::Worse, [[620, 100], [420, 100]], [1.4, 1.55]);
        assert_eq!(of.verdict, Verdict::Worse);
    }

    #[test]
    fn sides_that_only_the_delays_make_equal_are_not_equivalent() {
        let of = judged(Verdict::Equivalent, [[500, 300], [500, 20]], [0.99, 1.01]);
        assert_eq!(of.cause, Some(UndecidedCause::OwnDelay));
        let of = judged(Verdict::Equivalent, [[500, 300], [500, 298]], [0.99, 1.01]);
        assert_eq!(of.verdict, Verdict::Equivalent);
    }
}
