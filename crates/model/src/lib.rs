//! What sixmark decides and keeps, as data and pure functions: plans and schedules, tallies, results,
//! comparisons, studies, gates. Bytes and times go in, decisions come out, so that everything here can be
//! tested with a table, a seed or a fuzzer.
//!
//! No socket, file, thread or clock belongs here, and no text for a page or a terminal but what a document
//! itself contains.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod buckets;
pub mod calibration;
pub mod check;
pub mod clocks;
pub mod comparison;
pub mod condition;
pub mod content;
pub mod csv_lines;
pub mod document;
#[cfg(feature = "schema")]
pub mod document_schema;
mod expression;
pub mod family_result;
pub mod fields;
pub mod find;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod gate;
pub mod gate_result;
pub mod generator;
pub mod histogram;
pub mod impairment;
pub mod import;
pub mod interval;
pub mod lapses;
pub mod link_report;
pub mod measurement;
pub mod metric;
pub mod mix;
pub mod outcome;
pub mod pace;
pub mod plan;
pub mod provenance;
pub mod quic;
pub mod request_form;
pub mod result;
pub mod sameness;
#[cfg(feature = "schema")]
pub mod schema_type;
pub mod search;
pub mod seconds;
pub mod sizes;
pub mod study;
pub mod tally;
pub mod tcp;
pub mod template;
pub mod timed_phase;
pub mod timing;
pub mod tls;
pub mod traffic;
pub mod truth;
pub mod vitals;
pub mod watch;
