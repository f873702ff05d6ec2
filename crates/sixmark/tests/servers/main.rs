//! Against servers and beside clients that people run, each a program of a Debian package, on loopback.
//!
//! A test whose program is not there fails and names the package; `SIXMARK_SKIP=nginx,apache,...` leaves
//! tests out by the names that CONTRIBUTING.md lists.
#![cfg(test)]

mod anma;
mod apache;
mod apache_study;
mod caddy;
mod clients;
mod everyday;
mod fleet;
mod fleet_keys;
mod fleet_loads;
mod fleet_server;
mod matrix;
mod mgen;
mod mixes;
mod nghttpd;
mod protocols;
mod sick;
mod slots;
mod studies;
mod tls;
