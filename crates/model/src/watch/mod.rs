//! What packets say of traffic that others made: connections and exchanges as they passed by, counted
//! as a run's are.

pub mod document;
mod gather;
mod hidden;
pub mod lines;
mod result;
mod seconds;
mod seen;
#[cfg(test)]
mod tests;
mod words;

pub use gather::{Gathered, Gatherer, Progress};
pub use hidden::describe_hidden;
pub use result::{
    PacketSource, Rates, RoundTripResult, SentResult, Watched, WatchedFamily, WatchedServer,
};
