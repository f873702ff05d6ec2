//! The worker against a simulated world.
//!
//! Nothing here sleeps or reads a clock. A seed decides everything; a test that fails says which one
//! it was.

#![cfg(test)]

mod balance;
mod connections;
mod driver;
mod harness;
mod ledger;
mod outcomes;
mod phases;
mod random;
mod schedule;
mod script;
mod storm;
mod world;
