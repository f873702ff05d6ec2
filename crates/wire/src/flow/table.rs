//! The table of followed flows. Flows are found by key and ordered by the time they were last seen,
//! so that idle ones can be removed.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::BuildHasher as _;

use super::key::{Key, Seed};

const NONE: u32 = u32::MAX;

/// The list that a flow is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    /// The flows that are open.
    Open,
    /// The flows that are over, for which late packets may still arrive.
    Over,
}

/// Flows by key. Each value is boxed, so that little memory moves when the table grows.
#[derive(Debug)]
pub(super) struct Table<T> {
    index: HashMap<Key, u32, Seed>,
    /// The second keys of flows that have one.
    aliases: HashMap<u32, Key>,
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
    lists: [Bounds; 2],
    /// The flow that was found last, because packets arrive in bursts.
    recent: (Key, u32),
    /// The number of earlier flows with the same key, by the hash of the key.
    past: HashMap<u64, u32, Seed>,
}

#[derive(Debug)]
struct Slot<T> {
    key: Key,
    value: Option<Box<T>>,
    last_ns: u64,
    list: List,
    older: u32,
    newer: u32,
}

/// The oldest and the newest flow of a list.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    oldest: u32,
    newest: u32,
}

impl<T> Table<T> {
    pub(super) fn new() -> Table<T> {
        let seed = Seed::random();
        Table {
            index: HashMap::with_hasher(seed),
            aliases: HashMap::new(),
            slots: Vec::new(),
            free: Vec::new(),
            lists: [Bounds { oldest: NONE, newest: NONE }; 2],
            recent: (Key::default(), NONE),
            past: HashMap::with_hasher(seed),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.index.len() - self.aliases.len()
    }

    pub(super) fn find(&mut self, key: &Key) -> Option<u32> {
        if self.recent.1 != NONE && self.recent.0 == *key {
            return Some(self.recent.1);
        }
        let id = *self.index.get(key)?;
        self.recent = (*key, id);
        Some(id)
    }

    pub(super) fn get(&mut self, id: u32) -> Option<&mut T> {
        self.slots.get_mut(id as usize)?.value.as_deref_mut()
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().filter_map(|slot| slot.value.as_deref())
    }

    /// Returns the number of earlier flows with this key that are remembered.
    pub(super) fn before(&self, key: &Key) -> u32 {
        self.past.get(&self.index.hasher().hash_one(key)).copied().unwrap_or(0)
    }

    /// Adds a flow with a new key.
    pub(super) fn insert(&mut self, key: Key, value: T, now_ns: u64) -> u32 {
        let slot = Slot {
            key,
            value: Some(Box::new(value)),
            last_ns: now_ns,
            list: List::Open,
            older: NONE,
            newer: NONE,
        };
        let id = self.free.pop().unwrap_or(self.slots.len() as u32);
        match self.slots.get_mut(id as usize) {
            Some(place) => *place = slot,
            None => self.slots.push(slot),
        }
        self.index.insert(key, id);
        self.append(id);
        self.recent = (key, id);
        id
    }

    /// Gives a flow a second key, by which no flow is found so far. A flow keeps its first alias.
    pub(super) fn alias(&mut self, id: u32, key: Key) {
        if let Entry::Vacant(place) = self.aliases.entry(id) {
            place.insert(key);
            self.index.insert(key, id);
        }
    }

    /// Marks a flow as the one seen last, and moves it to `list`.
    pub(super) fn touch(&mut self, id: u32, list: List, now_ns: u64) {
        let Some(slot) = self.slots.get_mut(id as usize) else { return };
        slot.last_ns = now_ns;
        if slot.newer == NONE && slot.list == list {
            return;
        }
        self.unlink(id);
        self.slots[id as usize].list = list;
        self.append(id);
    }

    /// Returns the flow of a list that has not been seen for the longest time, and when it was last
    /// seen.
    pub(super) fn oldest(&self, list: List) -> Option<(u32, u64)> {
        let id = self.lists[list as usize].oldest;
        self.slots.get(id as usize).map(|slot| (id, slot.last_ns))
    }

    /// Removes a flow and counts it as an earlier flow of its key. At most `remembered` keys are
    /// counted; the counts are reset when there are that many.
    pub(super) fn remove(&mut self, id: u32, remembered: usize) -> Option<T> {
        self.unlink(id);
        let slot = self.slots.get_mut(id as usize)?;
        let (key, value) = (slot.key, slot.value.take()?);
        self.index.remove(&key);
        if let Some(alias) = self.aliases.remove(&id) {
            self.index.remove(&alias);
        }
        self.recent.1 = NONE;
        self.free.push(id);
        if self.past.len() >= remembered {
            self.past.clear();
        }
        let past = self.past.entry(self.index.hasher().hash_one(key)).or_insert(0);
        *past = past.saturating_add(1);
        Some(*value)
    }

    fn unlink(&mut self, id: u32) {
        let Some(slot) = self.slots.get(id as usize) else { return };
        let (older, newer, list) = (slot.older, slot.newer, slot.list as usize);
        match self.slots.get_mut(older as usize) {
            Some(slot) => slot.newer = newer,
            None => self.lists[list].oldest = newer,
        }
        match self.slots.get_mut(newer as usize) {
            Some(slot) => slot.older = older,
            None => self.lists[list].newest = older,
        }
    }

    /// Appends a flow to its list as the newest.
    fn append(&mut self, id: u32) {
        let list = self.slots[id as usize].list as usize;
        let before = std::mem::replace(&mut self.lists[list].newest, id);
        let slot = &mut self.slots[id as usize];
        (slot.older, slot.newer) = (before, NONE);
        match self.slots.get_mut(before as usize) {
            Some(slot) => slot.newer = id,
            None => self.lists[list].oldest = id,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixmark_units::random::Random;

    fn key(n: u16) -> Key {
        let end = |port| std::net::SocketAddr::new("2001:db8::1".parse().unwrap(), port);
        Key::new(6, 0, end(n), end(9_999)).0
    }

    /// Compares the table with a simple list of its expected contents, oldest first: number, value,
    /// list.
    #[test]
    fn keeps_order_and_contents_under_random_operations() {
        let mut random = Random::new(3, 0);
        let (mut table, mut model) = (Table::new(), Vec::<(u16, u64, List)>::new());
        for now in 0..50_000 {
            let n = random.below(40) as u16;
            let known = model.iter().position(|(m, ..)| *m == n);
            let list = if random.below(3) == 0 { List::Over } else { List::Open };
            assert_eq!(table.find(&key(n)).is_some(), known.is_some());
            match (table.find(&key(n)), known) {
                (Some(id), Some(at)) if random.below(3) > 0 => {
                    table.touch(id, list, now);
                    let value = model.remove(at).1;
                    model.push((n, value, list));
                    assert_eq!(table.get(id), Some(&mut { value }));
                }
                (Some(id), Some(at)) => {
                    assert_eq!(table.remove(id, 1_000), Some(model.remove(at).1));
                    assert_eq!(table.get(id), None);
                }
                _ => {
                    table.insert(key(n), now, now);
                    model.push((n, now, List::Open));
                }
            }
            assert_eq!((table.len(), table.values().count()), (model.len(), model.len()));
            for list in [List::Open, List::Over] {
                let expected = model.iter().find(|(.., l)| *l == list).map(|(n, ..)| *n);
                let id = expected.and_then(|n| table.find(&key(n)));
                assert_eq!(table.oldest(list).map(|(id, _)| id), id);
            }
        }
    }

    #[test]
    fn finds_one_flow_under_either_of_its_two_keys() {
        let mut table = Table::new();
        let id = table.insert(key(1), 7, 0);
        table.alias(id, key(2));
        table.alias(id, key(3));
        assert_eq!((table.find(&key(2)), table.find(&key(3))), (Some(id), None));
        assert_eq!((table.len(), table.values().count()), (1, 1));
        assert_eq!(table.remove(id, 10), Some(7));
        assert_eq!((table.find(&key(1)), table.find(&key(2)), table.len()), (None, None, 0));
    }

    #[test]
    fn counts_how_often_a_key_was_used_before() {
        let mut table = Table::new();
        for n in 0..5 {
            assert_eq!(table.before(&key(1)), n);
            let id = table.insert(key(1), (), 0);
            table.remove(id, 10);
        }
        assert!(table.slots.len() == 1 && table.before(&key(2)) == 0);
        for n in 0..1_000 {
            let id = table.insert(key(n), (), 0);
            table.remove(id, 10);
        }
        assert!(table.past.len() <= 10);
    }
}
