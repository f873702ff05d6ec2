//! The visible part of QUIC: packets, bytes, the duration of the handshake, and the server name and
//! protocols in the ClientHello if Initial packets can be decrypted. A connection is identified by
//! its addresses and ports, so one that migrates appears as several.

mod crypto;
mod header;

use std::collections::BTreeMap;

use crypto::Crypto;
use header::{Long, LongPacketKind};

use super::budget::Budget;
use super::connection_report::{
    Closure, ConnectionReport, Doubts, Hello, MissingSide, Opening, PayloadProtocol,
};
use super::http_exchange::{Ends, PerDirection};
use crate::{Udp, Via};

/// Removes the protection of Initial packets. The keys are derived from fields of the packet (RFC
/// 9001, 5.2), but this crate contains no cryptography.
pub trait InitialOpener: std::fmt::Debug {
    /// Decrypts an Initial packet from a client and returns its frames, or `None` if that fails.
    /// `packet` is the whole packet including headers, and may be modified; its packet number
    /// begins at `number`. `version` is 1 or 0x6b3343cf. `destination` is the connection ID that
    /// the client chose for its first packet, from which the keys are derived.
    fn open<'a>(
        &mut self,
        version: u32,
        destination: &[u8],
        number: usize,
        packet: &'a mut [u8],
    ) -> Option<&'a [u8]>;
}

/// The number of Initial packets after which the ClientHello is given up.
const MOST_INITIALS: u32 = 8;
/// The maximum length of a packet, which is that of a UDP datagram.
const LONGEST_PACKET: usize = 65_535;

/// The state of a connection.
#[derive(Debug)]
pub(super) struct Quic {
    ends: Ends,
    before: u32,
    via: Via,
    began_ns: u64,
    last_ns: u64,
    opening: Opening,
    sent: PerDirection<super::connection_report::Sent>,
    hello: Hello,
    /// The destination connection ID of the client's first packet.
    destination: Vec<u8>,
    /// The ClientHello received so far; `None` if it is complete or given up.
    crypto: Option<Box<Crypto>>,
    initials: u32,
}

/// A UDP datagram and the frames that carried it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Datagram<'a> {
    pub(super) at_ns: u64,
    /// The bytes of its frames.
    pub(super) length: u64,
    /// The number of packets that carried it, and how many of them were fragments.
    pub(super) packets: u64,
    pub(super) fragments: u64,
    pub(super) udp: Udp<'a>,
}

/// Returns `None` if a datagram cannot begin a connection, otherwise whether it can be the client's
/// first.
pub(super) fn begins(datagram: &Datagram<'_>) -> Option<bool> {
    let long = header::long(datagram.udp.payload.bytes)?;
    Some(long.kind != LongPacketKind::Other)
}

impl Quic {
    /// Returns a connection that begins with this datagram, whose packet was behind the layers
    /// `via`. `before` is the number of earlier ones between the same endpoints.
    pub(super) fn new(
        ends: Ends,
        before: u32,
        via: Via,
        by_client: bool,
        datagram: &Datagram<'_>,
    ) -> Quic {
        let long = header::long(datagram.udp.payload.bytes);
        let seen = by_client && long.is_some_and(|long| long.kind != LongPacketKind::Other);
        let version = long.map(|long| match long.version {
            header::VERSION_1 => "1".to_owned(),
            other => format!("{other:#010x}"),
        });
        let destination = long.map(|long| long.destination.to_vec()).unwrap_or_default();
        Quic {
            ends,
            before,
            via,
            began_ns: datagram.at_ns,
            last_ns: datagram.at_ns,
            opening: Opening { seen, ..Opening::default() },
            sent: PerDirection::default(),
            hello: Hello { version, ..Hello::default() },
            destination,
            crypto: seen.then(Box::default),
            initials: 0,
        }
    }

    /// Processes the next datagram.
    pub(super) fn take(
        &mut self,
        by_client: bool,
        datagram: &Datagram<'_>,
        opener: Option<&mut (dyn InitialOpener + '_)>,
        budget: &mut Budget,
    ) {
        let payload = &datagram.udp.payload;
        self.last_ns = self.last_ns.max(datagram.at_ns);
        let sent = self.sent.of(by_client);
        sent.packets += datagram.packets;
        sent.fragments += datagram.fragments;
        sent.frame_bytes += datagram.length;
        sent.payload_bytes += payload.length as u64;
        let after_ns = datagram.at_ns.saturating_sub(self.began_ns);
        if self.opening.seen && !by_client {
            self.opening.answered_ns.get_or_insert(after_ns);
            self.hello.first_flight_ns.get_or_insert(after_ns);
        }
        if by_client && self.opening.answered_ns.is_some() {
            self.opening.replied_ns.get_or_insert(after_ns);
        }
        if self.opening.seen && by_client && header::is_short(payload.bytes) {
            self.hello.handshake_ns.get_or_insert(after_ns);
            self.hello.completed = true;
            self.forget(budget);
        }
        if by_client && let Some(opener) = opener {
            self.open(payload.bytes, opener, budget);
        }
    }

    /// Returns the report on the connection.
    pub(super) fn finish(mut self, closure: Closure, budget: &mut Budget) -> ConnectionReport {
        self.forget(budget);
        // Short headers follow what the other side has sent.
        let missing = match (self.sent.from_client.packets, self.sent.from_server.packets) {
            (0, _) => Some(MissingSide::Client),
            (_, 0) if self.hello.completed => Some(MissingSide::Server),
            _ => None,
        };
        ConnectionReport {
            ends: self.ends,
            before: self.before,
            via: self.via,
            began_ns: self.began_ns,
            lasted_ns: self.last_ns.saturating_sub(self.began_ns),
            opening: self.opening,
            closure,
            sent: self.sent,
            round_trips: PerDirection::default(),
            payload_protocol: PayloadProtocol::Quic(self.hello),
            exchanges: 0,
            missing,
            statuses: BTreeMap::new(),
            doubts: Doubts { begun_before: !self.opening.seen, ..Doubts::default() },
        }
    }

    /// Searches the Initial packets of a datagram for the ClientHello.
    fn open(&mut self, mut datagram: &[u8], opener: &mut dyn InitialOpener, budget: &mut Budget) {
        while let Some(crypto) = &mut self.crypto {
            let Some(Long { kind, version, .. }) = header::long(datagram) else { return };
            if kind == LongPacketKind::Other {
                return;
            }
            let Some((number, end)) = header::bounds(kind, datagram) else { return };
            let (packet, rest) = datagram.split_at(end.min(LONGEST_PACKET));
            datagram = rest;
            if kind == LongPacketKind::ZeroRtt {
                continue;
            }
            let (before, mut packet) = (crypto.kept(), packet.to_vec());
            let frames = opener.open(version, &self.destination, number, &mut packet);
            let whole = frames.is_some_and(|frames| crypto.take(frames, &mut self.hello));
            let room = budget.take(crypto.kept() - before);
            self.initials += 1;
            if !room {
                self.crypto = None;
                budget.give(before);
            } else if whole || self.initials == MOST_INITIALS {
                self.forget(budget);
            }
        }
    }

    fn forget(&mut self, budget: &mut Budget) {
        if let Some(crypto) = self.crypto.take() {
            budget.give(crypto.kept());
        }
    }
}

#[cfg(test)]
mod tests;
