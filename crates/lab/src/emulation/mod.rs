//! An emulated link: what happens to frames that travel over it in one direction, computed from
//! bytes, time and a seed.
//!
//! A frame passes three stages, in this order: the rate limit with its queue (`turn`), random loss
//! and reordering (`chance`), and the delay (`lane`).
//!
//! This module uses no device, thread or clock: its callers pass the time, and the emulator's thread
//! (`emulator`) moves the frames between interfaces. Begin with [`Line`].

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
