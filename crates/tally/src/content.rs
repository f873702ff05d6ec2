//! Counts of responses that did not pass a check, with a few samples of them.

use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::tally_part::own_parts;
use sixmark_plan::check::Mismatch;

/// The number of responses kept for each check: the first ones.
pub const SAMPLES: usize = 3;

/// The most checks that a peer may count.
const MOST_CHECKS: usize = 4_096;
/// The longest finding of a peer, in bytes: far above what sixmark writes.
const LONGEST_FOUND: usize = 2_000;

/// Counts and samples of the responses that did not pass each check.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<ContentResult>", into = "Vec<ContentResult>")]
pub struct ContentTally(BTreeMap<Arc<str>, Failed>);

/// The responses that did not pass one check.
#[derive(Clone, Debug, Default, PartialEq)]
struct Failed {
    count: u64,
    /// The first ones, in the order of their times.
    samples: Vec<ContentSample>,
}

impl Failed {
    fn since(&self, earlier: &Failed) -> Failed {
        let (mut known, mut samples) = (earlier.samples.clone(), self.samples.clone());
        samples.retain(|sample| match known.iter().position(|before| before == sample) {
            Some(at) => {
                known.swap_remove(at);
                false
            }
            None => true,
        });
        Failed { count: self.count.saturating_sub(earlier.count), samples }
    }

    /// Sorts the samples by all fields, so that the result of merging does not depend on the order.
    fn sort(&mut self) {
        self.samples.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    }
}

/// A response that did not pass a check.
#[derive(Clone, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContentSample {
    /// When the response ended, in seconds from the end of the warm-up.
    pub at_s: f64,
    /// The name of the request.
    pub request: String,
    /// The response's status.
    #[cfg_attr(feature = "schema", schemars(range(min = 100, max = 999)))]
    pub status: u16,
    /// What was found instead of the expected value, in printable ASCII, about 250 characters at
    /// most.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[ -~]*$")))]
    pub found: String,
}

impl ContentSample {
    fn is_plausible(&self) -> bool {
        let shown = self.found.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        shown && self.found.len() <= LONGEST_FOUND && (100..=999).contains(&self.status)
    }
}

/// The failures of one check in a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContentResult {
    /// The text of the check as requested.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub check: String,
    /// The number of responses that did not pass this check. A response counts only for the first
    /// check that it did not pass.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub count: u64,
    /// The first of these responses.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = SAMPLES)))]
    pub samples: Vec<ContentSample>,
}

impl ContentTally {
    /// Counts a response to the request named `request` that ended `at_ns` nanoseconds after the
    /// warm-up.
    pub fn add(&mut self, at_ns: u64, request: &str, status: u16, mismatch: Mismatch) {
        let failed = self.0.entry(mismatch.check).or_default();
        failed.count += 1;
        if failed.samples.len() < SAMPLES {
            let (at_s, request) = (at_ns as f64 / 1e9, request.to_owned());
            failed.samples.push(ContentSample { at_s, request, status, found: mismatch.found });
            failed.sort();
        }
    }

    /// Returns the number of responses over all checks.
    pub fn count(&self) -> u64 {
        self.0.values().fold(0, |sum, failed| sum.saturating_add(failed.count))
    }

    /// Returns what was counted since these counts were `earlier`. The samples are those that
    /// `earlier` does not have.
    #[must_use]
    pub fn since(&self, earlier: &ContentTally) -> ContentTally {
        let more = self.0.iter().filter_map(|(check, all)| match earlier.0.get(check) {
            None => Some((Arc::clone(check), all.clone())),
            Some(before) if before == all => None,
            Some(before) => Some((Arc::clone(check), all.since(before))),
        });
        ContentTally(more.collect())
    }

    /// Returns the counts and samples for a result, in the order of the checks' texts.
    pub fn result(&self) -> Vec<ContentResult> {
        let result = |(check, failed): (&Arc<str>, &Failed)| ContentResult {
            check: check.to_string(),
            count: failed.count,
            samples: failed.samples.clone(),
        };
        self.0.iter().map(result).collect()
    }
}

impl From<ContentTally> for Vec<ContentResult> {
    fn from(tally: ContentTally) -> Vec<ContentResult> {
        tally.result()
    }
}

/// The counts of a peer, which is not trusted.
impl TryFrom<Vec<ContentResult>> for ContentTally {
    type Error = String;

    fn try_from(read: Vec<ContentResult>) -> Result<ContentTally, String> {
        if read.len() > MOST_CHECKS {
            return Err(format!("{} checks failed, not {MOST_CHECKS} at most", read.len()));
        }
        let mut tally = ContentTally::default();
        for ContentResult { check, count, samples } in read {
            if samples.len() > SAMPLES || !samples.iter().all(ContentSample::is_plausible) {
                return Err("a sample of a failed check is not as sixmark writes it".to_owned());
            }
            let mut failed = Failed { count, samples };
            failed.sort();
            if tally.0.insert(check.into(), failed).is_some() {
                return Err("a failed check is counted twice in one list".to_owned());
            }
        }
        Ok(tally)
    }
}

impl AddAssign<&ContentTally> for ContentTally {
    fn add_assign(&mut self, other: &ContentTally) {
        for (check, more) in &other.0 {
            let failed = self.0.entry(Arc::clone(check)).or_default();
            failed.count = failed.count.saturating_add(more.count);
            failed.samples.extend_from_slice(&more.samples);
            failed.sort();
            failed.samples.truncate(SAMPLES);
        }
    }
}

own_parts!([] ContentTally);

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(times: &[u64]) -> ContentTally {
        let mut tally = ContentTally::default();
        for &at in times {
            let mismatch = Mismatch { check: "size=1".into(), found: at.to_string() };
            tally.add(at, "a", 200, mismatch);
        }
        tally
    }

    #[test]
    fn keeps_the_first_three_mismatches_and_counts_all() {
        let result = tally(&[1, 2, 3, 4]).result();
        assert_eq!((result[0].count, result[0].samples.len()), (4, SAMPLES));
        let last =
            ContentSample { at_s: 3e-9, request: "a".into(), status: 200, found: "3".into() };
        assert_eq!(result[0].samples[2], last);
    }

    #[test]
    fn merging_keeps_the_earliest_samples_in_any_order() {
        let parts = [tally(&[5, 6, 7, 8]), tally(&[1, 9]), tally(&[3, 4])];
        let sum = |order: [usize; 3]| {
            let mut sum = ContentTally::default();
            order.iter().for_each(|&part| sum += &parts[part]);
            sum
        };
        assert_eq!(sum([0, 1, 2]), sum([2, 0, 1]));
        let result = &sum([2, 1, 0]).result()[0];
        let found: Vec<_> = result.samples.iter().map(|sample| &*sample.found).collect();
        assert_eq!((result.count, found), (8, vec!["1", "3", "4"]));
    }
}
