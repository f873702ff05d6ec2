//! A condition as it is understood: every tree that exists can be evaluated.

use super::unit::{Dimension, GateUnit};
use crate::comparison::Verdict;
use crate::metric::{Metric, MetricKind};

/// What is true or not.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Truth {
    /// True where one of them is.
    Any(Vec<Truth>),
    /// True where each of them is.
    All(Vec<Truth>),
    /// True where it is not.
    Not(Box<Truth>),
    /// One value beside another.
    Compare(GateValue, Relation, GateValue),
    /// One verdict beside another; true: equal ones.
    Judge(Opinion, bool, Opinion),
}

/// How two values are to each other.
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
    /// What the comparison says of a metric.
    Of(Metric),
    /// The word itself.
    Word(Verdict),
}

/// A number of some dimension.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum GateValue {
    Literal(Literal),
    Figure(SideFigure),
    /// A function of the comparison's metric.
    Compared(Function, Metric),
    Minus(Box<GateValue>),
    /// Added and taken away, from left to right. Not a tree of pairs: the depth of one would be
    /// the length of the text.
    Sum(Box<GateValue>, Vec<(Added, GateValue)>),
    /// Multiplied and divided, from left to right.
    Product(Box<GateValue>, Vec<(Scaled, GateValue)>),
}

/// A number as it was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Literal {
    pub(crate) number: f64,
    pub(crate) unit: Option<&'static GateUnit>,
}

/// How a term belongs to a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    Plus,
    Less,
}

/// How a factor belongs to a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scaled {
    Times,
    Over,
}

/// A figure of a side.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SideFigure {
    /// As the side was written; empty where there is one side alone.
    pub(crate) name: String,
    /// Which one that is.
    pub(crate) side: GateSide,
    pub(crate) metric: Metric,
}

/// Where a side's figures stand in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GateSide {
    Ipv6,
    Ipv4,
    Total,
    A,
    B,
}

/// What is asked of a compared metric, beside its verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Ratio(EstimateEnd),
    Difference(EstimateEnd),
    P,
    PHolm,
}

/// Of an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EstimateEnd {
    Value,
    Low,
    High,
}

impl Literal {
    /// In seconds, bytes, and what is made of these.
    pub(crate) fn value(&self) -> f64 {
        self.unit.map_or(self.number, |unit| unit.value(self.number))
    }

    pub(crate) fn dimension(&self) -> Dimension {
        self.unit.map_or(Dimension::Bare, |unit| unit.dimension)
    }
}

/// What a metric's figures are of.
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
    /// What it is of; none where its parts don't fit together, which no checked tree has.
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

    /// The figures and functions in it, from left to right.
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
    /// What a product or quotient is of.
    pub(crate) fn of(self, one: Dimension, two: Dimension) -> Option<Dimension> {
        match self {
            Scaled::Times => one.times(two),
            Scaled::Over => one.over(two),
        }
    }
}
