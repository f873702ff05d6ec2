//! The application crate of sixmark, a benchmark that answers this question: does a web service
//! perform as well over IPv6 as over IPv4 under load, and if not, why?
//!
//! This crate contains the commands and the code that connects the other crates with them. It opens
//! sockets and files, starts threads and programs, and reads clocks. Logic that depends only on
//! bytes and times does not belong here but in the pure crates, where tests need no machine.
//!
//! Begin with [`cli`], which makes a plan from arguments and prints reports. [`run`] turns a plan
//! into a result, [`find`] makes many trials of one plan, [`compare`] and [`study`] make many runs,
//! and [`store`] keeps documents. docs/architecture.md maps the source.

mod browser;
mod calibrate;
pub mod cli;
pub mod compare;
pub mod find;
mod preflight;
mod resolve;
pub mod run;
pub mod store;
pub mod study;
