//! Gates: conditions under which a run or a comparison is to count as failed, for CI.
//!
//! `ipv6.response.p99 > 1.10 * ipv4.response.p99` is one, `verdict(response.p50) == worse` another.
//! Text becomes a checked tree once; evaluating it looks figures up and can't go wrong, but it may
//! find that there is nothing to look at. Such a gate fails: what cannot be determined must not pass.

mod evaluate;
mod show;
mod source;

use crate::gate_result::GateResult;
use std::fmt;

use crate::comparison::result::ComparisonResult;
pub use crate::expression::{GateMistake, GateNames, MOST_BYTES, MOST_NESTED};
use crate::expression::{Truth, parse_condition};
use crate::measurement::Measurement;

use source::GateSource;

/// A condition that was read and checked. Where it holds the gate fails.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    text: String,
    condition: Truth,
}

impl Gate {
    /// Reads a gate that speaks of what there will be.
    ///
    /// # Errors
    /// The first thing that is wrong with the text: something unknown, figures that can't be
    /// compared with each other, a number without its unit, too long ([`MOST_BYTES`]) or too deeply
    /// nested ([`MOST_NESTED`]).
    pub fn parse(text: &str, known: &GateNames) -> Result<Gate, GateMistake> {
        let condition = parse_condition(text, known)?;
        Ok(Gate { text: text.to_owned(), condition })
    }

    /// The gate as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// True where both say the same, however they were written.
    pub fn means(&self, other: &Gate) -> bool {
        self.condition == other.condition
    }

    /// Looks at a run, or at what was watched.
    pub fn of_measurement<'a>(&self, of: impl Into<Measurement<'a>>) -> GateResult {
        self.judge(&GateSource::of_measurement(of.into()))
    }

    /// Looks at two sides that were loaded in turns.
    pub fn of_comparison(&self, result: &ComparisonResult) -> GateResult {
        self.judge(&GateSource::of_comparison(result))
    }

    fn judge(&self, source: &GateSource<'_>) -> GateResult {
        let found = evaluate::truth(&self.condition, source);
        let said = found.because.join("; ");
        let because =
            if found.holds.is_some() { said } else { format!("cannot be determined: {said}") };
        GateResult { fail_if: self.text.clone(), failed: found.holds != Some(false), because }
    }
}

/// In one way of writing it, with no more brackets than needed.
impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.condition)
    }
}

#[cfg(test)]
mod tests;
