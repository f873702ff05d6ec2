//! sixmark: is this web service as good over IPv6 as over IPv4, under load, and if not, why?
//!
//! The way a number travels: arguments -> `Plan` -> run -> worker -> `Tally` -> `RunResult` ->
//! report. [`cli`] makes the plan and shows the report, [`run`] turns a plan into a result,
//! [`find`] many trials of one, [`load`] holds the workers. [`store`] keeps results. [`lab`] builds
//! networks to do all that in.

mod browser;
mod calibrate;
pub mod capture;
pub mod cli;
pub mod compare;
mod environment;
mod error;
pub mod find;
pub mod lab;
pub mod load;
pub mod origin;
mod output;
mod preflight;
mod program;
mod resolve;
pub mod run;
mod service;
pub mod store;
pub mod study;
mod threads;
pub mod tls;
pub mod traffic;
mod truth;
mod usage;
pub mod vitals;
mod warning;
pub mod watch;

pub use error::Error;
