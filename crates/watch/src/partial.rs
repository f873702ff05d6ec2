//! Describes traffic of which the capture has only a part: one direction, or the beginning of packets.

use crate::{ResponsesSeen, WatchedFamily, describe_hidden};

use sixmark_units::quantity::{counted, write_count};

/// The most statuses that a line names.
const SHOWN: usize = 4;

/// Returns a text about everything that can't be seen: hidden requests, a missing direction, and packets
/// that were cut off; `None` if there is nothing.
pub fn describe_unseen(families: &[&WatchedFamily]) -> Option<String> {
    let sum = |of: fn(&WatchedFamily) -> u64| families.iter().map(|seen| of(seen)).sum();
    let parts = [
        describe_hidden(families),
        describe_missing(sum(|of| of.without_server), "servers"),
        describe_missing(sum(|of| of.without_client), "clients"),
        describe_cut(sum(cut_off)),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Returns the exchanges that packets were too short for. Those without the server's direction are not
/// among them.
pub(super) fn cut_off(of: &WatchedFamily) -> u64 {
    if of.without_server > 0 { 0 } else { of.unjudged }
}

/// Returns a text like `of 6 connections nothing that servers sent was captured`.
pub(super) fn describe_missing(connections: u64, senders: &str) -> Option<String> {
    let number = counted(connections, "connection", "connections");
    (connections > 0).then(|| format!("of {number} nothing that {senders} sent was captured"))
}

/// Returns a text like `of 400 exchanges too little was captured`.
pub(super) fn describe_cut(exchanges: u64) -> Option<String> {
    let number = counted(exchanges, "exchange", "exchanges");
    (exchanges > 0).then(|| format!("of {number} too little of each packet was captured"))
}

/// Returns what could be counted of a family of which no exchange could be read to its end: `200 requests
/// and 200 responses (status 200: 200) seen`.
pub(super) fn describe_counted(of: &WatchedFamily) -> String {
    let requests = of.requests.map(|number| counted(number, "request", "requests"));
    let parts = [requests, of.responses.as_ref().map(describe_responses)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("{} seen", parts.join(" and "))
}

fn describe_responses(of: &ResponsesSeen) -> String {
    let number = counted(of.number, "response", "responses");
    let status = |(status, count): (&u16, &u64)| format!("{status}: {}", write_count(*count));
    let named: Vec<String> = of.status.iter().take(SHOWN).map(status).collect();
    if named.is_empty() { number } else { format!("{number} (status {})", named.join(", ")) }
}
