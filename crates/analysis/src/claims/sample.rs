//! What the blocks of a claim say of a ratio or a difference.

use sixmark_stats::StudentEstimate;

use super::trimmed::trimmed_mean;

/// The figures of two sides in each block, reduced to what bounds of their ratio or difference are tested
/// on.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ClaimSample {
    /// An estimate: of the logarithm of a ratio, of a change along a line, or of a difference.
    Student(StudentEstimate),
    /// Counts of two sides in each block, which may be 0, so that a ratio has no logarithm. That their
    /// ratio is above *r* is tested on *a* - *r b* (Fieller: Some problems in interval estimation,
    /// J R Stat Soc B 1954, 16: 175). For a forecast, the blocks are there so many times.
    Counts { blocks: Vec<(f64, f64)>, times: f64 },
}

impl ClaimSample {
    /// Returns the sample of counts; `None` for fewer than two blocks.
    pub(super) fn of_counts(blocks: Vec<(f64, f64)>) -> Option<ClaimSample> {
        (blocks.len() > 1).then_some(ClaimSample::Counts { blocks, times: 1.0 })
    }

    /// Returns the p-value of the hypothesis that the value is at most `bound`, the logarithm of a
    /// ratio, against a greater one.
    pub(super) fn above(&self, bound: f64) -> f64 {
        match self {
            ClaimSample::Student(of) => of.above(bound),
            ClaimSample::Counts { .. } => self.beyond(bound).map_or(1.0, |of| of.above(0.0)),
        }
    }

    /// Returns the p-value of the hypothesis that the value is at least `bound`, against a smaller one.
    pub(super) fn below(&self, bound: f64) -> f64 {
        match self {
            ClaimSample::Student(of) => of.below(bound),
            ClaimSample::Counts { .. } => self.beyond(bound).map_or(1.0, |of| of.below(0.0)),
        }
    }

    /// Returns the p-value of two one-sided tests that the value is within the margin.
    pub(super) fn within(&self, margin: f64) -> f64 {
        self.above(-margin).max(self.below(margin))
    }

    /// Returns the same sample with the sides exchanged.
    pub(super) fn turned(&self) -> ClaimSample {
        match self {
            ClaimSample::Student(of) => {
                ClaimSample::Student(StudentEstimate { value: -of.value, ..*of })
            }
            ClaimSample::Counts { blocks, times } => ClaimSample::Counts {
                blocks: blocks.iter().map(|(a, b)| (*b, *a)).collect(),
                times: *times,
            },
        }
    }

    /// Returns the sample with so many times as many blocks, with the same means and the same scatter.
    pub(super) fn longer(&self, times: f64) -> ClaimSample {
        match self {
            ClaimSample::Student(of) => ClaimSample::Student(longer(*of, times)),
            ClaimSample::Counts { blocks, .. } => {
                ClaimSample::Counts { blocks: blocks.clone(), times }
            }
        }
    }

    /// Returns the p-value of the hypothesis that this value is at most the other sample's, against a
    /// greater one. The scatter of both is taken to be independent.
    pub(super) fn above_other(&self, other: &ClaimSample) -> f64 {
        match (self, other) {
            (ClaimSample::Student(a), ClaimSample::Student(b)) => StudentEstimate {
                value: a.value - b.value,
                error: a.error.hypot(b.error),
                freedom: a.freedom.min(b.freedom),
            }
            .above(0.0),
            // A ratio that lies between both.
            (ClaimSample::Counts { blocks: a, .. }, ClaimSample::Counts { blocks: b, .. }) => {
                let sums = a.iter().chain(b).fold((0.0, 0.0), |s, of| (s.0 + of.0, s.1 + of.1));
                let between = (sums.0 / sums.1).ln();
                if between.is_finite() {
                    self.above(between).max(other.below(between))
                } else {
                    1.0
                }
            }
            _ => 1.0,
        }
    }

    /// Returns the estimate of the first side less the second, which is multiplied by the ratio whose
    /// logarithm is given.
    fn beyond(&self, log_ratio: f64) -> Option<StudentEstimate> {
        let ClaimSample::Counts { blocks, times } = self else { return None };
        let ratio = log_ratio.exp();
        let beyond: Vec<f64> = blocks.iter().map(|(a, b)| a - ratio * b).collect();
        Some(longer(trimmed_mean(&beyond)?, *times))
    }

    /// Returns the estimate of the logarithm or of the difference; of counts, that of their difference.
    pub(super) fn estimate(&self) -> Option<StudentEstimate> {
        match self {
            ClaimSample::Student(of) => Some(*of),
            ClaimSample::Counts { .. } => self.beyond(0.0),
        }
    }
}

fn longer(of: StudentEstimate, times: f64) -> StudentEstimate {
    StudentEstimate {
        error: of.error / times.sqrt(),
        freedom: (of.freedom + 1.0) * times - 1.0,
        ..of
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn includes_counts_of_zero_in_the_sample() {
        let counts = |blocks: &[(f64, f64)]| ClaimSample::of_counts(blocks.to_vec()).unwrap();
        let fewer = counts(&[(0.0, 9.0), (1.0, 11.0), (0.0, 8.0), (0.0, 12.0), (2.0, 10.0)]);
        assert!(fewer.below(0.0) < 0.001 && fewer.above(0.0) > 0.99);
        assert!(fewer.turned().above(0.0) < 0.001);
        // A tenth, about: not below a twentieth.
        assert!(fewer.below(0.05_f64.ln()) > 0.5);
        let none = counts(&[(0.0, 0.0); 5]);
        assert_eq!((none.above(0.0), none.below(0.0)), (1.0, 1.0));
        assert!(ClaimSample::of_counts(vec![(1.0, 2.0)]).is_none());
    }

    #[test]
    fn more_blocks_give_stronger_evidence() {
        let blocks = vec![(10.0, 9.0), (12.0, 10.0), (9.0, 10.0), (11.0, 9.0)];
        let sample = ClaimSample::of_counts(blocks).unwrap();
        assert!(sample.longer(16.0).above(0.0) < sample.above(0.0) / 10.0);
    }
}
