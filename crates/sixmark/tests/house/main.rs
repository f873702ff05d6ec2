//! What holds of the source as a whole: the modules of a crate form no cycle, crates use each other
//! as the map in docs/architecture.md says, no dependency is unused, no binary of tests is forgotten,
//! docs/metrics.md is the table of metrics, text files are read in one place, names can be searched
//! for, and `scripts/run-tests` runs again what failed.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod binaries;
mod crates;
mod cycles;
mod dependencies;
mod eyes_page;
mod metrics;
mod modules;
mod naming;
mod only6_page;
mod page_tables;
mod reading;
mod reruns;
mod sources;
