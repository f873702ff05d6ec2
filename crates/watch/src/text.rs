//! The text report on a watch: its sources, and the figures that only packets show.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::secure_sheet::secure_part;
use crate::sheet::watch_headline;
use crate::watch_result::WatchResult;
use crate::{PacketSource, Watched, WatchedFamily, describe_not_followed, describe_unseen};
use sixmark_units::family::Family;
use sixmark_units::quantity::{bytes, duration_us, write_count};

use sixmark_report::text::{FamilyColumns, write_agreement, write_amount, write_gates, write_line};
use sixmark_sheet::terminal::{self, width};

/// The most server names, protocols and tunnels that are listed.
const SHOWN: usize = 4;
/// Formats a figure of one family, if the family has it.
type Written = fn(&WatchedFamily) -> Option<String>;

/// Returns a count of one family.
type Counted = fn(&WatchedFamily) -> u64;

/// Figures, each shown if any family has it.
const FIGURES: [(&str, Written); 20] = [
    ("requests  seen", |of| partly(of, of.requests)),
    ("responses seen", |of| partly(of, of.responses.as_ref().map(|seen| seen.number))),
    ("answered  median", |of| of.answered_us.p50.map(duration_us)),
    ("          p95", |of| of.answered_us.p95.map(duration_us)),
    ("          p99", |of| of.answered_us.p99.map(duration_us)),
    ("handshake median", |of| of.handshake_us.p50.map(duration_us)),
    ("delay     median", |of| of.delay_us.p50.map(duration_us)),
    ("          p95", |of| of.delay_us.p95.map(duration_us)),
    ("          p99", |of| of.delay_us.p99.map(duration_us)),
    ("throughput median", |of| of.throughput.p50_bits_per_s.map(bits)),
    ("rtt       client min", |of| of.round_trips.client_us.min.map(duration_us)),
    ("          client median", |of| of.round_trips.client_us.p50.map(duration_us)),
    ("          client p95", |of| of.round_trips.client_us.p95.map(duration_us)),
    ("          client p99", |of| of.round_trips.client_us.p99.map(duration_us)),
    ("          server min", |of| of.round_trips.server_us.min.map(duration_us)),
    ("          server median", |of| of.round_trips.server_us.p50.map(duration_us)),
    ("          server p95", |of| of.round_trips.server_us.p95.map(duration_us)),
    ("          server p99", |of| of.round_trips.server_us.p99.map(duration_us)),
    ("bytes     to server", |of| Some(bytes(of.from_client.frame_bytes as f64))),
    ("          to client", |of| Some(bytes(of.from_server.frame_bytes as f64))),
];

/// Returns a count of messages as they were seen, if nothing else is known of them.
fn partly(of: &WatchedFamily, number: Option<u64>) -> Option<String> {
    number.filter(|number| *number > 0 && of.hides_all()).map(write_count)
}

/// Counts, each shown if it is above 0 for any family. Unless a label names a direction, both
/// directions are added up.
const COUNTS: [(&str, Counted); 12] = [
    ("begun before", |of| of.begun_before),
    ("syn retransmits", |of| of.syns_repeated),
    ("retransmitted up", |of| of.from_client.retransmitted),
    ("retransmitted down", |of| of.from_server.retransmitted),
    ("out of order", |of| of.from_client.out_of_order + of.from_server.out_of_order),
    ("duplicate acks", |of| of.from_client.duplicate_acks + of.from_server.duplicate_acks),
    ("zero windows", |of| of.from_client.zero_windows + of.from_server.zero_windows),
    ("resets", |of| of.from_client.resets + of.from_server.resets),
    ("fragments", |of| of.from_client.fragments + of.from_server.fragments),
    ("packet too big", |of| of.packet_too_big),
    ("with gaps", |of| of.gaps),
    ("http not parsed", |of| of.unparsed),
];

/// Returns the report, at most 80 columns wide except for long names. It ends with a line feed.
/// There is no shorter form, because which figures matter depends on what could be seen.
pub fn watch_text(watch: &WatchResult) -> String {
    let watched = &watch.watched;
    let headline = watch_headline(watch);
    let mut text = String::new();
    terminal::write_failed(&mut text, &headline);
    terminal::write_sentence(&mut text, &headline);
    text.push('\n');
    text += &describe_sources(watched);
    // Connections are counted if no exchanges can be seen.
    let (number, what) = if watched.hides_all() {
        (watch.total.connections.opened, "connections")
    } else {
        (watch.total.requests.sent, "requests")
    };
    write_amount(&mut text, watch, &format!("{} {what}", write_count(number)));
    let hidden = describe_unseen(&watched.seen());
    hidden.into_iter().for_each(|line| text.push_str(&format!("{}\n", line.replace("; ", "\n"))));
    write_agreement(&mut text, watch);
    text.push('\n');
    let columns = FamilyColumns::of(watch);
    columns.write_counts(&mut text);
    // If no exchange can be seen, the figures that can be come first.
    let is_first = columns.hides_all();
    if is_first {
        write_figures(&mut text, watched);
    }
    columns.write_paths(&mut text);
    if !is_first {
        write_figures(&mut text, watched);
    }
    write_names(&mut text, watched);
    secure_part(watched).iter().for_each(|part| terminal::write_part(&mut text, part));
    write_gates(&mut text, &watch.gates);
    text
}

/// Describes the sources of the packets and how many there were. This text precedes the table.
fn describe_sources(watched: &Watched) -> String {
    let mut text = String::new();
    for source in &watched.sources {
        let _ = writeln!(text, "{}", from(source));
    }
    let ports = watched.ports.iter().map(u16::to_string).collect::<Vec<_>>().join(", ");
    let ports = if ports.is_empty() { "any port".to_owned() } else { format!("port {ports}") };
    let all = watched.families.iter().map(|(_, of)| of.connections).sum();
    let (packets, connections) = (write_count(watched.packets), write_count(all));
    let _ = writeln!(text, "{packets} packets, {connections} connections to {ports}");
    write_not_followed(&mut text, watched);
    text
}

/// Writes the kinds of packets that belong to no followed connection, on as many lines as they
/// need.
fn write_not_followed(text: &mut String, watched: &Watched) {
    let mut line = "not followed:".to_owned();
    let kinds = describe_not_followed(watched);
    for (number, kind) in kinds.iter().enumerate() {
        let end = if number + 1 < kinds.len() { "," } else { "" };
        if line.len() + kind.len() + end.len() >= width() {
            let _ = writeln!(text, "{line}");
            line = " ".to_owned();
        }
        let _ = write!(line, " {kind}{end}");
    }
    if !kinds.is_empty() {
        let _ = writeln!(text, "{line}");
    }
}

fn from(source: &PacketSource) -> String {
    let dropped = match source.dropped {
        Some(0) => ", none dropped".to_owned(),
        Some(dropped) => format!(", {} DROPPED", write_count(dropped)),
        None => String::new(),
    };
    let cut = if source.whole { "" } else { ", cut short" };
    format!("{} ({}, {}{dropped}{cut})", source.name, source.kind, source.link)
}

/// Writes the rows with figures of both families.
fn write_figures(text: &mut String, watched: &Watched) {
    let sides = Family::BOTH.map(|family| watched.families.of(family));
    write_named(text, "connection", sides, |of| &of.closures);
    write_named(text, "speaking", sides, |of| &of.spoken);
    for (label, written) in FIGURES {
        let values = sides.map(|side| side.and_then(written));
        if values.iter().any(Option::is_some) {
            let [v6, v4] = values.map(Option::unwrap_or_default);
            write_line(text, label, &v6, &v4, "");
        }
    }
    for (label, counted) in COUNTS {
        let values = sides.map(|side| side.map(counted));
        if values.iter().any(|value| value.is_some_and(|value| value > 0)) {
            let [v6, v4] = values.map(|value| value.map_or(String::new(), write_count));
            write_line(text, label, &v6, &v4, "");
        }
    }
}

/// Writes the tunnels of connections, the server names and protocols that clients asked for, and
/// the servers.
fn write_names(text: &mut String, watched: &Watched) {
    let sides = Family::BOTH.map(|family| watched.families.of(family));
    most(text, "via", sides, |of| &of.via);
    most(text, "asked for", sides, |of| &of.server_names);
    most(text, "offered", sides, |of| &of.alpn);
    servers(text, watched);
}

/// Writes a row for each name that occurs.
fn write_named(
    text: &mut String,
    what: &str,
    sides: [Option<&WatchedFamily>; 2],
    of: fn(&WatchedFamily) -> &BTreeMap<String, u64>,
) {
    for (at, name) in named_by(sides, of).into_iter().enumerate() {
        let [v6, v4] =
            sides.map(|side| side.map_or(String::new(), |side| count_of_name(of(side), name)));
        write_line(text, &format!("{:<10} {name}", if at == 0 { what } else { "" }), &v6, &v4, "");
    }
}

/// Writes a line for each of the most frequent names.
fn most(
    text: &mut String,
    what: &str,
    sides: [Option<&WatchedFamily>; 2],
    of: fn(&WatchedFamily) -> &BTreeMap<String, u64>,
) {
    let total = |name: &str| -> u64 {
        sides.iter().flatten().map(|side| of(side).get(name).copied().unwrap_or(0)).sum()
    };
    let mut all = named_by(sides, of);
    all.sort_by_key(|name| std::cmp::Reverse(total(name)));
    let more = all.len().saturating_sub(SHOWN);
    for name in all.into_iter().take(SHOWN) {
        let shown: String = name.escape_debug().take(60).collect();
        let _ = writeln!(text, "{what} {shown}: {} connections", write_count(total(name)));
    }
    if more > 0 {
        let _ = writeln!(text, "and {more} more");
    }
}

fn named_by(
    sides: [Option<&WatchedFamily>; 2],
    of: fn(&WatchedFamily) -> &BTreeMap<String, u64>,
) -> Vec<&str> {
    let all = sides.into_iter().flatten().flat_map(|side| of(side).keys());
    let mut all: Vec<&str> = all.map(String::as_str).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn count_of_name(of: &BTreeMap<String, u64>, name: &str) -> String {
    write_count(of.get(name).copied().unwrap_or(0))
}

/// Writes a table of the servers if any family has more than one.
fn servers(text: &mut String, watched: &Watched) {
    if watched.servers.len() <= watched.families.iter().count() {
        return;
    }
    // A narrow terminal has the figures that fit beside an address.
    let columns = (width().saturating_sub(38) / 14).max(1);
    let line = |address: &str, figures: [&str; 3]| {
        let shown = figures.iter().rev().take(columns).rev();
        let cells: String = shown.map(|figure| format!("{figure:>14}")).collect();
        format!("{address:<38}{cells}").trim_end().to_owned()
    };
    let _ = writeln!(text, "\n{}", line("server", ["connections", "exchanges", "wait median"]));
    for server in &watched.servers {
        let wait = server.wait_us.p50.map_or(String::new(), duration_us);
        let (connections, exchanges) =
            (write_count(server.figures.connections), write_count(server.figures.exchanges));
        let address = server.address.to_string();
        let _ = writeln!(text, "{}", line(&address, [&connections, &exchanges, &wait]));
    }
    if watched.servers_left_out > 0 {
        let _ = writeln!(text, "and {} more", write_count(watched.servers_left_out));
    }
}

fn bits(per_s: f64) -> String {
    let (value, unit) = match per_s {
        rate if rate >= 1e9 => (rate / 1e9, "Gbit/s"),
        rate if rate >= 1e6 => (rate / 1e6, "Mbit/s"),
        rate => (rate / 1e3, "kbit/s"),
    };
    format!("{value:.3} {unit}")
}
