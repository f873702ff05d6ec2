//! A line for each connection and each exchange, as CSV (RFC 4180) or JSON. docs/watch.md explains
//! the columns; both forms have the same.

use std::fmt::Write as _;

use super::seen::{closure, spoken};
use sixmark_wire::flow::{Hello, Observed, RoundTrips, Sent, Spoken, Transfer};

/// How lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A header, then a line each.
    Csv,
    /// An object a line.
    Json,
}

/// A field.
enum Field {
    Nothing,
    Number(u64),
    Decimal(f64),
    Truth(bool),
    Word(&'static str),
    Text(String),
}

/// A column: its name, and what it has of a `T`.
type Column<T> = (&'static str, fn(&T) -> Field);

const CONNECTION: &[Column<Observed>] = &[
    ("family", |of| family(of.ends.server.ip())),
    ("client", |of| Field::Text(of.ends.client.to_string())),
    ("server", |of| Field::Text(of.ends.server.to_string())),
    ("before", |of| Field::Number(of.before.into())),
    ("began", |of| seconds(of.began_ns)),
    ("lasted_us", |of| us(Some(of.lasted_ns))),
    ("closure", |of| Field::Word(closure(of.closure))),
    ("spoken", |of| Field::Word(spoken(&of.spoken))),
    ("exchanges", |of| Field::Number(of.exchanges)),
    ("syns", |of| Field::Number(of.opening.syns.into())),
    ("answered_us", |of| us(of.opening.answered_ns)),
    ("established_us", |of| us(of.opening.established_ns)),
    ("handshake_us", |of| us(hello(&of.spoken).and_then(|hello| hello.handshake_ns))),
    ("version", |of| said(of, |hello| hello.version.as_ref())),
    ("server_name", |of| said(of, |hello| hello.server_name.as_ref())),
    ("alpn_offered", |of| {
        hello(&of.spoken).map_or(Field::Nothing, |hello| Field::Text(hello.offered.join(" ")))
    }),
    ("alpn_chosen", |of| said(of, |hello| hello.chosen.as_ref())),
    ("client_rtts", |of| Field::Number(of.round_trips.from_client.count)),
    ("client_rtt_min_us", |of| us(of.round_trips.from_client.min_ns)),
    ("client_rtt_p50_us", |of| us(client(of).p50_ns)),
    ("client_rtt_p99_us", |of| us(client(of).p99_ns)),
    ("server_rtts", |of| Field::Number(server(of).count)),
    ("server_rtt_min_us", |of| us(server(of).min_ns)),
    ("server_rtt_p50_us", |of| us(server(of).p50_ns)),
    ("server_rtt_p99_us", |of| us(server(of).p99_ns)),
    ("begun_before", |of| Field::Truth(of.doubts.begun_before)),
    ("gap", |of| Field::Truth(of.doubts.gap)),
    ("fragmented", |of| Field::Truth(of.doubts.fragmented)),
    ("coalesced", |of| Field::Number(of.doubts.coalesced)),
    ("unparsed", |of| Field::Truth(of.doubts.unparsed)),
];

/// Of each side, behind its name: `client_packets`.
const SENT: &[Column<Sent>] = &[
    ("packets", |of| Field::Number(of.packets)),
    ("frame_bytes", |of| Field::Number(of.frame_bytes)),
    ("payload_bytes", |of| Field::Number(of.payload_bytes)),
    ("stream_bytes", |of| Field::Number(of.stream_bytes)),
    ("retransmitted", |of| Field::Number(of.retransmitted)),
    ("out_of_order", |of| Field::Number(of.out_of_order)),
    ("duplicate_acks", |of| Field::Number(of.duplicate_acks)),
    ("selective_acks", |of| Field::Number(of.selective_acks)),
    ("zero_windows", |of| Field::Number(of.zero_windows)),
    ("probes", |of| Field::Number(of.probes)),
    ("resets", |of| Field::Number(of.resets)),
    ("fins", |of| Field::Number(of.fins)),
    ("fragments", |of| Field::Number(of.fragments)),
    ("mss", |of| number(of.mss)),
    ("window_scale", |of| number(of.window_scale)),
    ("sack_permitted", |of| Field::Truth(of.sack_permitted)),
    ("largest_window", |of| Field::Number(of.largest_window)),
];

const EXCHANGE: &[Column<Transfer>] = &[
    ("family", |of| family(of.ends.server.ip())),
    ("client", |of| Field::Text(of.ends.client.to_string())),
    ("server", |of| Field::Text(of.ends.server.to_string())),
    ("number", |of| Field::Number(of.number.into())),
    ("began", |of| seconds(of.began_ns)),
    ("method", |of| Field::Text(of.method.clone())),
    ("host", |of| of.host.clone().map_or(Field::Nothing, Field::Text)),
    ("path", |of| Field::Text(of.path.clone())),
    ("status", |of| number(of.status)),
    ("whole", |of| of.whole.map_or(Field::Nothing, Field::Truth)),
    ("content_bytes", |of| Field::Number(of.content_bytes)),
    ("response_bytes", |of| Field::Number(of.response_bytes)),
    ("request_us", |of| us(of.request_ns)),
    ("wait_us", |of| us(of.wait_ns)),
    ("first_byte_us", |of| us(of.first_byte_ns)),
    ("transfer_us", |of| us(of.transfer_ns)),
    ("delay_us", |of| us(of.delay_ns)),
    ("throughput_bits_per_s", |of| {
        of.throughput_bits_per_s().map_or(Field::Nothing, |bits| Field::Number(bits as u64))
    }),
    ("client_bytes", |of| Field::Number(of.bytes.from_client)),
    ("server_bytes", |of| Field::Number(of.bytes.from_server)),
    ("left_to_fin", |of| Field::Number(of.left_to_fin)),
    ("client_repeated", |of| Field::Number(of.repeated.from_client.segments)),
    ("server_repeated", |of| Field::Number(of.repeated.from_server.segments)),
    ("coalesced", |of| Field::Number(of.coalesced)),
    ("unmeasured", |of| of.unmeasured.map_or(Field::Nothing, |why| Field::Word(why.words()))),
];

impl Form {
    /// What a file of connections begins with.
    pub fn connections(self, to: &mut String) {
        let names = CONNECTION.iter().map(|(name, _)| (*name).to_owned());
        let side = |side: &'static str| SENT.iter().map(move |(name, _)| format!("{side}_{name}"));
        self.header(names.chain(side("client")).chain(side("server")), to);
    }

    /// What a file of exchanges begins with.
    pub fn exchanges(self, to: &mut String) {
        self.header(EXCHANGE.iter().map(|(name, _)| (*name).to_owned()), to);
    }

    /// One connection.
    pub fn connection(self, of: &Observed, to: &mut String) {
        let mut line = Line::new(self, to);
        CONNECTION.iter().for_each(|(name, field)| line.field("", name, &field(of)));
        for (side, sent) in [("client_", &of.sent.from_client), ("server_", &of.sent.from_server)] {
            SENT.iter().for_each(|(name, field)| line.field(side, name, &field(sent)));
        }
        line.end();
    }

    /// One exchange.
    pub fn exchange(self, of: &Transfer, to: &mut String) {
        let mut line = Line::new(self, to);
        EXCHANGE.iter().for_each(|(name, field)| line.field("", name, &field(of)));
        line.end();
    }

    fn header(self, names: impl Iterator<Item = String>, to: &mut String) {
        if self == Form::Csv {
            to.push_str(&names.collect::<Vec<_>>().join(","));
            to.push_str("\r\n");
        }
    }
}

/// A line that is being written.
struct Line<'a> {
    form: Form,
    to: &'a mut String,
    first: bool,
}

impl<'a> Line<'a> {
    fn new(form: Form, to: &'a mut String) -> Line<'a> {
        if form == Form::Json {
            to.push('{');
        }
        Line { form, to, first: true }
    }

    fn field(&mut self, side: &str, name: &str, field: &Field) {
        if !std::mem::take(&mut self.first) {
            self.to.push(',');
        }
        match self.form {
            Form::Csv => csv(field, self.to),
            Form::Json => {
                let _ = write!(self.to, "\"{side}{name}\":");
                json(field, self.to);
            }
        }
    }

    fn end(self) {
        self.to.push_str(if self.form == Form::Csv { "\r\n" } else { "}\n" });
    }
}

fn plain(field: &Field, nothing: &str, to: &mut String) {
    // Writing to memory does not fail.
    let _ = match field {
        Field::Nothing | Field::Word(_) | Field::Text(_) => write!(to, "{nothing}"),
        Field::Number(number) => write!(to, "{number}"),
        Field::Decimal(number) => write!(to, "{number}"),
        Field::Truth(truth) => write!(to, "{truth}"),
    };
}

/// Foreign text in which a spreadsheet finds no formula, and which is on one line.
fn csv(field: &Field, to: &mut String) {
    let text = match field {
        Field::Word(word) => *word,
        Field::Text(text) => text.as_str(),
        other => return plain(other, "", to),
    };
    let odd = |c: char| matches!(c, ',' | '"') || c.is_control();
    // An apostrophe makes a spreadsheet take what follows as text (OWASP, CSV injection).
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if !formula && !text.contains(odd) {
        to.push_str(text);
        return;
    }
    to.push('"');
    if formula {
        to.push('\'');
    }
    for c in text.chars() {
        match c {
            '"' => to.push_str("\"\""),
            c if c.is_control() => to.push('\u{fffd}'),
            c => to.push(c),
        }
    }
    to.push('"');
}

fn json(field: &Field, to: &mut String) {
    match field {
        Field::Word(word) => to.push_str(&serde_json::Value::from(*word).to_string()),
        Field::Text(text) => to.push_str(&serde_json::Value::from(text.as_str()).to_string()),
        other => plain(other, "null", to),
    }
}

fn family(server: std::net::IpAddr) -> Field {
    Field::Word(sixmark_units::family::Family::of(server).word())
}

/// Seconds since 1970, to the nanosecond.
fn seconds(ns: u64) -> Field {
    Field::Text(format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000))
}

fn us(ns: Option<u64>) -> Field {
    ns.map_or(Field::Nothing, |ns| Field::Decimal(ns as f64 / 1e3))
}

fn number(value: Option<impl Into<u64>>) -> Field {
    value.map_or(Field::Nothing, |value| Field::Number(value.into()))
}

fn client(of: &Observed) -> &RoundTrips {
    &of.round_trips.from_client
}

fn server(of: &Observed) -> &RoundTrips {
    &of.round_trips.from_server
}

fn hello(spoken: &Spoken) -> Option<&Hello> {
    match spoken {
        Spoken::Tls(hello) | Spoken::Quic(hello) => Some(hello),
        _ => None,
    }
}

fn said(of: &Observed, what: fn(&Hello) -> Option<&String>) -> Field {
    hello(&of.spoken).and_then(what).map_or(Field::Nothing, |text| Field::Text(text.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spreadsheet_finds_no_formula_in_foreign_text() {
        for (text, expected) in [
            ("/plain", "/plain"),
            ("a,\"b\"", "\"a,\"\"b\"\"\""),
            ("=HYPERLINK(1)", "\"'=HYPERLINK(1)\""),
            ("+1", "\"'+1\""),
            ("-1", "\"'-1\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            ("\t=1", "\"'\u{fffd}=1\""),
            ("a\nb", "\"a\u{fffd}b\""),
        ] {
            let mut line = String::new();
            csv(&Field::Text(text.to_owned()), &mut line);
            assert_eq!(line, expected);
        }
    }
}
