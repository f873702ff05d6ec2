//! The parts that all documents of sixmark have: the program and the machine that made them
//! ([`provenance`]), warnings ([`warning_codes`]), verdicts and estimates ([`verdict`]), durations
//! ([`timing`], [`histogram`]), and the constraints of their JSON Schemas. [`fields`] reads a TOML
//! file and reports all its mistakes.
//!
//! Only [`environment`], which describes this machine, reads files.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod braces;
mod buckets;
#[cfg_attr(not(test), allow(clippy::disallowed_methods, clippy::disallowed_types))]
pub mod environment;
pub mod fields;
mod hdr;
pub mod histogram;
pub mod provenance;
#[cfg(feature = "schema")]
pub mod schema_type;
pub mod timing;
pub mod untrusted;
pub mod verdict;
pub mod warning_codes;
