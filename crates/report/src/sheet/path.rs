//! Statistics of the layers below HTTP: TCP, TLS and QUIC.

use std::collections::BTreeMap;
use std::fmt::Display;

use sixmark_document::timing::Summary;
use sixmark_tally::family_result::FamilyResult;
use sixmark_tally::tcp::HandshakeResult;
use sixmark_tally::tls::TlsResult;
use sixmark_tally::wait_sample::WaitSampleResult;

use super::side::{Side, Sides};
use sixmark_sheet::Figure;
use sixmark_sheet::table::{Group, Row, Table};
use sixmark_sheet::{Block, Part, write};
use sixmark_tally::metric::{Quantity, QuantityGroup, write_mean};

/// The number of digits of a certificate's hash that are shown: enough to distinguish a few.
const DIGITS: usize = 8;

/// Returns statistics of the kernel, TLS and QUIC about the connections of each side; `None` if
/// there are none.
pub fn path_part(sides: &Sides<'_>) -> Option<Part> {
    let all = [
        ("TCP", tcp(sides)),
        ("Waits of a sample, by two clocks", waits(sides)),
        ("TLS", tls(sides)),
        ("QUIC", quic(sides)),
        ("Sends and receives", io(sides)),
    ];
    let group = |(name, mut rows): (&str, Vec<Row>)| {
        rows.retain(|row| row.cells.iter().any(|cell| !cell.text().is_empty()));
        (!rows.is_empty()).then(|| Group { name: Some(name.into()), rows })
    };
    let groups: Vec<Group> = all.into_iter().filter_map(group).collect();
    if groups.is_empty() {
        return None;
    }
    let columns = sides.columns("Fact");
    let caption = "TCP, TLS and QUIC statistics".to_owned();
    Part::new("Connections", vec![Block::Table(Table { caption, columns, groups, scale: None })])
}

fn write_whole(value: f64) -> String {
    write::write_count(value as u64)
}

fn tcp(sides: &Sides<'_>) -> Vec<Row> {
    let mut rows = tcp_handshakes(sides);
    if !sides.any(|f| Some(f.tcp.read as f64)) {
        return rows;
    }
    rows.extend([sides.row("connections asked", |f| Some(f.tcp.read as f64), write_whole)]);
    rows.extend(quantiles(sides, "round trip", |f| Some(&f.tcp.rtt_us)));
    rows.extend([
        sides.row("shortest round trip, median", |f| f.tcp.min_rtt_us.p50, write::write_time),
        sides.row("segments retransmitted", |f| Some(f.tcp.retransmitted as f64), write_whole),
        sides.row("of which spurious", |f| Some(f.tcp.spurious? as f64), write_whole),
        sides.row("segments delivered", |f| f.tcp.delivered.map(|n| n as f64), write_whole),
        sides.words("largest segment, bytes", |side| usual(&side.figures.tcp.mss)),
    ]);
    rows
}

fn tcp_handshakes(sides: &Sides<'_>) -> Vec<Row> {
    let count = |of: fn(&HandshakeResult) -> u64| {
        move |f: &FamilyResult| f.tcp.handshake.as_ref().map(|found| of(found) as f64)
    };
    let time = |of: fn(&HandshakeResult) -> &Summary| {
        move |f: &FamilyResult| f.tcp.handshake.as_ref().and_then(|found| of(found).p50)
    };
    if !sides.any(count(|found| found.asked)) {
        return Vec::new();
    }
    let mut rows = vec![
        sides.row("handshakes sampled", count(|found| found.asked), write_whole),
        sides.row("handshake by the kernel, median", time(|f| &f.kernel_us), write::write_time),
        sides.row("handshake by the client, median", time(|f| &f.client_us), write::write_time),
    ];
    if sides.any(count(|found| found.sent_again + found.untimed)) {
        rows.push(sides.row("SYN retransmissions", count(|f| f.sent_again), write_whole));
        rows.push(sides.row("without a time otherwise", count(|f| f.untimed), write_whole));
    }
    rows
}

/// Returns the waits of a sample of exchanges by two clocks.
fn waits(sides: &Sides<'_>) -> Vec<Row> {
    let time = |of: fn(&WaitSampleResult) -> &Summary| {
        move |f: &FamilyResult| f.wait_sample.as_ref().and_then(|found| of(found).p50)
    };
    let count = |f: &FamilyResult| Some(f.wait_sample.as_ref()?.client_us.count as f64);
    if !sides.any(count) {
        return Vec::new();
    }
    vec![
        sides.row("waits sampled", count, write_whole),
        sides.row("wait by the kernel, median", time(|f| &f.kernel_us), write::write_time),
        sides.row("wait by the client, median", time(|f| &f.client_us), write::write_time),
    ]
}

fn tls(sides: &Sides<'_>) -> Vec<Row> {
    let Some(_) = sides.all.iter().find(|side| side.figures.tls.is_some()) else {
        return Vec::new();
    };
    let count = |of: fn(&TlsResult) -> u64| {
        move |f: &FamilyResult| f.tls.as_ref().map(|tls| of(tls) as f64)
    };
    let words = |of: fn(&TlsResult) -> String| {
        move |side: &Side<'_>| side.figures.tls.as_ref().map_or(String::new(), of)
    };
    let mut rows = vec![
        sides.row("full handshakes", count(|tls| tls.handshakes.full), write_whole),
        sides.row("resumed handshakes", count(|tls| tls.handshakes.resumed), write_whole),
        sides.row("failed handshakes", count(|tls| tls.handshakes.failed), write_whole),
        sides.row("HelloRetryRequest received", count(|tls| tls.handshakes.retried), write_whole),
    ];
    rows.extend(quantiles(sides, "full", |f| Some(&f.tls.as_ref()?.full_us)));
    rows.extend(quantiles(sides, "resumed", |f| Some(&f.tls.as_ref()?.resumed_us)));
    rows.extend([
        sides.words("version", words(|tls| usual(&tls.versions))),
        sides.words("cipher suite", words(|tls| usual(&tls.ciphers))),
        sides.words("group", words(|tls| usual(&tls.groups))),
        sides.words("application protocol", words(|tls| usual(&tls.alpn))),
        sides.words("certificate", words(certificate)),
        sides.words("failures", words(failures)),
    ]);
    rows
}

fn certificate(tls: &TlsResult) -> String {
    let Some(first) = tls.certificates.iter().max_by_key(|certificate| certificate.count) else {
        return String::new();
    };
    let hash: String = first.sha256.chars().take(DIGITS).collect();
    let day = first.not_after.as_ref().and_then(|time| time.split('T').next());
    let until = day.map_or(String::new(), |day| format!(", to {day}"));
    format!("{hash}{until}{}", more(tls.certificates.len()))
}

fn failures(tls: &TlsResult) -> String {
    let said = tls.failures.iter().map(|failed| {
        let alert = failed.cause.alert.map_or(String::new(), |alert| format!(" (alert {alert})"));
        let date = match (failed.cause.expired(), failed.cause.valid_from()) {
            (Some(at), _) => format!(", expired at {at}"),
            (None, Some(at)) => format!(", not valid before {at}"),
            (None, None) => String::new(),
        };
        format!("{} {}{alert}{date}", write::write_count(failed.count), failed.cause.reason)
    });
    said.collect::<Vec<_>>().join(", ")
}

fn quic(sides: &Sides<'_>) -> Vec<Row> {
    let count = |of: fn(&sixmark_tally::quic::QuicResult) -> u64| {
        move |f: &FamilyResult| f.quic.as_ref().map(|quic| of(quic) as f64)
    };
    if !sides.any(count(|quic| quic.connections)) {
        return Vec::new();
    }
    let mtu = |side: &Side<'_>| side.figures.quic.as_ref().map_or(String::new(), |q| usual(&q.mtu));
    let mut rows = vec![sides.row("connections", count(|quic| quic.connections), write_whole)];
    rows.extend(quantiles(sides, "round trip", |f| Some(&f.quic.as_ref()?.rtt_us)));
    rows.extend([
        sides.row("packets sent", count(|quic| quic.packets_sent), write_whole),
        sides.row("packets lost", count(|quic| quic.packets_lost), write_whole),
        sides.row("datagrams dropped here", count(|quic| quic.dropped), write_whole),
        sides.row("Retry received", count(|quic| quic.retried), write_whole),
        sides.row("other version", count(|quic| quic.mismatched), write_whole),
        sides.words("largest payload, bytes", mtu),
    ]);
    rows
}

fn io(sides: &Sides<'_>) -> Vec<Row> {
    let used = Quantity::in_group(QuantityGroup::PerExchange)
        .filter(|quantity| sides.any(|of| quantity.value(of)));
    used.map(|quantity| sides.row(quantity.entry().title, |of| quantity.value(of), write_mean))
        .collect()
}

/// Returns rows of the median, p95 and p99. Of these, p95 and p99 are omitted if no side has a
/// value; documents of an earlier version lack p95.
fn quantiles(
    sides: &Sides<'_>,
    name: &str,
    of: impl Fn(&FamilyResult) -> Option<&Summary>,
) -> Vec<Row> {
    let median = sides.row(&format!("{name}, median"), |f| of(f)?.p50, write::write_time);
    let tail: [Figure<Summary>; 2] = [("p95", |s| s.p95), ("p99", |s| s.p99)];
    let tail = tail.into_iter().filter_map(|(quantile, figure)| {
        let value = |f: &FamilyResult| of(f).and_then(figure);
        let any = sides.all.iter().any(|side| value(side.figures).is_some());
        any.then(|| sides.row(&format!("{name}, {quantile}"), value, write::write_time))
    });
    std::iter::once(median).chain(tail).collect()
}

/// Returns the most frequent value, and the number of others.
fn usual<T: Display + Ord>(counts: &BTreeMap<T, u64>) -> String {
    let most = counts.iter().max_by_key(|(_, count)| **count);
    most.map_or(String::new(), |(name, _)| format!("{name}{}", more(counts.len())))
}

fn more(kinds: usize) -> String {
    if kinds > 1 { format!(" and {} more", kinds - 1) } else { String::new() }
}

#[cfg(test)]
mod tests;
