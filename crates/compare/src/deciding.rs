//! The interval that decides a verdict, and its level.
//!
//! Better and worse rest on the interval with the confidence of the settings (95 %). Equivalence
//! rests on two one-sided tests at 1 minus that, and thus on the narrower interval that leaves as
//! much on each side (90 %): the wider one may extend beyond the margin of sides that are
//! equivalent.

use serde::{Deserialize, Serialize};
use sixmark_document::verdict::{Estimate, Verdict};
use sixmark_stats::walsh_interval;
use sixmark_tally::metric::{Metric, Quantity};
use sixmark_units::quantity::write_percent;

use crate::{Compared, EffectMethod, HeaderCorrected, Settings};

/// The margin of shares of failures, as a part of the configured margin: half a percentage point if
/// that is 5 %.
const OF_FAILURES: f64 = 0.1;

/// The interval that decides whether sides are equivalent, and the margin that it is held against.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EquivalenceInterval {
    /// The share (0 to 1) of such intervals that include the true value: 1 minus twice the level of
    /// the two one-sided tests, 0.9 if `settings.confidence` is 0.95.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::Part"))]
    pub confidence: f64,
    /// The lower end, in the unit of the ratio or, for failures, of the difference.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::Signed"))]
    pub low: f64,
    /// The upper end.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::Signed"))]
    pub high: f64,
    /// The margin within which it must lie: m for a ratio between 1 / (1 + m) and 1 + m, for
    /// failures the difference of the shares.
    pub margin: f64,
}

/// An estimate with the interval that decides the verdict on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecidingInterval {
    /// The share (0 to 1) of such intervals that include the true value.
    pub confidence: f64,
    /// The estimate and the ends of the interval: a ratio or, for failures, a difference of shares.
    pub estimate: Estimate,
}

impl Settings {
    /// Returns the confidence of the interval that decides equivalence.
    pub fn confidence_of_equivalence(&self) -> f64 {
        // 1 - 2 (1 - confidence), without the rounding error that would show in documents.
        (2e9 * self.confidence - 1e9).round() / 1e9
    }

    /// Returns the margin of a metric: a share of the other side's figure or, for failures, a
    /// difference of shares.
    pub fn margin_of(&self, metric: Metric) -> f64 {
        match metric {
            Metric::Quantity(Quantity::Failures) => self.margin * OF_FAILURES,
            _ => self.margin,
        }
    }
}

impl Compared {
    /// Returns the interval that decides the verdict: the one of equivalence for sides that are
    /// equivalent, otherwise the one with the confidence of the settings. `None` if there is no
    /// estimate. Documents older than the former lack it for tail quantiles and failures, which
    /// then have the latter.
    pub fn deciding_interval(&self, settings: &Settings) -> Option<DecidingInterval> {
        let DecidingInterval { estimate, .. } = self.interval_of_estimate(settings)?;
        let equivalence = self.equivalence.or_else(|| self.equivalence_of_effects(settings));
        Some(decide(self.verdict, estimate, equivalence, settings))
    }

    /// Returns the estimate with the interval that has the confidence of the settings, whatever the
    /// verdict; `None` if there is none.
    pub fn interval_of_estimate(&self, settings: &Settings) -> Option<DecidingInterval> {
        let of_failures = self.metric == Metric::Quantity(Quantity::Failures);
        let estimate = self.ratio.or(self.difference.filter(|_| of_failures))?;
        Some(DecidingInterval { confidence: settings.confidence, estimate })
    }

    /// Computes the interval of equivalence from the effects of the pairs, as older documents lack
    /// it. `None` unless the estimate is from these effects.
    fn equivalence_of_effects(&self, settings: &Settings) -> Option<EquivalenceInterval> {
        let is_of_blocks = self.method == EffectMethod::Blocks;
        let confidence = settings.confidence_of_equivalence();
        let logs = walsh_interval(&self.effects, confidence).ok().filter(|_| is_of_blocks)?;
        let [low, high] = [logs.low, logs.high].map(f64::exp);
        Some(EquivalenceInterval { confidence, low, high, margin: settings.margin })
    }
}

impl HeaderCorrected {
    /// Returns the interval that decides the verdict.
    pub fn deciding_interval(&self, settings: &Settings) -> DecidingInterval {
        decide(self.verdict, self.ratio, self.equivalence, settings)
    }
}

/// Formats the margin of a metric: `5 %`, for failures `0.5 percentage points`.
pub fn margin_text(metric: Metric, settings: &Settings) -> String {
    let margin = write_percent(settings.margin_of(metric));
    match metric {
        Metric::Quantity(Quantity::Failures) => margin.replace('%', "percentage points"),
        _ => margin,
    }
}

fn decide(
    verdict: Verdict,
    estimate: Estimate,
    equivalence: Option<EquivalenceInterval>,
    settings: &Settings,
) -> DecidingInterval {
    match equivalence.filter(|_| verdict == Verdict::Equivalent) {
        Some(EquivalenceInterval { confidence, low, high, .. }) => {
            DecidingInterval { confidence, estimate: Estimate { low, high, ..estimate } }
        }
        None => DecidingInterval { confidence: settings.confidence, estimate },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::comparison;

    #[test]
    fn equivalence_is_decided_by_the_narrower_interval() {
        let settings = Settings::usual(1);
        let [longer, _, failures, _] = &comparison().metrics[..] else { panic!() };
        let worse = longer.deciding_interval(&settings).unwrap();
        assert_eq!((worse.confidence, Some(worse.estimate)), (0.95, longer.ratio));
        let equivalent = failures.deciding_interval(&settings).unwrap();
        let of = failures.equivalence.unwrap();
        assert_eq!(equivalent.confidence, 0.9);
        assert_eq!((equivalent.estimate.low, equivalent.estimate.high), (of.low, of.high));
        assert!(of.high <= settings.margin_of(failures.metric));
    }

    #[test]
    fn computes_a_missing_equivalence_interval_from_the_effects() {
        let settings = Settings::usual(1);
        let of = Compared {
            ratio: Some(Estimate { value: 1.01, low: 0.85, high: 1.2 }),
            effects: vec![0.01, 0.012, 0.008, 0.01, 0.011, 0.009, -0.16, 0.18],
            verdict: Verdict::Equivalent,
            equivalence: None,
            ..comparison().metrics[0].clone()
        };
        let found = of.deciding_interval(&settings).unwrap();
        assert_eq!(found.confidence, 0.9);
        assert!(found.estimate.low > 0.85 && found.estimate.high < 1.2, "{found:?}");
        let pooled = Compared { method: EffectMethod::PooledQuantile, ..of.clone() };
        let found = pooled.deciding_interval(&settings).unwrap();
        assert_eq!((found.confidence, Some(found.estimate)), (0.95, of.ratio));
        let no_effects = Compared { effects: Vec::new(), ..of };
        assert_eq!(no_effects.deciding_interval(&settings).unwrap().confidence, 0.95);
    }
}
