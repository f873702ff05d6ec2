//! How many blocks would decide what too few left open.

use sixmark_stats::normal_quantile;

use super::{Comparison, EffectMethod, Verdict};

/// How often that many blocks decide, where the true difference is the margin or nothing.
const POWER: f64 = 0.8;

/// More than this is no advice.
const MOST: f64 = 1_000.0;

/// What it would take to decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlocksNeeded {
    /// About so many blocks of each side.
    About(u64),
    /// More than so many.
    MoreThan(u64),
}

impl Comparison {
    /// Blocks of each side that would decide the primary metric, of which these blocks were too noisy: in
    /// four of five comparisons a difference as large as the margin, or none, is then found. None where it is
    /// decided, or the interval is not what keeps it open.
    ///
    /// The half-width of an interval over n pairs shrinks with the root of n. Two-sided at the confidence
    /// level, a difference of d is found with power 1 - β where d is (z(1 - α/2) + z(1 - β)) standard
    /// errors, and the half-width is z(1 - α/2) of them.
    pub fn blocks_needed(&self) -> Option<BlocksNeeded> {
        let primary = self.metrics.first().filter(|of| of.verdict == Verdict::Inconclusive)?;
        let ratio = primary.ratio.filter(|_| primary.method == EffectMethod::Blocks)?;
        let open = ratio.low > 0.0 && ratio.low <= 1.0 && ratio.high >= 1.0 && self.pairs > 1;
        let half_width = (ratio.high.ln() - ratio.low.ln()) / 2.0;
        let margin = self.settings.margin.ln_1p();
        let z = normal_quantile(0.5 + self.settings.confidence / 2.0);
        let wider = half_width / margin * (z + normal_quantile(POWER)) / z;
        let needed = (self.pairs as f64 * wider * wider).ceil();
        match open && needed > self.pairs as f64 {
            false => None,
            true if needed > MOST => Some(BlocksNeeded::MoreThan(MOST as u64)),
            true => Some(BlocksNeeded::About(needed as u64)),
        }
    }
}
