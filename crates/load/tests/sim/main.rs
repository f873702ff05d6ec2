//! The worker against a simulated world, and drivers against one another.
//!
//! Nothing here sleeps or reads a clock but `conformance`, `datagrams` and `closing`, which ask the real drivers. A seed
//! decides everything; a test that fails says which one it was.

#![cfg(test)]

mod arrivals;
mod balance;
mod closing;
mod conformance;
mod connections;
mod datagrams;
mod driver;
mod ending;
mod harness;
mod http2;
mod lapses;
mod lateness;
mod ledger;
mod open;
mod opening;
mod outage;
mod outcomes;
mod phases;
mod random;
mod real;
mod requests;
mod resend;
mod schedule;
mod script;
mod simulated;
mod sources;
mod stage;
mod storm;
mod tenths;
mod world;
