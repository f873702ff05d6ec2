//! The static and the dynamic table as one (RFC 7541, 2.3 and 4).

use std::collections::VecDeque;

use super::HpackError;
use super::fixed::FIELDS;

/// What an entry counts beside its name and value (RFC 7541, 4.1).
pub(super) const OVERHEAD: usize = 32;

/// Names and values lie behind one another in `bytes`, the oldest first. What was evicted stays there
/// until as much has gathered that moving the rest is cheap.
#[derive(Clone, Debug)]
pub(super) struct Table {
    bytes: Vec<u8>,
    entries: VecDeque<TableEntry>,
    size: usize,
    /// The size that the peer chose, not above `most`.
    limit: usize,
    /// The size that it was told.
    most: usize,
    /// Sizes of all that ever entered.
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

    /// Grows whenever an index may mean something else than before.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// The name and value that `index` stands for.
    pub(super) fn field(&self, index: usize) -> Result<(&[u8], &[u8]), HpackError> {
        let place = index.checked_sub(1).ok_or(HpackError::Index)?;
        match FIELDS.get(place) {
            Some((name, value)) => Ok((name.as_bytes(), value.as_bytes())),
            None => self.added(place - FIELDS.len()).ok_or(HpackError::Index),
        }
    }

    /// The field that was added last but `age`.
    fn added(&self, age: usize) -> Option<(&[u8], &[u8])> {
        let place = self.entries.len().checked_sub(age + 1)?;
        let entry = *self.entries.get(place)?;
        self.bytes.get(entry.at..entry.end()).map(|field| field.split_at(entry.name))
    }

    /// RFC 7541, 4.4: a field that is larger than the table empties it.
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

    /// True where all that was there when so much was [`put`](Table::put) has been evicted since.
    pub(super) fn is_renewed_since(&self, put: u64) -> bool {
        self.put - put > self.limit as u64
    }

    /// Where everything is as it was in `former`, nothing has changed since.
    pub(super) fn settle(&mut self, former: &Table) {
        if self.limit == former.limit && self.fields().eq(former.fields()) {
            self.changes = former.changes;
        }
    }

    /// The newest first.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        (0..self.entries.len()).filter_map(|age| self.added(age))
    }

    pub(super) fn resize(&mut self, limit: usize) -> Result<(), HpackError> {
        if limit > self.most {
            return Err(HpackError::TableSize);
        }
        // What is inserted next may be kept where it was not, or push others out where it did not.
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
