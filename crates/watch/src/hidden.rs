//! Describes the connections whose exchanges can't be seen.

use crate::WatchedFamily;

use sixmark_units::quantity::write_count;

/// The protocols whose exchanges can't be seen: the name in documents, and the name for people.
const SPOKEN: [(&str, &str); 4] =
    [("tls", "TLS"), ("quic", "QUIC"), ("http2", "HTTP/2"), ("unknown", "unknown")];

/// Returns a text like `the requests of 12 connections can't be seen (TLS 8, QUIC 4)`, or `None` if
/// all can be seen.
pub fn describe_hidden(families: &[&WatchedFamily]) -> Option<String> {
    let all: u64 = families.iter().map(|of| of.hidden).sum();
    let noun = if all == 1 { "connection" } else { "connections" };
    (all > 0).then(|| {
        let named = unread_by_protocol(families);
        format!("the requests of {} {noun} can't be seen ({named})", write_count(all))
    })
}

/// Returns a text like `TLS 8, QUIC 4`.
pub(super) fn unread_by_protocol(families: &[&WatchedFamily]) -> String {
    let payload_protocol = |name: &str| -> u64 {
        families.iter().map(|of| of.spoken.get(name).copied().unwrap_or(0)).sum()
    };
    let named = SPOKEN.iter().map(|&(name, shown)| (shown, payload_protocol(name)));
    let named: Vec<String> = named
        .filter(|&(_, number)| number > 0)
        .map(|(shown, number)| format!("{shown} {}", write_count(number)))
        .collect();
    named.join(", ")
}
