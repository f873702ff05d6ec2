//! The parts of a report with the figures that only packets show.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::hidden::unread_by_protocol;
use crate::{Watched, WatchedFamily};
use sixmark_units::family::Family;

use sixmark_sheet::table::{Column, Group, Row, SheetCell, Table};
use sixmark_sheet::{Block, Part, Tile, write};

/// A figure of one family: its label, its value, and the function that formats it.
type WatchedFigure = (&'static str, fn(&WatchedFamily) -> Option<f64>, fn(f64) -> String);

const TIMES: [WatchedFigure; 21] = [
    ("answered, median", |of| of.answered_us.p50, write::write_time),
    ("answered, p95", |of| of.answered_us.p95, write::write_time),
    ("answered, p99", |of| of.answered_us.p99, write::write_time),
    ("established, median", |of| of.established_us.p50, write::write_time),
    ("established, p95", |of| of.established_us.p95, write::write_time),
    ("established, p99", |of| of.established_us.p99, write::write_time),
    ("TLS handshake, median", |of| of.handshake_us.p50, write::write_time),
    ("TLS handshake, p95", |of| of.handshake_us.p95, write::write_time),
    ("TLS handshake, p99", |of| of.handshake_us.p99, write::write_time),
    ("GET to last ACK before FIN, median", |of| of.delay_us.p50, write::write_time),
    ("GET to last ACK before FIN, p95", |of| of.delay_us.p95, write::write_time),
    ("GET to last ACK before FIN, p99", |of| of.delay_us.p99, write::write_time),
    ("throughput in that time, Mbit/s, median", |of| of.throughput.p50_bits_per_s, megabits),
    ("round trip to the client, shortest", |of| of.round_trips.client_us.min, write::write_time),
    ("round trip to the client, median", |of| of.round_trips.client_us.p50, write::write_time),
    ("round trip to the client, p95", |of| of.round_trips.client_us.p95, write::write_time),
    ("round trip to the client, p99", |of| of.round_trips.client_us.p99, write::write_time),
    ("round trip to the server, shortest", |of| of.round_trips.server_us.min, write::write_time),
    ("round trip to the server, median", |of| of.round_trips.server_us.p50, write::write_time),
    ("round trip to the server, p95", |of| of.round_trips.server_us.p95, write::write_time),
    ("round trip to the server, p99", |of| of.round_trips.server_us.p99, write::write_time),
];

/// Counts, each shown if it is above 0 for any family.
const COUNTS: [WatchedFigure; 25] = [
    ("requests seen", |of| of.requests.filter(|_| of.hides_all()).map(|n| n as f64), write_whole),
    (
        "responses seen",
        |of| {
            let seen = of.responses.as_ref().filter(|_| of.hides_all());
            seen.map(|seen| seen.number as f64)
        },
        write_whole,
    ),
    ("connections", |of| Some(of.connections as f64), write_whole),
    ("TLS and QUIC handshakes", |of| Some(of.handshake_us.count as f64), write_whole),
    ("begun before the capture", |of| Some(of.begun_before as f64), write_whole),
    ("exchanges read", |of| Some(of.exchanges as f64), write_whole),
    ("SYN retransmissions", |of| Some(of.syns_repeated as f64), write_whole),
    ("packets of clients", |of| Some(of.from_client.packets as f64), write_whole),
    ("packets of servers", |of| Some(of.from_server.packets as f64), write_whole),
    ("bytes of clients, as frames", |of| Some(of.from_client.frame_bytes as f64), write_bytes),
    ("bytes of servers, as frames", |of| Some(of.from_server.frame_bytes as f64), write_bytes),
    ("retransmissions by clients", |of| Some(of.from_client.retransmitted as f64), write_whole),
    ("retransmissions by servers", |of| Some(of.from_server.retransmitted as f64), write_whole),
    ("out of order, clients", |of| Some(of.from_client.out_of_order as f64), write_whole),
    ("out of order, servers", |of| Some(of.from_server.out_of_order as f64), write_whole),
    ("duplicate ACKs, clients", |of| Some(of.from_client.duplicate_acks as f64), write_whole),
    ("duplicate ACKs, servers", |of| Some(of.from_server.duplicate_acks as f64), write_whole),
    ("zero windows, clients", |of| Some(of.from_client.zero_windows as f64), write_whole),
    ("zero windows, servers", |of| Some(of.from_server.zero_windows as f64), write_whole),
    ("resets by clients", |of| Some(of.from_client.resets as f64), write_whole),
    ("resets by servers", |of| Some(of.from_server.resets as f64), write_whole),
    (
        "fragments",
        |of| Some((of.from_client.fragments + of.from_server.fragments) as f64),
        write_whole,
    ),
    ("packet too big", |of| Some(of.packet_too_big as f64), write_whole),
    ("connections with gaps", |of| Some(of.gaps as f64), write_whole),
    ("HTTP not parsed", |of| Some(of.unparsed as f64), write_whole),
];

/// The tiles that are shown if no exchange can be seen.
const TILES: [WatchedFigure; 5] = [
    ("Connections", |of| Some(of.connections as f64), write_whole),
    ("Median time to connect", |of| of.established_us.p50, write::write_time),
    ("Median TLS handshake", |of| of.handshake_us.p50, write::write_time),
    ("Median round trip", round_trip_us, write::write_time),
    ("Bytes, as frames", |of| Some(frame_bytes(of)), write_bytes),
];

fn frame_bytes(of: &WatchedFamily) -> f64 {
    (of.from_client.frame_bytes + of.from_server.frame_bytes) as f64
}

fn write_bytes(value: f64) -> String {
    write::write_bytes(value)
}

/// Returns the longer one of the median round-trip times to the server and to the client. The
/// shorter one is that to the end near which the packets were captured.
fn round_trip_us(of: &WatchedFamily) -> Option<f64> {
    let trips = &of.round_trips;
    [trips.server_us.p50, trips.client_us.p50].into_iter().flatten().reduce(f64::max)
}

/// Returns the number of connections of both families, including those of QUIC.
pub(super) fn count_connections(watched: &Watched) -> u64 {
    watched.families.iter().map(|(_, of)| of.connections).sum()
}

/// Describes the connections of a family whose exchanges can't be seen.
pub(super) fn describe_connections(of: &WatchedFamily) -> String {
    let noun = if of.hidden == 1 { "connection" } else { "connections" };
    let number = write::write_count(of.hidden);
    let time =
        |what: &str, us: Option<f64>| Some(format!("{what} median {}", write::write_time(us?)));
    let said = [
        Some(format!("{number} {noun} unread ({})", unread_by_protocol(&[of]))),
        time("handshake", of.handshake_us.p50),
        time("round trip", round_trip_us(of)),
        Some(write::write_bytes(frame_bytes(of))),
    ];
    said.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Returns the tiles for a report in which no exchange can be seen.
pub(super) fn tiles(watched: &Watched) -> Vec<Tile> {
    let tile = |(label, of, written): WatchedFigure| {
        let side = |(family, seen): (Family, &WatchedFamily)| {
            let value = of(seen).map_or("none".to_owned(), written);
            (usize::from(family == Family::Ipv4), family.to_string(), value)
        };
        let sides = watched.families.iter().map(side).collect();
        Tile { label, metric: None, sides, change: String::new() }
    };
    let is_known =
        |(_, of, _): &WatchedFigure| watched.families.iter().any(|(_, seen)| of(seen).is_some());
    TILES.into_iter().filter(is_known).map(tile).collect()
}

/// Returns the tables of figures of each family, of the sources, and of the servers.
pub(super) fn watched_part(watched: &Watched) -> Option<Part> {
    let blocks = [
        Some(figures_table(watched)),
        Some(sources(watched)),
        kinds_of_packets(watched),
        servers(watched),
    ];
    Part::new("Packet statistics", blocks.into_iter().flatten().collect())
}

fn figures_table(watched: &Watched) -> Block {
    let used: Vec<(Family, &WatchedFamily)> = watched.families.iter().collect();
    let rows = |figures: &[WatchedFigure]| -> Vec<Row> {
        figures.iter().filter_map(|figure| figure_row(figure, &used)).collect()
    };
    let group = |name: &str, rows| Group { name: Some(name.to_owned()), rows };
    let groups = [
        group("Times", rows(&TIMES)),
        group("Counts", rows_with_any(&COUNTS, &used)),
        named_group("Connections by closure", &used, |of| &of.closures),
        named_group("Connections by protocol", &used, |of| &of.spoken),
        named_group("Connections by tags and tunnels", &used, |of| &of.via),
        named_group("Names asked for", &used, |of| &of.server_names),
        named_group("Protocols offered", &used, |of| &of.alpn),
    ];
    let groups = groups.into_iter().filter(|group| !group.rows.is_empty()).collect();
    let names = used.iter().map(|(family, _)| Column::number(family.to_string()));
    let columns = std::iter::once(Column::words("Figure")).chain(names).collect();
    let caption = "Packets of each family".to_owned();
    Block::Table(Table { caption, columns, groups, scale: None })
}

/// The most names that a terminal shows.
const MOST_NAMES: usize = 8;

/// Returns the numbers of connections by name, the most frequent name first. The title says how many
/// names there are if a terminal does not show all of them.
fn named_group(
    title: &str,
    used: &[(Family, &WatchedFamily)],
    of: fn(&WatchedFamily) -> &BTreeMap<String, u64>,
) -> Group {
    let counts = |name: &str| {
        used.iter().map(|(_, side)| of(side).get(name).copied().unwrap_or(0)).collect()
    };
    let names: BTreeSet<&String> = used.iter().flat_map(|(_, side)| of(side).keys()).collect();
    let mut all: Vec<(&String, Vec<u64>)> =
        names.into_iter().map(|name| (name, counts(name))).collect();
    all.sort_by_key(|(_, counts)| Reverse(counts.iter().sum::<u64>()));
    let cell = |count: &u64| SheetCell::Number(write::write_count(*count), *count as f64);
    let row = |(at, (name, counts)): (usize, &(&String, Vec<u64>))| Row {
        terminal: at < MOST_NAMES,
        ..Row::new(name.as_str(), counts.iter().map(cell).collect())
    };
    let number = if all.len() > MOST_NAMES {
        format!(" ({} names)", write::write_count(all.len() as u64))
    } else {
        String::new()
    };
    let rows = all.iter().enumerate().map(row).collect();
    Group { name: Some(format!("{title}{number}")), rows }
}

/// Returns the rows of those figures that are above 0 for any family.
fn rows_with_any(figures: &[WatchedFigure], used: &[(Family, &WatchedFamily)]) -> Vec<Row> {
    let any = |(_, of, _): &&WatchedFigure| {
        used.iter().any(|(_, side)| of(side).is_some_and(|value| value > 0.0))
    };
    figures.iter().filter(any).filter_map(|figure| figure_row(figure, used)).collect()
}

/// Returns the row of a figure, or `None` if no family has the figure.
fn figure_row(
    (label, of, written): &WatchedFigure,
    used: &[(Family, &WatchedFamily)],
) -> Option<Row> {
    let values: Vec<Option<f64>> = used.iter().map(|(_, side)| of(side)).collect();
    let cell = |value: &Option<f64>| {
        value.map_or_else(SheetCell::none, |value| SheetCell::Number(written(value), value))
    };
    let some = values.iter().any(Option::is_some);
    some.then(|| Row::new(*label, values.iter().map(cell).collect()))
}

fn sources(watched: &Watched) -> Block {
    let row = |source: &crate::PacketSource| {
        let number = |count: u64| SheetCell::Number(write::write_count(count), count as f64);
        let whole = if source.whole { "" } else { "cut short" };
        let cells = vec![
            source.kind.as_str().into(),
            source.link.as_str().into(),
            number(source.packets),
            source.dropped.map_or_else(SheetCell::none, number),
            whole.into(),
        ];
        Row::new(source.name.clone(), cells)
    };
    let mut columns = ["Watched", "How", "Link"].map(Column::words).to_vec();
    columns.extend(["Packets", "Dropped"].map(Column::number));
    columns.push(Column::words("Whole"));
    let rows = watched.sources.iter().map(row).collect();
    Block::Table(Table::new("Where packets came from", columns, rows).without_empty_columns())
}

/// Returns the table of all packets by what they are, if some are of no followed connection.
fn kinds_of_packets(watched: &Watched) -> Option<Block> {
    let row = |name: &str, packets: u64| {
        let cell = SheetCell::Number(write::write_count(packets), packets as f64);
        Row::new(name.to_owned(), vec![cell])
    };
    let followed = row("of followed connections", watched.followed);
    let others = watched.not_followed.iter().map(|(name, packets)| row(name, *packets));
    let rows = std::iter::once(followed).chain(others).collect();
    let columns = vec![Column::words("Kind"), Column::number("Packets")];
    (!watched.not_followed.is_empty())
        .then(|| Block::Table(Table::new("What the packets are", columns, rows)))
}

fn servers(watched: &Watched) -> Option<Block> {
    let row = |server: &crate::WatchedServer| {
        let time = |us: Option<f64>| {
            us.map_or_else(SheetCell::none, |us| SheetCell::Number(write::write_time(us), us))
        };
        let number = |count: u64| SheetCell::Number(write::write_count(count), count as f64);
        // A count of 0 may only mean that the exchanges can't be seen.
        let exchanges = |count| if count > 0 { number(count) } else { SheetCell::none() };
        let cells = vec![
            number(server.figures.connections),
            exchanges(server.figures.exchanges),
            time(server.figures.established_us.p50),
            time(server.wait_us.p50),
            time(server.response_us.p50),
        ];
        Row::new(server.address.to_string(), cells)
    };
    let rows: Vec<Row> = watched.servers.iter().map(row).collect();
    let columns =
        ["Connections", "Exchanges", "Established, median", "Wait, median", "Response, median"];
    let columns =
        std::iter::once(Column::words("Server")).chain(columns.map(Column::number)).collect();
    (!rows.is_empty())
        .then(|| Block::Table(Table::new("Each server", columns, rows).without_empty_columns()))
}

fn write_whole(value: f64) -> String {
    write::write_count(value as u64)
}

fn megabits(bits: f64) -> String {
    format!("{:.3}", bits / 1e6)
}
