//! Against servers that people run, and against what the kernel saw.
//!
//! A test that needs a program which is not there fails and names its Debian package;
//! `SIXMARK_SKIP=nginx,apache,nghttpd,caddy,haproxy,puma,gunicorn,tcpdump,tshark` leaves tests out. See docs/accuracy.md for the capture.
#![cfg(test)]

mod anma;
mod apache;
mod caddy;
mod capture;
mod everyday;
mod exchanges;
mod many;
mod matrix;
mod mixes;
mod nghttpd;
mod nginx;
mod packets;
mod process;
mod protocols;
mod server;
mod sick;
mod slots;
mod tcpdump;
mod tls;
mod waits;
mod watched;

use std::sync::{Mutex, MutexGuard, PoisonError};

use sixmark_model::family_result::FamilyResult;
use sixmark_model::result::RunResult;
use sixmark_units::family::Family;

use crate::support;

/// Tests with thousands of connections take turns: together they would want more ports and
/// descriptors than many machines have.
fn take_turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The result of `sixmark run` with these arguments.
fn run(arguments: &[&str]) -> RunResult {
    serde_json::from_value(support::json(arguments)).unwrap()
}

/// A family's figures, of which there must be some.
fn of(result: &RunResult, family: Family) -> &FamilyResult {
    result.families.of(family).unwrap_or_else(|| panic!("no figures of {family}"))
}

fn outcome(figures: &FamilyResult, name: &str) -> u64 {
    figures.outcomes.get(name).copied().unwrap_or(0)
}

/// Fails unless every one of `count` requests ended NORMAL.
fn assert_normal(figures: &FamilyResult, count: u64) {
    let normal = (figures.requests.sent, outcome(figures, "NORMAL"));
    assert_eq!(normal, (count, count), "{:?}", figures.failures);
}
