//! Lines for connections and exchanges, as CSV (RFC 4180) or JSON. docs/watch.md explains the
//! columns, which are the same in both formats.

use std::fmt::Write as _;

use crate::end_names::{closure, payload_protocol};
use sixmark_sheet::csv_lines::{CsvLines, LineEnding};
use sixmark_wire::flow::{
    ConnectionReport, Hello, HttpExchange, PayloadProtocol, RoundTrips, Sent,
};

/// The format of the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineForm {
    /// CSV: a header line, then one line for each connection or exchange.
    Csv,
    /// JSON: one object per line.
    Json,
}

/// The value of a field.
enum LineField {
    Nothing,
    Number(u64),
    Decimal(f64),
    Truth(bool),
    Word(&'static str),
    Text(String),
}

/// A column: its name, and the function that returns its value.
type LineColumn<T> = (&'static str, fn(&T) -> LineField);

const CONNECTION: &[LineColumn<ConnectionReport>] = &[
    ("family", |of| family_field(of.ends.server.ip())),
    ("client", |of| LineField::Text(of.ends.client.to_string())),
    ("server", |of| LineField::Text(of.ends.server.to_string())),
    ("via", |of| {
        if of.via.is_empty() { LineField::Nothing } else { LineField::Text(of.via.to_string()) }
    }),
    ("before", |of| LineField::Number(of.before.into())),
    ("began", |of| seconds_field(of.began_ns)),
    ("lasted_us", |of| us(Some(of.lasted_ns))),
    ("closure", |of| LineField::Word(closure(of.closure))),
    ("spoken", |of| LineField::Word(payload_protocol(&of.payload_protocol))),
    ("exchanges", |of| LineField::Number(of.exchanges)),
    ("syns", |of| LineField::Number(of.opening.syns.into())),
    ("answered_us", |of| us(of.opening.answered_ns)),
    ("established_us", |of| us(of.opening.established_ns)),
    ("handshake_us", |of| us(hello(&of.payload_protocol).and_then(|hello| hello.handshake_ns))),
    ("version", |of| field_of_hello(of, |hello| hello.version.as_ref())),
    ("server_name", |of| field_of_hello(of, |hello| hello.server_name.as_ref())),
    ("alpn_offered", |of| {
        hello(&of.payload_protocol)
            .map_or(LineField::Nothing, |hello| LineField::Text(hello.offered.join(" ")))
    }),
    ("alpn_chosen", |of| field_of_hello(of, |hello| hello.chosen.as_ref())),
    ("client_rtts", |of| LineField::Number(of.round_trips.from_client.count)),
    ("client_rtt_min_us", |of| us(of.round_trips.from_client.min_ns)),
    ("client_rtt_p50_us", |of| us(client(of).p50_ns)),
    ("client_rtt_p99_us", |of| us(client(of).p99_ns)),
    ("server_rtts", |of| LineField::Number(server(of).count)),
    ("server_rtt_min_us", |of| us(server(of).min_ns)),
    ("server_rtt_p50_us", |of| us(server(of).p50_ns)),
    ("server_rtt_p99_us", |of| us(server(of).p99_ns)),
    ("begun_before", |of| LineField::Truth(of.doubts.begun_before)),
    ("gap", |of| LineField::Truth(of.doubts.gap)),
    ("fragmented", |of| LineField::Truth(of.doubts.fragmented)),
    ("coalesced", |of| LineField::Number(of.doubts.coalesced)),
    ("unparsed", |of| LineField::Truth(of.doubts.unparsed)),
];

/// The columns of each side. The side precedes their names, as in `client_packets`.
const SENT: &[LineColumn<Sent>] = &[
    ("packets", |of| LineField::Number(of.packets)),
    ("frame_bytes", |of| LineField::Number(of.frame_bytes)),
    ("payload_bytes", |of| LineField::Number(of.payload_bytes)),
    ("stream_bytes", |of| LineField::Number(of.stream_bytes)),
    ("retransmitted", |of| LineField::Number(of.retransmitted)),
    ("out_of_order", |of| LineField::Number(of.out_of_order)),
    ("duplicate_acks", |of| LineField::Number(of.duplicate_acks)),
    ("selective_acks", |of| LineField::Number(of.selective_acks)),
    ("zero_windows", |of| LineField::Number(of.zero_windows)),
    ("probes", |of| LineField::Number(of.probes)),
    ("resets", |of| LineField::Number(of.resets)),
    ("fins", |of| LineField::Number(of.fins)),
    ("fragments", |of| LineField::Number(of.fragments)),
    ("mss", |of| number_field(of.mss)),
    ("window_scale", |of| number_field(of.window_scale)),
    ("sack_permitted", |of| LineField::Truth(of.sack_permitted)),
    ("largest_window", |of| LineField::Number(of.largest_window)),
];

const EXCHANGE: &[LineColumn<HttpExchange>] = &[
    ("family", |of| family_field(of.ends.server.ip())),
    ("client", |of| LineField::Text(of.ends.client.to_string())),
    ("server", |of| LineField::Text(of.ends.server.to_string())),
    ("number", |of| LineField::Number(of.number.into())),
    ("began", |of| seconds_field(of.began_ns)),
    ("method", |of| LineField::Text(of.method.clone())),
    ("host", |of| of.host.clone().map_or(LineField::Nothing, LineField::Text)),
    ("path", |of| LineField::Text(of.path.clone())),
    ("status", |of| number_field(of.status)),
    ("whole", |of| of.whole.map_or(LineField::Nothing, LineField::Truth)),
    ("content_bytes", |of| LineField::Number(of.content_bytes)),
    ("response_bytes", |of| LineField::Number(of.response_bytes)),
    ("request_us", |of| us(of.request_ns)),
    ("wait_us", |of| us(of.wait_ns)),
    ("first_byte_us", |of| us(of.first_byte_ns)),
    ("transfer_us", |of| us(of.transfer_ns)),
    ("interims", |of| LineField::Number(of.interims.into())),
    ("interim_us", |of| us(of.interim_ns)),
    ("delay_us", |of| us(of.delay_ns)),
    ("throughput_bits_per_s", |of| {
        of.throughput_bits_per_s().map_or(LineField::Nothing, |bits| LineField::Number(bits as u64))
    }),
    ("client_bytes", |of| LineField::Number(of.bytes.from_client)),
    ("server_bytes", |of| LineField::Number(of.bytes.from_server)),
    ("left_to_fin", |of| LineField::Number(of.left_to_fin)),
    ("client_repeated", |of| LineField::Number(of.repeated.from_client.segments)),
    ("server_repeated", |of| LineField::Number(of.repeated.from_server.segments)),
    ("coalesced", |of| LineField::Number(of.coalesced)),
    ("unmeasured", |of| {
        of.unmeasured.map_or(LineField::Nothing, |why| LineField::Word(why.words()))
    }),
];

/// Lines of one form that are collected in memory.
#[derive(Debug)]
pub struct WatchLines(Collected);

#[derive(Debug)]
enum Collected {
    Csv(Box<CsvLines>),
    Json(String),
}

impl WatchLines {
    /// Creates an empty collection.
    pub fn new(form: LineForm) -> WatchLines {
        WatchLines(match form {
            LineForm::Csv => Collected::Csv(CsvLines::new(LineEnding::Crlf).into()),
            LineForm::Json => Collected::Json(String::new()),
        })
    }

    /// Writes the header of a file of connections. JSON has none.
    pub fn connections(&mut self) {
        let names = CONNECTION.iter().map(|(name, _)| (*name).to_owned());
        let side = |side: &'static str| SENT.iter().map(move |(name, _)| format!("{side}_{name}"));
        self.header(names.chain(side("client")).chain(side("server")));
    }

    /// Writes the header of a file of exchanges. JSON has none.
    pub fn exchanges(&mut self) {
        self.header(EXCHANGE.iter().map(|(name, _)| (*name).to_owned()));
    }

    /// Writes a line for a connection.
    pub fn connection(&mut self, of: &ConnectionReport) {
        CONNECTION.iter().for_each(|(name, field)| self.field("", name, &field(of)));
        for (side, sent) in [("client_", &of.sent.from_client), ("server_", &of.sent.from_server)] {
            SENT.iter().for_each(|(name, field)| self.field(side, name, &field(sent)));
        }
        self.end();
    }

    /// Writes a line for an exchange.
    pub fn exchange(&mut self, of: &HttpExchange) {
        EXCHANGE.iter().for_each(|(name, field)| self.field("", name, &field(of)));
        self.end();
    }

    /// Returns the number of bytes that have been collected. The last few thousand may not be
    /// included.
    pub fn collected(&self) -> usize {
        match &self.0 {
            Collected::Csv(lines) => lines.collected(),
            Collected::Json(lines) => lines.len(),
        }
    }

    /// Removes the collected lines and returns them.
    pub fn take(&mut self) -> String {
        match &mut self.0 {
            Collected::Csv(lines) => lines.take(),
            Collected::Json(lines) => std::mem::take(lines),
        }
    }

    fn header(&mut self, names: impl Iterator<Item = String>) {
        if let Collected::Csv(lines) = &mut self.0 {
            lines.line(names);
        }
    }

    fn field(&mut self, side: &str, name: &str, field: &LineField) {
        match &mut self.0 {
            Collected::Csv(lines) => csv(field, lines),
            Collected::Json(lines) => {
                let before = if lines.is_empty() || lines.ends_with('\n') { '{' } else { ',' };
                let _ = write!(lines, "{before}\"{side}{name}\":{}", json(field));
            }
        }
    }

    fn end(&mut self) {
        match &mut self.0 {
            Collected::Csv(lines) => lines.end(),
            Collected::Json(lines) => lines.push_str("}\n"),
        }
    }
}

fn csv(field: &LineField, to: &mut CsvLines) {
    match field {
        LineField::Nothing => to.field(""),
        LineField::Number(number) => to.field(number.to_string()),
        LineField::Decimal(number) => to.field(number.to_string()),
        LineField::Truth(truth) => to.field(truth.to_string()),
        LineField::Word(word) => to.field(word),
        LineField::Text(text) => to.foreign_field(text),
    }
}

fn json(field: &LineField) -> String {
    match field {
        LineField::Nothing => "null".to_owned(),
        LineField::Number(number) => number.to_string(),
        LineField::Decimal(number) => number.to_string(),
        LineField::Truth(truth) => truth.to_string(),
        LineField::Word(word) => serde_json::Value::from(*word).to_string(),
        LineField::Text(text) => serde_json::Value::from(text.as_str()).to_string(),
    }
}

fn family_field(server: std::net::IpAddr) -> LineField {
    LineField::Word(sixmark_units::family::Family::of(server).word())
}

/// Formats a time in seconds since 1970, to the nanosecond.
fn seconds_field(ns: u64) -> LineField {
    LineField::Text(format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000))
}

fn us(ns: Option<u64>) -> LineField {
    ns.map_or(LineField::Nothing, |ns| LineField::Decimal(ns as f64 / 1e3))
}

fn number_field(value: Option<impl Into<u64>>) -> LineField {
    value.map_or(LineField::Nothing, |value| LineField::Number(value.into()))
}

fn client(of: &ConnectionReport) -> &RoundTrips {
    &of.round_trips.from_client
}

fn server(of: &ConnectionReport) -> &RoundTrips {
    &of.round_trips.from_server
}

fn hello(payload_protocol: &PayloadProtocol) -> Option<&Hello> {
    match payload_protocol {
        PayloadProtocol::Tls(hello) | PayloadProtocol::Quic(hello) => Some(hello),
        _ => None,
    }
}

fn field_of_hello(of: &ConnectionReport, what: fn(&Hello) -> Option<&String>) -> LineField {
    hello(&of.payload_protocol)
        .and_then(what)
        .map_or(LineField::Nothing, |text| LineField::Text(text.clone()))
}
