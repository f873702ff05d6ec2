//! A link of our own: what happens to frames that travel over it in one direction, decided from
//! bytes, time and a seed.
//!
//! A frame goes through three stops, in this order: its turn at the rate (`turn`), chance
//! (`chance`), and the delay (`lane`).
//!
//! No device, thread or clock belongs here: `sixmark-lab` moves the frames.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod chance;
mod frame;
mod lane;
pub mod line;
mod turn;

#[cfg(test)]
mod tests;

pub use frame::Traffic;
pub use line::{Fate, Line};
