//! The responses of a side, as documents store them for later comparisons.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Answers, TargetAnswers};
use sixmark_tally::family_result::{FailureCount, FamilyResult};
use sixmark_tally::sizes::{Sizes, SizesResult};

/// The outcomes of exchanges, for all targets together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GivenResult {
    /// Complete responses by their status.
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "sixmark_document::schema_type::Entries<sixmark_document::schema_type::StatusCode, std::num::NonZeroU64>"
        )
    )]
    pub status: BTreeMap<u16, u64>,
    /// The exchanges without a complete response.
    pub failures: Vec<FailureCount>,
    /// Exchanges among those with a complete response whose status is not accepted.
    pub unaccepted: u64,
    /// Sizes in bytes of the contents of accepted responses; null if there were none.
    pub sizes: Option<SizesResult>,
}

impl GivenResult {
    /// Returns the outcomes that a family's figures contain.
    pub fn of(figures: &FamilyResult) -> GivenResult {
        GivenResult {
            status: figures.status.clone(),
            failures: figures.failures.clone(),
            unaccepted: figures.requests.unaccepted,
            sizes: figures.sizes,
        }
    }

    /// Returns the outcomes in the form in which they are compared.
    pub fn answers(&self) -> Answers {
        let mut given = TargetAnswers { unaccepted: self.unaccepted, ..TargetAnswers::default() };
        self.status.iter().for_each(|(&status, &count)| given.status.add(status, count));
        self.failures.iter().for_each(|of| given.failures.add(of.failure, of.count));
        given.sizes = self.sizes.map_or_else(Sizes::default, |found| found.sizes());
        Answers::of_all(given)
    }
}
