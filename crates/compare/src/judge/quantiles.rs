//! Tail quantiles, estimated from all blocks of a side together because a single block has too few
//! samples in the tail.

use super::figures::{PhaseTimes, effects, formed};
use super::{Evidence, JudgedEffect, Rules, least_p, make_estimate};
use crate::EffectMethod;
use sixmark_document::verdict::Estimate;
use sixmark_stats::{Counted, Drawn, Interval, Pool, Refused, SwapTest, expanded, percentile};
use sixmark_tally::timed_phase::Quantile;
use sixmark_units::random::Random;

/// The value in nanoseconds that replaces 0, so that a ratio exists.
const LEAST: f64 = 1.0;

/// Judges the quantiles at `points` of one phase.
pub(super) fn quantiles(
    times: &PhaseTimes,
    points: &[Quantile],
    rules: &Rules<'_>,
) -> Vec<Evidence> {
    let whole: Vec<_> =
        times.pairs.iter().filter(|(a, b)| !a.is_empty() && !b.is_empty()).cloned().collect();
    let with: Vec<Quantile> =
        points.iter().copied().filter(|&point| times.overall(point).is_some()).collect();
    let found = findings(&whole, &with, times.phase as u64, rules);
    with.iter()
        .zip(found)
        .filter_map(|(&point, found)| judge_quantile(times, point, &whole, found, rules))
        .collect()
}

fn judge_quantile(
    times: &PhaseTimes,
    point: Quantile,
    whole: &[(Counted, Counted)],
    found: Result<JudgedEffect, Refused>,
    rules: &Rules<'_>,
) -> Option<Evidence> {
    let (a, b) = times.overall(point)?;
    let effects = effects(&formed(&times.by_pair(point)));
    Some(Evidence {
        metric: times.metric(point),
        a: Some(a),
        b: Some(b),
        method: EffectMethod::PooledQuantile,
        effects,
        in_pairs: Vec::new(),
        unformed: times.pairs.len() - whole.len(),
        least_p: least_p(whole.len()).max(1.0 / (f64::from(rules.settings.resamples) + 1.0)),
        found,
    })
}

/// Returns one result for each point. Each may be refused on its own.
fn findings(
    pairs: &[(Counted, Counted)],
    points: &[Quantile],
    stream: u64,
    rules: &Rules<'_>,
) -> Vec<Result<JudgedEffect, Refused>> {
    match Pools::new(pairs, rules) {
        Ok(pools) => pools.findings(points, stream, rules),
        Err(refused) => points.iter().map(|_| Err(refused)).collect(),
    }
}

/// The pairs as measured, and with side A scaled by the margin in both directions.
struct Pools {
    pairs: usize,
    plain: Pool,
    lower: Pool,
    higher: Pool,
}

impl Pools {
    fn new(pairs: &[(Counted, Counted)], rules: &Rules<'_>) -> Result<Pools, Refused> {
        let need = sixmark_stats::fewest(rules.alpha());
        if pairs.len() < need {
            return Err(Refused::TooFew { have: pairs.len(), need });
        }
        let by = 1.0 + rules.settings.margin;
        let pool = |factor| Pool::new(pairs, factor);
        let (plain, lower, higher) = (pool(1.0)?, pool(1.0 / by)?, pool(by)?);
        Ok(Pools { pairs: pairs.len(), plain, lower, higher })
    }

    fn findings(
        &self,
        points: &[Quantile],
        stream: u64,
        rules: &Rules<'_>,
    ) -> Vec<Result<JudgedEffect, Refused>> {
        let allowed = |point: &&Quantile| self.plain.tail(point.share()).is_ok();
        let qs: Vec<f64> = points.iter().filter(allowed).map(|point| point.share()).collect();
        let mut found = self.resampled(&qs, stream, rules).into_iter();
        let next = |point: &Quantile| {
            self.plain.tail(point.share())?;
            found.next().unwrap_or(Err(Refused::Empty))
        };
        points.iter().map(next).collect()
    }

    fn resampled(
        &self,
        qs: &[f64],
        stream: u64,
        rules: &Rules<'_>,
    ) -> Vec<Result<JudgedEffect, Refused>> {
        // Every pool and metric uses the same draws, so that they do not differ by chance.
        let random = || Random::new(rules.settings.seed, stream);
        let swaps = |pool: &Pool| pool.swaps(qs, rules.settings.resamples, &mut random());
        let drawn = self.plain.bootstrap(qs, rules.settings.resamples, &mut random());
        let tests = swaps(&self.plain).into_iter().zip(swaps(&self.lower)).zip(swaps(&self.higher));
        let all = qs.iter().zip(drawn).zip(tests);
        all.map(|((&q, drawn), ((plain, lower), higher))| {
            let here = self.plain.quantile(q);
            self.finding(here, &drawn, [plain, lower, higher], rules)
        })
        .collect()
    }

    fn finding(
        &self,
        here: Drawn,
        drawn: &[Drawn],
        [plain, lower, higher]: [SwapTest; 3],
        rules: &Rules<'_>,
    ) -> Result<JudgedEffect, Refused> {
        let margin = rules.settings.margin.ln_1p();
        let logs: Vec<f64> = drawn.iter().map(ln_ratio).collect();
        let apart: Vec<f64> = drawn.iter().map(difference_us).collect();
        let interval = |of: &[f64], confidence| percentile(of, expanded(self.pairs, confidence)?);
        let ratio = make_estimate(ln_ratio(&here), interval(&logs, rules.settings.confidence)?);
        let near: Interval = interval(&logs, 1.0 - 2.0 * rules.alpha())?;
        let difference = interval(&apart, rules.settings.confidence)?;
        let (value, low, high) = (ratio.value.exp(), ratio.low.exp(), ratio.high.exp());
        Ok(JudgedEffect {
            ratio: Some(Estimate { value, low, high }),
            difference: make_estimate(difference_us(&here), difference),
            p: plain.two_sided,
            p_equivalence: lower.less.max(higher.greater),
            near: Interval { low: near.low.min(ratio.value), high: near.high.max(ratio.value) },
            margin,
        })
    }
}

fn ln_ratio(drawn: &Drawn) -> f64 {
    (drawn.a.max(LEAST) / drawn.b.max(LEAST)).ln()
}

fn difference_us(drawn: &Drawn) -> f64 {
    (drawn.a - drawn.b) / 1e3
}
