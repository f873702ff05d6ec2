//! One connection, and the exchange that is on it.

use super::Segment;
use super::side::{Brought, Side};
use super::transfer::{Ends, Transfer, Unmeasured, Way};
use crate::wire::Flags;

/// What a request that is measured begins with.
const GET: &[u8] = b"GET ";

/// A connection as far as it was seen.
#[derive(Debug)]
pub(super) struct Connection {
    ends: Ends,
    sides: Way<Option<Side>>,
    began_ns: u64,
    /// Whether the beginning was seen, and how long it took.
    syn: bool,
    answered_ns: Option<u64>,
    established_ns: Option<u64>,
    /// Up to where the client has acknowledged.
    acknowledged: i64,
    /// It has been cut off.
    reset: bool,
    /// The client acknowledged what never came by.
    gap: bool,
    fragmented: bool,
    exchanges: u32,
    exchange: Option<Exchange>,
}

/// An exchange on its way.
#[derive(Debug)]
struct Exchange {
    found: Transfer,
    /// Where the server's stream stood when it was asked.
    start: i64,
    /// Up to where the client has acknowledged content.
    acknowledged: i64,
    /// And before its FIN.
    before_fin: i64,
    /// All bytes that count so far.
    bytes: Way<u64>,
}

impl Connection {
    pub(super) fn new(ends: Ends) -> Connection {
        Connection {
            ends,
            sides: Way::default(),
            began_ns: 0,
            syn: false,
            answered_ns: None,
            established_ns: None,
            acknowledged: 0,
            reset: false,
            gap: false,
            fragmented: false,
            exchanges: 0,
            exchange: None,
        }
    }

    /// Takes its next segment; an exchange that this ends goes to `done`.
    pub(super) fn take(
        &mut self,
        by_client: bool,
        segment: &Segment<'_>,
        done: &mut Vec<Transfer>,
    ) {
        let flags = segment.tcp.flags;
        self.fragmented |= segment.fragment;
        if flags.rst() {
            self.cut_off(by_client, segment);
            return;
        }
        self.begin(by_client, segment);
        let finished = self.has_finished(by_client) || flags.fin();
        let Some(side) = self.sides.of(by_client) else { return };
        let brought = side.sent(&segment.tcp);
        let get = by_client && brought.is_new && segment.tcp.payload.bytes.starts_with(GET);
        if !get {
            self.count(by_client, segment, brought);
        }
        if by_client && flags.ack() {
            self.acknowledge(segment, finished);
        }
        if get {
            self.end_exchange(done);
            self.ask(segment);
        }
    }

    /// A SYN that can't be this connection's.
    pub(super) fn is_other(&self, segment: &Segment<'_>) -> bool {
        let number = segment.tcp.sequence;
        !self.syn || self.sides.from_client.as_ref().is_some_and(|side| !side.began_with(number))
    }

    /// Both sides have said their last, or one has cut it off.
    pub(super) fn is_over(&self) -> bool {
        self.reset || (self.has_finished(true) && self.has_finished(false))
    }

    /// Nothing is to be expected of it.
    pub(super) fn is_settled(&self) -> bool {
        let unanswered = || self.exchange.as_ref().is_some_and(|e| e.found.wait_ns.is_none());
        let behind = self.sides.from_server.as_ref().map_or(0, Side::payload_end);
        self.reset || (self.acknowledged >= behind && !unanswered())
    }

    /// Hands out what it has.
    pub(super) fn finish(mut self, done: &mut Vec<Transfer>) {
        self.end_exchange(done);
        let carried = |side: &Option<Side>| side.as_ref().is_some_and(|s| s.payload_end() > 0);
        let carried = carried(&self.sides.from_client) || carried(&self.sides.from_server);
        if self.exchanges == 0 && carried {
            let mut found = self.transfer(self.began_ns);
            found.refuse(Unmeasured::NoGet);
            done.push(found);
        }
    }

    fn has_finished(&self, client: bool) -> bool {
        let side = if client { &self.sides.from_client } else { &self.sides.from_server };
        side.as_ref().is_some_and(Side::has_finished)
    }

    fn cut_off(&mut self, by_client: bool, segment: &Segment<'_>) {
        self.reset = true;
        if let Some(exchange) = &mut self.exchange {
            *exchange.found.resets.of(by_client) += 1;
            // What it acknowledges is nothing that was taken.
            *exchange.bytes.of(by_client) += segment.length;
        }
    }

    /// What is to be known of the handshake.
    fn begin(&mut self, by_client: bool, segment: &Segment<'_>) {
        let (tcp, at_ns) = (&segment.tcp, segment.at_ns);
        if self.sides.from_client.is_none() && self.sides.from_server.is_none() {
            (self.began_ns, self.syn) = (at_ns, tcp.flags.syn() && !tcp.flags.ack());
        }
        self.sides.of(by_client).get_or_insert_with(|| Side::new(tcp));
        let after_ns = at_ns.saturating_sub(self.began_ns);
        match (by_client, tcp.flags) {
            (false, flags) if flags.syn() && flags.ack() && self.syn => {
                self.answered_ns.get_or_insert(after_ns);
            }
            (true, flags) if is_plain_ack(flags) && self.answered_ns.is_some() => {
                self.established_ns.get_or_insert(after_ns);
            }
            _ => {}
        }
    }

    /// Adds a segment to what was sent in the exchange.
    fn count(&mut self, by_client: bool, segment: &Segment<'_>, brought: Brought) {
        let payload = segment.tcp.payload.length;
        let receiver = self.sides.of(!by_client).as_ref();
        let too_long =
            receiver.and_then(|side| side.mss).is_some_and(|mss| payload > usize::from(mss));
        let Some(exchange) = &mut self.exchange else { return };
        exchange.found.coalesced += u64::from(too_long);
        let known = if brought.repeats { segment.length } else { brought.known };
        let repeated = exchange.found.repeated.of(by_client);
        repeated.segments += u64::from(brought.repeats);
        repeated.bytes += known;
        *exchange.bytes.of(by_client) += segment.length.saturating_sub(known);
        if !by_client && brought.is_new {
            let wait_ns = segment.at_ns.saturating_sub(exchange.found.began_ns);
            exchange.found.wait_ns.get_or_insert(wait_ns);
        }
    }

    /// An ACK of the client's; `finished` where its FIN came before or with it.
    fn acknowledge(&mut self, segment: &Segment<'_>, finished: bool) {
        let Some(server) = &self.sides.from_server else { return };
        let to = server.position(segment.tcp.acknowledgement);
        if to > server.end() {
            self.gap = true;
            return;
        }
        self.acknowledged = self.acknowledged.max(to);
        let Some(exchange) = &mut self.exchange else { return };
        let content = to.min(server.payload_end());
        if content <= exchange.acknowledged {
            return;
        }
        let after_ns = segment.at_ns.saturating_sub(exchange.found.began_ns);
        exchange.acknowledged = content;
        exchange.found.acknowledged_ns = Some(after_ns);
        if !finished {
            exchange.before_fin = content;
            exchange.found.delay_ns = Some(after_ns);
            exchange.found.bytes = exchange.bytes;
        }
    }

    /// A GET begins an exchange.
    fn ask(&mut self, segment: &Segment<'_>) {
        self.exchanges += 1;
        let start = self.sides.from_server.as_ref().map_or(0, |s| s.end().max(s.payload_end()));
        let found = Transfer {
            number: self.exchanges,
            path: path(segment.tcp.payload.bytes),
            ..self.transfer(segment.at_ns)
        };
        let bytes = Way { from_client: segment.length, from_server: 0 };
        let (acknowledged, before_fin) = (start, start);
        self.exchange = Some(Exchange { found, start, acknowledged, before_fin, bytes });
    }

    fn end_exchange(&mut self, done: &mut Vec<Transfer>) {
        let Some(exchange) = self.exchange.take() else { return };
        let Exchange { mut found, start, before_fin, .. } = exchange;
        let server = self.sides.from_server.as_ref();
        let end = server.map_or(start, Side::payload_end).max(start);
        found.response_bytes = (end - start) as u64;
        found.left_to_fin = (end - before_fin) as u64;
        // It may have come after the GET: where the server accepts late.
        (found.answered_ns, found.established_ns) = (self.answered_ns, self.established_ns);
        if exchange.acknowledged < end {
            found.acknowledged_ns = None;
        }
        let whole = server.is_none_or(|side| side.is_whole(start, exchange.acknowledged));
        match () {
            () if self.fragmented => found.refuse(Unmeasured::Fragmented),
            () if self.gap || !whole => found.refuse(Unmeasured::Gap),
            () if found.delay_ns.is_none() => found.unmeasured = Some(Unmeasured::NoAck),
            () => {}
        }
        done.push(found);
    }

    /// One of which nothing is known but whose it is.
    fn transfer(&self, began_ns: u64) -> Transfer {
        Transfer {
            ends: self.ends,
            number: 0,
            path: String::new(),
            began_ns,
            wait_ns: None,
            delay_ns: None,
            acknowledged_ns: None,
            left_to_fin: 0,
            unmeasured: None,
            bytes: Way::default(),
            response_bytes: 0,
            repeated: Way::default(),
            resets: Way::default(),
            coalesced: 0,
            answered_ns: self.answered_ns,
            established_ns: self.established_ns,
        }
    }
}

fn is_plain_ack(flags: Flags) -> bool {
    flags.ack() && !flags.syn()
}

/// The path of a request, as far as it is there.
fn path(request: &[u8]) -> String {
    let behind = request.get(GET.len()..).unwrap_or_default();
    let end = behind.iter().position(|byte| *byte <= b' ').unwrap_or(behind.len());
    String::from_utf8_lossy(&behind[..end]).into_owned()
}
