//! `sixmark.vitals/1`: the document that `sixmark vitals` writes.

use serde::{Deserialize, Serialize};

use super::sample::VitalsSample;
use sixmark_document::provenance::{Ended, Environment, Tool, Warning};

/// The name and version of the document format.
pub const SCHEMA: &str = "sixmark.vitals/1";

/// What is known before the first sample. It is the first line if samples are written line by line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VitalsHead {
    /// The name and version of the document format.
    pub schema: String,
    /// The program that made the document.
    pub tool: Tool,
    /// When the first sample was taken, RFC 3339 in UTC.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = sixmark_document::schema_type::TIME)))]
    pub started: String,
    /// The machine that was observed.
    pub environment: Environment,
    /// The host of a lab whose network was observed; null if it was this machine's.
    pub host: Option<String>,
    /// The requested interval between samples, seconds.
    pub interval_s: f64,
    /// The interfaces and their offloads.
    pub interfaces: Vec<OffloadState>,
}

/// The offloads of an interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OffloadState {
    /// The name of the interface.
    pub name: String,
    /// Its MTU, bytes.
    pub mtu: u32,
    /// Segmentation, checksum and receive offload features that are on, by the kernel's names.
    pub on: Vec<String>,
    /// Those of these features that are off.
    pub off: Vec<String>,
}

/// The document that sixmark vitals writes: a summary of all samples. docs/vitals.md describes it
/// for people.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VitalsResult {
    /// What was known before the first sample.
    #[serde(flatten)]
    pub head: VitalsHead,
    /// Seconds from the first sample to the last.
    pub elapsed_s: f64,
    /// Why sampling ended.
    #[cfg_attr(feature = "schema", schemars(extend("not" = { "const": "hopeless" })))]
    pub ended: Ended,
    /// Samples taken.
    pub taken: u64,
    /// Samples skipped because the one before them took too long.
    pub missed: u64,
    /// Counter resets between samples.
    pub resets: u64,
    /// Processor time that this program used, divided by the elapsed time: 0.01 is a hundredth of
    /// one processor.
    pub own_cpu_share: f64,
    /// The largest busy share (0 to 1) of all processors' time between two samples.
    pub busiest: f64,
    /// The largest busy share (0 to 1) of one processor's time between two samples.
    pub busiest_core: f64,
    /// The change from the first sample to the last: counters are differences, all other values are
    /// those of the last sample.
    pub change: VitalsSample,
    /// All samples if there are at most 600, else at most one a second. Counters have the kernel's
    /// values.
    pub samples: Vec<VitalsSample>,
    /// Reasons to doubt the figures.
    pub warnings: Vec<Warning>,
}

/// Reads the samples of a document or of the lines that `sixmark vitals` wrote. Lines may be cut
/// short.
///
/// # Errors
/// Returns a one-line error if the text is neither, or has fewer than two samples.
pub fn samples_of(text: &str) -> Result<Vec<VitalsSample>, String> {
    #[derive(Deserialize)]
    struct Whole {
        schema: String,
        samples: Vec<VitalsSample>,
    }
    #[derive(Deserialize)]
    struct First {
        schema: String,
    }
    let check = |schema: &str| match schema {
        SCHEMA => Ok(()),
        other => Err(format!("is a '{other}', not a {SCHEMA}")),
    };
    if let Ok(whole) = serde_json::from_str::<Whole>(text) {
        check(&whole.schema)?;
        return enough(whole.samples);
    }
    let mut lines = text.lines();
    let first: First = serde_json::from_str(lines.next().unwrap_or(""))
        .map_err(|_| format!("is not a {SCHEMA} document, nor lines of one"))?;
    check(&first.schema)?;
    let mut samples = Vec::new();
    for (number, line) in (2..).zip(lines.by_ref()) {
        match serde_json::from_str(line) {
            Ok(sample) => samples.push(sample),
            // The writer was interrupted in its last line.
            Err(_) if number == text.lines().count() => break,
            Err(error) => return Err(format!("line {number} is not a sample: {error}")),
        }
    }
    enough(samples)
}

fn enough(samples: Vec<VitalsSample>) -> Result<Vec<VitalsSample>, String> {
    match samples.len() {
        0 | 1 => {
            Err("has fewer than two samples: nothing can have changed between them".to_owned())
        }
        _ => Ok(samples),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(at_us: u64) -> String {
        serde_json::to_string(&VitalsSample { at_us, ..VitalsSample::default() }).unwrap()
    }

    #[test]
    fn reads_lines_and_skips_a_truncated_last_line() {
        let head = format!("{{\"schema\":\"{SCHEMA}\"}}");
        let text = format!("{head}\n{}\n{}\n{{\"at_us\":3,", line(1), line(2));
        let found = samples_of(&text).unwrap();
        assert_eq!(found.iter().map(|sample| sample.at_us).collect::<Vec<_>>(), [1, 2]);
        let odd = format!("{head}\nodd\n{}\n{}\n", line(1), line(2));
        assert!(samples_of(&odd).unwrap_err().starts_with("line 2"));
    }

    #[test]
    fn explains_why_a_text_is_not_a_vitals_document() {
        for (text, why) in [
            ("", "nor lines"),
            ("node_cpu 1\n", "nor lines"),
            ("{\"schema\":\"sixmark.result/1\"}", "sixmark.result/1"),
            ("{\"schema\":\"sixmark.vitals/1\"}\n", "fewer than two"),
        ] {
            let said = samples_of(text).unwrap_err();
            assert!(said.contains(why), "{text}: {said}");
        }
    }
}
