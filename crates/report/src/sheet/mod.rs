//! The content of reports about a run, and about the figures of families, which watches and
//! comparisons have too: text, tables and charts.
//!
//! Begin with [`run`]. The other modules make tables from [`side`].
pub(crate) mod account;
mod buckets;
mod curves;
pub mod failed;
pub mod families;
pub mod figures;
pub mod fleet;
pub mod floor;
pub mod gates;
pub mod measured;
pub mod metric_text;
pub mod outcomes;
pub mod path;
pub mod phases;
pub mod planned;
pub mod redirected;
pub mod requests;
pub mod run;
pub mod search;
mod search_chart;
mod search_doubt;
pub mod search_text;
pub mod seconds;
pub mod side;
mod spans;
pub mod steps;
pub mod truth;
