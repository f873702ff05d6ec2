//! The table of connections with TLS and QUIC.

use crate::{SecureResult, Watched, WatchedFamily};
use sixmark_units::family::Family;

use sixmark_sheet::table::{Column, Group, Row, SheetCell, Table};
use sixmark_sheet::{Block, Part, write};

/// A figure: its label, its value, and the function that formats it.
type SecureFigure = (&'static str, fn(&SecureResult) -> Option<f64>, fn(f64) -> String);

/// The figures that are shown even if they are 0.
const FIGURES: [SecureFigure; 12] = [
    ("connections", |of| Some(of.connections as f64), write_whole),
    ("handshakes completed", |of| Some(of.completed as f64), write_whole),
    ("handshakes failed", |of| Some(of.failed as f64), write_whole),
    ("handshakes unfinished", |of| above_zero(of.unfinished), write_whole),
    ("begun before the capture", |of| above_zero(of.begun_before), write_whole),
    ("handshake, median", |of| of.handshake_us.p50, write::write_time),
    ("handshake, p99", |of| of.handshake_us.p99, write::write_time),
    ("to the server’s first answer, median", |of| of.first_flight_us.p50, write::write_time),
    ("round trip of the opening, median", |of| of.round_trip_us.p50, write::write_time),
    ("round trip of the opening, p99", |of| of.round_trip_us.p99, write::write_time),
    ("bytes from clients, as frames", |of| Some(of.from_client_bytes as f64), write_bytes),
    ("bytes from servers, as frames", |of| Some(of.from_server_bytes as f64), write_bytes),
];

/// What the figures are.
const DEFINITION: &str = "A handshake lasts from the ClientHello, or QUIC’s first Initial, to the \
                          client’s first application data. The round trip of the opening is that of \
                          SYN, SYN-ACK and ACK; of QUIC, of the first Initial, the server’s answer and \
                          the client’s next packet. It includes the time that both took to answer.";

/// Returns the table, or `None` if no connection had TLS or QUIC.
pub(super) fn secure_part(watched: &Watched) -> Option<Part> {
    let used: Vec<(Family, &WatchedFamily)> = watched.families.iter().collect();
    let groups =
        [group("TLS", &used, |of| of.tls.as_ref()), group("QUIC", &used, |of| of.quic.as_ref())];
    let groups: Vec<Group> = groups.into_iter().flatten().collect();
    let names = used.iter().map(|(family, _)| Column::number(family.to_string()));
    let columns = std::iter::once(Column::words("Figure")).chain(names).collect();
    let caption = "Connections with TLS and QUIC".to_owned();
    let any = !groups.is_empty();
    let table = Block::Table(Table { caption, columns, groups, scale: None });
    let blocks = vec![table, Block::Aside(DEFINITION.to_owned())];
    Part::new("TLS and QUIC", blocks).filter(|_| any).map(Part::open)
}

/// Returns the rows of one protocol, or `None` if no connection of any family had it.
fn group(
    name: &str,
    used: &[(Family, &WatchedFamily)],
    figures: fn(&WatchedFamily) -> Option<&SecureResult>,
) -> Option<Group> {
    let sides: Vec<Option<&SecureResult>> = used.iter().map(|(_, of)| figures(of)).collect();
    let row = |(label, of, written): SecureFigure| {
        let values: Vec<Option<f64>> = sides.iter().map(|side| side.and_then(of)).collect();
        let cell = |value: &Option<f64>| {
            value.map_or_else(SheetCell::none, |value| SheetCell::Number(written(value), value))
        };
        let any = values.iter().any(Option::is_some);
        any.then(|| Row::new(label, values.iter().map(cell).collect()))
    };
    let rows: Vec<Row> = FIGURES.into_iter().filter_map(row).collect();
    let any = sides.iter().any(Option::is_some);
    any.then(|| Group { name: Some(name.to_owned()), rows })
}

fn above_zero(count: u64) -> Option<f64> {
    (count > 0).then_some(count as f64)
}

fn write_whole(value: f64) -> String {
    write::write_count(value as u64)
}

fn write_bytes(value: f64) -> String {
    write::write_bytes(value)
}
