//! The application crate of sixmark, a benchmark that answers this question: does a web service
//! perform as well over IPv6 as over IPv4 under load, and if not, why?
//!
//! This crate contains the command line, the store, and the code that connects the other crates.
//!
//! Begin with [`cli`], which makes a plan from arguments and prints reports; [`report`] knows
//! every kind of document, [`store`] keeps them. docs/architecture.md maps the source.

pub mod cli;
pub mod report;
pub mod store;
