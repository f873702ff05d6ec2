//! Exchanges in flight when a load ended: cut off by the end, or unanswered.
//!
//! An exchange without a response is right-censored: its age is a lower bound of its duration. If
//! other exchanges of the family usually take that long, the end of the load cut it off, which says
//! nothing about the server. If it is much older, it counts as evidence against the server.
//! docs/statistics.md states how often the rule is wrong.

use crate::in_flight::InFlight;
use crate::outcome::{Failure, Outcome};
use crate::tally::{FamilyTally, WaitingTime};

/// An unanswered exchange is more than this many times as old as the longest duration of a
/// completed exchange of its family.
pub const FACTOR: u64 = 5;

/// An unanswered exchange is also older than this, in nanoseconds. A single lost segment costs 200
/// ms (Linux's TCP_RTO_MIN) and a delayed acknowledgement 40 ms, so a younger exchange is no
/// evidence.
pub const YOUNGEST_NS: u64 = 250_000_000;

impl FamilyTally {
    /// Classifies the exchanges in flight at the end, after the tallies of all workers were added.
    /// An exchange that is too old to be explained by the completed ones becomes UNANSWERED instead
    /// of ABANDONED, and its age counts as a lower bound among the response times. Returns the
    /// number of unanswered exchanges.
    pub fn classify_in_flight(&mut self) -> u64 {
        let longest = self.phases.response.max().unwrap_or(0);
        let explained = longest.saturating_mul(FACTOR).max(YOUNGEST_NS);
        let mut in_flight = std::mem::take(&mut self.in_flight).into_vec();
        in_flight.retain(|exchange| exchange.age_ns > explained);
        in_flight.iter().for_each(|exchange| self.count_unanswered(exchange));
        in_flight.len() as u64
    }

    /// Adds an exchange that began in the warm-up and had no response in the measurement to those
    /// sent.
    pub fn carry_over(&mut self) {
        // Not `+=`: see the merging of tallies.
        self.sent = self.sent.wrapping_add(1);
        self.carried = self.carried.saturating_add(1);
        self.warm_up.sent = self.warm_up.sent.saturating_sub(1);
    }

    fn count_unanswered(&mut self, exchange: &InFlight) {
        let [abandoned, unanswered] = [Outcome::Abandoned, Outcome::Unanswered]
            .map(|outcome| Failure::new(outcome, exchange.phase));
        if !exchange.counted {
            self.carry_over();
            self.failures.add(abandoned, 1);
            self.endpoint(exchange.endpoint).failures.add(abandoned, 1);
            self.counted_apart(exchange.name, exchange.step)
                .for_each(|of| of.failures.add(abandoned, 1));
        }
        self.failures.reclassify(abandoned, unanswered, 1);
        self.endpoint(exchange.endpoint).failures.reclassify(abandoned, unanswered, 1);
        let silent = WaitingTime { silent_ns: exchange.silent_ns, ..WaitingTime::default() };
        self.endpoint(exchange.endpoint).waiting += &silent;
        self.phases.response.record_at_least(exchange.age_ns);
        for of in self.counted_apart(exchange.name, exchange.step) {
            of.failures.reclassify(abandoned, unanswered, 1);
            of.response.record_at_least(exchange.age_ns);
        }
        self.oldest_unanswered_ns = self.oldest_unanswered_ns.max(exchange.age_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::FailurePhase;
    use sixmark_units::random::Random;

    const MS: u64 = 1_000_000;

    /// Creates a family whose completed exchanges took `took` and whose exchanges in flight have
    /// `ages`.
    fn tally(took: &[u64], ages: &[u64]) -> FamilyTally {
        let mut tally =
            FamilyTally { sent: (took.len() + ages.len()) as u64, ..Default::default() };
        for &nanos in took {
            tally.status.add(200, 1);
            tally.phases.response.record(nanos);
        }
        for &age_ns in ages {
            let (phase, endpoint) = (FailurePhase::Wait, 1);
            let abandoned = Failure::new(Outcome::Abandoned, phase);
            tally.failures.add(abandoned, 1);
            tally.endpoint(endpoint).failures.add(abandoned, 1);
            tally.in_flight.push(InFlight {
                age_ns,
                silent_ns: age_ns,
                phase,
                endpoint,
                name: None,
                step: None,
                counted: true,
            });
        }
        tally
    }

    #[test]
    fn does_not_count_young_exchanges_in_flight_as_failed() {
        let mut tally = tally(&[90 * MS, 100 * MS], &[0, 40 * MS, 100 * MS, 400 * MS]);
        assert_eq!(tally.classify_in_flight(), 0);
        assert_eq!((tally.failed(), tally.outcome(Outcome::Abandoned)), (0, 4));
        assert_eq!(tally.phases.response.summary().at_least, None);
    }

    #[test]
    fn counts_old_exchanges_in_flight_as_unanswered_lower_bounds() {
        let mut tally = tally(&[MS; 98], &[2_000 * MS, 2_001 * MS, 3 * MS]);
        assert_eq!(tally.classify_in_flight(), 2);
        let counted = (tally.outcome(Outcome::Unanswered), tally.outcome(Outcome::Abandoned));
        assert_eq!((counted, tally.failed(), tally.ended()), ((2, 1), 2, tally.sent));
        let response = tally.phases.response.summary();
        assert_eq!((response.count, response.at_least), (100, Some(2e6)));
        let [p50, p99] = [response.p50, response.p99].map(|us| us.unwrap());
        assert!(!response.is_lower_bound(p50) && response.is_lower_bound(p99), "{p50} {p99}");
        assert_eq!(tally.oldest_unanswered_ns, 2_001 * MS);
        assert_eq!(tally.endpoints[1].failures.iter().map(|(_, n)| n).sum::<u64>(), 3);
    }

    #[test]
    fn without_any_answer_all_but_the_youngest_count_as_unanswered() {
        let mut tally = tally(&[], &[240 * MS, 260 * MS]);
        assert_eq!((tally.classify_in_flight(), tally.failed()), (1, 1));
    }

    #[test]
    fn counts_unanswered_exchanges_that_began_in_the_warm_up() {
        let mut tally = tally(&[MS], &[]);
        let (age_ns, phase) = (900 * MS, FailurePhase::Connect);
        tally.in_flight.push(InFlight {
            age_ns,
            silent_ns: 800 * MS,
            phase,
            endpoint: 0,
            name: Some(2),
            step: Some(1),
            counted: false,
        });
        assert_eq!(tally.classify_in_flight(), 1);
        assert_eq!((tally.sent, tally.ended(), tally.failed()), (2, 2, 1));
        assert_eq!(tally.requests[2].response.count(), 1);
        let of_step = &tally.steps[1].exchanges;
        assert_eq!((of_step.response.count(), of_step.outcome_counts().failed()), (1, 1));
        assert_eq!(tally.endpoints[0].waiting.silent_ns, 800 * MS);
    }

    /// Draws a duration in nanoseconds from a distribution with this mean.
    type Draws = fn(&mut Random, f64) -> f64;

    /// Returns the share of healthy closed loops of 2 s that have an unanswered exchange.
    fn false_alarms(draw: Draws, mean: f64, connections: usize) -> f64 {
        const RUNS: u64 = 100;
        const END: f64 = 2e9;
        let alarmed = |seed: &u64| {
            let mut random = Random::new(*seed, 0);
            let (mut took, mut ages) = (Vec::new(), Vec::new());
            for _ in 0..connections {
                let mut now = 0.0;
                loop {
                    let next = draw(&mut random, mean);
                    if now + next > END {
                        break ages.push((END - now) as u64);
                    }
                    took.push(next as u64);
                    now += next;
                }
            }
            tally(&took, &ages).classify_in_flight() > 0
        };
        (0..RUNS).filter(alarmed).count() as f64 / RUNS as f64
    }

    fn normal(random: &mut Random) -> f64 {
        (0..12).map(|_| random.unit()).sum::<f64>() - 6.0
    }

    /// Checks the claims of docs/statistics.md about loads of two seconds.
    #[test]
    fn healthy_servers_with_heavy_tails_seldom_leave_anything_unanswered() {
        let all: [(&str, Draws, f64); 5] = [
            ("constant", |random, mean| mean * (1.0 + 0.05 * random.unit()), 0.0),
            ("exponential", |random, mean| mean * random.exponential(), 0.01),
            ("lognormal 1", |random, mean| mean * (normal(random) - 0.5).exp(), 0.04),
            ("lognormal 2", |random, mean| mean * (2.0 * normal(random) - 2.0).exp(), 0.09),
            (
                "Pareto 1.5",
                |random, mean| mean / 3.0 * (1.0 - random.unit()).powf(-1.0 / 1.5),
                0.11,
            ),
        ];
        for (name, draw, at_most) in all {
            for mean in [1e7, 1e8] {
                for connections in [2, 10, 50] {
                    let wrong = false_alarms(draw, mean, connections);
                    assert!(wrong <= at_most, "{name}, {mean} ns, {connections}: {wrong}");
                }
            }
        }
    }
}
