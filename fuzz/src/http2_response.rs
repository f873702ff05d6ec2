//! However a connection's bytes are cut, the same is told of its exchanges and the same is answered;
//! each exchange ends at most once, with nothing told behind its end; and memory stays bounded.
//!
//! The first byte of the input chooses what is cancelled, the second how the bytes are cut. The
//! server's greeting comes first, unless the bytes begin with 'H'.

use std::sync::{Arc, LazyLock};

use sixmark_http::http2::{Connection, Http2Request, Http2Violation, Options, Parts};
use sixmark_http::observer::{Answer, Loss, Observer, Token};

/// GET, HEAD and a POST whose body exceeds the first windows, observed, and the same unobserved.
static REQUESTS: LazyLock<[Http2Request; 6]> = LazyLock::new(|| {
    let body = || Some(Arc::new(vec![b'p'; 50_000]));
    let request = |method, body, connection| {
        let (scheme, authority) = ("http", "[::1]");
        let parts = Parts { method, scheme, authority, path: "/", headers: &[] };
        Http2Request::new(&parts, body, connection).unwrap()
    };
    [true, false]
        .map(|connection| {
            [
                request("GET", None, connection),
                request("HEAD", None, connection),
                request("POST", body(), connection),
            ]
        })
        .concat()
        .try_into()
        .unwrap()
});

const GREETING: &[u8] = b"\0\0\0\x04\0\0\0\0\0";

#[derive(Debug, PartialEq)]
enum Event {
    Begun,
    Interim,
    Field(Vec<u8>, Vec<u8>),
    Content(Vec<u8>),
    Complete(Answer),
    Lost(Loss),
}

#[derive(Debug, Default, PartialEq)]
struct Log {
    events: Vec<(Token, Event)>,
    ended: [bool; 6],
}

impl Log {
    fn add(&mut self, token: Token, event: Event) {
        assert!(!self.ended[token as usize], "{token} had ended: {event:?}");
        self.events.push((token, event));
    }

    /// Returns whether a head has begun that was not that of an interim response.
    fn goes_on(&self, token: Token) -> bool {
        let count =
            |event| self.events.iter().filter(|(of, found)| *of == token && found == event).count();
        count(&Event::Begun) > count(&Event::Interim)
    }

    fn end(&mut self, token: Token, event: Event) {
        self.add(token, event);
        self.ended[token as usize] = true;
    }
}

impl Observer for Log {
    fn begun(&mut self, token: Token) {
        assert!(!self.goes_on(token), "begun twice");
        self.add(token, Event::Begun);
    }

    fn interim(&mut self, token: Token) {
        assert!(self.goes_on(token), "not begun");
        self.add(token, Event::Interim);
    }

    fn field(&mut self, token: Token, name: &[u8], value: &[u8]) {
        assert!(token < 3, "not observed");
        self.add(token, Event::Field(name.to_vec(), value.to_vec()));
    }

    fn content(&mut self, token: Token, bytes: &[u8]) {
        assert!(token < 3, "not observed");
        if let Some((last, Event::Content(content))) = self.events.last_mut()
            && *last == token
        {
            content.extend_from_slice(bytes);
            return;
        }
        self.add(token, Event::Content(bytes.to_vec()));
    }

    fn complete(&mut self, token: Token, answer: Answer) {
        assert!((200..=999).contains(&answer.status));
        assert!(self.goes_on(token));
        self.end(token, Event::Complete(answer));
    }

    fn lost(&mut self, token: Token, loss: Loss) {
        self.end(token, Event::Lost(loss));
    }
}

type Outcome = (Log, Result<(), Http2Violation>, Vec<u8>);

/// Reads an input. Panics where what this module says does not hold.
pub fn check(input: &[u8]) {
    let [cancelled, cut, bytes @ ..] = input else { return };
    let greeted =
        if bytes.first() == Some(&b'H') { bytes.to_vec() } else { [GREETING, bytes].concat() };
    let whole = read(&greeted, *cancelled, usize::MAX);
    assert_eq!(whole, read(&greeted, *cancelled, 1), "byte by byte");
    let size = usize::from(*cut) + 1;
    assert_eq!(whole, read(&greeted, *cancelled, size), "pieces of {size}");
    let middle = (greeted.len() * usize::from(*cut) / 256).max(1);
    assert_eq!(whole, read(&greeted, *cancelled, middle), "cut at {middle}");
}

fn read(bytes: &[u8], cancelled: u8, size: usize) -> Outcome {
    let mut connection = Connection::new(&Options { streams: 6, window: 65_535 });
    let mut log = Log::default();
    for (token, request) in (0..).zip(&*REQUESTS) {
        assert!(connection.begin(token, request));
    }
    connection.output().clear();
    for token in (0..6).filter(|token| cancelled >> token & 1 == 1) {
        connection.cancel(token);
        log.ended[token as usize] = true;
    }
    let result = bytes.chunks(size).try_for_each(|piece| connection.feed(piece, &mut log));
    for token in 0..6 {
        let open = connection.tokens().any(|other| other == token);
        assert_ne!(open, log.ended[token as usize], "{token}");
    }
    if let Err(violation) = result {
        assert_eq!(connection.feed(b"x", &mut log), Err(violation), "it stays broken");
    }
    let mut answers = Vec::new();
    while !connection.output().is_empty() {
        answers.append(connection.output());
    }
    // Two bodies, and for each frame of nine bytes an answer of up to 17.
    assert!(answers.len() <= 150_000 + 2 * bytes.len(), "{}", answers.len());
    (log, result, answers)
}
