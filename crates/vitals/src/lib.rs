//! Samples of the kernel's counters, the changes between them, and the processor time that a
//! request costs.
//!
//! A [`VitalsSample`] holds the counters at one moment. The change between two samples has the same
//! type: its counters are differences, and all other values are those of the later sample.
//!
//! Begin with [`VitalsSample`]. [`cost`] computes the processor time of a request,
//! [`vitals_result`] defines the document, [`sheet`] shows it, and [`warnings`] reports
//! doubts. Only [`engine`] reads the kernel's files and uses sockets, threads and clocks.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod change;
pub mod cost;
pub mod costs_sheet;
pub mod counter;
#[cfg_attr(not(test), allow(clippy::disallowed_methods, clippy::disallowed_types))]
pub mod engine;
pub mod exposition;
pub mod group;
pub mod host;
pub mod live_line;
pub mod network;
pub mod parse;
pub mod prometheus;
pub mod regression;
pub mod sample;
pub mod section;
pub mod series;
pub mod sheet;
pub mod symptoms;
pub mod time_chart;
pub mod vitals_result;
pub mod warnings;

pub use change::Total;
pub use counter::{Counter, Counters};
pub use sample::VitalsSample;
