//! Tests the connection with tables of legal and illegal bytes, split in every way a network might,
//! and with a server that does whatever is allowed.

mod cost;
mod illegal;
mod legal;
mod output;
mod server;
mod wire;

use std::fmt::Write;
use std::sync::Arc;

use super::{Connection, Http2Request, Http2Violation, Options, Parts};
use crate::observer::{Answer, Loss, Observer, Token};

/// The reported events, one per line, and how the connection ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Log {
    text: String,
    in_content: Option<Token>,
}

impl Log {
    fn line(&mut self, line: &str) {
        if self.in_content.take().is_some() {
            self.text.push('\n');
        }
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn text(mut self) -> String {
        if self.in_content.take().is_some() {
            self.text.push('\n');
        }
        self.text
    }
}

impl Observer for Log {
    fn begun(&mut self, token: Token) {
        self.line(&format!("begun {token}"));
    }

    fn interim(&mut self, token: Token) {
        self.line(&format!("interim {token}"));
    }

    fn field(&mut self, token: Token, name: &[u8], value: &[u8]) {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        self.line(&format!("field {token} {}: {}", text(name), text(value)));
    }

    fn content(&mut self, token: Token, bytes: &[u8]) {
        assert!(!bytes.is_empty());
        if self.in_content != Some(token) {
            self.line(&format!("content {token}"));
            self.text.pop();
            self.in_content = Some(token);
            self.text.push(' ');
        }
        let _ = write!(self.text, "{}", String::from_utf8_lossy(bytes));
    }

    fn complete(&mut self, token: Token, Answer { status, body }: Answer) {
        self.line(&format!("complete {token} {status} {body}"));
    }

    fn lost(&mut self, token: Token, loss: Loss) {
        let loss = match loss {
            Loss::Malformed { code, .. } => format!("Malformed({code})"),
            loss => format!("{loss:?}"),
        };
        self.line(&format!("lost {token} {loss}"));
    }
}

pub(super) fn request(method: &str, body: Option<Vec<u8>>, observed: bool) -> Http2Request {
    let (scheme, authority) = ("http", "[::1]");
    let parts = Parts { method, scheme, authority, path: "/a", headers: &[] };
    Http2Request::new(&parts, body.map(Arc::new), observed).unwrap()
}

/// A connection with four requests, which have been sent: an observed GET is token 0 on stream 1,
/// HEAD is 1 on 3, a POST whose body exceeds the initial windows is 2 on 5, and a GET is 3 on 7.
/// Stream 9 was never opened.
pub(super) fn connection() -> Connection {
    let mut connection = Connection::new(&Options { streams: 10, ..Options::default() });
    assert!(connection.begin(0, &request("GET", None, true)));
    assert!(connection.begin(1, &request("HEAD", None, false)));
    assert!(connection.begin(2, &request("POST", Some(vec![b'p'; 100_000]), false)));
    assert!(connection.begin(3, &request("GET", None, false)));
    connection.output().clear();
    connection
}

/// Returns the events for `bytes` in pieces that end at `cuts`, the result and the answers.
fn read(bytes: &[u8], cuts: &[usize]) -> (String, Result<(), Http2Violation>, Vec<u8>) {
    let mut connection = connection();
    let mut log = Log::default();
    let mut at = 0;
    let mut result = Ok(());
    for &end in cuts.iter().chain([&bytes.len()]) {
        result = result.and_then(|()| connection.feed(&bytes[at..end], &mut log));
        at = end;
    }
    if let Err(violation) = result {
        assert_eq!(connection.feed(b"x", &mut log), Err(violation), "it stays broken");
        assert_eq!(connection.room(), 0);
    }
    (log.text(), result, connection.output().clone())
}

/// Up to this length every split into three is tested; from [`LONG`] on only random ones are.
const SHORT: usize = 80;
const LONG: usize = 2000;

fn assert_reads(name: &str, bytes: &[u8], told: &str, result: Result<(), Http2Violation>) {
    let (text, end, answers) = read(bytes, &[]);
    assert_eq!((text.as_str(), end), (told, result), "{name}");
    let reads = |cuts: &[usize]| {
        let read = read(bytes, cuts);
        assert_eq!(read, (text.clone(), end, answers.clone()), "{name}, cut at {cuts:?}");
    };
    random_cuts(bytes.len()).iter().for_each(|cuts| reads(cuts));
    if bytes.len() > LONG {
        return;
    }
    reads(&(1..bytes.len()).collect::<Vec<_>>());
    (1..bytes.len()).for_each(|cut| reads(&[cut]));
    if bytes.len() <= SHORT {
        (1..bytes.len()).for_each(|first| {
            (first + 1..bytes.len()).for_each(|second| reads(&[first, second]));
        });
    }
}

fn random_cuts(length: usize) -> Vec<Vec<usize>> {
    let mut random = sixmark_units::random::Random::new(7, length as u64);
    (1..20)
        .map(|count| {
            let mut cuts: Vec<_> =
                (0..count).map(|_| random.bits() as usize % length.max(1)).collect();
            cuts.sort_unstable();
            cuts
        })
        .collect()
}

#[test]
fn reads_legal_frames_at_any_packet_boundaries() {
    for case in legal::cases() {
        assert_reads(case.name, &case.bytes, case.told, Ok(()));
    }
}

#[test]
fn rejects_illegal_frames_at_any_packet_boundaries() {
    for case in illegal::cases() {
        let bytes = [&case.bytes[..], &wire::answer(1)].concat();
        let (told, _, _) = read(&case.bytes, &[]);
        assert_reads(case.name, &bytes, &told, Err(case.violation));
        assert_eq!(case.violation.code(), case.code, "{}", case.name);
    }
}

#[test]
fn has_at_least_40_legal_and_40_illegal_cases() {
    assert!(legal::cases().len() >= 40, "{}", legal::cases().len());
    assert!(illegal::cases().len() >= 40, "{}", illegal::cases().len());
}

#[test]
fn every_exchange_ends_once_or_is_in_flight_wherever_the_peer_stops() {
    for case in legal::cases().into_iter().filter(|case| case.bytes.len() <= LONG) {
        for end in 0..=case.bytes.len() {
            let mut connection = connection();
            let mut log = Log::default();
            connection.feed(&case.bytes[..end], &mut log).unwrap();
            let text = log.text();
            for token in 0..4 {
                let ended = |line: &str| {
                    line.starts_with(&format!("complete {token} "))
                        || line.starts_with(&format!("lost {token} "))
                };
                let ends = text.lines().filter(|line| ended(line)).count();
                let open = connection.tokens().filter(|&open| open == token).count();
                assert_eq!(ends + open, 1, "{}, token {token}: {text}", case.name);
                let heads = text.matches(&format!("begun {token}\n")).count();
                assert!(heads <= 1 + text.matches(&format!("interim {token}\n")).count());
            }
        }
    }
}
