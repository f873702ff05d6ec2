//! Labs that are up, as `sixmark lab` shows them, and whatever else needs a network of its own or another
//! account.
//!
//! They need root (many of them user namespaces at least), and the programs that hosts run;
//! `SIXMARK_SKIP=netns` leaves all out but those that become another account (`setpriv`) or open very many
//! files (`nofile`); `bird2`, `tayga`, `unbound`, `nftables`, `nginx`, `curl`, `jq`, `fio` and `python3` those that need these packages,
//! `openssh` those that need openssh-server and openssh-client.
#![cfg(test)]

mod account;
mod action;
mod advertisements;
mod bare;
mod bgp;
mod black_hole;
mod check;
mod check_faults;
mod dead_families;
mod dell;
mod dhcp;
mod doctor;
mod doors;
mod dropped;
mod emulator;
mod eyes;
mod eyes_outputs;
mod eyes_served;
mod fleets;
mod foreign_link;
mod fragments;
mod highest_rate;
mod in_labs;
mod inspection;
mod killed;
mod limits;
mod links;
mod many;
mod mistakes;
mod names;
mod namespaces;
mod nat;
mod nat64;
mod netem;
mod only6_outputs;
mod only6_programs;
mod ordinary;
mod placement;
mod quickstart;
mod refusals;
mod signals;
mod slow_loopback;
mod stacks;
mod studies;
mod study_fleets;
mod traces;
mod traffic;
mod translated_mtus;
mod tutorials;
mod vitals;
