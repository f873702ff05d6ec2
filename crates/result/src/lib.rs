//! The result of a run, as data and pure functions: the document, its warnings, gates and conditions,
//! the search of the highest rate, and the check against packets.
//!
//! This crate contains no sockets, files, threads or clocks. Begin with [`result`], the document;
//! [`expression`] is the language of conditions on its figures.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod calibration;
pub mod condition;
pub mod expression;
pub mod failed_lookup;
pub mod find;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod fleet;
pub mod gate_result;
pub mod generator;
pub mod measurement;
pub mod no_answer;
pub mod rate_decision;
pub mod result;
pub mod sameness;
pub mod search;
pub mod trial_test;
pub mod truth;
pub mod warnings;
pub mod work;
