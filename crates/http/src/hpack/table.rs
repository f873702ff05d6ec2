//! The static and the dynamic table, with common indices (RFC 7541, 2.3 and 4).

use std::collections::VecDeque;

use super::HpackError;
use super::fixed::FIELDS;

/// The size of an entry in addition to its name and value, in bytes (RFC 7541, 4.1).
pub(super) const OVERHEAD: usize = 32;

/// The tables. Names and values are stored consecutively in `bytes`, oldest first. Evicted ones
/// stay there until so much has accumulated that moving the rest is cheap.
#[derive(Clone, Debug)]
pub(super) struct Table {
    bytes: Vec<u8>,
    entries: VecDeque<TableEntry>,
    size: usize,
    /// The size chosen by the peer, at most `most`.
    limit: usize,
    /// The size announced to the peer.
    most: usize,
    /// The total size of all entries ever added.
    put: u64,
    changes: u64,
}

#[derive(Clone, Copy, Debug)]
struct TableEntry {
    at: usize,
    name: usize,
    value: usize,
}

impl TableEntry {
    fn end(self) -> usize {
        self.at + self.name + self.value
    }

    fn size(self) -> usize {
        self.name + self.value + OVERHEAD
    }
}

impl Table {
    pub(super) fn new(most: usize) -> Table {
        let (bytes, entries) = (Vec::new(), VecDeque::new());
        Table { bytes, entries, size: 0, limit: most, most, put: 0, changes: 0 }
    }

    /// Returns a number that changes whenever an index may have another meaning.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns the name and value of the entry at `index`.
    pub(super) fn field(&self, index: usize) -> Result<(&[u8], &[u8]), HpackError> {
        let place = index.checked_sub(1).ok_or(HpackError::Index)?;
        match FIELDS.get(place) {
            Some((name, value)) => Ok((name.as_bytes(), value.as_bytes())),
            None => self.added(place - FIELDS.len()).ok_or(HpackError::Index),
        }
    }

    /// Returns the entry that was added `age` entries before the newest one.
    fn added(&self, age: usize) -> Option<(&[u8], &[u8])> {
        let place = self.entries.len().checked_sub(age + 1)?;
        let entry = *self.entries.get(place)?;
        self.bytes.get(entry.at..entry.end()).map(|field| field.split_at(entry.name))
    }

    /// Adds an entry and evicts the oldest ones to make room. An entry larger than the table
    /// empties it (RFC 7541, 4.4).
    pub(super) fn add(&mut self, name: &[u8], value: &[u8]) {
        let size = name.len() + value.len() + OVERHEAD;
        self.evict(self.limit.saturating_sub(size));
        if size > self.limit {
            return;
        }
        self.changes += 1;
        self.compact();
        let at = self.bytes.len();
        self.bytes.extend_from_slice(name);
        self.bytes.extend_from_slice(value);
        self.entries.push_back(TableEntry { at, name: name.len(), value: value.len() });
        self.size += size;
        self.put += size as u64;
    }

    pub(super) fn put(&self) -> u64 {
        self.put
    }

    /// Returns whether all entries of the time when [`put`](Table::put) returned `put` have been
    /// evicted since.
    pub(super) fn is_renewed_since(&self, put: u64) -> bool {
        self.put - put > self.limit as u64
    }

    /// Restores the change number of `former` if the entries and the size are the same.
    pub(super) fn settle(&mut self, former: &Table) {
        if self.limit == former.limit && self.fields().eq(former.fields()) {
            self.changes = former.changes;
        }
    }

    /// Returns the entries, newest first.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        (0..self.entries.len()).filter_map(|age| self.added(age))
    }

    pub(super) fn resize(&mut self, limit: usize) -> Result<(), HpackError> {
        if limit > self.most {
            return Err(HpackError::TableSize);
        }
        // The next entry may be kept although it would not have fitted before, or evict entries
        // that would have stayed.
        self.changes += u64::from(limit != self.limit);
        self.limit = limit;
        self.evict(limit);
        Ok(())
    }

    fn evict(&mut self, size: usize) {
        while self.size > size
            && let Some(entry) = self.entries.pop_front()
        {
            self.size -= entry.size();
            self.changes += 1;
        }
    }

    fn compact(&mut self) {
        let start = self.entries.front().map_or(self.bytes.len(), |entry| entry.at);
        if start >= self.most.max(1) {
            self.bytes.drain(..start);
            self.entries.iter_mut().for_each(|entry| entry.at -= start);
        }
    }

    #[cfg(test)]
    pub(super) fn size(&self) -> usize {
        self.size
    }

    #[cfg(test)]
    pub(super) fn memory(&self) -> usize {
        self.bytes.capacity() + self.entries.capacity() * size_of::<TableEntry>()
    }
}
