//! The decoder of field blocks.

use super::table::{OVERHEAD, Table};
use super::{HpackError, integer, text};

/// The largest block that is compared with the next one, in bytes.
const MOST_REMEMBERED: usize = 1_024;
/// The capacity of each buffer for names and values that is kept for the next block, in bytes.
/// Otherwise one large block would occupy memory for the life of the connection.
const MOST_KEPT: usize = 4_096;

/// Decodes the blocks of one connection, in their order.
#[derive(Debug)]
pub struct Decoder {
    table: Table,
    /// The last block, and the number of bytes put into the table when it was first seen.
    last: Vec<u8>,
    since: u64,
    most: usize,
    name: Vec<u8>,
    value: Vec<u8>,
}

impl Decoder {
    /// Creates a decoder whose dynamic table uses up to `table_size` bytes and that decodes blocks
    /// of up to `list_size` bytes of fields, both counted as in RFC 7541, 4.1.
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

    /// Decodes a whole block and passes the name and value of each field to `field`.
    ///
    /// # Errors
    /// What is wrong with the block. Nothing can be decoded after an error.
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

    /// Returns the state of the table: while it is unchanged, an equal block has the same meaning.
    /// The state also remains unchanged if a block is repeated so often that the table contains
    /// nothing else; some servers, such as nginx, put all fields of each response into the table.
    pub(crate) fn changes(&self) -> u64 {
        self.table.changes()
    }

    /// Returns whether this block has been repeated for so long that the table can contain no other
    /// fields. Returns true only once for each such period, so that the table is rarely compared.
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
                // RFC 7541, 4.2: a size update may only precede the first field.
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

    /// Decodes a literal that enters the table.
    fn keep(
        &mut self,
        rest: &mut &[u8],
        field: &mut impl FnMut(&[u8], &[u8]) -> Result<(), HpackError>,
    ) -> Result<(), HpackError> {
        let index = integer::read_integer(rest, 6)?;
        // The name is copied, because its entry may be evicted.
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

    /// Decodes a literal that does not enter the table.
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
