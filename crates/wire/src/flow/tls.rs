//! The plain-text part of TLS over TCP. Records are followed until both hellos have been read and
//! the client has sent application data (RFC 8446, 5.1).

use super::budget::Budget;
use super::connection_report::Hello;
use super::hello;
use super::reassembly::{Now, Reassembly};
use crate::Span;

const CHANGE_CIPHER_SPEC: u8 = 20;
const HANDSHAKE: u8 = 22;
const DATA: u8 = 23;
/// The least length of a client's record that completes a handshake of TLS 1.3: a Finished has at
/// least 45 bytes with its tag, an alert 19 at most (RFC 8446, 5.2).
const LEAST_FINISHED: usize = 40;
/// The maximum length of a hello.
const LONGEST: usize = 16 << 10;

/// Returns whether bytes begin with a TLS record. If `first` is true, it must be a handshake
/// record.
pub(super) fn is_record(bytes: &[u8], first: bool) -> bool {
    let kinds = if first { HANDSHAKE..=HANDSHAKE } else { 20..=DATA };
    matches!(bytes, [kind, 3, 0..=4, ..] if kinds.contains(kind))
}

/// Returns whether the first payload of a client may begin with a handshake, of which as little as one
/// byte may be present. The first record has to confirm it.
pub(super) fn may_be_handshake(payload: Span<'_>) -> bool {
    let goes_on = payload.length == payload.bytes.len();
    is_record(payload.bytes, true)
        || (goes_on && matches!(payload.bytes, [HANDSHAKE] | [HANDSHAKE, 3]))
}

/// Returns whether a payload begins with a ClientHello. Later handshake messages are encrypted, so
/// that hardly any looks like one.
pub(super) fn is_client_hello(bytes: &[u8]) -> bool {
    is_record(bytes, true) && bytes.get(5) == Some(&hello::CLIENT_HELLO)
}

/// The state of both sides of a handshake.
#[derive(Debug)]
pub(super) struct Tls {
    client: Records,
    server: Records,
    began_ns: u64,
    /// The sequence number where the server's stream begins, until its position is known.
    answer: Option<u32>,
}

/// The record reader of one side.
#[derive(Debug, Default)]
struct Records {
    stream: Reassembly,
    header: [u8; 5],
    /// The number of header bytes present.
    known: usize,
    /// The number of content bytes of the current record still to come.
    left: usize,
    /// The handshake messages received so far.
    message: Vec<u8>,
    /// True if the hello has been read or cannot be read.
    greeted: bool,
    /// The length of the longest record of application data; 0 if there was none.
    data: usize,
    /// True if the side has changed to encryption, as far as a record says so.
    changed: bool,
    /// True if nothing more can be read.
    done: bool,
    /// True if a record has been found.
    found: bool,
    /// True if the first bytes are no handshake.
    refuted: bool,
}

impl Tls {
    /// Returns the state of a handshake whose first payload from the client is at position `begin`.
    #[cfg(test)]
    pub(super) fn new(begin: i64, at_ns: u64) -> Tls {
        let mut stream = Reassembly::default();
        stream.begin_at(begin, &mut Budget::new(0));
        Tls::over(stream, at_ns)
    }

    /// Returns the state of a handshake that begins with the next bytes of the client's stream. Some of
    /// them may have been seen before `at_ns` and wait.
    pub(super) fn over(stream: Reassembly, at_ns: u64) -> Tls {
        let began_ns = stream.earliest_ns().map_or(at_ns, |earliest| earliest.min(at_ns));
        let client = Records { stream, ..Records::default() };
        Tls { client, server: Records::default(), began_ns, answer: None }
    }

    /// Returns whether what seemed to begin a handshake is none.
    pub(super) fn is_refuted(&self) -> bool {
        self.client.refuted
    }

    /// Sets the sequence number where the server's stream begins, of which nothing has been seen.
    pub(super) fn answer_at_number(&mut self, number: u32) {
        self.answer = Some(number);
    }

    /// Returns that number once, to be resolved when the server's stream is known.
    pub(super) fn take_answer(&mut self) -> Option<u32> {
        self.answer.take()
    }

    /// Sets the position where the server's stream begins.
    pub(super) fn answer_at(&mut self, begin: i64) {
        self.server.stream.begin_at(begin, &mut Budget::new(0));
    }

    /// Processes a segment of one side. Returns true when no more information is expected.
    pub(super) fn take(
        &mut self,
        by_client: bool,
        (begin, payload, at_ns): (i64, Span<'_>, u64),
        budget: &mut Budget,
        hello: &mut Hello,
    ) -> bool {
        let side = if by_client { &mut self.client } else { &mut self.server };
        if !side.done {
            side.take(begin, payload, at_ns, budget, hello);
        }
        let after_ns = at_ns.saturating_sub(self.began_ns);
        if !by_client {
            hello.first_flight_ns.get_or_insert(after_ns);
        }
        let newest = hello.version.as_deref() == Some("1.3");
        let least = if newest { LEAST_FINISHED } else { 1 };
        // Early data precedes the server's hello and does not complete the handshake.
        if by_client && self.client.data >= least && self.server.greeted {
            hello.handshake_ns = Some(after_ns);
        }
        if !self.server.greeted {
            self.client.data = 0;
        }
        let both_changed = self.client.changed && self.server.changed;
        hello.completed |= hello.handshake_ns.is_some() || (both_changed && !newest);
        hello.handshake_ns.is_some() || (self.client.done && self.server.done)
    }

    /// Returns the memory of both sides to the budget.
    pub(super) fn end(&mut self, budget: &mut Budget) {
        self.client.end(budget);
        self.server.end(budget);
    }
}

impl Records {
    fn take(
        &mut self,
        begin: i64,
        payload: Span<'_>,
        at_ns: u64,
        budget: &mut Budget,
        hello: &mut Hello,
    ) {
        match self.stream.take(begin, payload, at_ns, self.unread(), budget) {
            Now::Read(span) => self.read(span, budget, hello),
            Now::Nothing => {}
            Now::Full => self.end(budget),
        }
        while let Some((piece, from)) = self.stream.ready(budget) {
            self.read(piece.span().skip(from), budget, hello);
        }
    }

    fn unread(&self) -> u64 {
        if self.greeted || self.header[0] != HANDSHAKE { self.left as u64 } else { 0 }
    }

    fn read(&mut self, mut next: Span<'_>, budget: &mut Budget, hello: &mut Hello) {
        while next.length > 0 && !self.done {
            let used = match self.left {
                0 => self.read_header(next, budget),
                left => self.read_content(next, left.min(next.length), budget, hello),
            };
            next = next.skip(used);
        }
    }

    fn read_header(&mut self, next: Span<'_>, budget: &mut Budget) -> usize {
        let missing = self.header.len() - self.known;
        let there = &next.bytes[..next.bytes.len().min(missing)];
        self.header[self.known..self.known + there.len()].copy_from_slice(there);
        self.known += there.len();
        if self.known == self.header.len() {
            self.known = 0;
            self.left = u16::from_be_bytes([self.header[3], self.header[4]]).into();
            self.changed |= self.header[0] == CHANGE_CIPHER_SPEC;
            if self.header[0] == DATA {
                self.data = self.data.max(self.left);
            }
        }
        let is_whole = self.known == 0 && !there.is_empty();
        let is_other = is_whole && !is_record(&self.header, false);
        self.refuted |= is_whole && !self.found && !is_record(&self.header, true);
        self.found |= is_whole && !is_other;
        if there.is_empty() || is_other {
            // The header was not captured, or it is not TLS.
            self.end(budget);
        }
        there.len()
    }

    fn read_content(
        &mut self,
        next: Span<'_>,
        length: usize,
        budget: &mut Budget,
        hello: &mut Hello,
    ) -> usize {
        self.left -= length;
        if self.header[0] == HANDSHAKE && !self.greeted {
            let there = &next.bytes[..next.bytes.len().min(length)];
            let fits = self.message.len() + there.len() <= LONGEST && there.len() == length;
            if !fits || !budget.take(there.len()) {
                self.greet(budget);
            } else {
                self.message.extend_from_slice(there);
                if let Some((kind, body)) = hello::message(&self.message) {
                    hello::read_message(kind, body, hello);
                    self.greet(budget);
                }
            }
        }
        length
    }

    /// Marks the hello as read, or as unreadable, and releases its bytes.
    fn greet(&mut self, budget: &mut Budget) {
        budget.give(self.message.len());
        (self.greeted, self.message) = (true, Vec::new());
    }

    fn end(&mut self, budget: &mut Budget) {
        self.greet(budget);
        self.stream.clear(budget);
        self.done = true;
    }
}

#[cfg(test)]
mod tests {
    use super::super::hello::made::{client, record, server};
    use super::*;

    const BUDGET: usize = 1 << 20;

    /// Returns what is read from streams that are cut into pieces of `step` bytes, each captured up
    /// to `kept` bytes. If `swap` is true, adjacent pieces are exchanged.
    fn learn(step: usize, kept: usize, swap: bool) -> (Hello, usize) {
        let asks = record(HANDSHAKE, &client("example.org", &["h2"]));
        let answers = [record(HANDSHAKE, &server(Some([3, 4]), None)), record(DATA, &[7; 3_000])];
        let then = [record(20, &[1]), record(DATA, &[1; 53])].concat();
        let (mut budget, mut hello) = (Budget::new(BUDGET), Hello::default());
        let mut tls = Tls::new(1, 1_000);
        tls.answer_at(1);
        let (mut at_ns, mut done) = (1_000, false);
        let mut send = |by_client: bool, from: usize, bytes: &[u8]| {
            let mut pieces: Vec<_> = bytes.chunks(step).enumerate().collect();
            if swap {
                pieces.chunks_mut(2).for_each(<[_]>::reverse);
            }
            for (n, piece) in pieces {
                let span = Span::new(&piece[..piece.len().min(kept)], piece.len());
                let begin = (1 + from + n * step) as i64;
                done |= tls.take(by_client, (begin, span, at_ns), &mut budget, &mut hello);
                at_ns += 1_000;
            }
        };
        send(true, 0, &asks);
        send(false, 0, &answers.concat());
        send(true, asks.len(), &then);
        assert!(done || kept < step);
        tls.end(&mut budget);
        (hello, budget.left())
    }

    #[test]
    fn reads_a_handshake_in_segments_of_any_size_and_order() {
        for step in [1, 2, 7, 100, 536, 1_448, 10_000] {
            for swap in [false, true] {
                let (found, left) = learn(step, step, swap);
                assert_eq!(found.version.as_deref(), Some("1.3"), "{step}");
                assert_eq!(found.server_name.as_deref(), Some("example.org"));
                assert_eq!(found.offered, ["h2"]);
                assert!(found.handshake_ns.is_some_and(|ns| ns >= 2_000), "{step}");
                assert_eq!(left, BUDGET);
            }
        }
    }

    /// Returns what is read of a handshake of this version in which the server sends `answers` and
    /// then the client sends `then`.
    fn shake(version: Option<[u8; 2]>, answers: &[u8], then: &[u8]) -> Hello {
        let asks = record(HANDSHAKE, &client("example.org", &["h2"]));
        let answers = [&record(HANDSHAKE, &server(version, None)), answers].concat();
        let (mut budget, mut hello) = (Budget::new(BUDGET), Hello::default());
        let mut tls = Tls::new(1, 1_000);
        tls.answer_at(1);
        for (by_client, begin, bytes, at_ns) in [
            (true, 1, &asks[..], 1_000),
            (false, 1, &answers, 4_000),
            (true, 1 + asks.len() as i64, then, 9_000),
        ] {
            let span = Span::new(bytes, bytes.len());
            tls.take(by_client, (begin, span, at_ns), &mut budget, &mut hello);
        }
        hello
    }

    #[test]
    fn does_not_take_an_alert_for_the_end_of_a_handshake() {
        let changed = record(CHANGE_CIPHER_SPEC, &[1]);
        let (newest, older) = (Some([3, 4]), None);
        let [alert, finished] = [[1_u8; 19].to_vec(), vec![1; 53]].map(|of| record(DATA, &of));
        let with = |then: &[u8]| [&changed[..], then].concat();
        let hidden = record(HANDSHAKE, &[7; 40]);
        for (version, then, handshake_ns, completed) in [
            (newest, with(&finished), Some(8_000), true),
            (newest, with(&alert), None, false),
            (newest, with(&[]), None, false),
            // The last message of TLS 1.2 is the server's, and here comes before the client's.
            (older, with(&hidden), None, true),
            (older, with(&[&hidden[..], &record(DATA, &[1])].concat()), Some(8_000), true),
            (older, record(21, &[2, 48]), None, false),
        ] {
            let found = shake(version, &changed, &then);
            assert_eq!(
                (found.handshake_ns, found.completed),
                (handshake_ns, completed),
                "{then:?}"
            );
            assert_eq!(found.first_flight_ns, Some(3_000));
        }
    }

    #[test]
    fn reads_what_truncated_packets_contain() {
        // The ServerHello is at the beginning of its packet; the client's server name follows its
        // key share.
        let (found, left) = learn(1_448, 120, false);
        assert_eq!((found.server_name, left), (None, BUDGET));
        assert!(found.handshake_ns.is_some());
        // When the server answered is known without any of its bytes.
        let (found, left) = learn(1_448, 0, false);
        let nothing = Hello { first_flight_ns: found.first_flight_ns, ..Hello::default() };
        assert!(found.first_flight_ns.is_some());
        assert_eq!((found, left), (nothing, BUDGET));
    }

    #[test]
    fn recognises_only_tls_records() {
        assert!(is_record(&[22, 3, 1, 0], true) && !is_record(&[23, 3, 3, 0], true));
        assert!(is_record(&[23, 3, 3, 0], false) && !is_record(b"GET ", false));
        assert!(!is_record(&[22], true));
    }
}
