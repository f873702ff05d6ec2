//! Counts by key, for keys with few distinct values.

use std::collections::BTreeMap;
use std::ops::AddAssign;

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
    /// Adds `more` to the count of `key`.
    #[inline]
    pub fn add(&mut self, key: K, more: u64) {
        match self.0.iter_mut().find(|(known, _)| *known == key) {
            Some((_, count)) => *count += more,
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
