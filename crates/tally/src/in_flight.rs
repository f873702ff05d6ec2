//! Exchanges that were in flight when a load ended.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::by_request::MOST_NAMES;
use crate::by_step::MOST_STEPS;
use crate::outcome::FailurePhase;
use crate::tally_part::own_parts;
use sixmark_document::untrusted;
use sixmark_plan::plan::most::MOST_ENDPOINTS;

/// An exchange without a complete response at the end of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct InFlight {
    /// Nanoseconds since it was due (in a closed loop, since it began).
    pub age_ns: u64,
    /// Nanoseconds of the measurement that it was in flight.
    pub silent_ns: u64,
    /// The phase in which it was.
    pub phase: FailurePhase,
    /// The index of its endpoint in the plan.
    #[serde(deserialize_with = "untrusted::below::<MOST_ENDPOINTS, _>")]
    pub endpoint: usize,
    /// The index of its request's name, if requests are counted by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "untrusted::below_or_none::<{ MOST_NAMES + 1 }, _>")]
    pub name: Option<usize>,
    /// The number of the step in which it was due, if the rate has steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "untrusted::below_or_none::<MOST_STEPS, _>")]
    pub step: Option<usize>,
    /// False if it began in the warm-up and is not among those sent.
    pub counted: bool,
}

/// The exchanges that were in flight when a load ended. Their order has no meaning.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InFlightList(Vec<InFlight>);

impl InFlightList {
    /// Adds an exchange.
    pub fn push(&mut self, exchange: InFlight) {
        self.0.push(exchange);
    }

    /// Returns the exchanges that are not in `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &InFlightList) -> InFlightList {
        let mut known = earlier.sorted().into_iter().peekable();
        let mut more = self.sorted();
        more.retain(|exchange| {
            while known.next_if(|before| before < exchange).is_some() {}
            known.next_if_eq(exchange).is_none()
        });
        InFlightList(more)
    }

    /// Returns the exchanges.
    pub fn into_vec(self) -> Vec<InFlight> {
        self.0
    }

    /// Returns the exchanges in an order that depends on nothing but them.
    fn sorted(&self) -> Vec<InFlight> {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        sorted
    }
}

impl PartialEq for InFlightList {
    /// Ignores the order: the result of merging must not depend on the order.
    fn eq(&self, other: &InFlightList) -> bool {
        self.0.len() == other.0.len() && self.sorted() == other.sorted()
    }
}

impl AddAssign<&InFlightList> for InFlightList {
    fn add_assign(&mut self, other: &InFlightList) {
        self.0.extend_from_slice(&other.0);
    }
}

own_parts!([] InFlightList);
