//! The figures of documents in Prometheus's text format, for the textfile collector of node_exporter.
//!
//! A name of a figure is that of the table of metrics with its unit. Durations are in seconds.

use std::time::UNIX_EPOCH;

use crate::report::documents::Document;
use crate::report::headline::ListHeadline;
use sixmark_compare::Comparison;
use sixmark_compare::comparison_result::ComparisonResult;
use sixmark_document::provenance::Warning;
use sixmark_document::verdict::Verdict;
use sixmark_result::gate_result::GateResult;
use sixmark_result::measurement::Measurement;
use sixmark_sheet::exposition::{ExpositionPage, prometheus_label};
use sixmark_tally::family_result::FamilyResult;
use sixmark_tally::metric::{MetricKind, Quantity};
use sixmark_tally::timed_phase::{TimePoint, TimedPhase};

use super::sheet::Named;

const US_PER_S: f64 = 1e6;

/// The quantiles of durations, as Prometheus writes them.
const QUANTILES: [(TimePoint, &str); 5] = [
    (TimePoint::P50, "0.5"),
    (TimePoint::P90, "0.9"),
    (TimePoint::P95, "0.95"),
    (TimePoint::P99, "0.99"),
    (TimePoint::P999, "0.999"),
];

const VERDICTS: [Verdict; 5] = [
    Verdict::Better,
    Verdict::Worse,
    Verdict::Equivalent,
    Verdict::Inconclusive,
    Verdict::NotComparable,
];

/// The part of a document that the page has, with the labels of all its lines.
struct Reported<'a> {
    labels: String,
    started: &'a str,
    elapsed_s: f64,
    sides: Vec<ReportedSide<'a>>,
    comparison: Option<&'a Comparison>,
    warnings: &'a [Warning],
    gates: &'a [GateResult],
}

struct ReportedSide<'a> {
    name: String,
    figures: &'a FamilyResult,
    /// Exchanges were hidden from a watch: what reads 0 is not known.
    hides_exchanges: bool,
}

/// Returns the page of all documents.
///
/// # Errors
/// A document is of another kind than a run, a watch or a comparison, or two of them would have the same labels. The
/// message is one line.
pub fn prometheus_page_of(documents: &[Named<'_>]) -> Result<String, String> {
    let all = documents.iter().map(report_of).collect::<Result<Vec<_>, _>>()?;
    for (at, of) in all.iter().enumerate() {
        if all[..at].iter().any(|before| before.labels == of.labels) {
            return Err(format!(
                "two results have the labels {}, by which Prometheus distinguishes them; report one of them",
                of.labels
            ));
        }
    }
    let mut page = ExpositionPage::new("sixmark_");
    write_ends(&mut page, &all);
    write_durations(&mut page, &all);
    write_quantities(&mut page, &all);
    write_outcomes(&mut page, &all);
    write_verdicts(&mut page, &all);
    Ok(page.take())
}

fn report_of<'a>(named: &Named<'a>) -> Result<Reported<'a>, String> {
    match named.document {
        Document::Run(run) => Ok(report_measurement(&ListHeadline::of_run(run), &**run)),
        Document::Watch(watch) => Ok(report_measurement(&ListHeadline::of_watch(watch), &**watch)),
        Document::Comparison(result) => Ok(report_comparison(result)),
        other => Err(format!(
            "'{}' is a {}: --prometheus needs documents of `sixmark run`, `compare` or `watch`",
            named.name,
            other.schema()
        )),
    }
}

fn report_measurement<'a>(headline: &ListHeadline, of: &'a dyn Measurement) -> Reported<'a> {
    let side = |name: String, figures, family| ReportedSide {
        name,
        figures,
        hides_exchanges: of.why_hidden(family).is_some(),
    };
    let families = of.families().iter();
    let mut sides: Vec<_> = families
        .map(|(family, figures)| side(family.word().to_owned(), figures, Some(family)))
        .collect();
    // In a search the figures of both together are of different rates.
    if of.run().is_none_or(|run| run.find_max.is_none()) {
        sides.push(side("total".to_owned(), of.total(), None));
    }
    Reported {
        labels: labels_of(headline),
        started: of.started(),
        elapsed_s: of.elapsed_s(),
        sides,
        comparison: None,
        warnings: of.warnings(),
        gates: of.gates(),
    }
}

fn report_comparison(result: &ComparisonResult) -> Reported<'_> {
    let sides = [&result.sides.a, &result.sides.b].map(|side| ReportedSide {
        name: side.name.clone(),
        figures: &side.figures,
        hides_exchanges: false,
    });
    Reported {
        labels: labels_of(&ListHeadline::of_comparison(result)),
        started: &result.started,
        elapsed_s: result.elapsed_s,
        sides: sides.into(),
        comparison: Some(&result.comparison),
        warnings: &result.warnings,
        gates: &result.gates,
    }
}

/// What distinguishes series: the command and the first target. More targets would make a label of any length.
fn labels_of(headline: &ListHeadline) -> String {
    let target = match &headline.targets[..] {
        [] => String::new(),
        [only] => only.clone(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
    };
    let kind = prometheus_label("kind", headline.kind.name());
    format!("{kind},{}", prometheus_label("target", &target))
}

fn write_ends(page: &mut ExpositionPage, all: &[Reported<'_>]) {
    let of_each = |value: &dyn Fn(&Reported<'_>) -> Option<f64>| -> Vec<(String, f64)> {
        all.iter().filter_map(|of| Some((of.labels.clone(), value(of)?))).collect()
    };
    let started = of_each(&|of| seconds_since_1970(of.started));
    page.gauge("started_timestamp_seconds", "When the measurement began.", &started);
    let elapsed = of_each(&|of| Some(of.elapsed_s));
    page.gauge("elapsed_seconds", "How long the measurement took.", &elapsed);
    let warnings = of_each(&|of| Some(of.warnings.len() as f64));
    page.gauge("warnings", "Reasons to doubt the figures.", &warnings);
    let gates = |failed: &dyn Fn(&GateResult) -> bool| {
        of_each(&|of| Some(of.gates.iter().filter(|gate| failed(gate)).count() as f64))
    };
    page.gauge("gates", "Number of gates.", &gates(&|_| true));
    page.gauge("gates_failed", "Number of gates that failed.", &gates(&|gate| gate.failed));
}

fn seconds_since_1970(time: &str) -> Option<f64> {
    let time = humantime::parse_rfc3339(time).ok()?;
    Some(time.duration_since(UNIX_EPOCH).ok()?.as_secs_f64())
}

/// Returns the values of a figure, by the labels of each side of each document.
fn by_side(
    all: &[Reported<'_>],
    value: impl Fn(&ReportedSide<'_>) -> Option<f64>,
) -> Vec<(String, f64)> {
    let sides = all.iter().flat_map(|of| of.sides.iter().map(move |side| (of, side)));
    sides.filter_map(|(of, side)| Some((side_labels(of, side), value(side)?))).collect()
}

fn side_labels(of: &Reported<'_>, side: &ReportedSide<'_>) -> String {
    format!("{},{}", of.labels, prometheus_label("side", &side.name))
}

fn write_durations(page: &mut ExpositionPage, all: &[Reported<'_>]) {
    for phase in TimedPhase::ALL {
        let at = |point: TimePoint, label: &str| -> Vec<(String, f64)> {
            let known = |side: &ReportedSide<'_>| phase.is_of_connection() || !side.hides_exchanges;
            let value = |side: &ReportedSide<'_>| {
                let us = phase.durations(side.figures).filter(|_| known(side));
                Some(point.value_us(us?)? / US_PER_S)
            };
            let labelled = |(labels, s)| (format!("{labels},quantile=\"{label}\""), s);
            by_side(all, value).into_iter().map(labelled).collect()
        };
        let values: Vec<_> =
            QUANTILES.into_iter().flat_map(|(point, label)| at(point, label)).collect();
        page.gauge(&format!("{}_seconds", phase.name()), &sentence(phase.definition()), &values);
    }
}

fn write_quantities(page: &mut ExpositionPage, all: &[Reported<'_>]) {
    for quantity in Quantity::all() {
        let entry = quantity.entry();
        let (name, scale) = match entry.kind {
            MetricKind::Time => (format!("{}_seconds", entry.name), US_PER_S),
            MetricKind::Seconds => (format!("{}_seconds", entry.name), 1.0),
            MetricKind::BytesPerS => (format!("{}_bytes_per_second", entry.name), 1.0),
            MetricKind::Frequency => (entry.name.replace("_per_s", "_per_second"), 1.0),
            MetricKind::Share => (format!("{}_ratio", entry.name), 1.0),
            MetricKind::Count | MetricKind::Mean => (entry.name.to_owned(), 1.0),
        };
        let values = by_side(all, |side| {
            let known = quantity.is_of_connections() || !side.hides_exchanges;
            let value = if known { quantity.value(side.figures) } else { None };
            value.map(|value| value / scale)
        });
        page.gauge(&name, &sentence(entry.definition), &values);
    }
}

fn write_outcomes(page: &mut ExpositionPage, all: &[Reported<'_>]) {
    let mut values = Vec::new();
    for of in all {
        for side in of.sides.iter().filter(|side| !side.hides_exchanges) {
            for (outcome, count) in &side.figures.outcomes {
                let outcome = prometheus_label("outcome", outcome);
                values.push((format!("{},{outcome}", side_labels(of, side)), *count as f64));
            }
        }
    }
    page.gauge("outcomes", "Exchanges by outcome.", &values);
}

/// Writes the verdict on each metric of comparisons, as a line for each that it might be, of which one is 1.
fn write_verdicts(page: &mut ExpositionPage, all: &[Reported<'_>]) {
    let (mut verdicts, mut changes) = (Vec::new(), Vec::new());
    for of in all {
        for compared in of.comparison.iter().flat_map(|of| &of.metrics) {
            let metric = prometheus_label("metric", &compared.metric.to_string());
            let labels = format!("{},{metric}", of.labels);
            for verdict in VERDICTS {
                let word = prometheus_label("verdict", verdict.word());
                let is = if verdict == compared.verdict { 1.0 } else { 0.0 };
                verdicts.push((format!("{labels},{word}"), is));
            }
            let Some(ratio) = compared.ratio else { continue };
            for (bound, value) in [("value", ratio.value), ("low", ratio.low), ("high", ratio.high)]
            {
                changes.push((format!("{labels},bound=\"{bound}\""), value));
            }
        }
    }
    page.gauge("verdict", "1 for the verdict on side A, 0 for every other one.", &verdicts);
    let help = "Side A divided by side B, with the interval of the true value.";
    page.gauge("compared_ratio", help, &changes);
}

/// Returns a definition of the table of metrics as a sentence.
fn sentence(definition: &str) -> String {
    let mut letters = definition.trim_end_matches('.').chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use sixmark_units::family::Family;

    fn parse(text: &str) -> Document {
        Document::parse(text).unwrap()
    }

    fn page_of(text: &str) -> String {
        prometheus_page_of(&[Named { name: "a", document: &parse(text) }]).unwrap()
    }

    const RUN: &str = include_str!("../../tests/data/run-both.json");
    const COMPARISON: &str = include_str!("../../tests/data/comparison.json");
    const STUDY: &str = include_str!("../../tests/data/study.json");
    const HIDDEN: &str = include_str!("../../tests/data/watch-hidden.json");

    #[test]
    fn every_metric_is_explained_once_and_no_series_occurs_twice() {
        for text in [RUN, COMPARISON, HIDDEN] {
            let (page, mut known, mut series) = (page_of(text), Vec::new(), BTreeSet::new());
            for line in page.lines() {
                if let Some(rest) = line.strip_prefix("# TYPE ") {
                    let name = rest.split(' ').next().unwrap();
                    assert!(!known.contains(&name), "{name} twice");
                    known.push(name);
                } else if !line.starts_with('#') {
                    let (labelled, value) = line.rsplit_once(' ').unwrap();
                    assert_eq!(labelled.split('{').next(), known.last().copied(), "{line}");
                    assert!(series.insert(labelled), "{line} twice");
                    assert!(value.parse::<f64>().unwrap().is_finite(), "{line}");
                }
            }
        }
    }

    #[test]
    fn writes_the_documents_figures_in_base_units() {
        let Document::Run(run) = parse(RUN) else { panic!("a run") };
        let page = page_of(RUN);
        let median = run.families.iter().find(|(family, _)| *family == Family::Ipv6).unwrap().1;
        let s = median.response_us.p50.unwrap() / 1e6;
        let line = page.lines().find(|line| {
            line.starts_with("sixmark_response_seconds{kind=\"run\",")
                && line.contains("side=\"ipv6\",quantile=\"0.5\"} ")
        });
        assert!(line.unwrap().ends_with(&format!("}} {s}")), "{line:?} {s}");
        let sent = format!("side=\"total\"}} {}\n", run.total.requests.sent);
        assert!(page.contains(&sent), "{page}");
    }

    #[test]
    fn one_verdict_of_each_metric_is_1() {
        let Document::Comparison(result) = parse(COMPARISON) else { panic!("a comparison") };
        let page = page_of(COMPARISON);
        let lines = page.lines().filter(|line| line.starts_with("sixmark_verdict{"));
        let given = lines.filter(|line| line.ends_with(" 1")).count();
        assert_eq!(given, result.comparison.metrics.len());
        assert!(page.contains("sixmark_compared_ratio{"), "{page}");
    }

    #[test]
    fn omits_figures_that_a_watch_could_not_see() {
        let page = page_of(HIDDEN);
        assert!(page.contains("\nsixmark_connect_seconds{"), "{page}");
        assert!(!page.contains("\nsixmark_sent{"), "{page}");
    }

    #[test]
    fn rejects_studies_and_results_with_identical_labels() {
        let [run, study] = [RUN, STUDY].map(parse);
        let of = |documents: &[&Document]| {
            let named: Vec<_> =
                documents.iter().map(|document| Named { name: "a", document }).collect();
            prometheus_page_of(&named).unwrap_err()
        };
        assert!(of(&[&study]).contains("--prometheus needs documents of"));
        assert!(of(&[&run, &run]).contains("two results have the labels"));
    }
}
