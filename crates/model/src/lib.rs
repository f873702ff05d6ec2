//! The data and pure functions of sixmark: plans and schedules, tallies, results, comparisons,
//! studies, gates. Functions take bytes and times and return decisions, so that everything here can
//! be tested with a table, a seed or a fuzzer.
//!
//! This crate contains no sockets, files, threads or clocks, and no text for pages or terminals
//! except what a document itself contains.
//!
//! Begin with [`plan`], the load that a run generates; [`tally`], what workers count; and
//! [`result`], the document made from the counts. [`comparison`] judges two sides, [`gate`]
//! evaluates conditions on a result, and [`study`] combines many runs.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod by_request;
pub mod calibration;
pub mod check;
pub mod clocks;
pub mod condition;
pub mod content;
pub mod expression;
pub mod family_result;
pub mod find;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod gate_result;
pub mod generator;
pub mod import;
pub mod in_flight;
pub mod interval;
pub mod lapses;
pub mod metric;
pub mod mix;
pub mod outcome;
pub mod pace;
pub mod plan;
pub mod quic;
pub mod request_form;
pub mod result;
pub mod sameness;
pub mod search;
pub mod seconds;
pub mod sizes;
pub mod tally;
pub mod tcp;
pub mod template;
pub mod timed_phase;
pub mod tls;
pub mod truth;
pub mod unanswered;
pub mod warnings;
pub mod work;
