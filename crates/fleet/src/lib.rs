//! A fleet: one load from many machines, and one place that collects what they count.
//!
//! An *agent* is a machine that generates a share of a load. The *controller* splits a plan, starts
//! all agents at the same time and merges their records. Between them is a server of NATS with
//! JetStream, which `--hosts` starts for one command and which a standing fleet keeps running.
//!
//! Begin with [`messages`] and [`records`], what both sides exchange, and [`engine::transport`],
//! which carries it. [`split`] divides a load, [`second_collector`] makes the records,
//! [`collector`] reads them. Only [`engine`] uses sockets, files, threads and clocks.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod allow;
pub mod clock_offset;
pub mod collector;
#[cfg_attr(not(test), allow(clippy::disallowed_methods, clippy::disallowed_types))]
pub mod engine;
pub mod hosts;
pub mod load_note;
pub mod loaded;
pub mod messages;
pub mod names;
mod reason;
pub mod records;
pub mod second_collector;
pub mod split;
