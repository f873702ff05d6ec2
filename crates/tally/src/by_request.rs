//! The figures of each request of a mix, by its name.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::outcome::{Failure, Outcome, OutcomeCounts};
use crate::tally_part::tally_parts;
use sixmark_document::timing::{Summary, Timing};
use sixmark_document::untrusted::is_default;
use sixmark_plan::plan::Request;
use sixmark_units::counts::Counts;

/// The number of names with figures of their own: a mix from an access log may have thousands, and
/// each name costs every thread a histogram for each family.
pub const MOST_NAMES: usize = 100;

/// The names that a mix is counted by. Requests with the same name are counted together; if there
/// are more than [`MOST_NAMES`] names, so are all but those with the most weight.
#[derive(Clone, Debug)]
pub struct RequestNames {
    names: Vec<Option<String>>,
    places: Arc<[u32]>,
}

impl RequestNames {
    /// Returns the names of `requests`; none if they all have the same name.
    pub fn new(requests: &[Request]) -> RequestNames {
        let mut numbers = HashMap::new();
        let mut weights: Vec<(&str, f64)> = Vec::new();
        let mut named = Vec::with_capacity(requests.len());
        for request in requests {
            let number = *numbers.entry(request.name.as_str()).or_insert(weights.len());
            match weights.get_mut(number) {
                Some((_, weight)) => *weight += request.weight,
                None => weights.push((&request.name, request.weight)),
            }
            named.push(number);
        }
        if weights.len() < 2 {
            return RequestNames { names: Vec::new(), places: Arc::default() };
        }
        let mut kept: Vec<usize> = (0..weights.len()).collect();
        kept.sort_by(|&a, &b| weights[b].1.total_cmp(&weights[a].1));
        kept.truncate(MOST_NAMES);
        kept.sort_unstable();
        let others = u32::try_from(kept.len()).unwrap_or(u32::MAX);
        let mut place_of = vec![others; weights.len()];
        (0..).zip(&kept).for_each(|(place, &number)| place_of[number] = place);
        let mut names: Vec<Option<String>> =
            kept.iter().map(|&number| Some(weights[number].0.to_owned())).collect();
        if kept.len() < weights.len() {
            names.push(None);
        }
        RequestNames { names, places: named.into_iter().map(|number| place_of[number]).collect() }
    }

    /// Returns, for each request by its number in the plan, the number of its name: what
    /// [`FamilyTally::requests`](crate::tally::FamilyTally::requests) is indexed by. Empty if there
    /// is one name.
    pub fn places(&self) -> Arc<[u32]> {
        Arc::clone(&self.places)
    }

    /// Returns the figures of each name, including those without any exchange.
    pub fn figures(&self, tallies: &[RequestTally]) -> Vec<RequestFigures> {
        let nothing = RequestTally::default();
        let figures = |(place, name): (usize, &Option<String>)| {
            tallies.get(place).unwrap_or(&nothing).figures(name.clone())
        };
        self.names.iter().enumerate().map(figures).collect()
    }
}

/// The counts of exchanges that are counted apart: of the requests with one name, or of those due in
/// one step of a rate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RequestTally {
    /// Complete responses by their status.
    #[serde(skip_serializing_if = "is_default")]
    pub status: Counts<u16>,
    /// The other exchanges, by the kind of failure.
    #[serde(skip_serializing_if = "is_default")]
    pub failures: Counts<Failure>,
    /// The number of complete responses whose status is not accepted.
    #[serde(skip_serializing_if = "is_default")]
    pub unaccepted: u64,
    /// Response times, except those excluded because of a stall.
    #[serde(skip_serializing_if = "is_default")]
    pub response: Timing,
}

impl RequestTally {
    /// Returns the outcomes of the exchanges.
    pub fn outcome_counts(&self) -> OutcomeCounts<'_> {
        let RequestTally { status, failures, unaccepted, .. } = self;
        OutcomeCounts { status, failures, unaccepted: *unaccepted }
    }

    fn figures(&self, name: Option<String>) -> RequestFigures {
        let counted = self.outcome_counts();
        RequestFigures {
            name,
            sent: counted.ended(),
            completed: counted.completed(),
            unaccepted: self.unaccepted,
            failed: counted.failed(),
            outcomes: counted.by_name(),
            status: self.status.sorted(),
            response_us: self.response.summary(),
        }
    }
}

tally_parts!(RequestTally { status, failures, unaccepted, response });

/// The figures of the requests of a mix that have the same name. An exchange that a redirect led to
/// counts for the request that was redirected.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RequestFigures {
    /// The name; null for all requests together that are not among the hundred names with the most
    /// weight.
    pub name: Option<String>,
    /// Exchanges started. They add up to the family's requests.sent.
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
    /// Response times, as in the family's response_us.
    pub response_us: Summary,
}

impl RequestFigures {
    /// Returns the number of exchanges whose result is known: those sent, except the ones that the
    /// end of the load cut off (ABANDONED).
    pub fn ended(&self) -> u64 {
        let cut_off = self.outcomes.get(Outcome::Abandoned.name()).copied().unwrap_or(0);
        self.sent.saturating_sub(cut_off)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::FailurePhase;

    fn named(name: &str, weight: f64) -> Request {
        Request { name: name.into(), weight, ..Request::plain("GET") }
    }

    #[test]
    fn keeps_no_figures_by_name_if_all_requests_share_one_name() {
        for requests in [vec![named("a", 1.0)], vec![named("a", 1.0), named("a", 2.0)]] {
            let names = RequestNames::new(&requests);
            assert_eq!((names.places().len(), names.figures(&[]).len()), (0, 0));
        }
    }

    #[test]
    fn requests_with_the_same_name_are_counted_together() {
        let names = RequestNames::new(&[named("b", 1.0), named("a", 9.0), named("b", 1.0)]);
        assert_eq!(*names.places(), [0, 1, 0]);
        let figures = names.figures(&[]);
        let found: Vec<_> = figures.iter().map(|of| (of.name.as_deref(), of.sent)).collect();
        assert_eq!(found, [(Some("b"), 0), (Some("a"), 0)]);
    }

    #[test]
    fn keeps_figures_of_the_heaviest_names_if_there_are_too_many() {
        let number = MOST_NAMES + 50;
        let weight = |at: usize| if at < 50 { 1.0 } else { 2.0 };
        let requests: Vec<Request> =
            (0..number).map(|at| named(&at.to_string(), weight(at))).collect();
        let names = RequestNames::new(&requests);
        let figures = names.figures(&[]);
        assert_eq!(figures.len(), MOST_NAMES + 1);
        assert_eq!((figures[0].name.as_deref(), &figures[MOST_NAMES].name), (Some("50"), &None));
        let places = names.places();
        assert!(places[..50].iter().all(|&place| place as usize == MOST_NAMES));
        assert_eq!((places[50], places[number - 1]), (0, 99));
    }

    #[test]
    fn figures_count_each_exchange_once() {
        let mut tally = RequestTally { unaccepted: 2, ..RequestTally::default() };
        tally.status.add(200, 5);
        tally.status.add(404, 2);
        for (outcome, count) in [(Outcome::Reset, 3), (Outcome::Abandoned, 1)] {
            tally.failures.add(Failure::new(outcome, FailurePhase::Wait), count);
        }
        tally.response.record(1_000_000);
        let of = tally.figures(None);
        assert_eq!((of.sent, of.completed, of.unaccepted, of.failed), (11, 7, 2, 5));
        let outcomes: Vec<_> = of.outcomes.iter().map(|(name, n)| (name.as_str(), *n)).collect();
        assert_eq!(outcomes, [("ABANDONED", 1), ("NORMAL", 7), ("RESET", 3)]);
        assert_eq!((of.status[&404], of.response_us.p50), (2, Some(1_000.0)));
    }
}
