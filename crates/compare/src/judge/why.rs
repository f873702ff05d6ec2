//! The division of the difference of two response times among their parts.

use super::anytime::{estimate_series, p_of_series};
use super::figures::PhaseTimes;
use super::{Rules, make_estimate};
use crate::why::{DividedDifference, LEAST_SHARE, PartOfDifference, WhyPart};
use crate::{BlockPair, Compared, Comparison, Stretch};
use sixmark_document::verdict::{Estimate, Verdict};
use sixmark_stats::{Refused, hodges_lehmann, holm, signed_rank, walsh_interval};
use sixmark_tally::account::Account;
use sixmark_tally::metric::Metric;
use sixmark_tally::timed_phase::{Quantile, TimePoint, TimedPhase};

/// How long each part takes, in microseconds.
type PartTimes = [f64; WhyPart::ALL.len()];

/// The round trips of an exchange beside that of its wait, on average. Waiting for flights is counted
/// by its time: a sender that paces its flights pauses for less than a round trip.
#[derive(Clone, Copy)]
struct RoundTripCounts {
    connect: f64,
    tls: f64,
    flights: f64,
}

/// The parts of the median response time of one side in one block, and its round-trip time.
struct PartsOfBlock {
    parts: PartTimes,
    round_trip_us: Option<f64>,
}

/// Divides the difference of the median response times of two sides, if they differ.
pub(super) fn explain(
    comparison: &Comparison,
    pairs: &[BlockPair],
    rules: &Rules<'_>,
) -> Option<DividedDifference> {
    let median = Metric::Time(TimedPhase::Response, TimePoint::P50);
    let of = comparison.metrics.iter().find(|of| of.metric == median)?;
    if !matches!(of.verdict, Verdict::Better | Verdict::Worse) {
        return None;
    }
    // Sides are divided alike: without the round trip of a single block, waits have none anywhere.
    let known = pairs.iter().all(|pair| pair.a.round_trip_ns.and(pair.b.round_trip_ns).is_some());
    let figures = PhaseTimes::of(TimedPhase::Response, pairs).by_pair(Quantile::ALL[0]);
    let divided: Option<Vec<[PartsOfBlock; 2]>> = pairs
        .iter()
        .zip(figures)
        .filter_map(|(pair, figures)| Some((pair, figures?)))
        .map(|(pair, figures)| divide(pair, figures, known))
        .collect();
    why_of(of, &divided?, rules).ok()
}

/// Divides the median response times of the blocks of a pair, in microseconds. `None` if a block has no
/// account.
///
/// Both sides have the same number of round trips, which is that of the side with fewer: round trips
/// that one side takes alone are the difference of what they are for.
fn divide(pair: &BlockPair, (a_us, b_us): (f64, f64), known: bool) -> Option<[PartsOfBlock; 2]> {
    let accounts = [(&pair.a, a_us), (&pair.b, b_us)];
    let [a, b] = accounts.map(|(of, figure_us)| of.account.around(0.5, figure_us * 1e3));
    let (a, b) = (a?, b?);
    let trips_a = RoundTripCounts::of(&a, &pair.a);
    let both = trips_a.least(RoundTripCounts::of(&b, &pair.b));
    let of_block = |account: &Account, block: &Stretch| {
        let round_trip_us = block.round_trip_ns.filter(|_| known).map(|ns| ns / 1e3);
        parts_of_block(account, round_trip_us, both)
    };
    Some([of_block(&a, &pair.a), of_block(&b, &pair.b)])
}

impl RoundTripCounts {
    fn of(account: &Account, block: &Stretch) -> RoundTripCounts {
        let tls = account.securing * block.tls_round_trips;
        let trip = block.round_trip_ns.filter(|ns| *ns > 0.0);
        let flights = trip.map_or(0.0, |ns| account.parts.flights / ns);
        RoundTripCounts { connect: account.connecting, tls, flights }
    }

    fn least(self, other: RoundTripCounts) -> RoundTripCounts {
        RoundTripCounts {
            connect: self.connect.min(other.connect),
            tls: self.tls.min(other.tls),
            flights: self.flights.min(other.flights),
        }
    }
}

fn parts_of_block(
    account: &Account,
    round_trip_us: Option<f64>,
    trips: RoundTripCounts,
) -> PartsOfBlock {
    let us = |nanos: f64| nanos / 1e3;
    let parts = &account.parts;
    let rtt = round_trip_us.unwrap_or(0.0);
    let of_part = |part: WhyPart| match part {
        WhyPart::RoundTrips => rtt * (1.0 + trips.connect + trips.tls + trips.flights),
        WhyPart::Queue => us(parts.queue),
        WhyPart::Connect => us(parts.connect) - rtt * trips.connect,
        WhyPart::Tls => us(parts.tls) - rtt * trips.tls,
        WhyPart::Send => us(parts.send),
        WhyPart::Server => us(parts.wait) - rtt,
        WhyPart::Flights => us(parts.flights) - rtt * trips.flights,
        WhyPart::Recovery => us(parts.recovery),
        WhyPart::Pauses => us(parts.pauses),
        WhyPart::Transfer => us(parts.transfer),
    };
    PartsOfBlock { parts: WhyPart::ALL.map(of_part), round_trip_us }
}

fn why_of(
    of: &Compared,
    blocks: &[[PartsOfBlock; 2]],
    rules: &Rules<'_>,
) -> Result<DividedDifference, Refused> {
    let whole = of.difference.ok_or(Refused::Empty)?;
    let count = blocks.len() as f64;
    let mean = |side: usize, value: &dyn Fn(&PartsOfBlock) -> f64| {
        blocks.iter().map(|pair| value(&pair[side])).sum::<f64>() / count
    };
    let mut parts = Vec::new();
    let mut ps = Vec::new();
    for (at, part) in WhyPart::ALL.into_iter().enumerate() {
        let [a_us, b_us] = [0, 1].map(|side| mean(side, &|of| of.parts[at]));
        if a_us == 0.0 && b_us == 0.0 {
            continue;
        }
        let apart: Vec<f64> = blocks.iter().map(|[a, b]| a.parts[at] - b.parts[at]).collect();
        let difference_us = estimate_part(&apart, rules)?;
        ps.push(Some(p_of_part(&apart, rules)?));
        let share = difference_us.value / whole.value;
        parts.push(PartOfDifference {
            part,
            a_us,
            b_us,
            difference_us,
            share,
            p_holm: 1.0,
            is_cause: false,
        });
    }
    for (part, p_holm) in parts.iter_mut().zip(holm(&ps)) {
        part.p_holm = p_holm.unwrap_or(1.0);
        let Estimate { low, high, .. } = part.difference_us;
        part.is_cause = part.p_holm <= rules.settings.level_of_difference()
            && part.share >= LEAST_SHARE
            && (low > 0.0 || high < 0.0);
    }
    let explained: f64 = parts.iter().map(|part| part.difference_us.value).sum();
    let known = blocks.iter().flatten().all(|block| block.round_trip_us.is_some());
    let trip = |side| mean(side, &|of| of.round_trip_us.unwrap_or(0.0));
    Ok(DividedDifference {
        metric: of.metric,
        difference_us: whole,
        unexplained_us: whole.value - explained,
        parts,
        round_trip_us: known.then(|| [trip(0), trip(1)]),
        differs_with: Vec::new(),
    })
}

fn estimate_part(apart: &[f64], rules: &Rules<'_>) -> Result<Estimate, Refused> {
    if rules.is_anytime() {
        return estimate_series(apart, rules);
    }
    let interval = walsh_interval(apart, rules.settings.confidence)?;
    Ok(make_estimate(hodges_lehmann(apart)?, interval))
}

fn p_of_part(apart: &[f64], rules: &Rules<'_>) -> Result<f64, Refused> {
    if rules.is_anytime() { Ok(p_of_series(apart)) } else { Ok(signed_rank(apart)?.two_sided) }
}

#[cfg(test)]
mod tests;
