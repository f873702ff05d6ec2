//! sixmark: is this web service as good over IPv6 as over IPv4, under load, and if not, why?
//!
//! The commands, and what joins the other crates to them. [`cli`] makes a plan of arguments and shows
//! reports, [`run`] turns a plan into a result, [`find`] makes many trials of one, [`compare`] and
//! [`study`] many runs, [`store`] keeps documents. docs/architecture.md is the map.
//!
//! What can be decided from bytes and times belongs to the crates below, where a test needs no machine.

mod browser;
mod calibrate;
pub mod capture;
pub mod cli;
pub mod compare;
mod environment;
pub mod find;
mod output;
mod preflight;
mod resolve;
pub mod run;
pub mod store;
pub mod study;
pub mod traffic;
mod truth;
pub mod vitals;
mod warning;
pub mod watch;
