//! The language of conditions: text becomes a checked tree, and a tree text again. Gates are such trees, and
//! what a search keeps to is one of the smallest.

mod lexer;
pub(crate) mod names;
mod parser;
mod tree;
pub(crate) mod unit;
mod write;
mod wrong;

pub use names::Names;
pub(crate) use parser::parse;
pub(crate) use tree::{
    Added, End, Figure, Function, Literal, Opinion, Place, Relation, Scaled, Truth, Value,
};
pub(crate) use unit::Dimension;
pub(crate) use write::word;
pub use wrong::Wrong;

/// The longest text that is read as a condition, in bytes.
pub const MOST_BYTES: usize = 4096;

/// How deep brackets, `!` and `-` may stand in one another, so that no text uses up the stack.
pub const MOST_NESTED: usize = 32;
