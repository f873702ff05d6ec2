//! The division of the difference of two response times among their parts.

use crate::divided_difference::{DividedDifference, LEAST_SHARE, PartOfDifference};
use crate::part::WhyPart;
use sixmark_document::verdict::Estimate;
use sixmark_stats::{Interval, Refused, StudentEstimate, holm, paired_t};
use sixmark_tally::account::AccountFigures;
use sixmark_tally::metric::Metric;
use sixmark_tally::response_part::PerPart;

/// The account of one side of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SideAccount {
    /// The parts of the response time.
    pub account: AccountFigures,
    /// The mean round-trip time of the path, in microseconds; `None` if it is not known.
    pub round_trip_us: Option<f64>,
    /// The round trips of a TLS handshake on average; 0 without TLS.
    pub tls_round_trips: f64,
}

impl SideAccount {
    /// Returns the averages of several accounts of a side; `None` if there are none. The round-trip
    /// time is unknown if that of one of them is.
    pub fn average(all: &[SideAccount]) -> Option<SideAccount> {
        if all.is_empty() {
            return None;
        }
        let of = |value: fn(&SideAccount) -> f64| mean(all, value);
        let known = all.iter().all(|side| side.round_trip_us.is_some());
        Some(SideAccount {
            account: AccountFigures {
                response_us: of(|side| side.account.response_us),
                parts_us: PerPart::from_fn(|part| mean(all, |side| side.account.parts_us[part])),
                connecting: of(|side| side.account.connecting),
                securing: of(|side| side.account.securing),
                flights: of(|side| side.account.flights),
            },
            round_trip_us: known.then(|| of(|side| side.round_trip_us.unwrap_or(0.0))),
            tls_round_trips: of(|side| side.tls_round_trips),
        })
    }
}

/// The difference of a part over all pairs, and the probability of a difference at least this large
/// between equal parts.
#[derive(Clone, Copy, Debug)]
pub struct TestedPart {
    /// A minus B, in microseconds.
    pub difference_us: Estimate,
    /// The probability, of two sides.
    pub p: f64,
}

impl TestedPart {
    /// Estimates a mean difference by Student's distribution, with an interval of this confidence.
    ///
    /// # Errors
    /// Fewer than two pairs.
    pub fn of_mean(apart: &[f64], confidence: f64) -> Result<TestedPart, Refused> {
        let student = StudentEstimate::of_mean(apart)?;
        let Interval { low, high } = student.interval(confidence)?;
        let difference_us = Estimate { value: student.value, low, high };
        Ok(TestedPart { difference_us, p: paired_t(apart)? })
    }
}

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

/// Divides `whole`, the difference of `metric` in microseconds, among the parts of the pairs' response
/// times. `estimate` judges a part by its difference in each pair; a part is a cause if its p, after
/// Holm's correction over all parts, is at most `level`.
///
/// # Errors
/// What `estimate` refuses; no pair.
pub fn divide_difference(
    metric: Metric,
    whole: Estimate,
    pairs: &[[SideAccount; 2]],
    level: f64,
    estimate: impl Fn(&[f64]) -> Result<TestedPart, Refused>,
) -> Result<DividedDifference, Refused> {
    if pairs.is_empty() {
        return Err(Refused::Empty);
    }
    // Sides are divided alike: without the round trip of a single block, waits have none anywhere.
    let known = pairs.iter().flatten().all(|side| side.round_trip_us.is_some());
    let divided: Vec<[PartTimes; 2]> = pairs.iter().map(|pair| divide_pair(pair, known)).collect();
    let mut parts = Vec::new();
    let mut ps = Vec::new();
    for (at, part) in WhyPart::ALL.into_iter().enumerate() {
        let [a_us, b_us] = [0, 1].map(|side| mean(&divided, |pair| pair[side][at]));
        if a_us == 0.0 && b_us == 0.0 {
            continue;
        }
        let apart: Vec<f64> = divided.iter().map(|[a, b]| a[at] - b[at]).collect();
        let TestedPart { difference_us, p } = estimate(&apart)?;
        ps.push(Some(p));
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
        part.is_cause =
            part.p_holm <= level && part.share >= LEAST_SHARE && (low > 0.0 || high < 0.0);
    }
    let explained: f64 = parts.iter().map(|part| part.difference_us.value).sum();
    let trip = |side: usize| mean(pairs, |pair| pair[side].round_trip_us.unwrap_or(0.0));
    Ok(DividedDifference {
        metric,
        difference_us: whole,
        unexplained_us: whole.value - explained,
        parts,
        round_trip_us: known.then(|| [trip(0), trip(1)]),
        differs_with: Vec::new(),
    })
}

fn mean<T>(pairs: &[T], value: impl Fn(&T) -> f64) -> f64 {
    pairs.iter().map(value).sum::<f64>() / pairs.len() as f64
}

/// Divides the response times of a pair, in microseconds.
///
/// Both sides have the same number of round trips, which is that of the side with fewer: round trips
/// that one side takes alone are the difference of what they are for.
fn divide_pair(pair: &[SideAccount; 2], known: bool) -> [PartTimes; 2] {
    let [a, b] = pair.each_ref().map(RoundTripCounts::of);
    let both = a.least(b);
    pair.each_ref().map(|side| {
        let round_trip_us = side.round_trip_us.filter(|_| known).unwrap_or(0.0);
        parts_of_side(&side.account, round_trip_us, both)
    })
}

impl RoundTripCounts {
    fn of(side: &SideAccount) -> RoundTripCounts {
        let account = &side.account;
        let trip = side.round_trip_us.filter(|us| *us > 0.0);
        RoundTripCounts {
            connect: account.connecting,
            tls: account.securing * side.tls_round_trips,
            flights: trip.map_or(0.0, |us| account.parts_us.flights / us),
        }
    }

    fn least(self, other: RoundTripCounts) -> RoundTripCounts {
        RoundTripCounts {
            connect: self.connect.min(other.connect),
            tls: self.tls.min(other.tls),
            flights: self.flights.min(other.flights),
        }
    }
}

fn parts_of_side(account: &AccountFigures, round_trip: f64, trips: RoundTripCounts) -> PartTimes {
    let us = &account.parts_us;
    WhyPart::ALL.map(|part| match part {
        WhyPart::RoundTrips => round_trip * (1.0 + trips.connect + trips.tls + trips.flights),
        WhyPart::Queue => us.queue,
        WhyPart::Connect => us.connect - round_trip * trips.connect,
        WhyPart::Tls => us.tls - round_trip * trips.tls,
        WhyPart::Send => us.send,
        WhyPart::Server => us.wait - round_trip,
        WhyPart::Flights => us.flights - round_trip * trips.flights,
        WhyPart::Recovery => us.recovery,
        WhyPart::Pauses => us.pauses,
        WhyPart::Transfer => us.transfer,
    })
}
