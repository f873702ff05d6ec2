//! Labs that are up, as `sixmark lab` shows them.
//!
//! They need root or user namespaces, and the programs that hosts run; `SIXMARK_SKIP=netns` leaves all
//! out, `bird2`, `tayga`, `unbound`, `nftables` and `curl` those that need these packages.
#![cfg(test)]

mod bgp;
mod black_hole;
mod fragments;
mod nat;
mod nat64;
mod page;
mod up;

mod emulator;
mod netem;
mod pair;
