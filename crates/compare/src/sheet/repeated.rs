//! Finds metrics that repeat another one: on kept connections the wait is usually the whole
//! response time, and goodput is proportional to requests/s if all responses have the same size.

use crate::{Compared, Comparison};
use sixmark_tally::metric::{Metric, Quantity};
use sixmark_tally::timed_phase::TimedPhase;

use sixmark_report::sheet::families::change_of;
use sixmark_report::sheet::metric_text::metric_value;
use sixmark_sheet::write;

/// The metrics of a comparison whose rows would repeat those of another metric, and their
/// descriptions.
#[derive(Default)]
pub(super) struct Repeated {
    metrics: Vec<Metric>,
    said: Vec<&'static str>,
}

impl Repeated {
    /// Finds the repeated metrics. All waits are, if each has the same verdict and the same
    /// formatted figures as the response at the same point. Goodput is, if it has the same verdict
    /// and the same formatted change as requests/s. The primary metric never is: it was asked for.
    pub(super) fn of(comparison: &Comparison) -> Repeated {
        let primary = comparison.settings.primary;
        let is_asked_for = |all: &[Metric]| all.contains(&primary);
        let find = |metric: Metric| comparison.metrics.iter().find(|of| of.metric == metric);
        let waits = comparison.metrics.iter().filter_map(|of| match of.metric {
            Metric::Time(TimedPhase::Wait, point) => {
                Some((of, find(Metric::Time(TimedPhase::Response, point))))
            }
            _ => None,
        });
        let waits: Vec<_> = waits.collect();
        let mut repeated = Repeated::default();
        let metrics: Vec<Metric> = waits.iter().map(|(of, _)| of.metric).collect();
        if !waits.is_empty()
            && !is_asked_for(&metrics)
            && waits.iter().all(|(of, other)| other.is_some_and(|other| is_same(of, other)))
        {
            repeated.metrics.extend(metrics);
            repeated.said.push("wait (as response)");
        }
        let [goodput, rate] = [Quantity::Goodput, Quantity::RequestsPerS].map(Metric::Quantity);
        if let (Some(of), Some(other)) = (find(goodput), find(rate))
            && !is_asked_for(&[goodput])
            && of.verdict == other.verdict
            && change(of) == change(other)
        {
            repeated.metrics.push(goodput);
            repeated.said.push("goodput (as requests/s)");
        }
        repeated
    }

    /// Reports whether a metric is repeated and therefore has no row.
    pub(super) fn has(&self, metric: Metric) -> bool {
        self.metrics.contains(&metric)
    }

    /// Returns a sentence about the metrics without a row, or `None` if there are none.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::comparison;
    use sixmark_document::verdict::Verdict;

    /// Returns a comparison in which goodput and the waits repeat requests/s and the responses.
    fn repeating(primary: &str) -> Comparison {
        let mut comparison = comparison();
        let named = |metric: &str, of: &Compared| Compared {
            metric: metric.parse().unwrap(),
            verdict: Verdict::Worse,
            ..of.clone()
        };
        let of = comparison.metrics[0].clone();
        let names = ["response.p50", "wait.p50", "requests_per_s", "goodput"];
        comparison.metrics = names.map(|name| named(name, &of)).to_vec();
        comparison.settings.primary = primary.parse().unwrap();
        comparison
    }

    #[test]
    fn shows_the_primary_metric_even_if_it_repeats_another() {
        let shown = |primary: &str| {
            let comparison = repeating(primary);
            let repeated = Repeated::of(&comparison);
            let rows = comparison.metrics.iter().map(|of| of.metric);
            rows.filter(|metric| !repeated.has(*metric))
                .map(|of| of.to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(shown("response.p50"), ["response.p50", "requests_per_s"]);
        assert_eq!(shown("goodput"), ["response.p50", "requests_per_s", "goodput"]);
        assert_eq!(shown("wait.p50"), ["response.p50", "wait.p50", "requests_per_s"]);
    }
}
