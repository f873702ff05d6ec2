//! The number of blocks that would decide a comparison left open by too few.

use sixmark_stats::normal_quantile;

use super::{Compared, Comparison, EffectMethod};
use sixmark_document::verdict::Verdict;

/// The probability that this number of blocks decides, if the true difference is the margin or
/// zero.
const POWER: f64 = 0.8;

/// Larger numbers are no useful advice.
const MOST: f64 = 1_000.0;

/// The number of blocks needed for a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlocksNeeded {
    /// About this many blocks of each side.
    About(u64),
    /// More than this many.
    MoreThan(u64),
}

impl Comparison {
    /// Returns the number of blocks of each side that would decide a metric, if its interval is too
    /// wide: with that many, four of five comparisons find a difference as large as
    /// the margin, or find none. Returns `None` if the metric is decided, or something other than
    /// the interval leaves it open.
    ///
    /// The half-width of an interval over n pairs shrinks with the square root of n: it is z((1 +
    /// confidence)/2) standard errors. In a two-sided test at level α, a difference of d is found
    /// with power 1 - β if d is (z(1 - α/2) + z(1 - β)) standard errors.
    pub fn blocks_needed_by(&self, of: &Compared) -> Option<BlocksNeeded> {
        let is_open = of.verdict == Verdict::Inconclusive
            && matches!(of.method, EffectMethod::Blocks | EffectMethod::Anytime);
        let ratio = of.ratio.filter(|_| is_open)?;
        let open = ratio.low > 0.0 && ratio.low <= 1.0 && ratio.high >= 1.0 && self.pairs > 1;
        let half_width = (ratio.high.ln() - ratio.low.ln()) / 2.0;
        let margin = self.settings.margin.ln_1p();
        let z = normal_quantile(0.5 + self.settings.confidence / 2.0);
        let tested = normal_quantile(1.0 - self.settings.level_of_difference() / 2.0);
        let wider = half_width / margin * (tested + normal_quantile(POWER)) / z;
        let needed = (self.pairs as f64 * wider * wider).ceil();
        match open && needed > self.pairs as f64 {
            false => None,
            true if needed > MOST => Some(BlocksNeeded::MoreThan(MOST as u64)),
            true => Some(BlocksNeeded::About(needed as u64)),
        }
    }
}
