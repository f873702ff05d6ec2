//! The record of a run, as data and pure functions: the plan with its schedules, requests and checks,
//! the tally of a worker, outcomes, the table of metrics, the result, and its warnings.
//!
//! This crate contains no sockets, files, threads or clocks.
//!
//! Begin with [`plan`], the load that a run generates; [`tally`], what workers count; and
//! [`result`], the document made from the counts. [`metric`] names every figure, [`expression`] is
//! the language of conditions on them.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod board;
pub mod by_request;
pub mod by_step;
pub mod calibration;
pub mod check;
pub mod clocks;
pub mod condition;
pub mod content;
pub mod csv;
pub mod dues;
pub mod expression;
pub mod failed_lookup;
pub mod family_result;
pub mod find;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod fleet;
pub mod gate_result;
pub mod gate_text;
pub mod generator;
pub mod import;
pub mod in_flight;
pub mod interval;
pub mod io;
pub mod lapses;
pub mod measurement;
pub mod metric;
pub mod mix;
mod names;
pub mod no_answer;
pub mod outcome;
pub mod pace;
mod peer;
pub mod plan;
pub mod quic;
pub mod rate_decision;
pub mod request_form;
pub mod result;
pub mod sameness;
pub mod search;
pub mod seconds;
pub mod sheet;
pub mod sizes;
mod spoken_failure;
pub mod tally;
pub mod tcp;
pub mod template;
pub mod tenth;
pub mod text;
pub mod timed_phase;
pub mod tls;
pub mod trial_test;
pub mod truth;
pub mod unanswered;
pub mod wait_sample;
pub mod warnings;
pub mod work;
