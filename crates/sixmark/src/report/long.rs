//! CSV with one line per figure, for further computation (RFC 4180).
//!
//! A metric's name is its path in the document. docs/result.md defines it and its unit.

use serde::Serialize;
use serde_json::Value;

use crate::report::documents::Document;
use crate::report::headline::DocumentKind;
use sixmark_check::check_result::CheckResult;
use sixmark_compare::Comparison;
use sixmark_compare::comparison_result::{ComparisonResult, SideName};
use sixmark_design::study_result::StudyResult;
use sixmark_doctor::doctor_result::DoctorResult;
use sixmark_eyes::eyes_result::EyesResult;
use sixmark_only6::only6_result::Only6Result;
use sixmark_result::find::FindMax;
use sixmark_result::measurement::Measurement;
use sixmark_sheet::csv_lines::{CsvLines, LineEnding};
use sixmark_study::inspection::document::InspectionResult;
use sixmark_tally::family_result::FamilyResult;
use sixmark_traffic::traffic_result::TrafficResult;
use sixmark_units::family::Family;
use sixmark_vitals::sample::VitalsSample;
use sixmark_vitals::vitals_result::VitalsResult;
use sixmark_watch::Watched;

use super::sheet::Named;
use sixmark_traffic::text::sender;

const HEADER: [&str; 8] =
    ["document", "kind", "started", "part", "number", "side", "metric", "value"];

/// Returns a header line, and one line for each figure of each document.
pub fn csv_of_figures(documents: &[Named<'_>]) -> String {
    let mut lines = CsvLines::new(LineEnding::Crlf);
    lines.line(HEADER);
    for named in documents {
        match named.document {
            Document::Run(result) => {
                write_measurement(&mut lines, named.name, DocumentKind::Run, &**result, |_| {});
            }
            Document::Watch(result) => {
                let kind = DocumentKind::Watch;
                let watched = |to: &mut Figures<'_>| to.watched(&result.watched);
                write_measurement(&mut lines, named.name, kind, &**result, watched);
            }
            Document::Comparison(result) => write_comparison(&mut lines, named.name, result),
            Document::Study(result) => study(&mut lines, named.name, result),
            Document::Inspection(result) => write_inspection(&mut lines, named.name, result),
            Document::Vitals(result) => write_vitals(&mut lines, named.name, result),
            Document::Traffic(result) => write_traffic(&mut lines, named.name, result),
            Document::Doctor(result) => write_doctor(&mut lines, named.name, result),
            Document::Check(result) => write_check(&mut lines, named.name, result),
            Document::Eyes(result) => write_eyes(&mut lines, named.name, result),
            Document::Only6(result) => write_only6(&mut lines, named.name, result),
        }
    }
    lines.take()
}

/// The fields that all figures of a document share, in the order of the header.
struct Figures<'a> {
    lines: &'a mut CsvLines,
    document: &'a str,
    kind: &'static str,
    started: &'a str,
}

/// The place of a figure within a document: a part, the number of a second or block, and a side.
type Place<'a> = (&'a str, Option<u64>, &'a str);

/// Writes a run or a watch. `more` writes the figures that only one of them has.
fn write_measurement(
    lines: &mut CsvLines,
    document: &str,
    kind: DocumentKind,
    of: &dyn Measurement,
    more: impl FnOnce(&mut Figures<'_>),
) {
    let kind = kind.name();
    let mut to = Figures { lines, document, kind, started: of.started() };
    to.one((kind, None, ""), "elapsed_s", &of.elapsed_s().to_string());
    for (family, figures) in of.families().iter() {
        let side = family.to_string().to_lowercase();
        to.one((kind, None, &side), "elapsed_s", &of.elapsed_s_of(family).to_string());
        to.family((kind, None, &side), figures);
    }
    to.family((kind, None, "total"), of.total());
    more(&mut to);
    for second in of.intervals() {
        let number = Some(second.second);
        to.one(("second", number, ""), "length_s", &second.length_s.to_string());
        for (family, figures) in second.families.iter() {
            to.all(("second", number, &family.to_string().to_lowercase()), figures);
        }
    }
    if let Some(found) = of.run().and_then(|run| run.find_max.as_ref()) {
        to.search(found);
    }
    for tenth in of.tenths() {
        let number = Some(tenth.tenth);
        to.one(("tenth", number, ""), "length_s", &tenth.length_s.to_string());
        for (family, figures) in tenth.families.iter() {
            to.all(("tenth", number, family.word()), figures);
        }
    }
}

fn write_comparison(lines: &mut CsvLines, document: &str, result: &ComparisonResult) {
    let mut to = Figures { lines, document, kind: "comparison", started: &result.started };
    to.one(("comparison", None, ""), "elapsed_s", &result.elapsed_s.to_string());
    for side in [&result.sides.a, &result.sides.b] {
        to.one(("side", None, &side.name), "elapsed_s", &side.elapsed_s.to_string());
        to.family(("side", None, &side.name), &side.figures);
    }
    for (at, block) in result.blocks.iter().enumerate() {
        let name = match block.side {
            SideName::A => &result.sides.a.name,
            SideName::B => &result.sides.b.name,
        };
        let place = ("block", Some(at as u64), name.as_str());
        let pair = block.pair.map_or(String::new(), |pair| pair.to_string());
        to.one(place, "pair", &pair);
        to.one(place, "elapsed_s", &block.elapsed_s.to_string());
        to.family(place, &block.figures);
    }
    to.compared("compared", &result.comparison);
    result.noise.iter().for_each(|noise| to.compared("noise", noise));
}

/// Writes a study. The part is the name of the cell; the levels of a cell are only in the document.
fn study(lines: &mut CsvLines, document: &str, result: &StudyResult) {
    let mut to = Figures { lines, document, kind: "study", started: &result.started };
    for (at, cell) in result.cells.iter().enumerate() {
        for (family, figures) in cell.families.iter() {
            let side = family.to_string().to_lowercase();
            to.all((&cell.id, Some(at as u64), &side), figures);
        }
    }
}

/// Writes the change from the first sample to the last, and each sample with the kernel's counters.
fn write_vitals(lines: &mut CsvLines, document: &str, result: &VitalsResult) {
    let mut to = Figures { lines, document, kind: "vitals", started: &result.head.started };
    let whole = ("vitals", None, "");
    for (name, value) in [
        ("elapsed_s", result.elapsed_s),
        ("own_cpu_share", result.own_cpu_share),
        ("busiest", result.busiest),
        ("busiest_core", result.busiest_core),
    ] {
        to.one(whole, name, &value.to_string());
    }
    to.sample("change", None, &result.change);
    for (at, sample) in result.samples.iter().enumerate() {
        to.sample("sample", Some(at as u64), sample);
    }
}

/// Writes the sum of all flows, the sums per protocol, family and sender, and each flow by its
/// number.
fn write_traffic(lines: &mut CsvLines, document: &str, result: &TrafficResult) {
    let mut to = Figures { lines, document, kind: "traffic", started: &result.started };
    to.one(("traffic", None, ""), "elapsed_s", &result.elapsed_s.to_string());
    to.all(("traffic", None, "total"), &result.total);
    for (at, kind) in result.kinds.iter().enumerate() {
        let part = format!("{} from {}", kind.protocol, sender(kind.from));
        to.all((&part, Some(at as u64), kind.family.word()), kind);
    }
    for flow in &result.flows {
        to.all(("flow", Some(flow.id.into()), flow.family.word()), flow);
    }
}

/// Writes the verdict of each site, and the state of each check with what was found.
fn write_check(lines: &mut CsvLines, document: &str, result: &CheckResult) {
    let mut to =
        Figures { lines, document, kind: DocumentKind::Check.name(), started: &result.started };
    for site in &result.sites {
        to.one(("site", None, &site.url), "verdict", site.verdict.shown());
        for finding in &site.findings {
            to.one(("check", None, finding.check.name()), "state", finding.state.word());
            to.one(("check", None, finding.check.name()), "found", &finding.found);
        }
    }
}

/// Writes the figures of each case, and the state of each clause.
fn write_eyes(lines: &mut CsvLines, document: &str, result: &EyesResult) {
    let mut to = Figures { lines, document, kind: "eyes", started: &result.started };
    for of in &result.cases {
        to.all(("case", None, &of.case), &of.figures);
    }
    for of in &result.clauses {
        to.one(("clause", None, &of.clause), "state", of.state.word());
        to.one(("clause", None, &of.clause), "met", &of.met.to_string());
        to.one(("clause", None, &of.clause), "shown", &of.shown.to_string());
    }
}

/// Writes the verdict of each scenario, and the scenarios and the evidence of each finding.
fn write_only6(lines: &mut CsvLines, document: &str, result: &Only6Result) {
    let mut to = Figures { lines, document, kind: "only6", started: &result.started };
    for of in &result.scenarios {
        to.one(("scenario", None, &of.name()), "verdict", of.verdict.words());
    }
    for of in &result.findings {
        to.one(("finding", None, &of.code), "scenarios", &of.scenarios.join(" "));
        to.one(("finding", None, &of.code), "evidence", &of.evidence);
    }
}

/// Writes the attempt delays of each client and the answer to each claim.
fn write_inspection(lines: &mut CsvLines, document: &str, result: &InspectionResult) {
    let mut to =
        Figures { lines, document, kind: DocumentKind::Study.name(), started: &result.started };
    for client in &result.clients {
        for (number, ms) in client.traits.attempt_delays_ms.iter().enumerate() {
            let place = ("client", Some(number as u64 + 1), client.client.as_str());
            to.one(place, "attempt_delay_ms", &ms.to_string());
        }
    }
    for claim in &result.claims {
        to.one(("claim", None, &claim.id), "answer", claim.answer.words());
    }
}

/// Writes the state of each purpose and of each check, with what was found.
fn write_doctor(lines: &mut CsvLines, document: &str, result: &DoctorResult) {
    let mut to = Figures { lines, document, kind: "doctor", started: &result.started };
    for purpose in &result.purposes {
        to.one(("purpose", None, purpose.name.name()), "state", purpose.state.word());
    }
    for check in &result.checks {
        to.one(("check", None, &check.name), "state", check.state.word());
        to.one(("check", None, &check.name), "found", &check.found);
    }
}

impl Figures<'_> {
    /// Writes a sample of vitals. Counters of a family have its name as their side.
    fn sample(&mut self, part: &str, number: Option<u64>, sample: &VitalsSample) {
        self.one((part, number, ""), "since_us", &sample.since_us.to_string());
        self.all((part, number, "host"), &sample.host);
        let network = &sample.network;
        for family in Family::BOTH {
            self.all((part, number, family.word()), &network.families[family]);
            if let Some(sockets) = &network.sockets {
                self.walk_of((part, number, family.word()), "sockets", &sockets[family]);
            }
        }
        self.walk_of((part, number, "total"), "tcp", &network.tcp);
        for group in &sample.groups {
            self.all((part, number, &group.name), group);
        }
        for interface in &network.interfaces {
            self.all((part, number, &interface.name), interface);
        }
    }

    /// Writes every number of `figures`, under `name` and its path.
    fn walk_of(&mut self, place: Place<'_>, name: &str, figures: &impl Serialize) {
        if let Ok(value) = serde_json::to_value(figures) {
            self.walk(place, name, &value);
        }
    }

    fn family(&mut self, place: Place<'_>, figures: &FamilyResult) {
        self.all(place, figures);
        for (at, of) in figures.by_request.iter().enumerate() {
            let place = ("request", Some(at as u64), place.2);
            self.one(place, "name", of.name.as_deref().unwrap_or(""));
            self.all(place, of);
        }
        for (at, of) in figures.by_step.iter().enumerate() {
            self.all(("step", Some(at as u64), place.2), of);
        }
    }

    /// Writes the result of a search, and each trial by its number among those of the family.
    fn search(&mut self, found: &FindMax) {
        let took = found.took_s.map(|s| s.to_string());
        took.iter().for_each(|took| self.one(("search", None, ""), "took_s", took));
        self.one(("search", None, ""), "trial_s", &found.trial_s.to_string());
        for (family, of) in found.families.iter() {
            self.all(("search", None, family.word()), of);
            for (at, trial) in of.trials.iter().enumerate() {
                let place = ("trial", Some(at as u64), family.word());
                self.all(place, trial);
                for (condition, value) in found.conditions.iter().zip(&trial.values) {
                    let value = value.map_or(String::new(), |value| value.to_string());
                    self.one(place, &condition.figure(), &value);
                }
            }
        }
    }

    /// Writes the figures that only packets show.
    fn watched(&mut self, watched: &Watched) {
        for (family, figures) in watched.families.iter() {
            self.all(("packets", None, &family.to_string().to_lowercase()), figures);
        }
        for (at, server) in watched.servers.iter().enumerate() {
            let place = ("server", Some(at as u64), server.address.to_string());
            self.all((place.0, place.1, &place.2), &server.figures);
        }
    }

    /// Writes the result for each metric, named `response.p50.ratio.value`.
    fn compared(&mut self, part: &str, comparison: &Comparison) {
        if let Some(said) = comparison.not_same() {
            self.one((part, None, comparison.a.as_str()), "not_comparable", said);
        }
        for of in &comparison.metrics {
            let place = (part, None, comparison.a.as_str());
            if let Ok(value) = serde_json::to_value(of) {
                self.walk(place, &of.metric.to_string(), &value);
            }
            if let Ok(Value::String(verdict)) = serde_json::to_value(of.verdict) {
                self.one(place, &format!("{}.verdict", of.metric), &verdict);
            }
        }
    }

    /// Writes every number of `figures`, named by its path.
    fn all(&mut self, place: Place<'_>, figures: &impl Serialize) {
        // Converting figures to JSON can't fail: the document was written in the same way.
        self.walk_of(place, "", figures);
    }

    /// Writes the numbers of a JSON value. Lists are left out: their entries (failures,
    /// certificates) have different fields.
    fn walk(&mut self, place: Place<'_>, path: &str, value: &Value) {
        match value {
            Value::Number(number) => self.one(place, path, &number.to_string()),
            Value::Object(fields) => {
                for (name, value) in fields {
                    let dot = if path.is_empty() { "" } else { "." };
                    self.walk(place, &format!("{path}{dot}{name}"), value);
                }
            }
            _ => {}
        }
    }

    fn one(&mut self, (part, number, side): Place<'_>, metric: &str, value: &str) {
        let number = number.map_or(String::new(), |number| number.to_string());
        let Figures { document, kind, started, .. } = *self;
        self.lines.line([document, kind, started, part, &number, side, metric, value]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_each_number_with_its_path_and_quotes_document_names() {
        let mut lines = CsvLines::new(LineEnding::Crlf);
        let started = "2026-01-01T00:00:00Z";
        let mut to = Figures { lines: &mut lines, document: "a,\"b\"", kind: "run", started };
        let value = serde_json::json!({"p": {"x": 1, "y": null, "hdr": "z"}, "l": [1], "q": 2.5});
        to.all(("second", Some(3), "ipv6"), &value);
        let begin = "\"a,\"\"b\"\"\",run,2026-01-01T00:00:00Z,second,3,ipv6,";
        assert_eq!(lines.take(), format!("{begin}p.x,1\r\n{begin}q,2.5\r\n"));
    }
}
