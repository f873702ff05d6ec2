//! However the bytes of a stream are cut, the same is told of its exchange, which ends at most once;
//! and the streams beside are judged the same.
//!
//! The first byte of the input chooses the request and whose stream it is, the second how the bytes
//! are cut.

use std::sync::LazyLock;

use sixmark_http::http3::{Control, Heads, Http3Request, Http3Violation, Parts, StreamReader};
use sixmark_http::observer::{Answer, Loss, Observer, Token};

/// GET and HEAD, unobserved and observed.
static REQUESTS: LazyLock<[Http3Request; 4]> = LazyLock::new(|| {
    [("GET", false), ("HEAD", false), ("GET", true), ("HEAD", true)].map(|(method, connection)| {
        let (scheme, authority) = ("https", "[::1]");
        let parts = Parts { method, scheme, authority, path: "/", headers: &[] };
        Http3Request::new(&parts, None, connection).unwrap()
    })
});

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
struct Log(Vec<Event>);

impl Log {
    fn ended(&self) -> bool {
        matches!(self.0.last(), Some(Event::Complete(_) | Event::Lost(_)))
    }

    fn add(&mut self, event: Event) {
        assert!(!self.ended(), "it had ended: {event:?}");
        self.0.push(event);
    }
}

impl Observer for Log {
    fn begun(&mut self, _: Token) {
        assert!(matches!(self.0.last(), None | Some(Event::Interim)));
        self.add(Event::Begun);
    }

    fn interim(&mut self, _: Token) {
        assert_eq!(self.0.last(), Some(&Event::Begun));
        self.add(Event::Interim);
    }

    fn field(&mut self, _: Token, name: &[u8], value: &[u8]) {
        self.add(Event::Field(name.to_vec(), value.to_vec()));
    }

    fn content(&mut self, _: Token, bytes: &[u8]) {
        if let Some(Event::Content(content)) = self.0.last_mut() {
            content.extend_from_slice(bytes);
            return;
        }
        self.add(Event::Content(bytes.to_vec()));
    }

    fn complete(&mut self, _: Token, answer: Answer) {
        assert!((200..=999).contains(&answer.status));
        assert!(self.0.contains(&Event::Begun));
        self.add(Event::Complete(answer));
    }

    fn lost(&mut self, _: Token, loss: Loss) {
        self.add(Event::Lost(loss));
    }
}

/// Reads an input. Panics where what this module says does not hold.
pub fn check(input: &[u8]) {
    let [choice, cut, bytes @ ..] = input else { return };
    let sizes = [1, usize::from(*cut) + 1, (bytes.len() * usize::from(*cut) / 256).max(1)];
    if choice & 0x80 != 0 {
        let whole = control(bytes, usize::MAX);
        sizes.iter().for_each(|&size| assert_eq!(whole, control(bytes, size), "pieces of {size}"));
        return;
    }
    let request = &REQUESTS[usize::from(choice % 4)];
    // The head that was read before must make no difference.
    let mut heads = Heads::default();
    let whole = response(bytes, request, usize::MAX, &mut heads);
    for size in sizes {
        let pieces = response(bytes, request, size, &mut heads);
        assert_eq!(whole, pieces, "pieces of {size}");
    }
}

fn response(
    bytes: &[u8],
    request: &Http3Request,
    size: usize,
    heads: &mut Heads,
) -> (Log, Result<(), Http3Violation>) {
    let mut reader = StreamReader::new(0, request);
    let mut log = Log::default();
    let mut result = bytes.chunks(size).try_for_each(|piece| reader.feed(piece, heads, &mut log));
    if let Err(violation) = result {
        assert_eq!(reader.feed(b"x", heads, &mut log), Err(violation), "it stays broken");
    }
    result = result.and_then(|()| reader.finish(&mut log));
    assert_eq!(reader.is_over(), log.ended());
    assert!(result.is_err() || log.ended());
    (log, result)
}

/// The state of the connection after one stream of the peer's, read until its type is found to be
/// unknown, as [`Control::feed`] requires; and whether it was known.
fn control(bytes: &[u8], size: usize) -> (Result<bool, Http3Violation>, bool, Option<u64>) {
    let mut control = Control::new();
    let mut pieces = bytes.chunks(size);
    let result = loop {
        let Some(piece) = pieces.next() else { break Ok(true) };
        match control.feed(3, piece) {
            Ok(true) => {}
            unknown_or_broken => break unknown_or_broken,
        }
    };
    (result, control.is_greeted(), control.goaway())
}
