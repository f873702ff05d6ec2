//! What a recording has that is not sent, or not sent as it was recorded, and why.

use std::collections::BTreeMap;

/// The most characters of what was found that a reason shows.
const SHOWN: usize = 40;

/// Why something can't be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unfit {
    /// The reason, the same words for everything of its kind.
    why: &'static str,
    /// What was found, shortened; empty if the reason says it all.
    found: String,
}

impl Unfit {
    /// Returns a reason that shows the beginning of what was found.
    pub(super) fn found(why: &'static str, found: &[u8]) -> Unfit {
        let text = String::from_utf8_lossy(found.get(..4 * SHOWN).unwrap_or(found)).into_owned();
        Unfit { why, found: text.chars().take(SHOWN).flat_map(char::escape_debug).collect() }
    }
}

impl From<&'static str> for Unfit {
    fn from(why: &'static str) -> Unfit {
        Unfit { why, found: String::new() }
    }
}

/// Counts by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reasons(BTreeMap<&'static str, OneReason>);

/// What there is of one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneReason {
    /// The number of times, above zero.
    pub count: u64,
    /// The number, from 1, of the first line or entry.
    pub first: u64,
    /// What was found there, shortened and without control characters; empty if the reason says it
    /// all.
    pub found: String,
}

impl Reasons {
    pub(super) fn add(&mut self, number: u64, unfit: Unfit) {
        let Unfit { why, found } = unfit;
        let first = OneReason { count: 0, first: number, found };
        self.0.entry(why).or_insert(first).count += 1;
    }

    /// Returns the total number.
    pub fn count(&self) -> u64 {
        self.0.values().map(|reason| reason.count).sum()
    }

    /// Returns the reasons, the most frequent first.
    pub fn by_count(&self) -> Vec<(&'static str, &OneReason)> {
        let mut all: Vec<_> = self.0.iter().map(|(&why, reason)| (why, reason)).collect();
        all.sort_by_key(|(_, reason)| (std::cmp::Reverse(reason.count), reason.first));
        all
    }
}

/// What was omitted, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Requests of methods other than GET and HEAD.
    pub methods: u64,
    /// Requests to other hosts, by host.
    pub hosts: BTreeMap<String, u64>,
    /// Lines or entries that could not be read or can't be sent.
    pub unreadable: Reasons,
}

impl LeftOut {
    /// Returns the total number.
    pub fn count(&self) -> u64 {
        self.methods + self.unreadable.count() + self.hosts.values().sum::<u64>()
    }
}

/// What is not sent as it was recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Altered {
    /// Parts that requests are sent without, such as header fields.
    pub parts: Reasons,
    /// Times to replay that name no zone.
    pub without_zone: u64,
    /// The zone in which these were read, in seconds east of UTC: that of the first time that has
    /// one, else UTC.
    pub zone: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_each_reason_and_keeps_its_first_occurrence() {
        let mut reasons = Reasons::default();
        reasons.add(3, Unfit::found("odd", b"a\x1b\xff"));
        reasons.add(4, "rare".into());
        reasons.add(7, Unfit::found("odd", b"b"));
        let found = |count, first, found: &str| OneReason { count, first, found: found.into() };
        let (odd, rare) = (found(2, 3, "a\\u{1b}\u{fffd}"), found(1, 4, ""));
        assert_eq!(reasons.by_count(), [("odd", &odd), ("rare", &rare)]);
        assert_eq!(reasons.count(), 3);
    }

    #[test]
    fn truncates_long_quoted_text() {
        let long = "\u{e4}".repeat(100);
        assert_eq!(Unfit::found("", long.as_bytes()).found, "\u{e4}".repeat(40));
    }
}
