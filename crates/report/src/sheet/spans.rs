//! The points of charts over time: tenths of a second, seconds, or several seconds each.

use sixmark_document::histogram::Distribution;
use sixmark_result::measurement::Measurement;
use sixmark_tally::interval::{Interval, IntervalFamily};
use sixmark_tally::tenth::{Tenth, TenthFamily};
use sixmark_units::family::Family;

/// The shortest part of an interval for which a rate is meaningful. If the last interval of a run
/// is shorter, it is merged with the one before it.
const SHORTEST: f64 = 0.2;
/// The most points of a curve. The seconds of a longer run are merged.
const MOST: usize = 120;
/// The quantiles of response times that are shown.
const SHOWN: [f64; 3] = [0.5, 0.95, 0.99];

/// The points of a run.
pub(super) struct Spans {
    /// The points in order.
    pub(super) all: Vec<Span>,
    /// The time that each covers in seconds, except for the last one.
    pub(super) whole_s: f64,
    /// The shortest time in seconds for which a rate is meaningful.
    shortest_s: f64,
}

/// A tenth of a second, or one or several seconds of a run.
#[derive(Default)]
pub(super) struct Span {
    pub(super) from_s: f64,
    pub(super) length_s: f64,
    pub(super) families: [CountedSpan; 2],
}

/// The counts of one family.
#[derive(Default)]
pub(super) struct CountedSpan {
    pub(super) completed: u64,
    pub(super) failed: u64,
    response: Option<Distribution>,
    /// The quantiles of the response time in `SHOWN`, in microseconds.
    pub(super) times: [Option<f64>; 3],
}

impl Spans {
    /// Returns the tenths of a short run, else seconds, merged so that there are at most `MOST`.
    pub(super) fn of(measurement: &dyn Measurement) -> Spans {
        match measurement.tenths() {
            [] => of_seconds(measurement.intervals()),
            tenths => Spans {
                all: tenths.iter().map(span_of_tenth).collect(),
                whole_s: 0.1,
                shortest_s: SHORTEST / 10.0,
            },
        }
    }

    /// Returns the length of a span in seconds, or 0 if it is too short for a rate.
    pub(super) fn rated_s(&self, span: &Span) -> f64 {
        if span.length_s >= self.shortest_s { span.length_s } else { 0.0 }
    }
}

fn of_seconds(intervals: &[Interval]) -> Spans {
    let each = intervals.len().div_ceil(MOST).max(1);
    let mut chunks: Vec<&[Interval]> = intervals.chunks(each).collect();
    if let [.., before, last] = chunks.as_slice()
        && last.iter().map(|second| second.length_s).sum::<f64>() < SHORTEST
    {
        let joined = &intervals[intervals.len() - before.len() - last.len()..];
        chunks.truncate(chunks.len() - 2);
        chunks.push(joined);
    }
    let all = chunks.into_iter().map(span).collect();
    Spans { all, whole_s: each as f64, shortest_s: SHORTEST }
}

fn span(seconds: &[Interval]) -> Span {
    let mut span = Span {
        from_s: seconds.first().map_or(0.0, |second| second.second as f64),
        ..Span::default()
    };
    for second in seconds {
        span.length_s += second.length_s;
        for (counted, family) in span.families.iter_mut().zip(Family::BOTH) {
            counted.add(&second.families[family]);
        }
    }
    for counted in &mut span.families {
        let response = counted.response.as_ref();
        counted.times = SHOWN.map(|q| response.map(|found| found.quantile_us(q)));
    }
    span
}

fn span_of_tenth(of: &Tenth) -> Span {
    let counted = |family: Family| {
        let TenthFamily { completed, failed, response_us, .. } = of.families[family];
        CountedSpan {
            completed,
            failed,
            response: None,
            times: [response_us.p50, response_us.p95, response_us.p99],
        }
    };
    Span {
        from_s: of.tenth as f64 / 10.0,
        length_s: of.length_s,
        families: Family::BOTH.map(counted),
    }
}

impl CountedSpan {
    fn add(&mut self, of: &IntervalFamily) {
        self.completed += of.completed;
        self.failed += of.failed;
        // A histogram that can't be decoded is reported with the phases.
        let Ok(Some(response)) = Distribution::of(&of.response_us) else { return };
        match &mut self.response {
            Some(all) => all.add(&response),
            none => *none = Some(response),
        }
    }
}
