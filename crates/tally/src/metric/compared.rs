//! The metrics that comparisons judge.

use super::{Metric, Quantity};
use crate::timed_phase::{Quantile, TimedPhase};

/// The other figures that are compared.
const COMPARED_QUANTITIES: [Quantity; 4] =
    [Quantity::RequestsPerS, Quantity::Goodput, Quantity::Failures, Quantity::CpuPerRequest];

/// Returns every metric that is compared, times first. Only quantiles of durations are compared: a
/// few exchanges decide the mean and the maximum of a block.
pub fn compared_metrics() -> impl Iterator<Item = Metric> {
    let times = |phase| Quantile::ALL.map(|quantile| Metric::Time(phase, quantile.into()));
    let others = COMPARED_QUANTITIES.map(Metric::Quantity);
    TimedPhase::compared().flat_map(times).chain(others)
}

/// Parses the name of a metric that is compared.
///
/// # Errors
/// There is no such metric. The message is one line and lists the existing ones.
pub fn parse_compared_metric(text: &str) -> Result<Metric, String> {
    compared_metrics().find(|metric| metric.to_string() == text).ok_or_else(|| {
        format!(
            "no metric is called '{text}': {}, or a phase with a quantile as in response.p99 (phases: \
             {}; quantiles: {})",
            COMPARED_QUANTITIES.map(|quantity| quantity.entry().name).join(", "),
            names_of_phases().join(", "),
            Quantile::ALL.map(Quantile::name).join(", ")
        )
    })
}

fn names_of_phases() -> Vec<&'static str> {
    TimedPhase::compared().map(TimedPhase::name).collect()
}

/// Returns the pattern of the names of compared metrics.
#[cfg(feature = "schema")]
pub fn compared_pattern() -> String {
    let phases = names_of_phases().join("|");
    let points = Quantile::ALL.map(Quantile::name).join("|");
    let others = COMPARED_QUANTITIES.map(|quantity| quantity.entry().name).join("|");
    format!(r"^(({phases})\.({points})|{others})$")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_the_names_of_comparable_metrics() {
        for text in ["response.p50", "tls.p999", "connect.p90", "goodput", "failures"] {
            assert_eq!(parse_compared_metric(text).unwrap().to_string(), text);
        }
        for text in ["", "response", "response.max", "slip.p50", "sent", "RESET", "p50"] {
            let said = parse_compared_metric(text).unwrap_err();
            assert!(said.contains("response.p99"), "{text}: {said}");
        }
    }
}
