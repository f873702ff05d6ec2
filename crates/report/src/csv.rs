//! The figures of each family as comma-separated values (RFC 4180), for spreadsheets.

use sixmark_document::timing::Summary;
use sixmark_result::measurement::Measurement;
use sixmark_sheet::csv_lines::{CsvLines, LineEnding};
use sixmark_tally::family_result::FamilyResult;
use sixmark_tally::metric::{CsvPlace, Quantity};
use sixmark_tally::outcome::Outcome;
use sixmark_tally::tls::TlsResult;

use sixmark_sheet::Figure;
use sixmark_tally::timed_phase::TimedPhase;

/// The figures of a summary, with the end of their names in the header. Times are in microseconds.
const FIGURES: [Figure<Summary>; 9] = [
    ("min_us", |s| s.min),
    ("mean_us", |s| s.mean),
    ("stddev_us", |s| s.stddev),
    ("p50_us", |s| s.p50),
    ("p90_us", |s| s.p90),
    ("p95_us", |s| s.p95),
    ("p99_us", |s| s.p99),
    ("p999_us", |s| s.p999),
    ("max_us", |s| s.max),
];

/// Columns of TLS, in addition to those of the phase. The fields are empty if the run did not use
/// TLS.
const HANDSHAKES: [&str; 5] =
    ["tls_full", "tls_resumed", "tls_failed", "tls_full_p50_us", "tls_resumed_p50_us"];

/// Totals of bytes. The table of metrics contains only rates.
const BYTES: [Figure<FamilyResult>; 3] = [
    ("received_bytes", |of| Some(of.bytes.received as f64)),
    ("body_bytes", |of| Some(of.bytes.body as f64)),
    ("sent_bytes", |of| Some(of.bytes.sent as f64)),
];

/// Writes a header, a line for each family in use, and a line for both together.
pub fn csv_of_families(of: &dyn Measurement) -> String {
    let measurement = of;
    let mut lines = CsvLines::new(LineEnding::Crlf);
    lines.line(header());
    for (family, figures) in measurement.families().iter() {
        lines.line(family_row(family.word(), measurement.elapsed_s_of(family), figures));
    }
    lines.line(family_row("total", measurement.elapsed_s(), measurement.total()));
    lines.take()
}

fn header() -> Vec<String> {
    let name = |quantity: Quantity| quantity.entry().name;
    let phases = TimedPhase::ALL.into_iter().flat_map(|phase| {
        let names = std::iter::once("count").chain(FIGURES.map(|(name, _)| name));
        names.map(move |name| format!("{}_{name}", phase.name()))
    });
    let before = ["family", "elapsed_s"]
        .into_iter()
        .chain(Quantity::in_csv(CsvPlace::Exchanges).map(name))
        .chain(Outcome::ALL.iter().map(|outcome| outcome.name()))
        .chain(Quantity::in_csv(CsvPlace::Connections).map(name))
        .chain(BYTES.map(|(name, _)| name))
        .chain(Quantity::rates_in_csv().map(|(name, _)| name))
        .map(str::to_owned);
    let after =
        HANDSHAKES.into_iter().chain(Quantity::in_csv(CsvPlace::Last).map(name)).map(str::to_owned);
    before.chain(phases).chain(after).collect()
}

fn family_row(name: &str, elapsed_s: f64, figures: &FamilyResult) -> Vec<String> {
    let mut fields = vec![name.to_owned(), elapsed_s.to_string()];
    let quantity = |quantity: Quantity| written(quantity.value(figures));
    let outcome = |outcome: &Outcome| figures.outcomes.get(outcome.name()).copied().unwrap_or(0);
    fields.extend(Quantity::in_csv(CsvPlace::Exchanges).map(quantity));
    fields.extend(Outcome::ALL.iter().map(|of| outcome(of).to_string()));
    fields.extend(Quantity::in_csv(CsvPlace::Connections).map(quantity));
    fields.extend(BYTES.map(|(_, of)| written(of(figures))));
    fields.extend(Quantity::rates_in_csv().map(|(_, of)| quantity(of)));
    for phase in TimedPhase::ALL {
        let summary = phase.durations(figures);
        fields.push(written(summary.map(|summary| summary.count)));
        fields.extend(FIGURES.map(|(_, figure)| written(summary.and_then(figure))));
    }
    fields.extend(handshakes(figures.tls.as_ref()));
    fields.extend(Quantity::in_csv(CsvPlace::Last).map(quantity));
    fields
}

fn handshakes(tls: Option<&TlsResult>) -> [String; 5] {
    let counts = tls.map(|tls| tls.handshakes);
    [
        written(counts.map(|of| of.full)),
        written(counts.map(|of| of.resumed)),
        written(counts.map(|of| of.failed)),
        written(tls.and_then(|tls| tls.full_us.p50)),
        written(tls.and_then(|tls| tls.resumed_us.p50)),
    ]
}

/// Formats a value; the field is empty if there is none.
fn written(value: Option<impl ToString>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixmark_plan::plan::tls::PlanTls;
    use sixmark_tally::counted::family_result;
    use sixmark_tally::tally::FamilyTally;

    #[test]
    fn lines_have_a_field_for_each_column_with_tls_and_without() {
        let mut tally = FamilyTally::default();
        tally.tls.failed(None);
        let plain = family_result(&tally, Vec::new(), 1.0, false);
        let tls = Some(tally.tls.result(&PlanTls::default()));
        let secure = FamilyResult { tls, ..plain.clone() };
        let columns = header().len();
        let without = ["", "", "", "", "", "0", "0", ""];
        let with = ["0", "0", "1", "", "", "0", "0", ""];
        for (figures, end) in [(plain, without), (secure, with)] {
            let fields = family_row("ipv6", 1.0, &figures);
            assert_eq!(fields.len(), columns);
            assert_eq!(fields[columns - end.len()..], end);
        }
    }
}
