//! A cell's figures from the result of its run.

use std::collections::BTreeMap;

use sixmark_plan::plan::request::Body;
use sixmark_result::result::RunResult;
use sixmark_tally::account::AccountResult;
use sixmark_tally::family_result::{Families, FamilyResult};
use sixmark_tally::metric::{METRIC_POINTS, Metric, Quantity};
use sixmark_tally::outcome::Outcome;
use sixmark_tally::timed_phase::TimedPhase;
use sixmark_units::family::Family;

/// Returns the figures of each family, by the name of their [`Metric`].
pub fn figures_of_families(result: &RunResult) -> Families<BTreeMap<String, f64>> {
    let alone = result.families.iter().count() == 1;
    let of = |family: Family| {
        let mut figures = of_family(result.families.of(family)?);
        let mut put =
            |quantity, value| figures.insert(Metric::Quantity(quantity).to_string(), value);
        put(Quantity::Elapsed, result.elapsed_s_of(family));
        // The processor time of each family is unknown if both were loaded.
        if alone {
            let cpu_s = result.generator.cpu_user_s + result.generator.cpu_sys_s;
            put(Quantity::Cpu, cpu_s);
            if result.elapsed_s > 0.0 {
                put(Quantity::CpuShare, cpu_s / result.elapsed_s);
            }
        }
        let received = result.families.of(family)?.bytes.received as f64;
        if result.elapsed_s_of(family) > 0.0 {
            put(Quantity::TransferRate, received / result.elapsed_s_of(family));
        }
        put(Quantity::Iops, result.families.of(family)?.requests_per_s);
        if let Some(rate) = content_rate(result, family) {
            put(Quantity::ContentRate, rate);
        }
        Some(figures)
    };
    Families { ipv6: of(Family::Ipv6), ipv4: of(Family::Ipv4) }
}

/// Returns how long each part of the response times took, of each family.
pub fn accounts_of_families(result: &RunResult) -> Families<AccountResult> {
    let of = |family: Family| result.families.of(family)?.account.clone();
    Families { ipv6: of(Family::Ipv6), ipv4: of(Family::Ipv4) }
}

/// Returns the content sent and received in bytes/s; `None` if requests have contents of several
/// lengths, or if no time elapsed.
fn content_rate(result: &RunResult, family: Family) -> Option<f64> {
    let (of, elapsed_s) = (result.families.of(family)?, result.elapsed_s_of(family));
    let requests = &result.plan.requests;
    let mut lengths = requests.iter().map(|request| match &request.body {
        None => Some(0),
        Some(Body::Constant(bytes)) => Some(bytes.len()),
        Some(Body::Template(_)) => None,
    });
    let length = lengths.next().flatten().filter(|first| lengths.all(|l| l == Some(*first)))?;
    let content = of.requests.completed as f64 * length as f64 + of.bytes.body as f64;
    (elapsed_s > 0.0).then(|| content / elapsed_s)
}

fn of_family(result: &FamilyResult) -> BTreeMap<String, f64> {
    let mut figures = BTreeMap::new();
    let mut put = |metric: Metric, value: f64| figures.insert(metric.to_string(), value);
    for quantity in Quantity::all() {
        if let Some(value) = quantity.value(result) {
            put(Metric::Quantity(quantity), value);
        }
    }
    for outcome in Outcome::ALL {
        let count = result.outcomes.get(outcome.name()).copied().unwrap_or(0);
        put(Metric::Outcome(outcome), count as f64);
    }
    for phase in TimedPhase::ALL {
        let Some(durations) = phase.durations(result) else { continue };
        for point in METRIC_POINTS {
            if let Some(us) = point.value_us(durations) {
                put(Metric::Time(phase, point), us);
            }
        }
    }
    figures
}
