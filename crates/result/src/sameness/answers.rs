//! The responses that one side returned, by target.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;

use sixmark_plan::plan::Plan;
use sixmark_tally::outcome::{Failure, Outcome};
use sixmark_tally::sizes::Sizes;
use sixmark_tally::tally::{EndpointTally, FamilyTally, WaitingTime};
use sixmark_units::counts::Counts;

/// The most targets that are counted separately. All others are counted together.
const MOST_TARGETS: usize = 64;
/// The name for all other targets, and for all targets if requests have paths of their own.
pub(super) const OTHERS: &str = "*";

/// The responses that a side returned during a period of load, by the path of the target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answers(BTreeMap<String, TargetAnswers>);

/// The outcomes of the exchanges with one target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TargetAnswers {
    /// Complete responses by their status.
    pub status: Counts<u16>,
    /// The other exchanges, by the kind of failure. Those that the end of the load cut off
    /// (ABANDONED) are ignored.
    pub failures: Counts<Failure>,
    /// The number of complete responses whose status is not accepted.
    pub unaccepted: u64,
    /// The sizes of the contents of accepted responses.
    pub sizes: Sizes,
    /// The time that exchanges were in flight, with and without a response; zero if unknown.
    pub waiting: WaitingTime,
}

impl Answers {
    /// Returns the responses in a tally whose endpoints are numbered as in the plan.
    pub fn of(plan: &Plan, tally: &FamilyTally) -> Answers {
        let mut answers = Answers::default();
        let own_paths = plan.requests.iter().any(|request| request.path.is_some());
        let first: BTreeSet<&str> =
            plan.targets.iter().map(|target| target.path.as_str()).take(MOST_TARGETS).collect();
        for (endpoint, counted) in plan.all_endpoints().iter().zip(&tally.endpoints) {
            let path =
                plan.targets.get(endpoint.target).map_or(OTHERS, |target| target.path.as_str());
            let path = if own_paths || !first.contains(path) { OTHERS } else { path };
            *answers.0.entry(path.to_owned()).or_default() += counted;
        }
        answers
    }

    /// Creates the responses of a side whose targets were not distinguished.
    pub fn of_all(given: TargetAnswers) -> Answers {
        Answers(BTreeMap::from([(OTHERS.to_owned(), given)]))
    }

    /// Returns the responses without their sizes, for sides that were sent different requests.
    #[must_use]
    pub fn without_sizes(mut self) -> Answers {
        self.0.values_mut().for_each(|given| given.sizes = Sizes::default());
        self
    }

    /// Returns true if no target was counted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over the paths of the targets.
    pub fn targets(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns the responses of one target, or of all together (`None`).
    pub fn given(&self, target: Option<&str>) -> TargetAnswers {
        let mut sum = TargetAnswers::default();
        let wanted = |path: &str| target.is_none_or(|target| target == path);
        self.0.iter().filter(|(path, _)| wanted(path)).for_each(|(_, given)| sum += given);
        sum
    }
}

impl AddAssign<&Answers> for Answers {
    fn add_assign(&mut self, other: &Answers) {
        for (path, given) in &other.0 {
            *self.0.entry(path.clone()).or_default() += given;
        }
    }
}

impl TargetAnswers {
    /// Returns the number of complete responses.
    pub fn completed(&self) -> u64 {
        self.status.iter().map(|(_, count)| count).sum()
    }

    /// Returns the number of exchanges that the end of the load did not cut off.
    pub fn ended(&self) -> u64 {
        self.completed() + self.without_response()
    }

    /// Returns the number of these exchanges that ended without a complete response.
    pub fn without_response(&self) -> u64 {
        let ended = self.failures.iter().filter(|(of, _)| of.outcome != Outcome::Abandoned);
        ended.map(|(_, count)| count).sum()
    }
}

impl AddAssign<&TargetAnswers> for TargetAnswers {
    fn add_assign(&mut self, other: &TargetAnswers) {
        self.status += &other.status;
        self.failures += &other.failures;
        self.unaccepted += other.unaccepted;
        self.sizes += &other.sizes;
        self.waiting += &other.waiting;
    }
}

impl AddAssign<&EndpointTally> for TargetAnswers {
    fn add_assign(&mut self, other: &EndpointTally) {
        self.status += &other.status;
        self.failures += &other.failures;
        self.unaccepted += other.unaccepted;
        self.sizes += &other.sizes;
        self.waiting += &other.waiting;
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns the responses of a single target.
    pub(in crate::sameness) fn answers(path: &str, tally: &EndpointTally) -> Answers {
        let mut answers = Answers::default();
        *answers.0.entry(path.to_owned()).or_default() += tally;
        answers
    }

    #[test]
    fn excludes_exchanges_cut_off_by_the_end_of_the_load() {
        let mut tally = EndpointTally::default();
        tally
            .failures
            .add(Failure::new(Outcome::Abandoned, sixmark_tally::outcome::FailurePhase::Wait), 7);
        tally
            .failures
            .add(Failure::new(Outcome::Reset, sixmark_tally::outcome::FailurePhase::Wait), 2);
        assert_eq!(answers("/", &tally).given(None).ended(), 2);
    }
}
