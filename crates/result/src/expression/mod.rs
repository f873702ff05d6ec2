//! The language of conditions: parsing of text into a checked tree, and formatting of a tree. Gates
//! are such trees, and the conditions of a search are a subset of them.

mod lexer;
pub mod names;
mod parser;
mod tree;
pub mod unit;
mod write;
mod wrong;

pub use names::{GateNames, GivenKind, GivenName};
pub use parser::parse_condition;
pub use tree::{
    Added, EstimateEnd, Function, GateSide, GateValue, GivenFigure, GivenFigures, Literal, Opinion,
    Relation, Scaled, SideFigure, Truth,
};
pub use unit::Dimension;
pub use write::verdict_word;
pub use wrong::GateMistake;

/// The longest text that is accepted as a condition, in bytes.
pub const MOST_BYTES: usize = 4096;

/// The deepest nesting of brackets, `!` and `-`, so that no text exhausts the stack.
pub const MOST_NESTED: usize = 32;
