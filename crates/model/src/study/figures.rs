//! A cell's figures from the result of its run.

use std::collections::BTreeMap;

use super::measure::{Measure, POINTS, Plain};
use crate::family_result::{Families, FamilyResult};
use crate::outcome::{self, Outcome};
use crate::plan::request::Body;
use crate::result::RunResult;
use crate::timed_phase::TimedPhase;
use sixmark_units::family::Family;

/// The figures of each family by the names of [`Measure`].
pub fn figures(result: &RunResult) -> Families<BTreeMap<String, f64>> {
    let alone = result.families.iter().count() == 1;
    let of = |family: Family| {
        let mut figures = of_family(result.families.of(family)?);
        let mut plain = |plain, value| figures.insert(Measure::Plain(plain).to_string(), value);
        plain(Plain::Elapsed, result.elapsed_s_of(family));
        // What both families cost together can't be told apart.
        let generator = result.generator.as_ref().filter(|_| alone);
        if let Some(cpu_s) = generator.map(|of| of.cpu_user_s + of.cpu_sys_s) {
            plain(Plain::Cpu, cpu_s);
            if result.elapsed_s > 0.0 {
                plain(Plain::CpuShare, cpu_s / result.elapsed_s);
            }
        }
        let received = result.families.of(family)?.bytes.received as f64;
        if result.elapsed_s_of(family) > 0.0 {
            plain(Plain::TransferRate, received / result.elapsed_s_of(family));
        }
        if let Some(rate) = content_rate(result, family) {
            plain(Plain::ContentRate, rate);
        }
        Some(figures)
    };
    Families { ipv6: of(Family::Ipv6), ipv4: of(Family::Ipv4) }
}

/// Content both ways, bytes a second; none where requests have contents of several lengths.
fn content_rate(result: &RunResult, family: Family) -> Option<f64> {
    let (of, elapsed_s) = (result.families.of(family)?, result.elapsed_s_of(family));
    let requests = &result.plan.as_ref()?.requests;
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
    let mut put = |measure: Measure, value: f64| figures.insert(measure.to_string(), value);
    for (plain, value) in counts(result) {
        put(Measure::Plain(plain), value);
    }
    for outcome in Outcome::ALL {
        let count = result.outcomes.get(outcome.name()).copied().unwrap_or(0);
        put(Measure::Outcome(outcome), count as f64);
    }
    for phase in TimedPhase::ALL {
        let Some(durations) = phase.durations(result) else { continue };
        for point in POINTS {
            if let Some(us) = point.value_us(durations) {
                put(Measure::Time(phase, point), us);
            }
        }
    }
    figures
}

fn counts(result: &FamilyResult) -> [(Plain, f64); 9] {
    let requests = &result.requests;
    let failed = requests.sent - requests.completed + requests.unaccepted;
    let share = if requests.sent > 0 { failed as f64 / requests.sent as f64 } else { 0.0 };
    let sending = result.failures.iter().filter(|f| f.failure.phase == outcome::Phase::Send);
    let sending: u64 = sending.map(|failed| failed.count).sum();
    [
        (Plain::RequestsPerS, result.requests_per_s),
        (Plain::Iops, result.requests_per_s),
        (Plain::Goodput, result.goodput_bytes_per_s),
        (Plain::Sent, requests.sent as f64),
        (Plain::Completed, requests.completed as f64),
        (Plain::Failed, failed as f64),
        (Plain::Failures, share),
        (Plain::WriteErrors, sending as f64),
        (Plain::Opened, result.connections.opened as f64),
    ]
}
