//! Generates docs/metrics.md, the table of all figures.

use std::fmt::Write as _;

use sixmark_tally::metric::compared::compared_metrics;
use sixmark_tally::metric::{METRIC_POINTS, Metric, MetricKind, Quantity};
use sixmark_tally::timed_phase::{TimePoint, TimedPhase};

/// The text above the tables.
const HEAD: &str = "# Metrics

Every figure that sixmark reports, by the name that gates, comparisons, studies and documents have for it. This page is
made from the table in the source (`crates/tally/src/metric`, `timed_phase.rs`); a test compares them.
[terminology.md](terminology.md) explains the words, [result.md](result.md) the documents.
";

/// Returns the page. It ends with a line feed.
pub fn metrics_page() -> String {
    let mut text = HEAD.to_owned();
    phases(&mut text);
    quantities(&mut text);
    text
}

fn phases(text: &mut String) {
    let points = METRIC_POINTS.map(|point| format!("`{}` ({})", point.name(), point.title()));
    let _ = write!(
        text,
        "\n## Durations\n\n`PHASE.POINT`, as in `response.p99`, microseconds in documents. Lower is better. The \
         points are\n{}; gates also have\n`{}` ({}). Comparisons have the quantiles of the phases marked so.\n\n\
         | phase | from when to when | absent | comparisons |\n|---|---|---|---|\n",
        points.join(", "),
        TimePoint::Stddev.name(),
        TimePoint::Stddev.title()
    );
    for phase in TimedPhase::ALL {
        let compared = compared_metrics().any(|metric| metric.phase() == Some(phase));
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} |",
            phase.name(),
            phase.definition(),
            phase.why_empty(),
            yes(compared)
        );
    }
}

fn quantities(text: &mut String) {
    text.push_str(
        "\n## Counts, rates, shares and costs\n\nStudies have all of these; gates those that the result of a family \
         contains (`ipv6.dropped > 0`).\n\n| name | unit | better | definition | gates | comparisons \
         |\n|---|---|---|---|---|---|\n",
    );
    for quantity in Quantity::all() {
        let entry = quantity.entry();
        let compared = compared_metrics().any(|metric| metric == Metric::Quantity(quantity));
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} | {} | {} |",
            entry.name,
            unit(entry.kind),
            match entry.higher_is_better {
                Some(true) => "higher",
                Some(false) => "lower",
                None => "neither",
            },
            entry.definition,
            yes(entry.read.is_some()),
            yes(compared)
        );
    }
    text.push_str(
        "\nHow many exchanges ended in which way is a figure as well: `RESET` in studies, `SIDE.outcome.RESET` in gates.\n",
    );
}

fn yes(is: bool) -> &'static str {
    if is { "yes" } else { "" }
}

fn unit(kind: MetricKind) -> &'static str {
    match kind {
        MetricKind::Time => "microseconds",
        MetricKind::Seconds => "seconds",
        MetricKind::BytesPerS => "bytes/s",
        MetricKind::Frequency => "1/s",
        MetricKind::Count => "count",
        MetricKind::Mean => "mean count",
        MetricKind::Share => "0 to 1",
    }
}
