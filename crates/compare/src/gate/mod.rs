//! Gates: conditions under which a run or a comparison counts as failed, for CI.
//!
//! Examples are `ipv6.response.p99 > 1.10 * ipv4.response.p99` and `verdict(response.p50) ==
//! worse`. The text is parsed into a checked tree once. Evaluating the tree cannot go wrong, but a
//! figure may be missing. Such a gate fails, because a condition that cannot be determined must not
//! pass.

mod evaluate;
mod show;
mod source;

use sixmark_result::gate_result::{GateResult, UNDETERMINED};
use std::fmt;

use crate::comparison_result::ComparisonResult;
pub use sixmark_result::expression::{GateMistake, GateNames, MOST_BYTES, MOST_NESTED};
use sixmark_result::expression::{GivenFigures, Truth, parse_condition};
use sixmark_result::measurement::Measurement;

use source::GateSource;

/// A parsed and checked condition. The gate fails if the condition holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    text: String,
    condition: Truth,
}

impl Gate {
    /// Parses a gate that may use the names in `known`.
    ///
    /// # Errors
    /// The first mistake in the text: an unknown name, figures that can't be compared with each
    /// other, a number without its unit, a text that is too long ([`MOST_BYTES`]) or too deeply
    /// nested ([`MOST_NESTED`]).
    pub fn parse(text: &str, known: &GateNames) -> Result<Gate, GateMistake> {
        let condition = parse_condition(text, known)?;
        Ok(Gate { text: text.to_owned(), condition })
    }

    /// Returns the gate as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns true if both gates mean the same, however they are written.
    pub fn means(&self, other: &Gate) -> bool {
        self.condition == other.condition
    }

    /// Evaluates the gate on a run or a watch.
    pub fn of_measurement(&self, of: &dyn Measurement) -> GateResult {
        self.judge(&GateSource::of_measurement(of))
    }

    /// Evaluates the gate on two sides that were loaded in turns.
    pub fn of_comparison(&self, result: &ComparisonResult) -> GateResult {
        self.judge(&GateSource::of_comparison(result))
    }

    fn judge(&self, source: &GateSource<'_>) -> GateResult {
        let (holds, because) = self.find(source);
        GateResult { fail_if: self.text.clone(), failed: holds != Some(false), because }
    }

    /// Evaluates the condition on figures with names of their own. Returns whether it holds, `None` if that
    /// can't be determined, and why.
    pub fn holds_for(&self, given: &dyn GivenFigures) -> (Option<bool>, String) {
        self.find(&GateSource::of_given(given))
    }

    fn find(&self, source: &GateSource<'_>) -> (Option<bool>, String) {
        let found = evaluate::truth(&self.condition, source);
        let said = found.because.join("; ");
        let because = if found.holds.is_some() { said } else { format!("{UNDETERMINED}{said}") };
        (found.holds, because)
    }
}

/// Formats the condition in a canonical form, with as few brackets as possible.
impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.condition)
    }
}

#[cfg(test)]
mod tests;
