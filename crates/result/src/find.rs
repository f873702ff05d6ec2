//! The search for the highest rate that a family sustains: its trials, and their evaluation.

use serde::{Deserialize, Serialize};

use crate::condition::Condition;
use crate::rate_decision::RateDecision;
use crate::search::{Bracket, Search, TrialVerdict};
use crate::trial_test::Shown;
use sixmark_tally::family_result::{Families, FamilyResult};
use sixmark_tally::outcome::Outcome;
use sixmark_tally::tally::RequestCounts;

/// The confidence of a bracket whose sides are confirmed, and of the ratio of two of them, as
/// simulated searches have it, unless the server pauses more rarely than a trial lasts
/// (docs/statistics.md).
pub const CONFIDENCE: f64 = 0.95;
/// If more than this share of the exchanges started late because the limit of exchanges in flight
/// was reached, that limit may have determined the result.
const WAITED: f64 = 0.01;
/// If this host prevented more than this share of the exchanges, it determined the result.
const PREVENTED: f64 = 0.01;

/// The highest rate that each family sustains when loaded alone.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FindMax {
    /// The conditions, for example response.p99 < 10ms.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub conditions: Vec<Condition>,
    /// How long each short trial was measured, in seconds. Long ones are four and eight times as
    /// long.
    pub trial_s: f64,
    /// The time in seconds that the search was allowed; null in older documents.
    #[serde(default)]
    pub at_most_s: Option<f64>,
    /// The confidence, as a share of 1, of each bracket that was confirmed and of the ratio; null in
    /// documents of versions whose brackets had none.
    #[serde(default)]
    pub confidence: Option<f64>,
    /// How long the whole search took in seconds, with all trials and their warm-ups; null in
    /// documents of versions that did not state it.
    #[serde(default)]
    pub took_s: Option<f64>,
    /// The error because of which a trial could not be run, which ended the search; null if
    /// there was none, and in older documents.
    #[serde(default)]
    pub stopped_by: Option<String>,
    /// The result for each family in use.
    #[cfg_attr(feature = "schema", schemars(extend("minProperties" = 1)))]
    pub families: Families<FoundRate>,
    /// The lowest and the highest possible ratio of IPv6's highest rate to IPv4's, from their
    /// brackets; null if a bracket is not confirmed, or if the limit was something other than a
    /// condition or failures.
    pub ratio: Option<[f64; 2]>,
}

/// The result for one family.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoundRate {
    /// The highest rate that was shown to hold, in exchanges per second, below all that were shown
    /// not to; null if none was.
    pub holds: Option<f64>,
    /// The lowest rate that was shown not to hold, above all that were shown to hold; null if none
    /// is known.
    pub fails: Option<f64>,
    /// Why that rate did not hold; if fails is null, why no higher rate was decided, or null.
    pub limited_by: Option<Limit>,
    /// Why the search ended; null in older documents.
    #[serde(default)]
    pub ended: Option<SearchEnd>,
    /// False if a rate held that is not below all that did not: the server changed during the
    /// search, or varies. Null in older documents.
    #[serde(default)]
    pub steady: Option<bool>,
    /// The index, from 0, of the trial whose figures the document gives: the longest at holds, or
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
    /// How long it was to be measured, in seconds; null in documents older than this field, whose
    /// trials are of trial_s.
    #[serde(default)]
    pub length_s: Option<f64>,
    /// Whether the trial showed the rate to hold, a long one together with earlier long ones at it.
    pub held: bool,
    /// Why the rate did not hold, or why that is not decided; null if it did.
    pub reason: Option<Limit>,
    /// What all trials at the rate together show at the end of the search, which is what holds and
    /// fails rest on; null if they were all spoiled or interrupted, and in older documents.
    #[serde(default)]
    pub decision: Option<RateDecision>,
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
    /// The generator could not keep up, and without that the trial could have ended otherwise; the
    /// server may be capable of more.
    Generator,
    /// Neither is shown: the figures are too near to a limit, or the exchanges are too few.
    Undecided,
    /// A signal ended the trial early.
    Interrupted,
}

/// Why the search of one family ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SearchEnd {
    /// Both sides of the bracket are confirmed by long trials.
    Confirmed,
    /// Both sides were found, but pauses were seen that are so rare that the trials of the lower side
    /// may have met none by chance.
    Pauses,
    /// Rates far apart were all undecided, or no rate as high or low as possible was the other side.
    Open,
    /// The generator spoiled all trials of a rate.
    Generator,
    /// Nothing answered, or only errors did.
    NoAnswer,
    /// The time was over.
    Budget,
    /// A signal ended it.
    Interrupted,
    /// A trial could not be run: stopped_by has the error.
    Stopped,
}

impl FindMax {
    /// Combines the results of the families.
    pub fn new(conditions: Vec<Condition>, trial_s: f64, families: Families<FoundRate>) -> FindMax {
        let ratio = ratio_of_rates(&families);
        let (took_s, at_most_s, confidence) = (None, None, Some(CONFIDENCE));
        let stopped_by = None;
        FindMax { conditions, trial_s, at_most_s, confidence, took_s, stopped_by, families, ratio }
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

    /// Returns one line about a trial that could not be run; `None` if all could.
    pub fn describe_stop(&self) -> Option<String> {
        self.stopped_by.as_ref().map(|why| format!("the search ended early: {why}"))
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
    /// Returns the result of `trials` and the search that they led, whose figures are those of the
    /// trial number `shown`.
    pub fn new(
        search: &Search,
        ended: SearchEnd,
        trials: Vec<Trial>,
        shown: Option<usize>,
    ) -> FoundRate {
        let Bracket { holds, fails } = search.bracket();
        let limited_by = match (fails, ended) {
            (Some(rate), _) => limit(&trials, rate),
            (None, SearchEnd::Generator) => Some(Limit::Generator),
            (None, SearchEnd::NoAnswer) => Some(Limit::Failures),
            (None, _) => None,
        };
        let (ended, steady) = (Some(ended), Some(search.is_steady()));
        FoundRate { holds, fails, limited_by, ended, steady, shown, trials }
    }

    /// Returns true if the search was stopped before the family had a trial, of which its figures then
    /// say nothing.
    pub fn is_untried(&self) -> bool {
        self.ended == Some(SearchEnd::Stopped) && self.trials.is_empty()
    }

    /// Returns true if both sides of the bracket are confirmed, so that it has the stated confidence.
    pub fn is_confirmed(&self) -> bool {
        self.ended == Some(SearchEnd::Confirmed)
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
    /// Evaluates a trial that shows this, together with others of its rate if it is a long one.
    pub fn new(
        rate: f64,
        conditions: &[Condition],
        of: &FamilyResult,
        shown: Shown,
        at: Conduct,
    ) -> Trial {
        let reason =
            if at.interrupted { Some(Limit::Interrupted) } else { reason(conditions, of, shown) };
        Trial {
            rate,
            in_flight: Some(at.in_flight),
            length_s: Some(at.length_s),
            held: reason.is_none(),
            reason,
            decision: None,
            values: conditions.iter().map(|condition| condition.value(of)).collect(),
            elapsed_s: at.elapsed_s,
            requests: of.requests,
        }
    }

    /// Returns the verdict for the search, or `None` if the trial was interrupted. `leans` says
    /// whether an undecided one is rather a failed one.
    pub fn verdict(&self, leans: bool) -> Option<TrialVerdict> {
        match self.reason {
            None => Some(TrialVerdict::Held),
            Some(Limit::Interrupted) => None,
            Some(Limit::Generator) => Some(TrialVerdict::Spoiled),
            Some(Limit::Undecided) => Some(TrialVerdict::Undecided(leans)),
            Some(_) => Some(TrialVerdict::Failed),
        }
    }

    /// Returns true if nothing usable came back: no response, or only errors.
    pub fn is_silent(&self) -> bool {
        self.requests.completed <= self.requests.unaccepted
    }

    /// Returns what it showed when it was made; `None` if it was spoiled or interrupted.
    pub fn alone(&self) -> Option<RateDecision> {
        match self.reason {
            None => Some(RateDecision::Held),
            Some(Limit::Undecided) => Some(RateDecision::Undecided),
            Some(Limit::Generator | Limit::Interrupted) => None,
            Some(_) => Some(RateDecision::DidNotHold),
        }
    }

    /// Returns what is known of its rate at the end of the search; `None` if this trial does not
    /// count.
    pub fn known(&self) -> Option<RateDecision> {
        let alone = self.alone()?;
        Some(self.decision.unwrap_or(alone))
    }

    /// Returns the words for its result: what is known of its rate, and what it showed alone if that
    /// is something else.
    pub fn result(&self) -> String {
        match (self.alone(), self.known()) {
            (Some(alone), Some(known)) if alone != known => known.words_after(alone),
            (Some(alone), _) => alone.words().to_owned(),
            (None, _) if self.reason == Some(Limit::Interrupted) => "interrupted".to_owned(),
            (None, _) => "spoiled".to_owned(),
        }
    }
}

/// How a trial went on the generator's side.
#[derive(Clone, Copy, Debug)]
pub struct Conduct {
    /// The limit of exchanges in flight.
    pub in_flight: u64,
    /// How long the trial was to be measured, in seconds.
    pub length_s: f64,
    /// Seconds from the end of the warm-up to the end of the last exchange.
    pub elapsed_s: f64,
    /// True if a signal interrupted the trial.
    pub interrupted: bool,
}

/// Returns why a trial did not hold, or `None` if it did. The most informative reason comes first.
fn reason(conditions: &[Condition], of: &FamilyResult, shown: Shown) -> Option<Limit> {
    let RequestCounts { sent, completed, dropped, unsent, waited, .. } = of.requests;
    let due = (sent + dropped + unsent) as f64;
    let kept = conditions.iter().all(|condition| condition.holds(of));
    let in_line = (waited + dropped + unsent) as f64;
    let from_start = || conditions.iter().all(|condition| condition.from_start().holds(of));
    match shown {
        _ if by_this_host(of) as f64 > PREVENTED * due => Some(Limit::Generator),
        _ if completed <= turned_away(of) => Some(Limit::Failures),
        Shown::Holds => None,
        Shown::Spoiled => Some(Limit::Generator),
        Shown::Undecided => Some(Limit::Undecided),
        Shown::Failing => Some(Limit::Failures),
        Shown::Slow if kept && dropped + unsent > 0 => Some(Limit::Unsent),
        Shown::Slow if in_line > WAITED * due && from_start() => Some(Limit::Connections),
        Shown::Slow => Some(Limit::Condition),
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

/// Returns why `rate` failed.
fn limit(trials: &[Trial], rate: f64) -> Option<Limit> {
    let void = [Limit::Interrupted, Limit::Generator, Limit::Undecided];
    let mut reasons = trials.iter().filter(|trial| trial.rate == rate).filter_map(|t| t.reason);
    reasons.rfind(|reason| !void.contains(reason))
}

fn ratio_of_rates(families: &Families<FoundRate>) -> Option<[f64; 2]> {
    let sound = |found: &&FoundRate| {
        let by_server = matches!(found.limited_by, Some(Limit::Condition | Limit::Failures));
        by_server && found.is_confirmed()
    };
    let (v6, v4) = (families.ipv6.as_ref().filter(sound)?, families.ipv4.as_ref().filter(sound)?);
    Some([v6.holds? / v4.fails?, v6.fails? / v4.holds?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial_test::TrialSample;
    use sixmark_tally::by_step::StepTally;
    use sixmark_tally::counted::family_result;
    use sixmark_tally::outcome::{Failure, FailurePhase};
    use sixmark_tally::tally::FamilyTally;

    const MS: u64 = 1_000_000;

    /// Eight thousand exchanges in eight stages, of which `slow` of each thousand take 20 ms and the
    /// others 1 ms from when they are due, and 1 ms from their start; `failed` of each thousand fail.
    fn tally(slow: u64, failed: u64, late: u64, waited: u64) -> FamilyTally {
        let failure = Failure::new(Outcome::Reset, FailurePhase::Wait);
        let mut all = FamilyTally { sent: 8_000, late, waited, ..FamilyTally::default() };
        for _ in 0..8 {
            let mut step = StepTally::default();
            step.exchanges.status.add(200, 1_000 - failed);
            step.exchanges.failures.add(failure, failed);
            step.exchanges.response.record_many(20 * MS, slow);
            step.exchanges.response.record_many(MS, 1_000 - slow - failed);
            all.status.add(200, 1_000 - failed);
            all.failures.add(failure, failed);
            all.phases.response += &step.exchanges.response;
            all.phases.service.record_many(MS, 1_000 - failed);
            all.steps.push(step);
        }
        all
    }

    fn judged(condition: &str, of: &FamilyTally, busy: bool) -> Option<Limit> {
        let conditions = vec![condition.parse().unwrap()];
        let shown = TrialSample::new(&conditions, of).test(busy);
        reason(&conditions, &family_result(of, Vec::new(), 1.0, true), shown)
    }

    #[test]
    fn judges_a_trial_and_gives_the_reason_if_it_does_not_hold() {
        for (of, busy, reason) in [
            (tally(0, 0, 0, 0), false, None),
            (tally(4, 4, 0, 0), false, None),
            // Near the limit nothing is decided, on either side.
            (tally(9, 0, 0, 0), false, Some(Limit::Undecided)),
            (tally(11, 0, 0, 0), false, Some(Limit::Undecided)),
            (tally(0, 10, 0, 0), false, Some(Limit::Undecided)),
            (tally(30, 0, 0, 0), false, Some(Limit::Condition)),
            (tally(30, 0, 0, 4_000), false, Some(Limit::Connections)),
            (tally(0, 30, 0, 0), false, Some(Limit::Failures)),
            (tally(0, 1_000, 8_000, 0), true, Some(Limit::Failures)),
            // Lateness spoils a trial only where the answer could be another without it.
            (tally(0, 0, 8_000, 0), false, None),
            (tally(0, 0, 0, 0), true, None),
            (tally(0, 30, 8_000, 0), true, Some(Limit::Failures)),
            (tally(30, 0, 40, 0), false, Some(Limit::Condition)),
            (tally(30, 0, 120, 0), false, Some(Limit::Generator)),
            (tally(30, 0, 0, 0), true, Some(Limit::Generator)),
            (tally(9, 0, 40, 0), false, Some(Limit::Generator)),
        ] {
            let found = judged("response.p99 < 10ms", &of, busy);
            assert_eq!(found, reason, "{:?} {} {}", of.failures, of.late, of.waited);
        }
    }

    /// What comes at once is a pause, what is spread over the stages is not, and a trial that expects
    /// pauses needs more exchanges to show that a rate holds.
    #[test]
    fn distinguishes_a_server_pause_from_scattered_slow_responses() {
        let conditions = vec!["response.p99 < 10ms".parse().unwrap()];
        let effects = |of: &FamilyTally| TrialSample::new(&conditions, of).effects_of_pauses(1.0);
        assert_eq!(effects(&tally(9, 5, 0, 0)), [1.0, 1.0]);
        let mut paused = tally(1, 0, 0, 0);
        paused.steps[2].exchanges.response.record_many(100 * MS, 200);
        let found = effects(&paused);
        assert!(found[0] > 100.0 && found[1] == 1.0, "{found:?}");
        let short = TrialSample::new(&conditions, &paused).effects_of_pauses(4.0);
        assert_eq!(short, [1.0, 1.0], "it would not break the limit of a long trial");
        // Lateness of sixmark is no pause of the server.
        paused.late = 200;
        assert_eq!(effects(&paused), [1.0, 1.0]);
        let mut without = TrialSample::new(&conditions, &tally(0, 0, 0, 0));
        assert_eq!(without.test(false), Shown::Holds);
        without.expect_effects(&found);
        assert_eq!(without.test(false), Shown::Undecided);
    }

    #[test]
    fn a_condition_on_failures_replaces_the_usual_limit() {
        assert_eq!(judged("failures < 5%", &tally(0, 30, 0, 0), false), None);
        let reason = judged("failures < 1%", &tally(0, 10, 0, 0), false);
        assert_eq!(reason, Some(Limit::Undecided));
        let mut unsent = tally(0, 0, 0, 0);
        unsent.unsent = 4_000;
        unsent.steps.iter_mut().for_each(|step| step.unsent = 500);
        assert_eq!(judged("failures < 5%", &unsent, false), Some(Limit::Unsent));
    }

    fn found(holds: f64, fails: f64, reason: Limit) -> FoundRate {
        let (limited_by, ended) = (Some(reason), Some(SearchEnd::Confirmed));
        let (holds, fails, trials) = (Some(holds), Some(fails), Vec::new());
        FoundRate { holds, fails, limited_by, ended, steady: Some(true), shown: None, trials }
    }

    #[test]
    fn ratio_spans_both_brackets_and_is_absent_without_a_server_limit() {
        use Limit::{Condition, Connections, Failures, Generator, Unsent};
        let of = |v6, v4| {
            let families = Families { ipv6: Some(v6), ipv4: v4 };
            FindMax::new(Vec::new(), 1.0, families).ratio
        };
        let v6 = || found(90.0, 100.0, Condition);
        let v4 = |reason| found(180.0, 200.0, reason);
        assert_eq!(of(v6(), Some(v4(Condition))), Some([90.0 / 200.0, 100.0 / 180.0]));
        assert!(of(v6(), Some(v4(Failures))).is_some());
        for other in [Generator, Connections, Unsent] {
            assert_eq!(of(v6(), Some(v4(other))), None);
            assert_eq!(of(v4(other), Some(v6())), None);
        }
        let brief = FoundRate { ended: Some(SearchEnd::Budget), ..v4(Condition) };
        assert_eq!(of(v6(), Some(brief)), None, "what is not confirmed has no ratio");
        assert_eq!(of(v6(), None), None);
    }
}
