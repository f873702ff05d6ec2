//! The search for the highest rate that a family sustains: its trials, and their evaluation.

use serde::{Deserialize, Serialize};

use crate::condition::Condition;
use crate::family_result::{Families, FamilyResult, RequestCounts};
use crate::outcome::Outcome;
use crate::search::{AGREE, Bracket, TrialVerdict};

/// The share of the exchanges due that must be answered completely, unless a condition bounds
/// failures.
const ANSWERED: f64 = 0.99;
/// If more than this share of the exchanges started late because the limit of exchanges in flight
/// was reached, that limit may have determined the result.
const WAITED: f64 = 0.01;

/// The highest rate that each family sustains when loaded alone.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FindMax {
    /// The conditions, for example response.p99 < 10ms.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub conditions: Vec<Condition>,
    /// How long each trial was measured, in seconds.
    pub trial_s: f64,
    /// How long the whole search took in seconds, with all trials and their warm-ups; null in
    /// documents of versions that did not state it.
    #[serde(default)]
    pub took_s: Option<f64>,
    /// The result for each family in use.
    #[cfg_attr(feature = "schema", schemars(extend("minProperties" = 1)))]
    pub families: Families<FoundRate>,
    /// The lowest and the highest possible ratio of IPv6's highest rate to IPv4's, from their
    /// brackets; null if a bracket is open on one side, or if the limit was something other than a
    /// condition or failures.
    pub ratio: Option<[f64; 2]>,
}

/// The result for one family.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoundRate {
    /// The highest rate that held, in exchanges per second; null if none did.
    pub holds: Option<f64>,
    /// The lowest rate above it that did not hold; null if none is known.
    pub fails: Option<f64>,
    /// Why that rate did not hold; null if fails is null.
    pub limited_by: Option<Limit>,
    /// The index, from 0, of the trial whose figures the document gives: the last one at holds, or
    /// else the last of all; null if there was none.
    pub shown: Option<usize>,
    /// Every trial, in order.
    pub trials: Vec<Trial>,
}

/// A measurement at one rate.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trial {
    /// Exchanges per second.
    pub rate: f64,
    /// The limit of exchanges in flight; null in documents older than this field.
    #[serde(default)]
    pub in_flight: Option<u64>,
    /// Whether the rate held.
    pub held: bool,
    /// Why the rate did not hold; null if it did.
    pub reason: Option<Limit>,
    /// The values that the conditions were applied to, in the order of conditions: microseconds, or
    /// for failures a share of 1; null if there was none.
    pub values: Vec<Option<f64>>,
    /// Seconds from the end of the warm-up to the end of the last exchange.
    pub elapsed_s: f64,
    /// The numbers of requests.
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
    /// The limit of exchanges in flight was reached: counted from their start, exchanges would have
    /// met the conditions.
    Connections,
    /// Exchanges never started because the limit of exchanges in flight was reached.
    Unsent,
    /// The generator could not keep up; the server may be capable of more.
    Generator,
    /// A signal ended the trial early.
    Interrupted,
}

impl FindMax {
    /// Combines the results of the families.
    pub fn new(conditions: Vec<Condition>, trial_s: f64, families: Families<FoundRate>) -> FindMax {
        let ratio = ratio_of_rates(&families);
        FindMax { conditions, trial_s, took_s: None, families, ratio }
    }

    /// Returns the number of trials of all families.
    pub fn trials(&self) -> u64 {
        self.families.iter().map(|(_, found)| found.trials.len() as u64).sum()
    }

    /// Returns the number of requests sent in all trials.
    pub fn sent(&self) -> u64 {
        let trials = self.families.iter().flat_map(|(_, found)| &found.trials);
        trials.map(|trial| trial.requests.sent).sum()
    }

    /// Returns true if both brackets are closed and there is no ratio nevertheless.
    pub fn has_ratio_of_limits(&self) -> bool {
        let closed = |of: &Option<FoundRate>| {
            of.as_ref().is_some_and(|found| found.holds.is_some() && found.fails.is_some())
        };
        self.ratio.is_none() && closed(&self.families.ipv6) && closed(&self.families.ipv4)
    }
}

impl FoundRate {
    /// Returns the result of `trials` and the bracket that they led to.
    pub fn new(bracket: Bracket, trials: Vec<Trial>, shown: Option<usize>) -> FoundRate {
        let Bracket { holds, fails } = bracket;
        let limited_by = fails.and_then(|rate| limit(&trials, rate));
        FoundRate { holds, fails, limited_by, shown, trials }
    }

    /// Returns the trial whose figures the result gives.
    pub fn shown(&self) -> Option<&Trial> {
        self.shown.and_then(|at| self.trials.get(at))
    }

    /// Returns the last trial at the rate that failed, among those that failed for the reason
    /// given.
    pub fn failing(&self) -> Option<&Trial> {
        let at = |trial: &&Trial| Some(trial.rate) == self.fails && trial.reason == self.limited_by;
        self.trials.iter().rev().find(at)
    }
}

impl Trial {
    /// Evaluates a trial.
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

    /// Returns the verdict for the search, or `None` if the trial was interrupted.
    pub fn verdict(&self) -> Option<TrialVerdict> {
        match self.reason {
            None => Some(TrialVerdict::Held),
            Some(Limit::Interrupted) => None,
            Some(Limit::Generator) => Some(TrialVerdict::Doubtful),
            Some(_) => Some(TrialVerdict::Failed),
        }
    }
}

/// How a trial went on the generator's side.
#[derive(Clone, Copy, Debug)]
pub struct Conduct {
    /// The limit of exchanges in flight.
    pub in_flight: u64,
    /// Seconds from the end of the warm-up to the end of the last exchange.
    pub elapsed_s: f64,
    /// True if the generator may have been the bottleneck.
    pub saturated: bool,
    /// True if more than 1 % of the exchanges started late although the limit in flight was not
    /// reached.
    pub late: bool,
    /// True if a signal interrupted the trial.
    pub interrupted: bool,
}

/// Returns why a trial did not hold, or `None` if it did. The most informative reason comes first.
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
        // The generator was late. A rate that held in spite of that holds.
        () if at.late && (!kept || dropped + unsent > 0) => Some(Limit::Generator),
        () if !kept && in_line > WAITED * due && from_start() => Some(Limit::Connections),
        () if !kept => Some(Limit::Condition),
        () if dropped + unsent > 0 => Some(Limit::Unsent),
        () => None,
    }
}

/// Returns the number of responses that only report an overloaded or broken server: 429 (RFC 6585,
/// 4) and 5xx. They are fast.
fn turned_away(of: &FamilyResult) -> u64 {
    let no = |status: u16| status == 429 || status >= 500;
    of.status.iter().filter(|&(&status, _)| no(status)).map(|(_, count)| count).sum()
}

/// Returns the number of failures caused by this host: no port, no descriptor or no memory.
fn by_this_host(of: &FamilyResult) -> u64 {
    let ended = |outcome: Outcome| of.outcomes.get(outcome.name()).copied().unwrap_or(0);
    ended(Outcome::NoPort) + ended(Outcome::Local)
}

/// Returns why `rate` failed: the generator, unless enough trials failed for another reason.
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

    /// A thousand exchanges, answered in `response` and `service` nanoseconds except for `failed`.
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
