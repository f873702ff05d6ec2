//! What `sixmark eyes` writes, and where: the report, the document, the page, the test report, and the exit
//! status of its gates.

use sixmark_compare::gate::Gate;
use sixmark_document::provenance::Ended;
use sixmark_eyes::eyes_gate::gate_names;
use sixmark_eyes::eyes_result::{EyesGateResult, EyesResult};
use sixmark_eyes::sheet::eyes_text;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::output::Readers;

use super::super::files::CommandFiles;
use super::super::out::{OutputPlace, complain, do_all, encoded, print};
use super::super::report::write_page;
use crate::report::documents::Document;
use crate::report::junit;

/// Where the result goes, and what must hold.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub(super) struct EyesOutputArgs {
    /// Exit with status 1 unless this holds: 'survives(dead-ipv6)', 'met(least-delay)',
    /// 'attempt_delay < 300ms', 'content(slow-500) < 1s' (docs/eyes.md); repeatable
    #[arg(long, value_name = "CONDITION", help_heading = "Measurement")]
    gate: Vec<String>,

    /// Write the document (sixmark.eyes/1)
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    json: Option<OutputPlace>,

    /// Write the report as one HTML page, with a timeline of each case
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    html: Option<OutputPlace>,

    /// Write the cases, the clauses and the gates as JUnit XML
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    junit: Option<OutputPlace>,
}

impl EyesOutputArgs {
    /// Refuses files that can't be written, before the client is started.
    pub(super) fn check_files(&self) -> Result<(), CommandError> {
        let files = CommandFiles::default().document("--json", self.json.as_ref());
        let files = files.document("--html", self.html.as_ref());
        files.document("--junit", self.junit.as_ref()).check()
    }

    /// Parses the gates, for the cases that are watched, before the client is started.
    pub(super) fn gates(&self, cases: &[&str]) -> Result<Vec<Gate>, CommandError> {
        let known = gate_names(cases);
        let read = |text: &String| {
            let wrong = |wrong| CommandError::Usage(format!("--gate '{text}': {wrong}"));
            Gate::parse(text, &known).map_err(wrong)
        };
        self.gate.iter().map(read).collect()
    }

    fn has_standard_output(&self) -> bool {
        [&self.json, &self.html, &self.junit].contains(&&Some(OutputPlace::Standard))
    }
}

/// Evaluates gates: what can't be determined does not hold. Nothing is determined by a measurement that ended
/// early but what fails already.
pub(super) fn judge_gates(gates: &[Gate], result: &EyesResult) -> Vec<EyesGateResult> {
    let judge = |gate: &Gate| {
        let (mut holds, mut because) = gate.holds_for(result);
        if result.ended != Ended::Complete && holds != Some(false) {
            holds = None;
            because = "the measurement ended early".to_owned();
        }
        EyesGateResult { gate: gate.text().to_owned(), failed: holds != Some(true), because }
    };
    gates.iter().map(judge).collect()
}

/// Prints the report, and writes the document, the page and the test report. Returns the exit status: 1 if
/// a gate failed.
pub(super) fn write_outputs(args: &EyesOutputArgs, result: EyesResult) -> Result<u8, CommandError> {
    let shown = !args.has_standard_output();
    let printed = if shown { print(&eyes_text(&result)) } else { Ok(()) };
    let failed: Vec<String> = result.gates.iter().filter(|of| of.failed).map(gate_line).collect();
    if !shown {
        failed.iter().for_each(|line| complain(line));
    }
    let document = encoded(&result)?;
    let written = args.json.as_ref().map_or(Ok(()), |place| place.write(&document));
    let junit = args.junit.as_ref();
    let suite = junit.map_or(Ok(()), |place| place.write(&junit::of_eyes(&result)));
    let page = write_page(args.html.as_ref(), Readers::Umask, || Document::Eyes(Box::new(result)));
    do_all([printed, written, suite, page])?;
    Ok(u8::from(!failed.is_empty()))
}

fn gate_line(of: &EyesGateResult) -> String {
    format!("FAILED: --gate '{}': {}", of.gate, of.because)
}
