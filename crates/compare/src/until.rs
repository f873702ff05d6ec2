//! Comparisons that end when they are decided, and not after a number of pairs that is fixed
//! beforehand.

use serde::{Deserialize, Serialize};

use sixmark_document::verdict::Verdict;
use sixmark_tally::metric::Metric;

use crate::{Comparison, Settings};

/// The pairs after which the responses are looked at for the first time.
const FIRST_LOOK: usize = 12;

/// How a comparison ends that is judged after each pair: chosen before it begins. Its tests are
/// valid at every look, those of other comparisons after their last pair alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UntilDecided {
    /// The metrics that are to be better, worse or equivalent; no others are tested for a
    /// difference.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<ComparedMetric>", length(min = 1)))]
    pub metrics: Vec<Metric>,
    /// No pair begins after so many seconds.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    pub at_most_s: f64,
}

/// The schema of a metric that is compared.
#[cfg(feature = "schema")]
struct ComparedMetric;

#[cfg(feature = "schema")]
impl schemars::JsonSchema for ComparedMetric {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ComparedMetric".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": sixmark_tally::metric::compared::compared_pattern()
        })
    }

    fn inline_schema() -> bool {
        true
    }
}

impl UntilDecided {
    /// Returns true if each named metric has a verdict.
    pub fn is_decided_by(&self, comparison: &Comparison) -> bool {
        let decided = |metric: &Metric| {
            let found = comparison.metrics.iter().find(|of| of.metric == *metric);
            found.is_some_and(|of| !matches!(of.verdict, Verdict::Inconclusive))
        };
        self.metrics.iter().all(decided)
    }
}

impl Settings {
    /// Returns the level of the test of the responses after the last pair. With looks before it,
    /// these have as much together.
    pub fn level_of_last_look(&self) -> f64 {
        let all = self.level_of_sameness();
        if self.until.is_some() { all / 2.0 } else { all }
    }

    /// Returns the level of a look at the responses after `pairs` pairs, before the last one: 12,
    /// 24, 48 and so on, each with half the level of the look before it. `None` if there is no look
    /// after so many.
    pub fn level_of_look(&self, pairs: usize) -> Option<f64> {
        let looks =
            std::iter::successors(Some((FIRST_LOOK, self.level_of_sameness() / 4.0)), |at| {
                Some((at.0.checked_mul(2)?, at.1 / 2.0))
            });
        let mut due = looks.take_while(|(at, _)| *at <= pairs);
        due.find(|(at, _)| *at == pairs).map(|(_, level)| level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubling_looks_at_the_responses_share_the_significance_level() {
        let settings = Settings {
            until: Some(UntilDecided { metrics: Vec::new(), at_most_s: 1.0 }),
            ..Settings::usual(1)
        };
        let looks: Vec<(usize, f64)> =
            (0..=400).filter_map(|n| Some((n, settings.level_of_look(n)?))).collect();
        let pairs: Vec<usize> = looks.iter().map(|(n, _)| *n).collect();
        assert_eq!(pairs, [12, 24, 48, 96, 192, 384]);
        let all: f64 = looks.iter().map(|(_, level)| level).sum();
        assert!(all + settings.level_of_last_look() < settings.level_of_sameness());
    }
}
