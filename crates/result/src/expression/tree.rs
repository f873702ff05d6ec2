//! The checked tree of a condition. Every tree that exists can be evaluated.

use super::unit::{Dimension, GateUnit};
use sixmark_document::verdict::{Estimate, Verdict};
use sixmark_tally::metric::{Metric, MetricKind};

/// A condition, which is true or false.
#[derive(Clone, Debug, PartialEq)]
pub enum Truth {
    /// True if at least one of them is.
    Any(Vec<Truth>),
    /// True if all of them are.
    All(Vec<Truth>),
    /// True if it is not.
    Not(Box<Truth>),
    /// A comparison of two values.
    Compare(GateValue, Relation, GateValue),
    /// A comparison of two verdicts: for equality if the flag is true, else for inequality.
    Judge(Opinion, bool, Opinion),
    /// A condition with a name of its own.
    Given(GivenFigure),
}

/// The relation of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `<`.
    Below,
    /// `<=`.
    AtMost,
    /// `>`.
    Above,
    /// `>=`.
    AtLeast,
    /// `==`.
    Equal,
    /// `!=`.
    Unequal,
}

impl Relation {
    /// Returns whether the relation holds between two values.
    pub fn holds(self, one: f64, two: f64) -> bool {
        match self {
            Relation::Below => one < two,
            Relation::AtMost => one <= two,
            Relation::Above => one > two,
            Relation::AtLeast => one >= two,
            Relation::Equal => one == two,
            Relation::Unequal => one != two,
        }
    }
}

/// A verdict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Opinion {
    /// The verdict of the comparison on a metric.
    Of(Metric),
    /// A literal verdict.
    Word(Verdict),
}

/// A number with a dimension.
#[derive(Clone, Debug, PartialEq)]
pub enum GateValue {
    /// A number with its unit.
    Literal(Literal),
    /// A figure of the result.
    Figure(SideFigure),
    /// A function of a compared metric.
    Compared(Function, Metric),
    /// A figure with a name of its own.
    Given(GivenFigure),
    /// The negative of a value.
    Minus(Box<GateValue>),
    /// A sum and differences, from left to right. This is a list rather than a tree of pairs, whose
    /// depth would be proportional to the length of the text.
    Sum(Box<GateValue>, Vec<(Added, GateValue)>),
    /// Products and quotients, from left to right.
    Product(Box<GateValue>, Vec<(Scaled, GateValue)>),
}

/// A number as it was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Literal {
    /// The number as written.
    pub number: f64,
    /// Its unit, if it has one.
    pub unit: Option<&'static GateUnit>,
}

/// How a term is part of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// `+`.
    Plus,
    /// `-`.
    Less,
}

/// How a factor is part of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scaled {
    /// `*`.
    Times,
    /// `/`.
    Over,
}

/// A figure of a side.
#[derive(Clone, Debug, PartialEq)]
pub struct SideFigure {
    /// The side's name as written; empty if there is only one side.
    pub name: String,
    /// The side that the name refers to.
    pub side: GateSide,
    /// The metric.
    pub metric: Metric,
}

/// A figure or a condition with a name of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenFigure {
    /// Its name.
    pub name: &'static str,
    /// What it is of, such as a case; `None` if it is of all.
    pub of: Option<String>,
    /// The dimension of a figure.
    pub dimension: Dimension,
}

/// What knows the figures and conditions with names of their own.
pub trait GivenFigures {
    /// Returns the value of a figure, in seconds, bytes and units derived from these.
    ///
    /// # Errors
    /// Why there is none, as a phrase.
    fn value(&self, figure: &GivenFigure) -> Result<f64, String>;

    /// Returns whether a condition holds, and what decided it.
    ///
    /// # Errors
    /// Why that can't be determined, as a phrase.
    fn holds(&self, figure: &GivenFigure) -> Result<(bool, String), String>;
}

/// The location of a side's figures in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateSide {
    /// The figures over IPv6.
    Ipv6,
    /// The figures over IPv4.
    Ipv4,
    /// The figures of both families together.
    Total,
    /// Side A of a comparison.
    A,
    /// Side B of a comparison.
    B,
}

/// A figure of a compared metric other than its verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// The ratio of the sides.
    Ratio(EstimateEnd),
    /// The difference of the sides.
    Difference(EstimateEnd),
    /// The p-value.
    P,
    /// The p-value after Holm's correction.
    PHolm,
}

/// The part of an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EstimateEnd {
    /// The estimate itself.
    Value,
    /// The lower end of its interval.
    Low,
    /// The upper end of its interval.
    High,
}

impl EstimateEnd {
    /// Returns that part.
    pub fn of(self, estimate: &Estimate) -> f64 {
        match self {
            EstimateEnd::Value => estimate.value,
            EstimateEnd::Low => estimate.low,
            EstimateEnd::High => estimate.high,
        }
    }
}

impl Literal {
    /// Returns the value in seconds, bytes, and units derived from these.
    pub fn value(&self) -> f64 {
        self.unit.map_or(self.number, |unit| unit.value(self.number))
    }

    /// Returns the dimension of the number.
    pub fn dimension(&self) -> Dimension {
        self.unit.map_or(Dimension::Bare, |unit| unit.dimension)
    }
}

/// Returns the dimension of a metric's figures.
pub(crate) fn dimension_of(metric: Metric) -> Dimension {
    match metric.kind() {
        MetricKind::Time | MetricKind::Seconds => Dimension::Time,
        MetricKind::Frequency => Dimension::Rate,
        MetricKind::BytesPerS => Dimension::BytesPerS,
        MetricKind::Share => Dimension::Share,
        MetricKind::Count | MetricKind::Mean => Dimension::Count,
    }
}

impl Function {
    /// Returns the dimension of the function's value for a metric.
    pub fn dimension(self, metric: Metric) -> Dimension {
        match self {
            Function::Ratio(_) | Function::P | Function::PHolm => Dimension::Number,
            Function::Difference(_) => dimension_of(metric),
        }
    }
}

impl GateValue {
    /// Returns the dimension, or `None` if the parts do not fit together, which never happens in a
    /// checked tree.
    pub fn dimension(&self) -> Option<Dimension> {
        match self {
            GateValue::Literal(literal) => Some(literal.dimension()),
            GateValue::Figure(figure) => Some(dimension_of(figure.metric)),
            GateValue::Compared(function, metric) => Some(function.dimension(*metric)),
            GateValue::Given(figure) => Some(figure.dimension),
            GateValue::Minus(value) => value.dimension(),
            GateValue::Sum(first, rest) => rest
                .iter()
                .try_fold(first.dimension()?, |sum, (_, term)| sum.joint(term.dimension()?)),
            GateValue::Product(first, rest) => {
                rest.iter().try_fold(first.dimension()?, |product, (how, by)| {
                    how.of(product, by.dimension()?)
                })
            }
        }
    }

    /// Returns the figures and functions in the value, from left to right.
    pub fn figures(&self) -> Vec<&GateValue> {
        match self {
            GateValue::Literal(_) => Vec::new(),
            GateValue::Figure(_) | GateValue::Compared(..) | GateValue::Given(_) => vec![self],
            GateValue::Minus(value) => value.figures(),
            GateValue::Sum(first, rest) => {
                let rest = rest.iter().flat_map(|(_, term)| term.figures());
                first.figures().into_iter().chain(rest).collect()
            }
            GateValue::Product(first, rest) => {
                let rest = rest.iter().flat_map(|(_, factor)| factor.figures());
                first.figures().into_iter().chain(rest).collect()
            }
        }
    }
}

impl Scaled {
    /// Returns the dimension of the product or quotient.
    pub fn of(self, one: Dimension, two: Dimension) -> Option<Dimension> {
        match self {
            Scaled::Times => one.times(two),
            Scaled::Over => one.over(two),
        }
    }
}
