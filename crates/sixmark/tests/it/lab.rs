//! Labs that are up, as `sixmark lab` shows them.
//!
//! They need root or user namespaces, and the programs that hosts run; `SIXMARK_SKIP=netns` leaves all
//! out, `bird2`, `tayga`, `unbound`, `nftables`, `nginx` and `curl` those that need these packages, `setpriv`
//! those that become another account.
#![cfg(test)]

mod bgp;
mod black_hole;
mod doors;
mod fragments;
mod killed;
mod links;
mod mistakes;
mod nat;
mod nat64;
mod ordinary;
mod page;
mod signals;
mod studies;
mod traces;
pub(crate) mod up;

mod emulator;
mod netem;
pub(crate) mod pair;
