//! What reports show of a run, and of the figures of families that watches and comparisons have too:
//! words, tables and charts.
//!
//! Begin with [`run`]; [`side`] is what the other modules make tables of.
pub mod families;
pub mod figures;
pub mod floor;
pub mod gates;
pub mod measured;
pub mod metric_text;
pub mod outcomes;
pub mod path;
pub mod phases;
pub mod planned;
pub mod requests;
pub mod run;
pub mod search;
pub mod search_text;
pub mod seconds;
pub mod side;
pub mod truth;
