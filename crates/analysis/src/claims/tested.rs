//! What a test of a claim found, and the answer that follows from it.

use sixmark_stats::StudentEstimate;

use super::judged::PossibleAnswer;
use super::sample::ClaimSample;
use sixmark_design::study_result::{ClaimAnswer, ClaimEstimate, ClaimScale, ExchangeCount};

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
    /// Returns a claim whose figures allow no test, with the reason in a clause.
    pub(super) fn undecided(why: impl Into<String>) -> TestedClaim {
        let outcome = TestOutcome::Undecided(why.into());
        TestedClaim { outcome, ..TestedClaim::untested("") }
    }

    /// Returns a claim that can't be tested, with the reason in a clause.
    pub(super) fn untested(why: impl Into<String>) -> TestedClaim {
        TestedClaim {
            outcome: TestOutcome::Untested(why.into()),
            figures: String::new(),
            blocks: 0,
            estimate: None,
            count: None,
            agrees: None,
        }
    }

    /// Returns the same figures without a test.
    pub(super) fn without_test(self) -> TestedClaim {
        TestedClaim { outcome: TestOutcome::Untested(String::new()), ..self }
    }
}

/// The outcome of a test.
pub(super) enum TestOutcome {
    /// Counts decide: true if the claim holds.
    Counted(bool),
    /// A test gives p-values.
    Judged(JudgedClaim),
    /// The figures allow no test, for this reason.
    Undecided(String),
    /// There are no figures to test, for this reason.
    Untested(String),
    /// The sides can't be compared, for this reason.
    Unlike(String),
}

/// The test of a claim: samples, and the answers that they allow.
pub(super) struct JudgedClaim {
    samples: Vec<ClaimSample>,
    judge: Box<ClaimJudge>,
}

/// Returns the answers that samples allow.
type ClaimJudge = dyn Fn(&[ClaimSample]) -> Vec<PossibleAnswer>;

impl JudgedClaim {
    pub(super) fn new(
        samples: Vec<ClaimSample>,
        judge: impl Fn(&[ClaimSample]) -> Vec<PossibleAnswer> + 'static,
    ) -> JudgedClaim {
        JudgedClaim { samples, judge: Box::new(judge) }
    }

    pub(super) fn samples(&self) -> &[ClaimSample] {
        &self.samples
    }

    pub(super) fn possible(&self) -> Vec<PossibleAnswer> {
        (self.judge)(&self.samples)
    }

    /// Returns true if the claim can't be shown to hold, because levels have no figures, and nothing
    /// else is shown even before a correction.
    pub(super) fn is_open(&self) -> bool {
        let possible = self.possible();
        let holds = possible.iter().find(|one| one.answer == ClaimAnswer::Holds);
        holds.is_none_or(|holds| holds.p >= 1.0) && least_p(&possible) > 1.0 - CONFIDENCE
    }

    /// Returns the least p-value if there were so many times as many blocks, with the same means
    /// and the same scatter.
    fn p_of_times(&self, times: f64) -> f64 {
        let longer = self.samples.iter().map(|of| of.longer(times));
        least_p(&(self.judge)(&longer.collect::<Vec<_>>()))
    }

    /// Returns about how many more blocks would bring the least p-value to `level`; `None` if more
    /// than [`MOST_TIMES`] as many as there are would be needed.
    pub(super) fn more_blocks(&self, blocks: u32, level: f64) -> Option<u32> {
        let decides = |times: f64| self.p_of_times(times) <= level;
        let mut high = 2.0;
        while !decides(high) {
            high *= 2.0;
            if high > MOST_TIMES {
                return None;
            }
        }
        let mut low = high / 2.0;
        for _ in 0..10 {
            let middle = f64::midpoint(low, high);
            if decides(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        Some(((f64::from(blocks) * (high - 1.0)).ceil() as u32).max(1))
    }
}

/// How many times the blocks a forecast may need at most.
pub const MOST_TIMES: f64 = 128.0;

/// Returns the least p-value of answers.
pub(super) fn least_p(possible: &[PossibleAnswer]) -> f64 {
    possible.iter().map(|one| one.p).fold(1.0, f64::min)
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
