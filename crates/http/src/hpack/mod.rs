//! Compression of fields in HTTP/2 (RFC 7541), the reading side; and what HTTP/3 shares with it:
//! integers and strings.
//!
//! Requests need no compressor: a block of static indices and literals that enter no table is the
//! same on every connection, so it is written once before a run.

mod decoder;
mod field;
mod fixed;
pub(crate) mod huffman;
pub(crate) mod integer;
mod table;
#[cfg(test)]
mod tests;
pub(crate) mod text;

pub use decoder::Decoder;
pub(crate) use field::write_field;

/// What is wrong with a block of fields. Nothing after it on the same connection can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HpackError {
    /// The block ends within a field.
    Truncated,
    /// An integer of more than 28 bits, which no length or index needs.
    Integer,
    /// Huffman code with the end-of-string symbol in it, or with wrong padding.
    Huffman,
    /// An index beyond the tables, or 0.
    Index,
    /// A table size above the one announced, or told behind a field.
    TableSize,
    /// Fields of more than the announced size in all.
    TooLong,
}
