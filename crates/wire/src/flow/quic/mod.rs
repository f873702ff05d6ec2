//! QUIC as far as it shows: packets, bytes, how long the handshake took, and where somebody opens Initial
//! packets, the name and the protocols that the client asked for. A connection is what has the same
//! addresses and ports: those that move look like several.

mod crypto;
mod header;

use crypto::Crypto;
use header::{Long, LongPacketKind};

use super::budget::Budget;
use super::observed::{Closure, Doubts, Hello, Observed, Opening, Spoken};
use super::transfer::{Ends, Way};
use crate::Udp;

/// Takes the protection off Initial packets. Its keys follow from what is in the packet (RFC 9001, 5.2), but
/// deriving and applying them is cryptography, which isn't done here.
pub trait InitialOpener: std::fmt::Debug {
    /// Opens an Initial packet of a client's, which is all of `packet`, headers included; its packet number
    /// begins at `number`. `version` is 1 or 0x6b3343cf; `destination` is the connection ID that the client
    /// chose for its first packet, from which keys are derived. The frames, which may stand in `packet`.
    fn open<'a>(
        &mut self,
        version: u32,
        destination: &[u8],
        number: usize,
        packet: &'a mut [u8],
    ) -> Option<&'a [u8]>;
}

/// After so many Initials nobody waits for a ClientHello any more.
const MOST_INITIALS: u32 = 8;
/// And none is longer than what UDP carries at most.
const LONGEST_PACKET: usize = 65_535;

/// A connection as far as it was seen.
#[derive(Debug)]
pub(super) struct Quic {
    ends: Ends,
    before: u32,
    began_ns: u64,
    last_ns: u64,
    opening: Opening,
    sent: Way<super::observed::Sent>,
    hello: Hello,
    /// The first connection ID that the client sent to.
    destination: Vec<u8>,
    /// Its ClientHello as far as it is there; none where nobody waits for it any more.
    crypto: Option<Box<Crypto>>,
    initials: u32,
}

/// A datagram as it was seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Datagram<'a> {
    pub(super) at_ns: u64,
    /// Bytes of its frames.
    pub(super) length: u64,
    /// Packets that brought it, and how many of them were fragments.
    pub(super) packets: u64,
    pub(super) fragments: u64,
    pub(super) udp: Udp<'a>,
}

/// Whether a datagram can be the first of a connection; and if so, whether it is the client's first.
pub(super) fn begins(datagram: &Datagram<'_>) -> Option<bool> {
    let long = header::long(datagram.udp.payload.bytes)?;
    Some(long.kind == LongPacketKind::Initial)
}

impl Quic {
    /// One that this datagram begins, the like of which there were so many `before`.
    pub(super) fn new(ends: Ends, before: u32, by_client: bool, datagram: &Datagram<'_>) -> Quic {
        let long = header::long(datagram.udp.payload.bytes);
        let seen = by_client && long.is_some_and(|long| long.kind == LongPacketKind::Initial);
        let version = long.map(|long| match long.version {
            header::VERSION_1 => "1".to_owned(),
            other => format!("{other:#010x}"),
        });
        let destination = long.map(|long| long.destination.to_vec()).unwrap_or_default();
        Quic {
            ends,
            before,
            began_ns: datagram.at_ns,
            last_ns: datagram.at_ns,
            opening: Opening { seen, ..Opening::default() },
            sent: Way::default(),
            hello: Hello { version, ..Hello::default() },
            destination,
            crypto: seen.then(Box::default),
            initials: 0,
        }
    }

    /// Takes its next datagram.
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
        }
        if self.opening.seen && by_client && header::is_short(payload.bytes) {
            self.hello.handshake_ns.get_or_insert(after_ns);
            self.forget(budget);
        }
        if by_client && let Some(opener) = opener {
            self.open(payload.bytes, opener, budget);
        }
    }

    /// What it was.
    pub(super) fn finish(mut self, closure: Closure, budget: &mut Budget) -> Observed {
        self.forget(budget);
        Observed {
            ends: self.ends,
            before: self.before,
            began_ns: self.began_ns,
            lasted_ns: self.last_ns.saturating_sub(self.began_ns),
            opening: self.opening,
            closure,
            sent: self.sent,
            round_trips: Way::default(),
            spoken: Spoken::Quic(self.hello),
            exchanges: 0,
            doubts: Doubts { begun_before: !self.opening.seen, ..Doubts::default() },
        }
    }

    /// Looks for the ClientHello in the Initials of a datagram.
    fn open(&mut self, mut datagram: &[u8], opener: &mut dyn InitialOpener, budget: &mut Budget) {
        while let Some(crypto) = &mut self.crypto {
            let Some(Long { kind: LongPacketKind::Initial, version, .. }) = header::long(datagram)
            else {
                return;
            };
            let Some((number, end)) = header::bounds(datagram) else { return };
            let (packet, rest) = datagram.split_at(end.min(LONGEST_PACKET));
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
            datagram = rest;
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
