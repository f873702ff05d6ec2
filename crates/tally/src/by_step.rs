//! The figures of each step of a rate.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::by_request::RequestTally;
use crate::tally_part::tally_parts;
use sixmark_document::timing::Summary;
use sixmark_document::untrusted::is_default;
use sixmark_plan::pace::{RateStage, RequestRate};
use sixmark_plan::plan::Plan;

/// The number of steps with figures of their own: each costs every thread a histogram for each
/// family.
pub const MOST_STEPS: usize = 100;

/// The steps that a load is counted by: the stages of its rate. If there are more than
/// [`MOST_STEPS`], the last step is all stages from there on.
#[derive(Clone, Debug, Default)]
pub struct LoadSteps(Vec<LoadStep>);

/// One step. Times are in nanoseconds from the start of the measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LoadStep {
    from: RequestRate,
    to: RequestRate,
    begins_ns: u64,
    ends_ns: u64,
}

impl LoadSteps {
    /// Returns the steps of a plan; none if its rate has only one stage, or the loop is closed.
    pub fn new(plan: &Plan) -> LoadSteps {
        let stages: &[RateStage] = plan.load.pace.open().map_or(&[], |open| &open.stages);
        if stages.len() < 2 {
            return LoadSteps::default();
        }
        let mut steps: Vec<LoadStep> = Vec::new();
        let mut begins_ns = 0_u64;
        for stage in stages {
            let lasts_ns = stage.duration.map_or(u128::MAX, |duration| duration.as_nanos());
            let ends_ns = begins_ns.saturating_add(u64::try_from(lasts_ns).unwrap_or(u64::MAX));
            let is_full = steps.len() == MOST_STEPS;
            match steps.last_mut().filter(|_| is_full) {
                Some(last) => (last.to, last.ends_ns) = (stage.to, ends_ns),
                None => steps.push(LoadStep { from: stage.from, to: stage.to, begins_ns, ends_ns }),
            }
            begins_ns = ends_ns;
        }
        LoadSteps(steps)
    }

    /// Returns the number of the step of an exchange that was due `due_ns` nanoseconds after the
    /// start of the measurement; `None` if there are no steps. What was due after the last step,
    /// such as the target of a redirect, belongs to that.
    #[inline]
    pub fn step_of(&self, due_ns: u64) -> Option<usize> {
        let last = self.0.len().checked_sub(1)?;
        Some(self.0.partition_point(|step| step.ends_ns <= due_ns).min(last))
    }

    /// Returns the number of the step that lasts `at_ns` nanoseconds after the start of the
    /// measurement; `None` if there are no steps, or all of them are over.
    #[inline]
    pub fn step_at(&self, at_ns: u64) -> Option<usize> {
        let step = self.0.partition_point(|step| step.ends_ns <= at_ns);
        (step < self.0.len()).then_some(step)
    }

    /// Returns the figures of each step, including those that had not begun after `elapsed_s`
    /// seconds of measurement.
    pub fn figures(&self, tallies: &[StepTally], elapsed_s: f64) -> Vec<StepFigures> {
        let nothing = StepTally::default();
        let figures = |(number, step): (usize, &LoadStep)| {
            tallies.get(number).unwrap_or(&nothing).figures(step, elapsed_s)
        };
        self.0.iter().enumerate().map(figures).collect()
    }
}

/// The counts of the exchanges that were due in one step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StepTally {
    /// Exchanges that ended.
    #[serde(skip_serializing_if = "is_default")]
    pub exchanges: RequestTally,
    /// Exchanges that were dropped.
    #[serde(skip_serializing_if = "is_default")]
    pub dropped: u64,
    /// Exchanges that had not started when the run ended.
    #[serde(skip_serializing_if = "is_default")]
    pub unsent: u64,
    /// Complete responses that arrived during the step, whenever their exchanges were due.
    #[serde(skip_serializing_if = "is_default")]
    pub responses: u64,
}

impl StepTally {
    fn figures(&self, step: &LoadStep, elapsed_s: f64) -> StepFigures {
        let StepTally { exchanges, dropped, unsent, responses } = self;
        let counted = exchanges.outcome_counts();
        let [begins_s, ends_s] = [step.begins_ns, step.ends_ns].map(|ns| ns as f64 / 1e9);
        let lasts_s = (ends_s.min(elapsed_s) - begins_s).max(0.0);
        StepFigures {
            from: step.from,
            to: step.to,
            begins_s,
            lasts_s,
            due: counted.ended().saturating_add(*dropped).saturating_add(*unsent),
            dropped: *dropped,
            unsent: *unsent,
            sent: counted.ended(),
            completed: counted.completed(),
            unaccepted: exchanges.unaccepted,
            failed: counted.failed(),
            outcomes: counted.by_name(),
            status: exchanges.status.sorted(),
            responses: *responses,
            responses_per_s: if lasts_s > 0.0 { *responses as f64 / lasts_s } else { 0.0 },
            response_us: exchanges.response.summary(),
        }
    }
}

tally_parts!(StepTally { exchanges, dropped, unsent, responses });

/// The figures of one step of a rate: of the exchanges that were due in it, unless stated
/// otherwise.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepFigures {
    /// The rate at the beginning, in exchanges per second of both families together.
    pub from: RequestRate,
    /// The rate at the end.
    pub to: RequestRate,
    /// Seconds from the start of the measurement to the beginning of the step.
    pub begins_s: f64,
    /// Seconds from there to the end of the step or, if that came first, of the measurement; 0 if
    /// the measurement ended before the step began.
    pub lasts_s: f64,
    /// Exchanges due: sent, dropped and unsent.
    pub due: u64,
    /// Exchanges not started, with overload drop, because no more could be in flight when they were
    /// due.
    pub dropped: u64,
    /// Exchanges not started, because the run ended before they could.
    pub unsent: u64,
    /// Exchanges started. They add up to the family's requests.sent: those of the warm-up that
    /// count (requests.carried) belong to the first step.
    pub sent: u64,
    /// Exchanges with a complete response, whatever its status.
    pub completed: u64,
    /// Exchanges among those completed whose status is not accepted.
    pub unaccepted: u64,
    /// Exchanges that failed: that ended neither NORMAL nor ABANDONED, or whose status is not
    /// accepted.
    pub failed: u64,
    /// Exchanges by outcome: NORMAL always, the others if they occurred. They add up to sent.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::Entries<crate::outcome::Outcome, u64>", extend("required" = ["NORMAL"])))]
    pub outcomes: BTreeMap<String, u64>,
    /// Complete responses by status code.
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "sixmark_document::schema_type::Entries<sixmark_document::schema_type::StatusCode, std::num::NonZeroU64>"
        )
    )]
    pub status: BTreeMap<u16, u64>,
    /// Complete responses that arrived during the step, whichever step their exchanges were due in.
    pub responses: u64,
    /// The rate that was reached: responses / lasts_s; 0 if the step did not begin.
    pub responses_per_s: f64,
    /// Response times, as in the family's response_us.
    pub response_us: Summary,
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::outcome::{Failure, FailurePhase, Outcome};
    use sixmark_plan::fixture;
    use sixmark_plan::pace::{OpenLoop, Pace};

    fn steps(stages: &[(f64, u64)]) -> LoadSteps {
        let stage = |&(per_s, seconds): &(f64, u64)| {
            let rate = RequestRate::new(per_s).unwrap();
            RateStage::level(rate, Duration::from_secs(seconds))
        };
        let mut plan = fixture::plan();
        plan.load.pace = Pace::Open(OpenLoop::new(stages.iter().map(stage).collect()).unwrap());
        LoadSteps::new(&plan)
    }

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_load_of_one_rate_has_no_steps() {
        assert_eq!(LoadSteps::new(&fixture::plan()).step_of(0), None);
        let one = steps(&[(100.0, 5)]);
        assert_eq!((one.step_of(0), one.step_at(0)), (None, None));
        assert!(one.figures(&[], 5.0).is_empty());
    }

    #[test]
    fn an_exchange_belongs_to_the_step_in_which_it_was_due() {
        let all = steps(&[(100.0, 2), (0.0, 1), (300.0, 2)]);
        for (at, of, during) in [
            (0, Some(0), Some(0)),
            (2 * SECOND - 1, Some(0), Some(0)),
            (2 * SECOND, Some(1), Some(1)),
            (3 * SECOND, Some(2), Some(2)),
            (5 * SECOND, Some(2), None),
            (u64::MAX, Some(2), None),
        ] {
            assert_eq!((all.step_of(at), all.step_at(at)), (of, during), "{at}");
        }
    }

    #[test]
    fn merges_the_steps_beyond_the_maximum_into_the_last_one() {
        let number = MOST_STEPS as u64 + 20;
        let stages: Vec<(f64, u64)> = (1..=number).map(|n| (n as f64, 1)).collect();
        let all = steps(&stages);
        let figures = all.figures(&[], number as f64);
        let last = figures.last().unwrap();
        assert_eq!((figures.len(), last.from.per_s(), last.to.per_s()), (100, 100.0, 120.0));
        assert_eq!((last.begins_s, last.lasts_s), (99.0, 21.0));
        assert_eq!(all.step_of(number * SECOND - 1), Some(MOST_STEPS - 1));
    }

    #[test]
    fn counts_each_exchange_once_and_divides_by_the_duration_of_the_step() {
        let all = steps(&[(100.0, 2), (300.0, 2)]);
        let mut tally = StepTally { dropped: 4, unsent: 3, responses: 150, ..StepTally::default() };
        tally.exchanges.status.add(200, 90);
        tally.exchanges.status.add(503, 2);
        tally.exchanges.unaccepted = 2;
        tally.exchanges.failures.add(Failure::new(Outcome::Reset, FailurePhase::Wait), 1);
        tally.exchanges.response.record(1_000_000);
        let figures = all.figures(&[StepTally::default(), tally], 3.5);
        let [first, second] = &figures[..] else { panic!("{figures:?}") };
        assert_eq!((first.due, first.lasts_s, first.responses_per_s), (0, 2.0, 0.0));
        let counts = (second.due, second.sent, second.completed, second.failed);
        assert_eq!(counts, (100, 93, 92, 3));
        assert_eq!((second.begins_s, second.lasts_s, second.responses_per_s), (2.0, 1.5, 100.0));
        assert_eq!((second.outcomes["RESET"], second.status[&503]), (1, 2));
        assert_eq!(all.figures(&[], 1.0)[1].lasts_s, 0.0);
    }
}
