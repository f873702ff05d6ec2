//! The packets of a connection, as seen at its server.

use std::ops::Range;

use sixmark_units::random::Random;

use crate::frame::{ACK, FIN, PSH, Packet, RST, SYN};

const MICROSECOND: u64 = 1_000;
/// The interval between two consecutive segments of a server.
const STEP_NS: u64 = 12 * MICROSECOND;
/// The number of lost segments per thousand.
const LOST: u64 = 5;
/// The initial and the maximum number of segments sent without an ACK.
const WINDOW: Range<usize> = 10..80;

/// The state of a connection.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) packets: Vec<Packet>,
    pub(crate) now_ns: u64,
    /// The round-trip time to the client.
    pub(crate) rtt_ns: u64,
    /// The maximum payload of a segment.
    segment: u64,
    window: usize,
    /// The positions of both streams.
    client: i64,
    server: i64,
}

impl Script {
    pub(crate) fn new(now_ns: u64, rtt_ns: u64, segment: u64) -> Script {
        let (client, server) = (0, 0);
        Script {
            packets: Vec::new(),
            now_ns,
            rtt_ns,
            segment,
            window: WINDOW.start,
            client,
            server,
        }
    }

    fn put(&mut self, by_client: bool, flags: u8, length: u16) {
        let (at, ack) =
            if by_client { (self.client, self.server) } else { (self.server, self.client) };
        let at_ns = self.now_ns;
        self.packets.push(Packet { at_ns, by_client, flags, at, ack, length, sack: None });
    }

    /// Adds the handshake. Returns false if it is refused. If `repeated` is true, the SYN is sent
    /// twice.
    pub(crate) fn open(&mut self, repeated: bool, refused: bool) -> bool {
        (self.client, self.server) = (-1, -1);
        self.put(true, SYN, 0);
        if repeated {
            self.now_ns += 1_000_000 * MICROSECOND;
            self.put(true, SYN, 0);
        }
        self.now_ns += 25 * MICROSECOND;
        self.client = 0;
        if refused {
            self.put(false, RST | ACK, 0);
            return false;
        }
        self.put(false, SYN | ACK, 0);
        self.now_ns += self.rtt_ns;
        self.server = 0;
        self.put(true, ACK, 0);
        self.now_ns += 40 * MICROSECOND;
        true
    }

    /// Adds data from the client. Some of it may be out of order, or lost at first.
    pub(crate) fn ask(&mut self, length: u64, random: &mut Random) {
        let mut rest = length;
        let (first, start) = (self.packets.len(), self.client);
        while rest > 0 {
            let length = rest.min(self.segment);
            rest -= length;
            self.put(true, if rest == 0 { ACK | PSH } else { ACK }, length as u16);
            self.client += length as i64;
            self.now_ns += STEP_NS;
        }
        let many = self.packets.len() - first;
        if many > 3 && random.below(4) == 0 {
            let which = first + random.below(many as u64 - 2) as usize;
            let other = self.packets[which + 1].at_ns;
            // Slightly out of order, or lost before the capture point and retransmitted.
            let late = if random.below(2) == 0 { 3 * MICROSECOND } else { self.rtt_ns };
            self.packets[which].at_ns = other + late;
            self.now_ns = self.now_ns.max(other + late + STEP_NS);
        }
        let _ = start;
        self.put(false, ACK, 0);
    }

    /// Adds data from the server, in flights that the client acknowledges. Some of it is
    /// retransmitted.
    pub(crate) fn answer(&mut self, length: u64, random: &mut Random) {
        let mut rest = length;
        while rest > 0 {
            let start = self.server;
            let mut segments = Vec::new();
            while rest > 0 && segments.len() < self.window {
                let length = rest.min(self.segment);
                rest -= length;
                segments.push((self.server, length as u16));
                self.put(false, if rest == 0 { ACK | PSH } else { ACK }, length as u16);
                self.server += length as i64;
                self.now_ns += STEP_NS;
            }
            let lost = segments.iter().position(|_| random.below(1_000) < LOST);
            self.acknowledge(start, &segments, lost);
            self.window = (self.window * 2).min(WINDOW.end);
        }
    }

    /// Adds the client's ACKs of a flight, and the retransmission of a lost segment.
    fn acknowledge(&mut self, start: i64, segments: &[(i64, u16)], lost: Option<usize>) {
        let end = self.server;
        let sent = self.now_ns - segments.len() as u64 * STEP_NS;
        let good = lost.unwrap_or(segments.len());
        let mut behind = start;
        for (n, (at, length)) in segments.iter().enumerate().take(good) {
            behind = at + i64::from(*length);
            if n % 2 == 1 || n + 1 == good {
                self.now_ns = sent + self.rtt_ns + n as u64 * STEP_NS;
                self.server = behind;
                self.put(true, ACK, 0);
            }
        }
        if let Some(lost) = lost {
            self.send_again(segments, lost, sent, behind);
        }
        self.server = end;
    }

    fn send_again(&mut self, segments: &[(i64, u16)], lost: usize, sent: u64, behind: i64) {
        let (at, length) = segments[lost];
        self.server = behind;
        let next = at as u64 + u64::from(length);
        self.now_ns = self.now_ns.max(sent + self.rtt_ns);
        for (n, (from, more)) in segments.iter().enumerate().skip(lost + 1) {
            self.now_ns = sent + self.rtt_ns + n as u64 * STEP_NS;
            self.put(true, ACK, 0);
            let last = self.packets.len() - 1;
            self.packets[last].sack = Some((next, *from as u64 + u64::from(*more)));
        }
        // At once if enough ACKs reported the loss, otherwise after the retransmission timeout.
        let told = segments.len() - lost > 3;
        self.now_ns += if told { 5 * MICROSECOND } else { 200_000 * MICROSECOND + self.rtt_ns };
        self.server = at;
        self.put(false, ACK, length);
        self.now_ns += self.rtt_ns;
        let (last, more) = segments[segments.len() - 1];
        self.server = last + i64::from(more);
        self.put(true, ACK, 0);
    }

    /// Adds the FINs of both sides.
    pub(crate) fn close(&mut self, by_client: bool) {
        self.now_ns += 30 * MICROSECOND;
        self.put(by_client, FIN | ACK, 0);
        self.far(by_client, 1);
        self.now_ns += if by_client { 30 * MICROSECOND } else { self.rtt_ns };
        self.put(!by_client, FIN | ACK, 0);
        self.far(!by_client, 1);
        self.now_ns += if by_client { self.rtt_ns } else { 30 * MICROSECOND };
        self.put(by_client, ACK, 0);
    }

    /// Adds a reset from one side.
    pub(crate) fn reset(&mut self, by_client: bool) {
        self.now_ns += 30 * MICROSECOND;
        self.put(by_client, RST | ACK, 0);
    }

    fn far(&mut self, client: bool, by: i64) {
        if client { self.client += by } else { self.server += by }
    }

    /// Lets some time pass.
    pub(crate) fn pause(&mut self, ns: u64) {
        self.now_ns += ns;
    }
}
