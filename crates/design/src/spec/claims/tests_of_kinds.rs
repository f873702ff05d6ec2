//! What claims of each kind test.

use super::SideLevels;
use crate::spec::known_names::Levels;
use sixmark_tally::metric::Metric;

/// What a claim tests.
#[derive(Clone, Debug, PartialEq)]
pub enum ClaimTest {
    /// A side against another.
    Sides(SidesTest),
    /// A share of one count in another.
    Share(ShareTest),
    /// A trend along an ordered factor.
    Trend(TrendTest),
    /// Which level has the highest or lowest figure or difference.
    Order(OrderTest),
    /// That levels do not differ.
    Independent(IndependentTest),
    /// That all, or none, of the exchanges of a side are counted by the measure.
    Counted {
        /// The side.
        a: SideLevels,
        /// Whether all are claimed, not none.
        all: bool,
    },
    /// That counts have an exact share.
    Exact(ExactTest),
}

/// A side against another.
#[derive(Clone, Debug, PartialEq)]
pub struct SidesTest {
    /// The side that is judged.
    pub a: SideLevels,
    /// The side that it is judged against.
    pub b: SideLevels,
    /// The claimed relation of A to B.
    pub relation: Relation,
    /// What is compared between the sides instead of the figure: the effect of another factor.
    pub contrast: Option<Contrast>,
    /// The factor and levels at each of which it is claimed; `None` if it is claimed on average.
    pub each: Option<OrderedLevels>,
}

/// The claimed relation of A's figure to B's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Relation {
    /// A is higher. A difference of up to this percentage does not matter.
    Higher(f64),
    /// A is lower. A difference of up to this percentage does not matter.
    Lower(f64),
    /// A and B differ by at most this percentage.
    Equal(f64),
    /// The ratio of A to B is within bounds.
    Within(ClaimBounds),
    /// The difference of A and B is within bounds, in the measure's base unit.
    Apart(ClaimBounds),
}

/// The effect of a factor: the figure at one level against that at another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contrast {
    /// The factor and its two levels.
    pub levels: Levels,
    /// True for the difference of the figures, false for their ratio.
    pub difference: bool,
}

/// Bounds of a ratio, a difference or a share. At least one is there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClaimBounds {
    /// The lower bound.
    pub at_least: Option<f64>,
    /// The upper bound.
    pub at_most: Option<f64>,
}

/// A share of one count in another.
#[derive(Clone, Debug, PartialEq)]
pub struct ShareTest {
    /// The side.
    pub a: SideLevels,
    /// The measure that counts the whole.
    pub of: Metric,
    /// The claimed bounds, 0 to 1.
    pub bounds: ClaimBounds,
}

/// The levels of a factor in a meaningful order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderedLevels {
    /// The factor.
    pub factor: String,
    /// The names of its levels.
    pub levels: Vec<String>,
}

impl OrderedLevels {
    /// Returns the place of each level on an axis: the logarithms of the levels if all are numbers
    /// above 0, else 0, 1, 2 and so on.
    pub fn places(&self) -> Vec<f64> {
        let number = |level: &String| level.parse::<f64>().ok().filter(|n| *n > 0.0);
        let logs = self.levels.iter().map(|level| number(level).map(f64::ln));
        let numbered = || (0..self.levels.len()).map(|place| place as f64).collect();
        logs.collect::<Option<Vec<f64>>>().unwrap_or_else(numbered)
    }
}

/// A trend along an ordered factor.
#[derive(Clone, Debug, PartialEq)]
pub struct TrendTest {
    /// The side.
    pub a: SideLevels,
    /// The factor and the order of its levels.
    pub over: OrderedLevels,
    /// The claimed shape.
    pub shape: TrendShape,
    /// The change over all levels that does not matter, in percent.
    pub margin: f64,
}

/// The shape of a trend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrendShape {
    /// The figure rises.
    Rises,
    /// The figure falls.
    Falls,
    /// The figure falls down to this level, and rises from there.
    UShaped(String),
}

/// Which levels have the highest or lowest figures.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderTest {
    /// The side.
    pub a: SideLevels,
    /// The side that is subtracted, if differences are ordered.
    pub b: Option<SideLevels>,
    /// The factor and its levels.
    pub over: OrderedLevels,
    /// The levels that are claimed to be beyond all others.
    pub at: Vec<String>,
    /// Whether they are claimed to be the highest.
    pub highest: bool,
    /// The difference between two levels that does not matter, in percent; `None` for differences
    /// in the measure's unit.
    pub margin: Option<f64>,
}

/// That the levels of a factor do not differ.
#[derive(Clone, Debug, PartialEq)]
pub struct IndependentTest {
    /// The side.
    pub a: SideLevels,
    /// The factor and its levels.
    pub over: OrderedLevels,
    /// The difference between two levels that does not matter, in percent.
    pub margin: f64,
}

/// That counts have an exact share.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactTest {
    /// The side whose count it is.
    pub a: SideLevels,
    /// The factor.
    pub over: String,
    /// The claimed share of A's count in that of both families at each level.
    pub shares: Vec<(String, f64)>,
    /// The number of exchanges by which a count may differ.
    pub within: u64,
}
