//! The checked tree of a condition. Every tree that exists can be evaluated.

use super::unit::{Dimension, GateUnit};
use crate::metric::{Metric, MetricKind};
use sixmark_document::verdict::Verdict;

/// A condition, which is true or false.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Truth {
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
}

/// The relation of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    Below,
    AtMost,
    Above,
    AtLeast,
    Equal,
    Unequal,
}

/// A verdict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Opinion {
    /// The verdict of the comparison on a metric.
    Of(Metric),
    /// A literal verdict.
    Word(Verdict),
}

/// A number with a dimension.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum GateValue {
    Literal(Literal),
    Figure(SideFigure),
    /// A function of a compared metric.
    Compared(Function, Metric),
    Minus(Box<GateValue>),
    /// A sum and differences, from left to right. This is a list rather than a tree of pairs, whose
    /// depth would be proportional to the length of the text.
    Sum(Box<GateValue>, Vec<(Added, GateValue)>),
    /// Products and quotients, from left to right.
    Product(Box<GateValue>, Vec<(Scaled, GateValue)>),
}

/// A number as it was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Literal {
    pub(crate) number: f64,
    pub(crate) unit: Option<&'static GateUnit>,
}

/// How a term is part of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    Plus,
    Less,
}

/// How a factor is part of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scaled {
    Times,
    Over,
}

/// A figure of a side.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SideFigure {
    /// The side's name as written; empty if there is only one side.
    pub(crate) name: String,
    /// The side that the name refers to.
    pub(crate) side: GateSide,
    pub(crate) metric: Metric,
}

/// The location of a side's figures in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GateSide {
    Ipv6,
    Ipv4,
    Total,
    A,
    B,
}

/// A figure of a compared metric other than its verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Ratio(EstimateEnd),
    Difference(EstimateEnd),
    P,
    PHolm,
}

/// The part of an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EstimateEnd {
    Value,
    Low,
    High,
}

impl Literal {
    /// Returns the value in seconds, bytes, and units derived from these.
    pub(crate) fn value(&self) -> f64 {
        self.unit.map_or(self.number, |unit| unit.value(self.number))
    }

    pub(crate) fn dimension(&self) -> Dimension {
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
        MetricKind::Count => Dimension::Count,
    }
}

impl Function {
    pub(crate) fn dimension(self, metric: Metric) -> Dimension {
        match self {
            Function::Ratio(_) | Function::P | Function::PHolm => Dimension::Number,
            Function::Difference(_) => dimension_of(metric),
        }
    }
}

impl GateValue {
    /// Returns the dimension, or `None` if the parts do not fit together, which never happens in a
    /// checked tree.
    pub(crate) fn dimension(&self) -> Option<Dimension> {
        match self {
            GateValue::Literal(literal) => Some(literal.dimension()),
            GateValue::Figure(figure) => Some(dimension_of(figure.metric)),
            GateValue::Compared(function, metric) => Some(function.dimension(*metric)),
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
    pub(crate) fn figures(&self) -> Vec<&GateValue> {
        match self {
            GateValue::Literal(_) => Vec::new(),
            GateValue::Figure(_) | GateValue::Compared(..) => vec![self],
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
    pub(crate) fn of(self, one: Dimension, two: Dimension) -> Option<Dimension> {
        match self {
            Scaled::Times => one.times(two),
            Scaled::Over => one.over(two),
        }
    }
}
