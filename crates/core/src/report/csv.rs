//! A line for each family, for spreadsheets (RFC 4180).

use std::fmt::Write as _;

use crate::outcome::Outcome;
use crate::result::{FamilyResult, Requests, RunResult};
use crate::timing::Summary;

use super::{Figure, PHASES};

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
    for (phase, _) in PHASES {
        write_to(&mut text, format_args!("{phase}_count"));
        FIGURES.iter().for_each(|(name, _)| write_to(&mut text, format_args!("{phase}_{name}")));
    }
    text + "\r\n"
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
    for (_, of) in PHASES {
        summary(text, of(figures));
    }
    text.push_str("\r\n");
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
