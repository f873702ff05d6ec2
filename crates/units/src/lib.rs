//! What everything else is counted in: the address family, counts, quantities and their text, names, and
//! random numbers from a seed.
//!
//! Nothing of HTTP, of packets, of runs or of results belongs here, and no socket, file, thread or clock.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod counts;
pub mod family;
pub mod names;
pub mod quantity;
pub mod random;
pub mod visible;
