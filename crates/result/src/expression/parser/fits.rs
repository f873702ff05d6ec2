//! Type checks: whether parts can be compared, added or multiplied, and whether the result depends
//! on a measured figure.

use super::{ParsedNode, ParsedPart, Parser};
use crate::expression::names::{GivenKind, VERDICTS};
use crate::expression::tree::{Added, GateValue, Opinion, Relation, Scaled, Truth};
use crate::expression::unit::Dimension;
use crate::expression::write::verdict_word;
use crate::expression::wrong::GateMistake;

impl<'a> Parser<'a> {
    pub(crate) fn truth(&self, part: ParsedPart) -> Result<Truth, GateMistake> {
        let what = match part.node {
            ParsedNode::Truth(truth) => return Ok(truth),
            ParsedNode::Value(value, of) => format!("{} is {}", brief(&value, "this"), of.noun()),
            ParsedNode::Opinion(opinion) => format!("{opinion} is a verdict"),
        };
        Err(self.wrong(part.at, format!("{what}, not a condition: compare it with something")))
    }

    pub(crate) fn value(&self, part: ParsedPart) -> Result<(GateValue, Dimension), GateMistake> {
        match part.node {
            ParsedNode::Value(value, of) => Ok((value, of)),
            ParsedNode::Truth(_) => {
                Err(self.wrong(part.at, "expected a figure and found a condition"))
            }
            ParsedNode::Opinion(_) => {
                Err(self.wrong(part.at, "expected a figure and found a verdict"))
            }
        }
    }

    pub(crate) fn compared(
        &self,
        left: ParsedPart,
        relation: Relation,
        right: ParsedPart,
        between: usize,
    ) -> Result<Truth, GateMistake> {
        let (first, second) = match (left.node, right.node) {
            (ParsedNode::Opinion(one), ParsedNode::Opinion(two)) => {
                return self.judged(one, relation, two, between);
            }
            (ParsedNode::Opinion(opinion), _) => return Err(self.no_verdict(&opinion, right.at)),
            (_, ParsedNode::Opinion(opinion)) => return Err(self.no_verdict(&opinion, left.at)),
            pair => pair,
        };
        let first = self.value(ParsedPart { at: left.at, node: first })?;
        let second = self.value(ParsedPart { at: right.at, node: second })?;
        self.fits((&first, left.at), (&second, right.at), between)?;
        Ok(Truth::Compare(first.0, relation, second.0))
    }

    fn judged(
        &self,
        one: Opinion,
        relation: Relation,
        two: Opinion,
        between: usize,
    ) -> Result<Truth, GateMistake> {
        if let (Opinion::Word(_), Opinion::Word(_)) = (one, two) {
            return Err(self.wrong(
                between,
                "neither operand is the verdict of a metric, as in \
                 verdict(response.p50)",
            ));
        }
        match relation {
            Relation::Equal => Ok(Truth::Judge(one, true, two)),
            Relation::Unequal => Ok(Truth::Judge(one, false, two)),
            _ => Err(self.wrong(between, "verdicts are compared by == and != only")),
        }
    }

    fn no_verdict(&self, opinion: &Opinion, at: usize) -> GateMistake {
        let words = VERDICTS.map(verdict_word).join(", ");
        self.wrong(
            at,
            match opinion {
                Opinion::Of(_) => format!("expected a verdict: {words}"),
                Opinion::Word(word) => format!(
                    "expected verdict(METRIC) to compare with {}, as in verdict(response.p50)",
                    verdict_word(*word)
                ),
            },
        )
    }

    /// Checks that two values can be compared, and that at least one of them is measured.
    fn fits(
        &self,
        (left, left_at): (&(GateValue, Dimension), usize),
        (right, right_at): (&(GateValue, Dimension), usize),
        between: usize,
    ) -> Result<(), GateMistake> {
        if left.0.figures().is_empty() && right.0.figures().is_empty() {
            let figure = self.names.given.iter().find(|of| of.kind != GivenKind::Condition);
            let example = figure.map_or("ipv6.response.p99", |of| of.name);
            return Err(
                self.wrong(between, format!("neither operand is a figure, as in {example}"))
            );
        }
        self.has_unit(left, left_at, right)?;
        self.has_unit(right, right_at, left)?;
        if is_zero(left) || is_zero(right) || left.1.joint(right.1).is_some() {
            return Ok(());
        }
        let (one, two) = (brief(&left.0, "the left side"), brief(&right.0, "the right side"));
        let (one, two) =
            (format!("{one} is {}", left.1.noun()), format!("{two} {}", right.1.noun()));
        Err(self.wrong(between, format!("{one} and {two}: they can't be compared")))
    }

    /// Rejects a number without a unit if the other side has one. For a share, a number below 1
    /// needs no percent sign; a larger one is assumed to be a percentage.
    fn has_unit(
        &self,
        (value, of): &(GateValue, Dimension),
        at: usize,
        (other, wanted): &(GateValue, Dimension),
    ) -> Result<(), GateMistake> {
        let Some(number) = literal(value) else { return Ok(()) };
        let unit = match wanted {
            _ if *of != Dimension::Bare => return Ok(()),
            Dimension::Share if number >= 1.0 => "%",
            _ if number == 0.0 => return Ok(()),
            wanted => wanted.usual_unit(),
        };
        let (other, noun) = (brief(other, "the other side"), wanted.noun());
        match unit {
            "" => Ok(()),
            unit => Err(self.wrong(
                at,
                format!("{other} is {noun}: give {number} a unit, as in {number}{unit}"),
            )),
        }
    }

    pub(crate) fn unlike(
        &self,
        at: usize,
        (one, two): (Dimension, Dimension),
        how: Added,
    ) -> GateMistake {
        let (one, two) = (one.noun(), two.noun());
        self.wrong(
            at,
            match how {
                Added::Plus => format!("{one} and {two} can't be added"),
                Added::Less => format!("{two} can't be subtracted from {one}"),
            },
        )
    }

    pub(crate) fn meaningless(
        &self,
        at: usize,
        (one, two): (Dimension, Dimension),
        how: Scaled,
    ) -> GateMistake {
        let (one, two) = (one.noun(), two.noun());
        self.wrong(
            at,
            match how {
                Scaled::Times => format!("{one} can't be multiplied by {two}"),
                Scaled::Over => format!("{one} can't be divided by {two}"),
            },
        )
    }
}

/// Returns the number if the value is a literal, whatever its sign.
fn literal(value: &GateValue) -> Option<f64> {
    match value {
        GateValue::Literal(literal) => Some(literal.number),
        GateValue::Minus(value) => literal(value),
        _ => None,
    }
}

/// Returns true for zero without a unit, which fits any dimension.
fn is_zero((value, of): &(GateValue, Dimension)) -> bool {
    *of == Dimension::Bare && literal(value) == Some(0.0)
}

/// Returns the text of a value if it is short, else `otherwise`.
fn brief(value: &GateValue, otherwise: &str) -> String {
    let text = value.to_string();
    if text.len() <= 40 { text } else { otherwise.to_owned() }
}
