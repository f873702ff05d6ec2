//! Data that no server should send.

use std::sync::Arc;

use sixmark_plan::plan::tls::{PlanTls, TlsVersion};
use sixmark_tally::tls::Reason;

use super::support::{Authority, IPV6, Talk, client, only};
use crate::tls::Client;

/// Maximum memory of a session, whatever it receives.
const BOUND: usize = 600 * 1024;

fn fresh(client: &mut Client, authority: &Authority) -> Talk {
    Talk::new(client, IPV6, &Arc::new(authority.server()))
}

#[test]
fn rejects_bytes_that_are_not_tls() {
    let authority = Authority::new();
    let mut client = client(authority.trusted());
    for wrong in [
        &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..],
        b"\x16\x03\x03\xff\xff and then some",
        b"\x16\x03\x03\x00\x00",
        b"\x17\x03\x03\x00\x01x",
        b"\x99\x03\x03\x00\x01x",
        // A handshake message of 16 MB.
        b"\x16\x03\x03\x00\x04\x02\xff\xff\xff",
    ] {
        for step in [1, usize::MAX] {
            let mut talk = fresh(&mut client, &authority);
            talk.step = step;
            let failure = talk.feed(wrong).unwrap_err();
            assert_eq!(failure.cause.reason, Reason::Protocol, "{wrong:?}: {failure}");
            // After that, nothing more is processed.
            let _ = talk.feed(wrong);
            assert!(!talk.progress.finished && talk.plain.is_empty());
        }
    }
}

#[test]
fn a_record_that_was_altered_is_refused_with_an_alert() {
    let authority = Authority::new();
    for version in [TlsVersion::V12, TlsVersion::V13] {
        let mut client = client(only(version, authority.trusted()));
        let mut talk = fresh(&mut client, &authority);
        talk.settle().unwrap();
        talk.say(b"something");
        let mut wire = talk.answer();
        *wire.last_mut().unwrap() ^= 1;
        let failure = talk.feed(&wire).unwrap_err();
        assert_eq!(failure.cause.reason, Reason::Protocol, "{failure}");
        assert!(!talk.out.is_empty() && talk.plain.is_empty());
        assert!(talk.session.write([b"a", b"b"], &mut talk.room, &mut talk.out).is_err());
    }
}

/// The beginning of a handshake, cut off anywhere, is neither finished nor an error.
#[test]
fn does_not_finish_a_truncated_handshake() {
    let authority = Authority::new();
    for version in [TlsVersion::V12, TlsVersion::V13] {
        let mut client = client(only(version, authority.trusted()));
        let server = Arc::new(authority.server());
        let mut talk = Talk::new(&mut client, IPV6, &server);
        talk.deliver();
        let length = talk.answer().len();
        for end in (0..length - 1).step_by(17) {
            let mut talk = Talk::new(&mut client, IPV6, &server);
            talk.deliver();
            let wire = talk.answer();
            talk.feed(&wire[..end.min(wire.len() - 1)]).unwrap();
            assert!(!talk.progress.finished, "{end} of {length}");
        }
    }
}

/// Random bytes instead of the server's data, or some bytes of it changed.
#[test]
fn survives_random_and_corrupted_bytes() {
    let authority = Authority::new();
    let server = Arc::new(authority.server());
    let mut clients = [TlsVersion::V12, TlsVersion::V13]
        .map(|version| client(only(version, PlanTls { insecure: true, ..authority.trusted() })));
    for seed in 1..=600u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut talk = Talk::new(&mut clients[(seed % 2) as usize], IPV6, &server);
        talk.step = random.below(3_000) + 1;
        if random.below(2) == 0 {
            talk.settle().unwrap();
            talk.say(&vec![7; random.below(40_000)]);
        } else {
            talk.deliver();
        }
        let mut wire = talk.answer();
        spoil(&mut wire, &mut random);
        let _ = talk.feed(&wire);
        let _ = talk.feed(&wire);
        let _ = talk.session.write([b"a", b"b"], &mut talk.room, &mut talk.out);
        talk.session.close(&mut talk.out);
        assert!(talk.session.held() < BOUND, "seed {seed}");
    }
}

fn spoil(wire: &mut Vec<u8>, random: &mut Random) {
    match random.below(4) {
        0 => wire.iter_mut().for_each(|byte| *byte = random.next() as u8),
        1 => wire.truncate(random.below(wire.len() + 1)),
        2 => wire.splice(0..0, [22, 3, 3, 0, random.below(256) as u8]).for_each(drop),
        _ => {}
    }
    for _ in 0..random.below(4) {
        if !wire.is_empty() {
            let at = random.below(wire.len());
            wire[at] = random.next() as u8;
        }
    }
}

#[test]
fn limits_the_memory_for_a_fragmented_handshake_message() {
    let authority = Authority::new();
    let mut client = client(authority.trusted());
    let mut talk = fresh(&mut client, &authority);
    // A ServerHello of 65,000 bytes, in records of one byte.
    let head = [2, 0, 0xfd, 0xe8];
    let bytes = head.into_iter().chain(std::iter::repeat(0)).take(70_000);
    for byte in bytes {
        if talk.feed(&[22, 3, 3, 0, 1, byte]).is_err() {
            break;
        }
        assert!(talk.session.held() < BOUND);
    }
    assert!(talk.session.held() < BOUND);
}

/// Xorshift.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}
