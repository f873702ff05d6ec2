//! Passive measurement of traffic between other hosts: connections and exchanges in captured
//! packets, counted like those of a run.
//!
//! Begin with [`WatchCollector`], which counts what flows contain; [`watch_result`] is the
//! document. [`mod@capture`] captures packets, [`engine`] watches them live or in files, and
//! [`truth`] compares them with the times that a run measured. Only these three use sockets, files,
//! threads and clocks.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod answer;
pub mod board;
#[cfg_attr(not(test), allow(clippy::disallowed_methods, clippy::disallowed_types))]
pub mod capture;
mod collector;
mod end_names;
#[cfg_attr(not(test), allow(clippy::disallowed_methods, clippy::disallowed_types))]
pub mod engine;
mod hidden;
pub mod lines;
mod not_followed;
mod partial;
mod seconds;
mod secure_result;
mod secure_sheet;
mod seen;
pub mod sheet;
#[cfg(test)]
mod tests;
#[cfg_attr(not(test), allow(clippy::disallowed_methods, clippy::disallowed_types))]
pub mod truth;
pub mod warnings;
pub mod watch_result;
mod watched_result;
pub mod watched_sheet;

pub use collector::{CollectedTraffic, Progress, WatchCollector};
pub use hidden::describe_hidden;
pub use not_followed::describe_not_followed;
pub use partial::describe_unseen;
pub use secure_result::SecureResult;
pub use watched_result::{
    PacketSource, Rates, ResponsesSeen, RoundTripResult, SentResult, Watched, WatchedFamily,
    WatchedServer,
};
