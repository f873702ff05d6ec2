//! What a run counts, as data and pure functions: the tally of a worker, outcomes, the phases of an
//! exchange, the table of metrics, and the figures of a family.
//!
//! This crate contains no sockets, files, threads or clocks. Begin with [`tally`], what workers
//! count; [`timed_phase`] and [`metric`], the tables of all figures; and [`family_result`], what a
//! document has of them.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod account;
pub mod by_request;
pub mod by_step;
pub mod client_records;
pub mod clocks;
pub mod content;
pub mod counted;
pub mod family_result;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod in_flight;
pub mod interval;
pub mod io;
pub mod lapses;
pub mod metric;
pub mod names;
pub mod outcome;
pub mod phase_clock;
pub mod quic;
pub mod response_part;
pub mod seconds;
pub mod server_fields;
pub mod sizes;
pub mod spoken_failure;
pub mod tally;
pub mod tally_part;
pub mod tcp;
pub mod tenth;
pub mod timed_phase;
pub mod tls;
pub mod unanswered;
pub mod wait_sample;
