//! Blocks of fields, read one after the other.

use super::table::{OVERHEAD, Table};
use super::{HpackError, integer, text};

/// Longer blocks are not remembered.
const MOST_REMEMBERED: usize = 1_024;
/// Memory for reading names and values that is kept for the next block, each. A connection of which
/// one block was large would hold it for as long as it is there.
const MOST_KEPT: usize = 4_096;

/// Reads the blocks of one connection, in their order.
#[derive(Debug)]
pub struct Decoder {
    table: Table,
    /// The last block, and what had been put into the table when it was first the last.
    last: Vec<u8>,
    since: u64,
    most: usize,
    name: Vec<u8>,
    value: Vec<u8>,
}

impl Decoder {
    /// A decoder whose dynamic table takes up to `table_size` bytes and that reads blocks of up to
    /// `list_size` bytes of fields, both counted as RFC 7541, 4.1 does.
    pub fn new(table_size: usize, list_size: usize) -> Decoder {
        Decoder {
            table: Table::new(table_size),
            last: Vec::new(),
            since: 0,
            most: list_size,
            name: Vec::new(),
            value: Vec::new(),
        }
    }

    /// Reads a whole block, handing over the name and value of each field.
    ///
    /// # Errors
    /// What is wrong with the block. Nothing can be read after that.
    pub fn decode(
        &mut self,
        block: &[u8],
        field: impl FnMut(&[u8], &[u8]),
    ) -> Result<(), HpackError> {
        let former = self.comes_again(block).then(|| self.table.clone());
        let read = self.read(block, field);
        for scratch in [&mut self.name, &mut self.value] {
            if scratch.capacity() > MOST_KEPT {
                *scratch = Vec::new();
            }
        }
        read?;
        if let Some(former) = former {
            self.table.settle(&former);
        }
        Ok(())
    }

    /// Grows whenever the same block may mean something else than before. It does not with a block
    /// that came so often that the table holds nothing else: some servers, nginx among them, put all
    /// fields of each response into it.
    pub(crate) fn changes(&self) -> u64 {
        self.table.changes()
    }

    /// True now and then where nothing but this block has come for so long that the table should
    /// hold no other fields.
    fn comes_again(&mut self, block: &[u8]) -> bool {
        let again = self.last == block;
        let settled = again && self.table.is_renewed_since(self.since);
        if !again {
            self.last.clear();
            if block.len() <= MOST_REMEMBERED {
                self.last.extend_from_slice(block);
            }
        }
        if !again || settled {
            self.since = self.table.put();
        }
        settled
    }

    fn read(
        &mut self,
        block: &[u8],
        mut field: impl FnMut(&[u8], &[u8]),
    ) -> Result<(), HpackError> {
        let mut left = self.most;
        let mut checked = |name: &[u8], value: &[u8]| {
            let size = name.len() + value.len() + OVERHEAD;
            left = left.checked_sub(size).ok_or(HpackError::TooLong)?;
            field(name, value);
            Ok(())
        };
        let mut rest = self.resized(block)?;
        while let Some(&first) = rest.first() {
            match first {
                0x80.. => {
                    let (name, value) = self.table.field(integer::read_integer(&mut rest, 7)?)?;
                    checked(name, value)?;
                }
                0x40.. => self.keep(&mut rest, &mut checked)?,
                // RFC 7541, 4.2: only in front of the first field.
                0x20.. => return Err(HpackError::TableSize),
                _ => self.pass(&mut rest, &mut checked)?,
            }
        }
        Ok(())
    }

    fn resized<'a>(&mut self, block: &'a [u8]) -> Result<&'a [u8], HpackError> {
        let mut rest = block;
        while rest.first().is_some_and(|&first| first >> 5 == 1) {
            let size = integer::read_integer(&mut rest, 5)?;
            self.table.resize(size)?;
        }
        Ok(rest)
    }

    /// A literal that enters the table.
    fn keep(
        &mut self,
        rest: &mut &[u8],
        field: &mut impl FnMut(&[u8], &[u8]) -> Result<(), HpackError>,
    ) -> Result<(), HpackError> {
        let index = integer::read_integer(rest, 6)?;
        // Copied, because the entry that lends its name may have to make room.
        let mut kept = std::mem::take(&mut self.name);
        let name = match index {
            0 => text::read_string(rest, 7, &mut self.value)?,
            _ => self.table.field(index)?.0,
        };
        kept.clear();
        kept.extend_from_slice(name);
        let value = text::read_string(rest, 7, &mut self.value)?;
        field(&kept, value)?;
        self.table.add(&kept, value);
        self.name = kept;
        Ok(())
    }

    /// A literal that doesn't.
    fn pass(
        &mut self,
        rest: &mut &[u8],
        field: &mut impl FnMut(&[u8], &[u8]) -> Result<(), HpackError>,
    ) -> Result<(), HpackError> {
        let name = match integer::read_integer(rest, 4)? {
            0 => text::read_string(rest, 7, &mut self.name)?,
            index => self.table.field(index)?.0,
        };
        field(name, text::read_string(rest, 7, &mut self.value)?)
    }

    #[cfg(test)]
    pub(super) fn scratch(&self) -> [usize; 2] {
        [self.name.capacity(), self.value.capacity()]
    }

    #[cfg(test)]
    pub(super) fn table(&self) -> &Table {
        &self.table
    }
}
