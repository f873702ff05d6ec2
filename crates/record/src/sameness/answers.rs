//! What one side gave, target by target.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;

use crate::outcome::{Failure, Outcome};
use crate::plan::Plan;
use crate::sizes::Sizes;
use crate::tally::{EndpointTally, FamilyTally, WaitingTime};
use sixmark_units::counts::Counts;

/// Targets told apart; those beyond are taken together.
const MOST_TARGETS: usize = 64;
/// What those are called, and targets whose requests have paths of their own.
pub(super) const OTHERS: &str = "*";

/// What a side gave in a stretch of load, by the path that it was asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answers(BTreeMap<String, TargetAnswers>);

/// What exchanges of one target came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TargetAnswers {
    /// Complete responses by their status.
    pub status: Counts<u16>,
    /// How the other exchanges ended; those that the end of the load cut off (ABANDONED) are not looked
    /// at.
    pub failures: Counts<Failure>,
    /// Of the complete responses, those whose status is not accepted.
    pub unaccepted: u64,
    /// Contents of the others.
    pub sizes: Sizes,
    /// How long exchanges lasted, with a response and without; nothing where that is not known.
    pub waiting: WaitingTime,
}

impl Answers {
    /// Of a tally whose endpoints are numbered as in the plan.
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

    /// Of targets that nobody told apart.
    pub fn of_all(given: TargetAnswers) -> Answers {
        Answers(BTreeMap::from([(OTHERS.to_owned(), given)]))
    }

    /// The same without the sizes, where sides were asked for different things.
    #[must_use]
    pub fn without_sizes(mut self) -> Answers {
        self.0.values_mut().for_each(|given| given.sizes = Sizes::default());
        self
    }

    /// True where nothing is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The paths.
    pub fn targets(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// What one target gave; none: all together.
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
    /// Complete responses.
    pub fn completed(&self) -> u64 {
        self.status.iter().map(|(_, count)| count).sum()
    }

    /// Exchanges that ended by themselves.
    pub fn ended(&self) -> u64 {
        self.completed() + self.failed()
    }

    /// Of these, those without a complete response.
    pub fn failed(&self) -> u64 {
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
        self.waiting += other.waiting;
    }
}

impl AddAssign<&EndpointTally> for TargetAnswers {
    fn add_assign(&mut self, other: &EndpointTally) {
        self.status += &other.status;
        self.failures += &other.failures;
        self.unaccepted += other.unaccepted;
        self.sizes += &other.sizes;
        self.waiting += other.waiting;
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// What one target gave.
    pub(in crate::sameness) fn answers(path: &str, tally: &EndpointTally) -> Answers {
        let mut answers = Answers::default();
        *answers.0.entry(path.to_owned()).or_default() += tally;
        answers
    }

    #[test]
    fn what_the_end_cut_off_is_no_answer() {
        let mut tally = EndpointTally::default();
        tally.failures.add(Failure::new(Outcome::Abandoned, crate::outcome::FailurePhase::Wait), 7);
        tally.failures.add(Failure::new(Outcome::Reset, crate::outcome::FailurePhase::Wait), 2);
        assert_eq!(answers("/", &tally).given(None).ended(), 2);
    }
}
