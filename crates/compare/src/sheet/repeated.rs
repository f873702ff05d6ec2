//! Metrics that say what another one says already: the wait of connections that are kept is the response, and
//! goodput follows requests/s where all responses are alike.

use crate::{Compared, Comparison};
use sixmark_record::metric::{Metric, Quantity};
use sixmark_record::timed_phase::TimedPhase;

use sixmark_record::sheet::families::change_of;
use sixmark_record::sheet::metric_text::metric_value;
use sixmark_sheet::write;

/// The metrics of a comparison whose rows would repeat those of another one, and what they are in a sentence.
#[derive(Default)]
pub(super) struct Repeated {
    metrics: Vec<Metric>,
    said: Vec<&'static str>,
}

impl Repeated {
    /// All waits, if each has the verdict and, as they are written, the figures of the response at the same
    /// point; goodput, if it has the verdict and the change of requests/s.
    pub(super) fn of(comparison: &Comparison) -> Repeated {
        let find = |metric: Metric| comparison.metrics.iter().find(|of| of.metric == metric);
        let waits = comparison.metrics.iter().filter_map(|of| match of.metric {
            Metric::Time(TimedPhase::Wait, point) => {
                Some((of, find(Metric::Time(TimedPhase::Response, point))))
            }
            _ => None,
        });
        let waits: Vec<_> = waits.collect();
        let mut repeated = Repeated::default();
        if !waits.is_empty()
            && waits.iter().all(|(of, other)| other.is_some_and(|other| is_same(of, other)))
        {
            repeated.metrics.extend(waits.iter().map(|(of, _)| of.metric));
            repeated.said.push("wait (as response)");
        }
        let [goodput, rate] = [Quantity::Goodput, Quantity::RequestsPerS].map(Metric::Quantity);
        if let (Some(of), Some(other)) = (find(goodput), find(rate))
            && of.verdict == other.verdict
            && change(of) == change(other)
        {
            repeated.metrics.push(goodput);
            repeated.said.push("goodput (as requests/s)");
        }
        repeated
    }

    /// True of a metric that has no row.
    pub(super) fn has(&self, metric: Metric) -> bool {
        self.metrics.contains(&metric)
    }

    /// What has no row, if anything.
    pub(super) fn sentence(&self) -> Option<String> {
        let said = !self.said.is_empty();
        said.then(|| format!("Not repeated: {}.", self.said.join(", ")))
    }
}

fn is_same(of: &Compared, other: &Compared) -> bool {
    let figures =
        |of: &Compared| [of.a, of.b].map(|value| value.map(|v| metric_value(of.metric, v)));
    of.verdict == other.verdict && figures(of) == figures(other)
}

fn change(of: &Compared) -> Option<String> {
    of.ratio.map(|ratio| write::change(change_of(ratio).value))
}
