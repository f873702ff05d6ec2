//! The language of conditions: text becomes a checked tree, and a tree text again. Gates are such trees, and
//! what a search keeps to is one of the smallest.

mod lexer;
pub(crate) mod names;
mod parser;
mod tree;
pub(crate) mod unit;
mod write;
mod wrong;

pub use names::GateNames;
pub(crate) use parser::parse_condition;
pub(crate) use tree::{
    Added, EstimateEnd, Function, GateSide, GateValue, Literal, Opinion, Relation, Scaled,
    SideFigure, Truth,
};
pub(crate) use unit::Dimension;
pub(crate) use write::verdict_word;
pub use wrong::GateMistake;

/// The longest text that is read as a condition, in bytes.
pub const MOST_BYTES: usize = 4096;

/// How deep brackets, `!` and `-` may stand in one another, so that no text uses up the stack.
pub const MOST_NESTED: usize = 32;
