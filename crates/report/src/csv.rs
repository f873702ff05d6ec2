//! A line for each family, for spreadsheets (RFC 4180).

use std::fmt::Write as _;

use sixmark_model::family_result::{FamilyResult, Requests};
use sixmark_model::outcome::Outcome;
use sixmark_model::result::RunResult;
use sixmark_model::timing::Summary;
use sixmark_model::tls::TlsResult;

use super::Figure;
use sixmark_model::timed_phase::TimedPhase;

/// A summary's figures and their names in the header; times are in microseconds.
const FIGURES: [Figure<Summary>; 8] = [
    ("min_us", |s| s.min),
    ("mean_us", |s| s.mean),
    ("stddev_us", |s| s.stddev),
    ("p50_us", |s| s.p50),
    ("p90_us", |s| s.p90),
    ("p99_us", |s| s.p99),
    ("p999_us", |s| s.p999),
    ("max_us", |s| s.max),
];

/// Of TLS, beside its times as a phase; empty fields where the run had none.
const HANDSHAKES: [&str; 5] =
    ["tls_full", "tls_resumed", "tls_failed", "tls_full_p50_us", "tls_resumed_p50_us"];

/// A header, a line for each family in use, and one for both together.
pub fn lines(result: &RunResult) -> String {
    let mut text = header();
    for (family, figures) in result.families.iter() {
        let elapsed_s = result.elapsed_s_of(family);
        row(&mut text, &family.to_string().to_lowercase(), elapsed_s, figures);
    }
    row(&mut text, "total", result.elapsed_s, &result.total);
    text
}

fn header() -> String {
    let mut text = String::from("family,elapsed_s,sent,completed,dropped,unsent,waited,resent");
    Outcome::ALL.iter().for_each(|outcome| write_to(&mut text, outcome.name()));
    for name in ["opened", "closed", "received_bytes", "body_bytes", "sent_bytes"] {
        write_to(&mut text, name);
    }
    write_to(&mut text, "requests_per_s");
    write_to(&mut text, "goodput_bytes_per_s");
    for phase in TimedPhase::ALL.map(TimedPhase::name) {
        write_to(&mut text, format_args!("{phase}_count"));
        FIGURES.iter().for_each(|(name, _)| write_to(&mut text, format_args!("{phase}_{name}")));
    }
    for name in HANDSHAKES {
        write_to(&mut text, name);
    }
    text + ",unaccepted\r\n"
}

fn row(text: &mut String, name: &str, elapsed_s: f64, figures: &FamilyResult) {
    text.push_str(name);
    write_to(text, elapsed_s);
    let Requests { sent, completed, dropped, unsent, waited, resent, .. } = figures.requests;
    [sent, completed, dropped, unsent, waited, resent]
        .iter()
        .for_each(|number| write_to(text, number));
    for outcome in Outcome::ALL {
        write_to(text, figures.outcomes.get(outcome.name()).copied().unwrap_or(0));
    }
    let (connections, bytes) = (&figures.connections, &figures.bytes);
    for number in [connections.opened, connections.closed, bytes.received, bytes.body, bytes.sent] {
        write_to(text, number);
    }
    write_to(text, figures.requests_per_s);
    write_to(text, figures.goodput_bytes_per_s);
    for phase in TimedPhase::ALL {
        summary(text, phase.durations(figures));
    }
    handshakes(text, figures.tls.as_ref());
    write_to(text, figures.requests.unaccepted);
    text.push_str("\r\n");
}

fn handshakes(text: &mut String, tls: Option<&TlsResult>) {
    let counts = tls.map(|tls| tls.handshakes);
    for count in [counts.map(|c| c.full), counts.map(|c| c.resumed), counts.map(|c| c.failed)] {
        write_to(text, count.map_or(String::new(), |count| count.to_string()));
    }
    for us in [tls.and_then(|tls| tls.full_us.p50), tls.and_then(|tls| tls.resumed_us.p50)] {
        write_to(text, us.map_or(String::new(), |us| us.to_string()));
    }
}

/// Empty fields where there is none.
fn summary(text: &mut String, summary: Option<&Summary>) {
    write_to(text, summary.map_or(String::new(), |summary| summary.count.to_string()));
    for (_, figure) in FIGURES {
        let value = summary.and_then(figure);
        write_to(text, value.map_or(String::new(), |value| value.to_string()));
    }
}

fn write_to(text: &mut String, value: impl std::fmt::Display) {
    let _ = write!(text, ",{value}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixmark_model::plan::tls::Tls;
    use sixmark_model::result::family_result;
    use sixmark_model::tally::FamilyTally;

    #[test]
    fn lines_have_a_field_for_each_column_with_tls_and_without() {
        let mut tally = FamilyTally::default();
        tally.tls.failed(None);
        let plain = family_result(&tally, Vec::new(), 1.0, false);
        let tls = Some(tally.tls.result(&Tls::default()));
        let secure = FamilyResult { tls, ..plain.clone() };
        let columns = header().split(',').count();
        for (figures, end) in [(plain, ",,,,,0\r\n"), (secure, ",0,0,1,,,0\r\n")] {
            let mut text = String::new();
            row(&mut text, "ipv6", 1.0, &figures);
            assert_eq!(text.split(',').count(), columns, "{text}");
            assert!(text.ends_with(end), "{text}");
        }
    }
}
