//! `sixmark watch`, from files that the tests make and on interfaces of namespaces of theirs.
//!
//! The latter need root and tcpdump; `SIXMARK_SKIP=netns` and `SIXMARK_SKIP=tcpdump` leave them out,
//! `setpriv` those that become another account.
#![cfg(test)]

mod files;
mod frames;
mod live;
mod outputs;
mod refusals;
