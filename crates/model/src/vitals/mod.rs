//! What the kernel counted: samples of its counters, what changed between them, and what a request
//! cost of the processor.
//!
//! A [`VitalsSample`] holds counters as they stood at one moment. The change between two has the same
//! form: its counters are differences, everything else is as it was at the later one.

pub mod change;
pub mod cost;
pub mod counter;
pub mod doubts;
pub mod exposition;
pub mod group;
pub mod host;
pub mod network;
pub mod parse;
pub mod prometheus;
pub mod regression;
pub mod result;
pub mod sample;
pub mod section;
pub mod series;

pub use change::Total;
pub use counter::{Counter, Counters};
pub use sample::VitalsSample;
