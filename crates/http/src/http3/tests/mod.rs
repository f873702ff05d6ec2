//! Tests responses and the peer's other streams with tables of legal and illegal bytes, split in
//! every way a network might.

mod control;
mod responses;

use std::sync::Arc;

use super::{Heads, Http3Request, Http3Violation, Parts, StreamReader};
use crate::observer::{Answer, Loss, Observer, Token};

/// The reported events, one per line.
#[derive(Default)]
struct Log {
    text: String,
    in_content: bool,
}

impl Log {
    fn line(&mut self, line: &str) {
        if std::mem::take(&mut self.in_content) {
            self.text.push('\n');
        }
        self.text.push_str(line);
        self.text.push('\n');
    }
}

impl Observer for Log {
    fn begun(&mut self, _: Token) {
        self.line("begun");
    }

    fn interim(&mut self, _: Token) {
        self.line("interim");
    }

    fn field(&mut self, _: Token, name: &[u8], value: &[u8]) {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        self.line(&format!("field {}: {}", text(name), text(value)));
    }

    fn content(&mut self, _: Token, bytes: &[u8]) {
        if !std::mem::replace(&mut self.in_content, true) {
            self.text.push_str("content ");
        }
        self.text.push_str(&String::from_utf8_lossy(bytes));
    }

    fn complete(&mut self, _: Token, Answer { status, body }: Answer) {
        self.line(&format!("complete {status} {body}"));
    }

    fn lost(&mut self, _: Token, loss: Loss) {
        let loss = match loss {
            Loss::Malformed { code, .. } => format!("Malformed({code})"),
            loss => format!("{loss:?}"),
        };
        self.line(&format!("lost {loss}"));
    }
}

fn request(method: &str, body: Option<Vec<u8>>, observed: bool) -> Http3Request {
    let (scheme, authority) = ("https", "[::1]");
    let parts = Parts { method, scheme, authority, path: "/a", headers: &[] };
    Http3Request::new(&parts, body.map(Arc::new), observed).unwrap()
}

/// Returns the events for `bytes` in pieces that end at `cuts`, and for the end of the stream.
fn read(
    request: &Http3Request,
    bytes: &[u8],
    cuts: &[usize],
    heads: &mut Heads,
) -> (String, Result<(), Http3Violation>) {
    let mut reader = StreamReader::new(0, request);
    let mut log = Log::default();
    let mut at = 0;
    let mut result = Ok(());
    for &end in cuts.iter().chain([&bytes.len()]) {
        result = result.and_then(|()| reader.feed(&bytes[at..end], heads, &mut log));
        at = end;
    }
    if let Err(violation) = result {
        assert_eq!(reader.feed(b"x", heads, &mut log), Err(violation), "it stays broken");
        assert_eq!(reader.finish(&mut log), Err(violation));
    }
    result = result.and_then(|()| reader.finish(&mut log));
    assert!(reader.is_over() || result.is_err());
    (log.text, result)
}

/// Every split into two, many into three, and byte by byte.
fn cuts(length: usize) -> Vec<Vec<usize>> {
    let mut all = vec![vec![], (1..length).collect()];
    all.extend((1..length).map(|cut| vec![cut]));
    let mut random = sixmark_units::random::Random::new(11, length as u64);
    all.extend((0..200).map(|_| {
        let mut cuts: Vec<_> = (0..2).map(|_| random.bits() as usize % length.max(1)).collect();
        cuts.sort_unstable();
        cuts
    }));
    all
}
