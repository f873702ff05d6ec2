//! What a test of a claim found, and the answer that follows from it.

use sixmark_stats::StudentEstimate;

use crate::spec::{ClaimBounds, Relation};
use crate::study_result::{ClaimEstimate, ClaimScale, ExchangeCount};

/// The confidence of the intervals that are shown.
const CONFIDENCE: f64 = 0.95;

/// What a test of a claim found on one set of figures.
pub(super) struct TestedClaim {
    pub(super) outcome: TestOutcome,
    /// The figures in words.
    pub(super) figures: String,
    pub(super) blocks: u32,
    pub(super) estimate: Option<ClaimEstimate>,
    pub(super) count: Option<ExchangeCount>,
    /// Whether the figures as they are agree with the claim.
    pub(super) agrees: Option<bool>,
}

impl TestedClaim {
    /// Returns a claim that can't be tested, with the reason in a clause.
    pub(super) fn untested(why: impl Into<String>) -> TestedClaim {
        TestedClaim {
            outcome: TestOutcome::Undecided(why.into()),
            figures: String::new(),
            blocks: 0,
            estimate: None,
            count: None,
            agrees: None,
        }
    }
}

/// The outcome of a test.
pub(super) enum TestOutcome {
    /// Counts decide: true if the claim holds.
    Counted(bool),
    /// A test gives p-values.
    Tails(ClaimTails),
    /// There is nothing to decide by, for this reason.
    Undecided(String),
    /// The sides can't be compared, for this reason.
    Unlike(String),
}

/// One-sided p-values: each is the probability of such figures if the opposite were true.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ClaimTails {
    /// Small if the claim holds.
    pub(super) holds: f64,
    /// Small if it does not hold.
    pub(super) fails: f64,
    /// The margin in percent, if `fails` shows that there is no difference beyond it, and not that
    /// the difference is the opposite one.
    pub(super) no_difference: Option<f64>,
}

impl ClaimTails {
    pub(super) fn new(holds: f64, fails: f64) -> ClaimTails {
        ClaimTails { holds, fails, no_difference: None }
    }

    /// Returns the two-sided p-value.
    pub(super) fn p(self) -> f64 {
        (2.0 * self.holds.min(self.fails)).min(1.0)
    }

    /// Judges the logarithm of a ratio, or a difference, by the claimed relation.
    pub(super) fn of_relation(relation: Relation, of: StudentEstimate) -> ClaimTails {
        match relation {
            Relation::Higher(margin) => ClaimTails::of_direction(of, Some(margin)),
            Relation::Lower(margin) => {
                let turned = StudentEstimate { value: -of.value, ..of };
                ClaimTails::of_direction(turned, Some(margin))
            }
            Relation::Equal(margin) => {
                let margin = log_margin(margin);
                let holds = of.above(-margin).max(of.below(margin));
                ClaimTails::new(holds, of.above(margin).min(of.below(-margin)))
            }
            Relation::Within(bounds) => ClaimTails::of_bounds(of, bounds),
        }
    }

    /// Judges whether an estimate is above 0. It is not if it is shown to be below 0, or if it is
    /// not shown to differ from 0 and is shown to be within the margin in percent.
    pub(super) fn of_direction(of: StudentEstimate, margin: Option<f64>) -> ClaimTails {
        let (holds, below) = (of.above(0.0), of.below(0.0));
        let within = margin.map(log_margin).map(|m| of.above(-m).max(of.below(m)));
        let none = within.filter(|_| holds > (1.0 - CONFIDENCE) / 2.0).unwrap_or(1.0);
        let no_difference = margin.filter(|_| none < below);
        ClaimTails { no_difference, ..ClaimTails::new(holds, below.min(none)) }
    }

    fn of_bounds(of: StudentEstimate, bounds: ClaimBounds) -> ClaimTails {
        let [least, most] = [bounds.at_least, bounds.at_most].map(|bound| bound.map(f64::ln));
        let holds = [least.map(|l| of.above(l)), most.map(|m| of.below(m))];
        let fails = [least.map(|l| of.below(l)), most.map(|m| of.above(m))];
        ClaimTails::new(
            holds.into_iter().flatten().fold(0.0, f64::max),
            fails.into_iter().flatten().fold(1.0, f64::min),
        )
    }
}

/// Returns the logarithm of a ratio that is a margin in percent away from 1.
pub(super) fn log_margin(percent: f64) -> f64 {
    (percent / 100.0).ln_1p()
}

/// Returns the ratio of which this is the estimated logarithm, with its interval.
pub(super) fn ratio_of(of: StudentEstimate) -> ClaimEstimate {
    let interval = of.interval(CONFIDENCE).ok();
    let [low, high] = [interval.map(|i| i.low.exp()), interval.map(|i| i.high.exp())];
    ClaimEstimate { of: ClaimScale::Ratio, value: of.value.exp(), low, high }
}

/// Returns the estimated difference, with its interval.
pub(super) fn difference_of(of: StudentEstimate) -> ClaimEstimate {
    let interval = of.interval(CONFIDENCE).ok();
    let [low, high] = [interval.map(|i| i.low), interval.map(|i| i.high)];
    ClaimEstimate { of: ClaimScale::Difference, value: of.value, low, high }
}
