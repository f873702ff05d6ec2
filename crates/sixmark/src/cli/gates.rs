//! `--fail-if` and `--junit`: conditions under which a pipeline is to fail.

use sixmark_compare::gate::{Gate, GateNames};
use sixmark_report::gate_text::gate_line;
use sixmark_result::gate_result::GateResult;

use super::out::{OutputPlace, complain};
use sixmark_sys::command_error::CommandError;

/// The options.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
pub(super) struct GateArgs {
    /// Exit with status 1 if this holds or can't be determined: 'ipv6.response.p99 > 1.1 *
    /// ipv4.response.p99', with compare also 'verdict(response.p50) == worse' (docs/gates.md);
    /// repeatable
    #[arg(long, value_name = "CONDITION", help_heading = "Measurement")]
    pub(super) fail_if: Vec<String>,

    /// Write the results of --fail-if as JUnit XML
    #[arg(long, value_name = "FILE|-", help_heading = "Output", display_order = 0)]
    pub(super) junit: Option<OutputPlace>,
}

impl GateArgs {
    /// Parses the conditions, before anything is sent.
    pub(super) fn gates(&self, known: &GateNames) -> Result<Vec<Gate>, CommandError> {
        let read = |text: &String| {
            let wrong = |wrong| CommandError::Usage(format!("--fail-if '{text}': {wrong}"));
            Gate::parse(text, known).map_err(wrong)
        };
        self.fail_if.iter().map(read).collect()
    }

    /// Writes `document` to the place of `--junit`, if that was given.
    pub(super) fn write(&self, document: impl FnOnce() -> String) -> Result<(), CommandError> {
        self.junit.as_ref().map_or(Ok(()), |place| place.write(&document()))
    }
}

/// Returns the exit status: 1 if a gate failed, else 0. Prints the failed gates to standard error
/// unless they were `shown`.
pub(super) fn status_of_gates(gates: &[GateResult], shown: bool) -> u8 {
    let failed = || gates.iter().filter(|gate| gate.failed);
    if !shown {
        failed().for_each(|gate| complain(&gate_line(gate)));
    }
    u8::from(failed().next().is_some())
}
