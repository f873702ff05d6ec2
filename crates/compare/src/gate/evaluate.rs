//! The evaluation of a gate, with the figures that decided.

use super::show;
use super::source::GateSource;
use sixmark_document::verdict::Verdict;
use sixmark_result::expression::{Added, Dimension, GateValue, Opinion, Relation, Scaled, Truth};

/// The result of evaluating a condition.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GateFinding {
    /// Whether the condition holds; `None` if that cannot be determined.
    pub(super) holds: Option<bool>,
    /// The figures that decided, or what was missing.
    pub(super) because: Vec<String>,
}

/// Evaluates a condition. A part that cannot be determined makes the whole undetermined only if it
/// matters: a conjunction with a false part is false, whatever the other part is.
pub(super) fn truth(condition: &Truth, source: &GateSource<'_>) -> GateFinding {
    let each = |terms: &[Truth]| terms.iter().map(|term| truth(term, source)).collect();
    match condition {
        Truth::Any(terms) => joined(each(terms), true),
        Truth::All(terms) => joined(each(terms), false),
        Truth::Not(term) => {
            let GateFinding { holds, because } = truth(term, source);
            GateFinding { holds: holds.map(|holds| !holds), because }
        }
        Truth::Compare(left, relation, right) => {
            gate_finding(compare(left, *relation, right, source))
        }
        Truth::Judge(left, equal, right) => gate_finding(judge(*left, *equal, *right, source)),
        Truth::Given(figure) => gate_finding(source.given().and_then(|of| of.holds(figure))),
    }
}

/// Combines terms: one that is `decisive` decides alone; otherwise one that cannot be determined
/// makes the whole undetermined; otherwise all terms decide together.
fn joined(findings: Vec<GateFinding>, decisive: bool) -> GateFinding {
    let is = |holds| findings.iter().any(|finding| finding.holds == holds);
    let wanted = [Some(decisive), None, Some(!decisive)];
    let holds = wanted.into_iter().find(|&holds| is(holds)).unwrap_or(None);
    let deciding = findings.into_iter().filter(|finding| finding.holds == holds);
    let mut because: Vec<String> = Vec::new();
    for reason in deciding.flat_map(|finding| finding.because) {
        if !because.contains(&reason) {
            because.push(reason);
        }
    }
    GateFinding { holds, because }
}

fn gate_finding(compared: Result<(bool, String), String>) -> GateFinding {
    match compared {
        Ok((holds, because)) => GateFinding { holds: Some(holds), because: vec![because] },
        Err(missing) => GateFinding { holds: None, because: vec![missing] },
    }
}

fn compare(
    left: &GateValue,
    relation: Relation,
    right: &GateValue,
    source: &GateSource<'_>,
) -> Result<(bool, String), String> {
    let (one, two) = (value_of(left, source)?, value_of(right, source)?);
    let shown = show::pair(one, two, shown_as(left, right));
    let sides = [left, right].into_iter().zip(shown);
    let looked_at = sides.filter(|(side, _)| !side.figures().is_empty());
    let because: Vec<String> = looked_at
        .map(|(side, shown)| format!("{side} is {shown}{}", parts(side, source)))
        .collect();
    Ok((relation.holds(one, two), because.join(", ")))
}

/// Returns how values are shown: in percent if either side is a share, else with the unit of the
/// side that has one.
fn shown_as(left: &GateValue, right: &GateValue) -> Dimension {
    match (left.dimension(), right.dimension()) {
        (Some(Dimension::Share), _) | (_, Some(Dimension::Share)) => Dimension::Share,
        (Some(Dimension::Bare) | None, of) | (of, _) => of.unwrap_or(Dimension::Bare),
    }
}

/// Returns the figures that a value was computed from, if there is more than one.
fn parts(of: &GateValue, source: &GateSource<'_>) -> String {
    let figures = of.figures();
    if figures.len() < 2 {
        return String::new();
    }
    let mut shown: Vec<String> = Vec::new();
    for figure in figures {
        let Ok(value) = value_of(figure, source) else { continue };
        let text = show::show_value(value, figure.dimension().unwrap_or(Dimension::Bare));
        let text = format!("{figure} {text}");
        if !shown.contains(&text) {
            shown.push(text);
        }
    }
    format!(" ({})", shown.join(", "))
}

fn judge(
    left: Opinion,
    equal: bool,
    right: Opinion,
    source: &GateSource<'_>,
) -> Result<(bool, String), String> {
    let mut because = Vec::new();
    let asked = [left, right].contains(&Opinion::Word(Verdict::NotComparable));
    let mut verdict = |opinion| match opinion {
        Opinion::Word(word) => Ok(word),
        Opinion::Of(metric) => {
            let (verdict, shown) = source.verdict(metric)?;
            // Any other question about such a metric cannot be determined, so the gate fails.
            if verdict == Verdict::NotComparable && !asked {
                return Err(shown);
            }
            because.push(shown);
            Ok::<_, String>(verdict)
        }
    };
    let same = verdict(left)? == verdict(right)?;
    because.dedup();
    Ok((same == equal, because.join(", ")))
}

/// Returns a finite value, or why there is none.
fn value_of(of: &GateValue, source: &GateSource<'_>) -> Result<f64, String> {
    let found = match of {
        GateValue::Literal(literal) => literal.value(),
        GateValue::Figure(figure) => source.figure(figure)?,
        GateValue::Compared(function, metric) => source.compared(*function, *metric)?,
        GateValue::Given(figure) => source.given()?.value(figure)?,
        GateValue::Minus(value) => -value_of(value, source)?,
        GateValue::Sum(first, rest) => {
            rest.iter().try_fold(value_of(first, source)?, |sum, (how, term)| {
                let term = value_of(term, source)?;
                Ok::<_, String>(if *how == Added::Plus { sum + term } else { sum - term })
            })?
        }
        GateValue::Product(first, rest) => {
            rest.iter().try_fold(value_of(first, source)?, |product, (how, by)| {
                scaled(product, *how, (value_of(by, source)?, by))
            })?
        }
    };
    if found.is_finite() { Ok(found) } else { Err(format!("{of} is not finite")) }
}

fn scaled(product: f64, how: Scaled, (by, written): (f64, &GateValue)) -> Result<f64, String> {
    match how {
        Scaled::Times => Ok(product * by),
        Scaled::Over if by == 0.0 => Err(format!("division by {written}, which is 0")),
        Scaled::Over => Ok(product / by),
    }
}
