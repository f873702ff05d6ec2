//! Counts by key, for keys with few distinct values.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The most keys that are read from another process. Searching is linear, so that adding the counts
/// of a peer with very many keys would take as long as the peer likes.
pub const MOST_KEYS: usize = 4_096;

/// Counts by key, for keys with few distinct values: searching a short list is faster than a tree
/// or a hash table.
#[derive(Clone, Debug)]
pub struct Counts<K>(Vec<(K, u64)>);

impl<K> Default for Counts<K> {
    fn default() -> Self {
        Counts(Vec::new())
    }
}

impl<K: Copy + Ord> Counts<K> {
    /// Creates counts from keys and their counts.
    ///
    /// # Errors
    /// There are more than [`MOST_KEYS`] keys, or one occurs twice.
    pub fn from_pairs(pairs: Vec<(K, u64)>) -> Result<Counts<K>, String> {
        if pairs.len() > MOST_KEYS {
            return Err(format!(
                "{} different keys are counted, not {MOST_KEYS} at most",
                pairs.len()
            ));
        }
        let counts = Counts(pairs);
        if counts.sorted().len() == counts.0.len() {
            Ok(counts)
        } else {
            Err("a key is counted twice in one list".to_owned())
        }
    }

    /// Adds `more` to the count of `key`. A count stops at `u64::MAX`, which only the counts of a
    /// peer can reach.
    #[inline]
    pub fn add(&mut self, key: K, more: u64) {
        match self.0.iter_mut().find(|(known, _)| *known == key) {
            Some((_, count)) => *count = count.saturating_add(more),
            None => self.0.push((key, more)),
        }
    }

    /// Moves up to `count` of what was counted for `from` to `to`. Returns how many were moved.
    pub fn reclassify(&mut self, from: K, to: K, count: u64) -> u64 {
        let known = self.0.iter_mut().find(|(known, _)| *known == from);
        let moved = known.map_or(0, |(_, has)| {
            let moved = count.min(*has);
            *has -= moved;
            moved
        });
        self.0.retain(|(_, count)| *count > 0);
        if moved > 0 {
            self.add(to, moved);
        }
        moved
    }

    /// Iterates over the keys and their counts, in the order in which the keys were first counted.
    pub fn iter(&self) -> impl Iterator<Item = (K, u64)> + '_ {
        self.0.iter().copied()
    }

    /// Returns the counts in the order of their keys.
    pub fn sorted(&self) -> BTreeMap<K, u64> {
        self.iter().collect()
    }

    /// Returns what was counted since these counts were `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Counts<K>) -> Counts<K> {
        let before = earlier.sorted();
        let more = self.iter().filter_map(|(key, count)| match before.get(&key) {
            Some(&known) if known >= count => None,
            known => Some((key, count - known.copied().unwrap_or(0))),
        });
        Counts(more.collect())
    }
}

/// A list of pairs, because a key need not be a string.
impl<K: Serialize> Serialize for Counts<K> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(&self.0)
    }
}

impl<'de, K: Copy + Ord + Deserialize<'de>> Deserialize<'de> for Counts<K> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Counts::from_pairs(Vec::deserialize(from)?).map_err(D::Error::custom)
    }
}

impl<K: Copy + Ord> PartialEq for Counts<K> {
    /// Compares the counts and ignores the order of first occurrence: the result of merging must
    /// not depend on the order.
    fn eq(&self, other: &Self) -> bool {
        self.sorted() == other.sorted()
    }
}

impl<K: Copy + Ord> AddAssign<&Counts<K>> for Counts<K> {
    fn add_assign(&mut self, other: &Counts<K>) {
        other.iter().for_each(|(key, count)| self.add(key, count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(u16, u64)]) -> Counts<u16> {
        Counts::from_pairs(pairs.to_vec()).unwrap()
    }

    #[test]
    fn serializes_counts_as_pairs_and_rejects_invalid_ones() {
        let counts = of(&[(404, 2), (200, u64::MAX), (500, 0)]);
        let text = serde_json::to_string(&counts).unwrap();
        assert_eq!(text, "[[404,2],[200,18446744073709551615],[500,0]]");
        assert_eq!(serde_json::from_str::<Counts<u16>>(&text).unwrap(), counts);
        let keys: Vec<_> = (0..=MOST_KEYS as u16).map(|key| (key, 1)).collect();
        for (wrong, part) in [
            (serde_json::to_string(&keys).unwrap(), "4097 different keys"),
            ("[[1,2],[1,3]]".to_owned(), "twice"),
            ("[[1,-2]]".to_owned(), "invalid value"),
        ] {
            let error = serde_json::from_str::<Counts<u16>>(&wrong).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn earlier_counts_plus_the_difference_equal_the_later_ones() {
        let (earlier, all) = (of(&[(1, 5), (2, 7)]), of(&[(3, 0), (2, 9), (1, 5), (4, 1)]));
        let since = all.since(&earlier);
        assert_eq!(since, of(&[(3, 0), (2, 2), (4, 1)]));
        let mut sum = earlier;
        sum += &since;
        assert_eq!(sum, all);
        sum += &of(&[(1, u64::MAX)]);
        assert_eq!(sum.sorted()[&1], u64::MAX);
    }
}
