//! Counts by a key of which few differ.

use std::collections::BTreeMap;
use std::ops::AddAssign;

/// Counts by a key of which few values occur: a list is searched faster than a tree or a table.
#[derive(Clone, Debug)]
pub struct Counts<K>(Vec<(K, u64)>);

impl<K> Default for Counts<K> {
    fn default() -> Self {
        Counts(Vec::new())
    }
}

impl<K: Copy + Ord> Counts<K> {
    /// Counts `more` of `key`.
    #[inline]
    pub fn add(&mut self, key: K, more: u64) {
        match self.0.iter_mut().find(|(known, _)| *known == key) {
            Some((_, count)) => *count += more,
            None => self.0.push((key, more)),
        }
    }

    /// Every key counted so far, in the order of its first occurrence.
    pub fn iter(&self) -> impl Iterator<Item = (K, u64)> + '_ {
        self.0.iter().copied()
    }

    /// The same in the keys' order.
    pub fn sorted(&self) -> BTreeMap<K, u64> {
        self.iter().collect()
    }
}

impl<K: Copy + Ord> PartialEq for Counts<K> {
    /// The order of first occurrence is not part of the value: merging must not depend on order.
    fn eq(&self, other: &Self) -> bool {
        self.sorted() == other.sorted()
    }
}

impl<K: Copy + Ord> AddAssign<&Counts<K>> for Counts<K> {
    fn add_assign(&mut self, other: &Counts<K>) {
        other.iter().for_each(|(key, count)| self.add(key, count));
    }
}
