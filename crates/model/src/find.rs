//! The search for the highest rate that holds: what its trials showed, and what that comes to.

use serde::{Deserialize, Serialize};

use crate::condition::Condition;
use crate::family_result::{Families, FamilyResult, RequestCounts};
use crate::outcome::Outcome;
use crate::search::{AGREE, Bracket, TrialVerdict};

/// Of what was due in a trial that holds, so much must have been answered whole.
const ANSWERED: f64 = 0.99;
/// Where more than this part of the exchanges waited for a place, places may have been the limit.
const WAITED: f64 = 0.01;

/// The highest rate that each family sustains, alone.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FindMax {
    /// What had to hold, as in response.p99 < 10ms.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub conditions: Vec<Condition>,
    /// How long each trial measured, in seconds.
    pub trial_s: f64,
    /// What was found for each family in use.
    #[cfg_attr(feature = "schema", schemars(extend("minProperties" = 1)))]
    pub families: Families<FoundRate>,
    /// The least and the most that IPv6's highest rate may be of IPv4's, by their brackets; null
    /// where a bracket has a side open or sixmark itself was the limit.
    pub ratio: Option<[f64; 2]>,
}

/// What was found for one family.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoundRate {
    /// The highest rate that held, exchanges a second; null: none did.
    pub holds: Option<f64>,
    /// The lowest rate above it that did not hold; null: none is known.
    pub fails: Option<f64>,
    /// Why that one did not hold; null where fails is.
    pub limited_by: Option<Limit>,
    /// The trial whose figures the document gives, counted from 0: the last one at holds, else the
    /// last of all; null: there was none.
    pub shown: Option<usize>,
    /// Every trial, in order.
    pub trials: Vec<Trial>,
}

/// One rate kept up for a while.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trial {
    /// Exchanges a second.
    pub rate: f64,
    /// How many exchanges might be in flight; null in documents of before.
    #[serde(default)]
    pub in_flight: Option<u64>,
    /// Whether it held.
    pub held: bool,
    /// Why it did not hold; null: it did.
    pub reason: Option<Limit>,
    /// What each condition looked at, in the order of conditions: microseconds, or for failures a
    /// share of 1; null: there was nothing.
    pub values: Vec<Option<f64>>,
    /// Seconds from the end of its warm-up to the end of its last exchange.
    pub elapsed_s: f64,
    /// What was sent, and what was not.
    pub requests: RequestCounts,
}

/// Why a rate did not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// A condition did not hold.
    Condition,
    /// Too many exchanges had no complete response.
    Failures,
    /// No more might be in flight: from their start, exchanges would have kept to the conditions.
    Connections,
    /// Exchanges never began, no more being allowed in flight.
    Unsent,
    /// The generator could not keep up: the server may well be able to do more.
    Generator,
    /// A signal ended the trial early.
    Interrupted,
}

impl FindMax {
    /// Puts together what was found.
    pub fn new(conditions: Vec<Condition>, trial_s: f64, families: Families<FoundRate>) -> FindMax {
        let ratio = ratio_of_rates(&families);
        FindMax { conditions, trial_s, families, ratio }
    }

    /// True where both brackets are closed and have no ratio all the same.
    pub fn has_ratio_of_limits(&self) -> bool {
        let closed = |of: &Option<FoundRate>| {
            of.as_ref().is_some_and(|found| found.holds.is_some() && found.fails.is_some())
        };
        self.ratio.is_none() && closed(&self.families.ipv6) && closed(&self.families.ipv4)
    }
}

impl FoundRate {
    /// What `trials` and the bracket that they led to come to.
    pub fn new(bracket: Bracket, trials: Vec<Trial>, shown: Option<usize>) -> FoundRate {
        let Bracket { holds, fails } = bracket;
        let limited_by = fails.and_then(|rate| limit(&trials, rate));
        FoundRate { holds, fails, limited_by, shown, trials }
    }

    /// The trial whose figures the result gives.
    pub fn shown(&self) -> Option<&Trial> {
        self.shown.and_then(|at| self.trials.get(at))
    }

    /// The last trial of the rate that failed, of those that failed for the reason given.
    pub fn failing(&self) -> Option<&Trial> {
        let at = |trial: &&Trial| Some(trial.rate) == self.fails && trial.reason == self.limited_by;
        self.trials.iter().rev().find(at)
    }
}

impl Trial {
    /// A trial that was not cut short, judged.
    pub fn new(rate: f64, conditions: &[Condition], of: &FamilyResult, at: Conduct) -> Trial {
        let reason = match at.interrupted {
            true => Some(Limit::Interrupted),
            false => judge(conditions, of, at),
        };
        Trial {
            rate,
            in_flight: Some(at.in_flight),
            held: reason.is_none(),
            reason,
            values: conditions.iter().map(|condition| condition.value(of)).collect(),
            elapsed_s: at.elapsed_s,
            requests: of.requests,
        }
    }

    /// What it says to the search; nothing where it was cut short.
    pub fn verdict(&self) -> Option<TrialVerdict> {
        match self.reason {
            None => Some(TrialVerdict::Held),
            Some(Limit::Interrupted) => None,
            Some(Limit::Generator) => Some(TrialVerdict::Doubtful),
            Some(_) => Some(TrialVerdict::Failed),
        }
    }
}

/// How a trial went for the generator.
#[derive(Clone, Copy, Debug)]
pub struct Conduct {
    /// How many exchanges might be in flight.
    pub in_flight: u64,
    /// Seconds from the end of the warm-up to the end of the last exchange.
    pub elapsed_s: f64,
    /// The generator may have been the bottleneck.
    pub saturated: bool,
    /// More than one of a hundred exchanges began late though a place was free.
    pub late: bool,
    /// A signal cut it short.
    pub interrupted: bool,
}

/// Why a trial did not hold; none where it did. What tells most comes first.
fn judge(conditions: &[Condition], of: &FamilyResult, at: Conduct) -> Option<Limit> {
    let RequestCounts { sent, completed, dropped, unsent, waited, .. } = of.requests;
    let due = (sent + dropped + unsent) as f64;
    let asked = conditions.iter().filter_map(Condition::failures_bound).reduce(f64::min);
    let answered = 1.0 - asked.unwrap_or(1.0 - ANSWERED);
    let served = completed.saturating_sub(turned_away(of));
    let enough = |of: f64| served as f64 >= answered * of;
    let kept = conditions.iter().all(|condition| condition.holds(of));
    let in_line = (waited + dropped + unsent) as f64;
    let from_start = || conditions.iter().all(|condition| condition.from_start().holds(of));
    match () {
        () if by_this_host(of) as f64 > (1.0 - ANSWERED) * due => Some(Limit::Generator),
        () if served == 0 => Some(Limit::Failures),
        () if at.saturated => Some(Limit::Generator),
        () if !enough(sent as f64) => Some(Limit::Failures),
        // Lateness of sixmark's own: what held in spite of it holds.
        () if at.late && (!kept || dropped + unsent > 0) => Some(Limit::Generator),
        () if !kept && in_line > WAITED * due && from_start() => Some(Limit::Connections),
        () if !kept => Some(Limit::Condition),
        () if dropped + unsent > 0 => Some(Limit::Unsent),
        () => None,
    }
}

/// Responses that say no more than that the server has too much to do or is broken: 429 (RFC 6585, 4)
/// and 5xx. They come fast.
fn turned_away(of: &FamilyResult) -> u64 {
    let no = |status: u16| status == 429 || status >= 500;
    of.status.iter().filter(|&(&status, _)| no(status)).map(|(_, count)| count).sum()
}

/// Failures that this host caused: it had no port, no descriptor or no memory.
fn by_this_host(of: &FamilyResult) -> u64 {
    let ended = |outcome: Outcome| of.outcomes.get(outcome.name()).copied().unwrap_or(0);
    ended(Outcome::NoPort) + ended(Outcome::Local)
}

/// Why `rate` failed: the generator unless trials enough failed for another reason.
fn limit(trials: &[Trial], rate: f64) -> Option<Limit> {
    let reasons = trials.iter().filter(|trial| trial.rate == rate).filter_map(|t| t.reason);
    let (spoilt, sound): (Vec<_>, Vec<_>) = reasons
        .filter(|&reason| reason != Limit::Interrupted)
        .partition(|&reason| reason == Limit::Generator);
    match sound.len() >= AGREE as usize {
        true => sound.last().copied(),
        false => spoilt.last().copied(),
    }
}

fn ratio_of_rates(families: &Families<FoundRate>) -> Option<[f64; 2]> {
    let sound =
        |found: &&FoundRate| matches!(found.limited_by, Some(Limit::Condition | Limit::Failures));
    let (v6, v4) = (families.ipv6.as_ref().filter(sound)?, families.ipv4.as_ref().filter(sound)?);
    Some([v6.holds? / v4.fails?, v6.fails? / v4.holds?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{Failure, FailurePhase};
    use crate::result::family_result;
    use crate::tally::FamilyTally;

    const MS: u64 = 1_000_000;

    /// A thousand exchanges, answered in `response` and `service` nanoseconds but for `failed`.
    fn figures(response: u64, service: u64, failed: u64, unsent: u64, waited: u64) -> FamilyResult {
        let mut tally = FamilyTally { sent: 1_000, unsent, waited, ..FamilyTally::default() };
        tally.status.add(200, 1_000 - failed);
        let failure = Failure::new(Outcome::Reset, FailurePhase::Wait);
        tally.failures.add(failure, failed);
        for _ in 0..1_000 - failed {
            tally.phases.response.record(response);
            tally.phases.service.record(service);
        }
        family_result(&tally, Vec::new(), 1.0, true)
    }

    #[test]
    fn a_trial_holds_or_says_why_not() {
        let conditions: Vec<Condition> = vec!["response.p99 < 10ms".parse().unwrap()];
        let bound = 10 * MS;
        let (in_flight, elapsed_s) = (50, 1.0);
        let plain =
            Conduct { in_flight, elapsed_s, saturated: false, late: false, interrupted: false };
        let busy = Conduct { saturated: true, ..plain };
        let late = Conduct { late: true, ..plain };
        for (of, at, reason) in [
            (figures(MS, MS, 0, 0, 0), plain, None),
            (figures(MS, MS, 10, 0, 0), plain, None),
            (figures(MS, MS, 11, 0, 0), plain, Some(Limit::Failures)),
            (figures(MS, MS, 0, 1, 0), plain, Some(Limit::Unsent)),
            (figures(bound, bound, 0, 500, 500), plain, Some(Limit::Condition)),
            (figures(bound, MS, 0, 0, 500), plain, Some(Limit::Connections)),
            (figures(bound, MS, 0, 0, 5), plain, Some(Limit::Condition)),
            (figures(bound, bound, 0, 0, 0), busy, Some(Limit::Generator)),
            (figures(MS, MS, 0, 0, 0), busy, Some(Limit::Generator)),
            (figures(MS, MS, 1_000, 0, 0), busy, Some(Limit::Failures)),
            (figures(MS, MS, 0, 0, 0), late, None),
            (figures(bound, MS, 0, 0, 0), late, Some(Limit::Generator)),
            (figures(bound, bound, 0, 0, 500), late, Some(Limit::Generator)),
            (figures(MS, MS, 0, 1, 0), late, Some(Limit::Generator)),
        ] {
            assert_eq!(judge(&conditions, &of, at), reason, "{:?}", of.requests);
        }
    }

    fn trial(rate: f64, reason: Option<Limit>) -> Trial {
        let requests = RequestCounts::default();
        let (held, values) = (reason.is_none(), Vec::new());
        Trial { rate, in_flight: Some(50), held, reason, values, elapsed_s: 1.0, requests }
    }

    fn found(holds: f64, fails: f64, reasons: &[Limit]) -> FoundRate {
        let trials = reasons.iter().map(|&reason| trial(fails, Some(reason))).collect();
        FoundRate::new(Bracket { holds: Some(holds), fails: Some(fails) }, trials, None)
    }

    #[test]
    fn the_generator_is_the_limit_unless_two_sound_trials_say_otherwise() {
        use Limit::{Condition, Generator};
        for (reasons, limit) in [
            (&[Condition, Condition][..], Condition),
            (&[Condition, Generator, Condition], Condition),
            (&[Generator, Condition, Generator], Generator),
            (&[Generator, Generator, Generator], Generator),
        ] {
            assert_eq!(found(1.0, 2.0, reasons).limited_by, Some(limit), "{reasons:?}");
        }
    }

    #[test]
    fn the_ratio_is_as_wide_as_both_brackets_and_none_where_the_server_was_not_the_limit() {
        use Limit::{Condition, Connections, Failures, Generator, Unsent};
        let of = |v6, v4| {
            let families = Families { ipv6: Some(v6), ipv4: v4 };
            FindMax::new(Vec::new(), 1.0, families).ratio
        };
        let v6 = || found(90.0, 100.0, &[Condition, Condition]);
        let v4 = |reason| found(180.0, 200.0, &[reason, reason, reason]);
        assert_eq!(of(v6(), Some(v4(Condition))), Some([90.0 / 200.0, 100.0 / 180.0]));
        assert!(of(v6(), Some(v4(Failures))).is_some());
        for other in [Generator, Connections, Unsent] {
            assert_eq!(of(v6(), Some(v4(other))), None);
            assert_eq!(of(v4(other), Some(v6())), None);
        }
        assert_eq!(of(v6(), None), None);
    }
}
