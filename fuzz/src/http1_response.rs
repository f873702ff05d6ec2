//! However a connection's bytes are cut, and whether its bodies are fed or discarded unseen, the
//! responses read from it are the same.
//!
//! The first byte of the input chooses the kind of each request, the second how the bytes are cut.

use sixmark_http::http1::{Complete, Early, Http1Violation, RequestKind, ResponseReader};

/// How the last response on the connection ended.
#[derive(Debug, PartialEq)]
enum End {
    Broken(Http1Violation),
    Closed(Result<Complete, Early>),
}

/// The complete responses with the bytes each took and the interim ones before it, then the end: with
/// the interim responses before it, and whether anything came after them.
type Outcome = (Vec<(usize, u8, Complete)>, (End, u8, bool));

/// Reads an input. Panics where what this module says does not hold.
pub fn check(input: &[u8]) {
    let [kinds, cut, bytes @ ..] = input else { return };
    let whole = read(bytes, *kinds, usize::MAX, false);
    assert_eq!(whole, read(bytes, *kinds, usize::MAX, true), "discarded");
    assert_eq!(whole, read(bytes, *kinds, 1, false), "byte by byte");
    for discard in [false, true] {
        let size = usize::from(*cut) + 1;
        assert_eq!(whole, read(bytes, *kinds, size, discard), "pieces of {size}, {discard}");
    }
    let middle = bytes.len() * usize::from(*cut) / 256;
    assert_eq!(whole, read(bytes, *kinds, middle.max(1), false), "cut at {middle}");
}

fn read(bytes: &[u8], kinds: u8, size: usize, discard: bool) -> Outcome {
    let mut reader = ResponseReader::new();
    let mut responses = Vec::new();
    let mut rest = bytes;
    loop {
        reader.begin(kind(kinds, responses.len()));
        match read_one(&mut reader, &mut rest, size, discard) {
            Ok(Some(complete)) => {
                assert!(reader.goes_on());
                responses.push((bytes.len() - rest.len(), reader.interim(), complete));
            }
            Ok(None) => {
                let (interim, goes_on) = (reader.interim(), reader.goes_on());
                assert_eq!(reader.has_begun(), goes_on || interim > 0);
                return (responses, (End::Closed(reader.finish()), interim, goes_on));
            }
            Err(violation) => {
                return (responses, (End::Broken(violation), reader.interim(), reader.goes_on()));
            }
        }
    }
}

fn kind(kinds: u8, number: usize) -> RequestKind {
    if kinds >> (number % 8) & 1 == 1 { RequestKind::Head } else { RequestKind::Ordinary }
}

fn read_one(
    reader: &mut ResponseReader,
    rest: &mut &[u8],
    size: usize,
    discard: bool,
) -> Result<Option<Complete>, Http1Violation> {
    while !rest.is_empty() {
        let piece = &rest[..size.min(rest.len())];
        let droppable = reader.discardable().min(piece.len() as u64);
        let (consumed, complete) = if discard && droppable > 0 {
            (droppable as usize, reader.discarded(droppable))
        } else {
            let fed = reader.feed(piece).inspect_err(|violation| {
                assert_eq!(reader.feed(b"x"), Err(*violation), "a broken reader stays broken");
            })?;
            assert!(fed.consumed <= piece.len());
            assert!(fed.consumed == piece.len() || fed.complete.is_some(), "bytes left behind");
            (fed.consumed, fed.complete)
        };
        *rest = &rest[consumed..];
        if complete.is_some() {
            assert_eq!(reader.feed(b"x").map(|fed| fed.consumed), Ok(0));
            return Ok(complete);
        }
    }
    Ok(None)
}
