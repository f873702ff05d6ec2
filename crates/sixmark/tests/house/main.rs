//! What holds of the source as a whole: the modules of a crate form no cycle, and crates use each other
//! as the map in docs/architecture.md says.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod crates;
mod cycles;
mod modules;
mod sources;
