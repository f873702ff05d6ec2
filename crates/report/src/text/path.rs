//! The rows about the layers below HTTP: TLS, TCP and QUIC.

use std::collections::BTreeMap;
use std::fmt::Display;

use super::{FamilyColumns, write_line, write_whole};
use sixmark_document::timing::Summary;
use sixmark_sheet::Figure;
use sixmark_tally::family_result::FamilyResult;
use sixmark_tally::metric::{Quantity, QuantityGroup, write_mean};
use sixmark_tally::tls::TlsResult;
use sixmark_units::quantity::duration_us;

/// TLS handshakes by result. Each label is clear on its own, because the row before it may be
/// absent.
const HANDSHAKES: [Figure<FamilyResult>; 3] = [
    ("handshakes full", |f| Some(f.tls.as_ref()?.handshakes.full as f64)),
    ("handshakes resumed", |f| Some(f.tls.as_ref()?.handshakes.resumed as f64)),
    ("handshakes failed", |f| Some(f.tls.as_ref()?.handshakes.failed as f64)),
];

/// A kind of handshake: the labels of its mean and median, and the function that returns its times.
type HandshakeKind = (&'static str, &'static str, fn(&TlsResult) -> &Summary);

/// The kinds of handshakes. Each label is clear on its own.
const KINDS: [HandshakeKind; 2] = [
    ("tls full mean", "tls full median", |tls| &tls.full_us),
    ("tls resumed mean", "tls resumed median", |tls| &tls.resumed_us),
];

/// TCP handshakes for which the kernel has no time. Each label is clear on its own.
const UNTIMED: [Figure<FamilyResult>; 2] = [
    ("syn retransmits", |f| Some(f.tcp.handshake.as_ref()?.sent_again as f64)),
    ("handshakes untimed", |f| Some(f.tcp.handshake.as_ref()?.untimed as f64)),
];

/// Retransmitted segments that the peer had already received.
const SPURIOUS: [Figure<FamilyResult>; 1] = [("tcp spurious", |f| Some(f.tcp.spurious? as f64))];

/// Rare events of QUIC connections. Each label is clear on its own.
const QUIC: [Figure<FamilyResult>; 3] = [
    ("quic dropped here", |f| Some(f.quic.as_ref()?.dropped as f64)),
    ("quic retried", |f| Some(f.quic.as_ref()?.retried as f64)),
    ("quic other version", |f| Some(f.quic.as_ref()?.mismatched as f64)),
];

impl FamilyColumns<'_> {
    /// Writes the number of full, resumed and failed TLS handshakes, each if there were any, and
    /// the times of full and resumed ones if there were both.
    pub(super) fn handshakes(&self, text: &mut String) {
        self.those_there_are(text, &HANDSHAKES);
        if KINDS.iter().all(|&(_, _, of)| self.counts_of(of).any(|count| count > 0)) {
            KINDS.iter().for_each(|kind| self.kind_of_handshake(text, *kind));
        }
    }

    fn kind_of_handshake(&self, text: &mut String, (mean, p50, of): HandshakeKind) {
        for (label, figure) in [(mean, (|s| s.mean) as fn(&Summary) -> _), (p50, |s| s.p50)] {
            let figure = |f: &FamilyResult| f.tls.as_ref().map(of).and_then(figure);
            self.row(text, label, figure, duration_us);
        }
    }

    fn counts_of(&self, of: fn(&TlsResult) -> &Summary) -> impl Iterator<Item = u64> {
        self.sides.iter().flatten().map(move |f| f.tls.as_ref().map_or(0, |tls| of(tls).count))
    }

    /// Writes how long TCP handshakes took by the kernel's clock, and by the client's clock those
    /// that the kernel has a time for. The difference is the part of connect that is not spent in
    /// the network.
    pub(super) fn tcp_handshakes(&self, text: &mut String) {
        let asked = |f: &FamilyResult| f.tcp.handshake.as_ref().map(|found| found.asked as f64);
        if self.sides.iter().flatten().all(|f| asked(f).is_none()) {
            return;
        }
        let kernel = |f: &FamilyResult| f.tcp.handshake.as_ref()?.kernel_us.p50;
        self.row(text, "handshake median, kernel", kernel, duration_us);
        let client = |f: &FamilyResult| f.tcp.handshake.as_ref()?.client_us.p50;
        self.row(text, "          median, client", client, duration_us);
        self.those_there_are(text, &UNTIMED);
    }

    /// Writes the waits of a sample of exchanges by the kernel's clock and by the client's. The
    /// difference is this machine's own delay.
    pub(super) fn waits(&self, text: &mut String) {
        if self.sides.iter().flatten().all(|f| f.wait_sample.is_none()) {
            return;
        }
        let kernel = |f: &FamilyResult| f.wait_sample.as_ref()?.kernel_us.p50;
        self.row(text, "wait median, kernel", kernel, duration_us);
        let client = |f: &FamilyResult| f.wait_sample.as_ref()?.client_us.p50;
        self.row(text, "     median, client", client, duration_us);
    }

    /// Writes TCP statistics of the connections whose statistics were read.
    pub(super) fn tcp(&self, text: &mut String) {
        if self.sides.iter().flatten().all(|f| f.tcp.read == 0) {
            return;
        }
        let rtt = |f: &FamilyResult| f.tcp.rtt_us.p50;
        self.row(text, "tcp       rtt median", rtt, duration_us);
        let least = |f: &FamilyResult| f.tcp.min_rtt_us.p50;
        if self.sides.iter().flatten().any(|f| least(f).is_some()) {
            self.row(text, "          rtt min median", least, duration_us);
        }
        let again = |f: &FamilyResult| Some(f.tcp.retransmitted as f64);
        self.row(text, "          retransmits", again, write_whole);
        self.those_there_are(text, &SPURIOUS);
        let [v6, v4] = self.sides.map(|side| side.map_or(String::new(), |f| usual(&f.tcp.mss)));
        write_line(text, "          mss", &v6, &v4, "");
    }

    /// Writes QUIC statistics of connections. Lost packets are shown even if there were none,
    /// because that is information about the network.
    pub(super) fn quic(&self, text: &mut String) {
        if self.sides.iter().flatten().all(|f| f.quic.as_ref().is_none_or(|q| q.connections == 0)) {
            return;
        }
        let rtt = |f: &FamilyResult| f.quic.as_ref()?.rtt_us.p50;
        self.row(text, "quic      rtt median", rtt, duration_us);
        let lost = |f: &FamilyResult| Some(f.quic.as_ref()?.packets_lost as f64);
        self.row(text, "          lost packets", lost, write_whole);
        self.those_there_are(text, &QUIC);
        let mtu = |f: &FamilyResult| f.quic.as_ref().map_or(String::new(), |q| usual(&q.mtu));
        let [v6, v4] = self.sides.map(|side| side.map_or(String::new(), mtu));
        write_line(text, "          mtu", &v6, &v4, "");
    }

    /// Writes how often data was sent and received for each exchange.
    pub(super) fn io(&self, text: &mut String) {
        for quantity in Quantity::in_group(QuantityGroup::PerExchange) {
            let per_exchange = |of: &FamilyResult| quantity.value(of);
            if self.sides.iter().flatten().any(|of| per_exchange(of).is_some()) {
                self.row(text, quantity.entry().title, per_exchange, write_mean);
            }
        }
    }

    /// Writes rows of those figures that are above 0 for at least one family.
    pub(super) fn those_there_are(&self, text: &mut String, figures: &[Figure<FamilyResult>]) {
        for &(label, number) in figures {
            if self.sides.iter().flatten().any(|f| number(f).is_some_and(|n| n > 0.0)) {
                self.row(text, label, number, write_whole);
            }
        }
    }
}

/// Returns the most frequent size, and the number of other sizes.
fn usual<T: Display>(sizes: &BTreeMap<T, u64>) -> String {
    let most = sizes.iter().max_by_key(|(_, connections)| **connections);
    match (most, sizes.len()) {
        (None, _) => String::new(),
        (Some((size, _)), 1) => size.to_string(),
        (Some((size, _)), sizes) => format!("{size}, {} more", sizes - 1),
    }
}
