//! What the kernel counted: samples of its counters, what changed between them, and what a request
//! cost of the processor.
//!
//! A [`VitalsSample`] holds counters as they stood at one moment. The change between two has the same
//! form: its counters are differences, everything else is as it was at the later one.
//!
//! Begin with [`VitalsSample`]; [`cost`] has the processor time of a request, [`vitals_result`] the
//! document, [`sheet`] and [`text`] show it, [`warnings`] reports doubts. Only [`engine`] reads the
//! kernel's files, and uses sockets, threads and clocks.

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
pub mod network;
pub mod parse;
pub mod prometheus;
pub mod regression;
pub mod sample;
pub mod section;
pub mod series;
pub mod sheet;
pub mod symptoms;
pub mod text;
pub mod vitals_result;
pub mod warnings;

pub use change::Total;
pub use counter::{Counter, Counters};
pub use sample::VitalsSample;
