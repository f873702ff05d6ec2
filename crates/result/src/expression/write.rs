//! Formatting of a condition's tree as text that parses to the same tree, with as few brackets as
//! possible.

use std::fmt::{self, Display, Formatter};

use super::tree::{
    Added, EstimateEnd, Function, GateValue, GivenFigure, Literal, Opinion, Relation, Scaled,
    SideFigure, Truth,
};
use sixmark_document::verdict::Verdict;
use sixmark_tally::metric::Metric;

impl Display for Truth {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Truth::Any(terms) => joined(f, terms, " || ", self.binds()),
            Truth::All(terms) => joined(f, terms, " && ", self.binds()),
            Truth::Not(term) => {
                f.write_str("!")?;
                bracketed(f, term.binds() < self.binds(), term)
            }
            Truth::Compare(left, relation, right) => {
                write!(f, "{left} {} {right}", relation.sign())
            }
            Truth::Judge(left, equal, right) => {
                write!(f, "{left} {} {right}", if *equal { "==" } else { "!=" })
            }
            Truth::Given(figure) => write!(f, "{figure}"),
        }
    }
}

impl Truth {
    /// Returns the precedence.
    fn binds(&self) -> u8 {
        match self {
            Truth::Any(_) => 0,
            Truth::All(_) => 1,
            Truth::Not(_) => 2,
            Truth::Compare(..) | Truth::Judge(..) | Truth::Given(_) => 3,
        }
    }
}

fn joined(f: &mut Formatter<'_>, terms: &[Truth], sign: &str, binds: u8) -> fmt::Result {
    for (number, term) in terms.iter().enumerate() {
        f.write_str(if number > 0 { sign } else { "" })?;
        bracketed(f, term.binds() <= binds, term)?;
    }
    Ok(())
}

fn bracketed(f: &mut Formatter<'_>, brackets: bool, inner: &impl Display) -> fmt::Result {
    if brackets { write!(f, "({inner})") } else { write!(f, "{inner}") }
}

impl Display for GateValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let part = |f: &mut Formatter<'_>, part: &GateValue| {
            bracketed(f, part.binds() <= self.binds(), part)
        };
        match self {
            GateValue::Literal(literal) => write!(f, "{literal}"),
            GateValue::Figure(figure) => write!(f, "{figure}"),
            GateValue::Compared(function, metric) => write!(f, "{}({metric})", function.name()),
            GateValue::Given(figure) => write!(f, "{figure}"),
            GateValue::Minus(value) => {
                f.write_str("-")?;
                bracketed(f, value.binds() < self.binds(), value)
            }
            GateValue::Sum(first, rest) => {
                part(f, first)?;
                rest.iter().try_for_each(|(how, term)| {
                    f.write_str(how.sign())?;
                    part(f, term)
                })
            }
            GateValue::Product(first, rest) => {
                part(f, first)?;
                rest.iter().try_for_each(|(how, factor)| {
                    f.write_str(how.sign())?;
                    part(f, factor)
                })
            }
        }
    }
}

impl GateValue {
    /// Returns the precedence.
    fn binds(&self) -> u8 {
        match self {
            GateValue::Sum(..) => 0,
            GateValue::Product(..) => 1,
            GateValue::Minus(_) => 2,
            GateValue::Literal(_)
            | GateValue::Figure(_)
            | GateValue::Compared(..)
            | GateValue::Given(_) => 3,
        }
    }
}

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.number, self.unit.map_or("", |unit| unit.name))
    }
}

impl Display for SideFigure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        // A trial's figures have no side.
        if !self.name.is_empty() {
            write!(f, "{}.", self.name)?;
        }
        match self.metric {
            Metric::Outcome(outcome) => write!(f, "outcome.{outcome}"),
            other => write!(f, "{other}"),
        }
    }
}

impl Display for GivenFigure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        self.of.as_ref().map_or(Ok(()), |of| write!(f, "({of})"))
    }
}

impl Display for Opinion {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Opinion::Of(metric) => write!(f, "verdict({metric})"),
            Opinion::Word(verdict) => f.write_str(verdict_word(*verdict)),
        }
    }
}

/// Returns the name of a verdict in conditions.
pub fn verdict_word(verdict: Verdict) -> &'static str {
    verdict.word()
}

impl Function {
    /// Returns the function's name in conditions.
    pub fn name(self) -> &'static str {
        match self {
            Function::Ratio(EstimateEnd::Value) => "ratio",
            Function::Ratio(EstimateEnd::Low) => "ratio_low",
            Function::Ratio(EstimateEnd::High) => "ratio_high",
            Function::Difference(EstimateEnd::Value) => "difference",
            Function::Difference(EstimateEnd::Low) => "difference_low",
            Function::Difference(EstimateEnd::High) => "difference_high",
            Function::P => "p",
            Function::PHolm => "p_holm",
        }
    }
}

impl Relation {
    /// Returns the operator's text.
    pub fn sign(self) -> &'static str {
        match self {
            Relation::Below => "<",
            Relation::AtMost => "<=",
            Relation::Above => ">",
            Relation::AtLeast => ">=",
            Relation::Equal => "==",
            Relation::Unequal => "!=",
        }
    }
}

impl Added {
    fn sign(self) -> &'static str {
        match self {
            Added::Plus => " + ",
            Added::Less => " - ",
        }
    }
}

impl Scaled {
    fn sign(self) -> &'static str {
        match self {
            Scaled::Times => " * ",
            Scaled::Over => " / ",
        }
    }
}
