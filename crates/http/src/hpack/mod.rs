//! Decompression of fields in HTTP/2 (RFC 7541), and the integers and strings that HTTP/3 shares
//! with it.
//!
//! Requests need no compressor: a block of static indices and of literals that enter no table is
//! the same on every connection, so it is written once before a run.

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

/// The error in a field block. Nothing after it on the same connection can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HpackError {
    /// The block ends within a field.
    Truncated,
    /// An integer of more than 28 bits, more than any length or index needs.
    Integer,
    /// A Huffman code with the end-of-string symbol in it, or with invalid padding.
    Huffman,
    /// An index that is 0 or beyond the tables.
    Index,
    /// A table size above the announced one, or a size update after a field.
    TableSize,
    /// Fields that exceed the announced total size.
    TooLong,
}
