//! Looks at the claims of a study that goes on until they are decided: after how many repetitions,
//! and with which part of the level.
//!
//! The level is spent in halves: 1/2, 1/4, 1/8 … of it. The probability that any look finds a wrong
//! answer is at most their sum, whatever the tests are (Bonferroni; Lan and DeMets, Biometrika 1983,
//! 70: 659). Looks come after twice as many repetitions as the one before, so that few are needed. An
//! answer that was given stands: repetitions after its look do not change it.

use serde::{Deserialize, Serialize};

/// How a study goes on until its claims are decided. Chosen before it begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StudyUntil {
    /// No repetition begins that would end later than this after the command began, in seconds.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub at_most_s: f64,
    /// After how many repetitions the claims were tested, in order.
    #[cfg_attr(feature = "schema", schemars(inner(range(min = 1))))]
    pub looks: Vec<u32>,
}

impl StudyUntil {
    /// Returns the repetitions after which the claims are tested next, of a study that plans
    /// `planned` repetitions.
    pub fn next_look(&self, planned: u32) -> u32 {
        self.looks.last().map_or(planned, |last| last.saturating_mul(2))
    }
}

/// The parts of the level that the answers of a look have, and those of the look after it, on which a
/// forecast rests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LookParts {
    /// The part of this look.
    pub now: f64,
    /// The part of the look after it.
    pub next: f64,
}

impl LookParts {
    /// The parts of the only look of a study whose number of repetitions is fixed.
    pub const ONLY: LookParts = LookParts { now: 1.0, next: 1.0 };

    /// Returns the parts of a look, which is numbered from 0.
    pub fn of(number: usize) -> LookParts {
        let now = 0.5_f64.powi(i32::try_from(number).unwrap_or(i32::MAX).saturating_add(1));
        LookParts { now, next: now / 2.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interim_looks_double_and_share_the_significance_level() {
        let mut until = StudyUntil { at_most_s: 60.0, looks: Vec::new() };
        for expected in [10, 20, 40, 80] {
            let next = until.next_look(10);
            assert_eq!(next, expected);
            until.looks.push(next);
        }
        let all: f64 = (0..60).map(|number| LookParts::of(number).now).sum();
        assert!(all <= 1.0 && all > 0.999_999);
    }
}
