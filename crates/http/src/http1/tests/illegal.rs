//! Responses that a client must refuse. Each is followed by more bytes than needed, so that nothing
//! waits for more.

use super::Http1Violation;
use super::corpus::{chunked, fields, head_of, ok};

pub(super) struct Illegal {
    pub(super) name: &'static str,
    pub(super) bytes: Vec<u8>,
    pub(super) violation: Http1Violation,
}

fn illegal(name: &'static str, bytes: impl AsRef<[u8]>, violation: Http1Violation) -> Illegal {
    Illegal { name, bytes: bytes.as_ref().to_vec(), violation }
}

pub(super) fn cases() -> Vec<Illegal> {
    [status_lines(), heads(), limits(), lengths(), codings(), chunks(), extensions(), trailers()]
        .into_iter()
        .flatten()
        .collect()
}

fn status_lines() -> Vec<Illegal> {
    use Http1Violation::{EmptyLines, NotHttp, Status, StatusLine, Upgrade, Version};
    vec![
        illegal("SSH", "SSH-2.0-OpenSSH_9.9\r\n", NotHttp),
        illegal("SMTP", "220 mail.example.net ESMTP\r\n", NotHttp),
        illegal("TLS alert", b"\x15\x03\x01\x00\x02\x02\x46", NotHttp),
        illegal("HTTP/0.9", "<html></html>", NotHttp),
        illegal("a request", "GET / HTTP/1.1\r\n\r\n", NotHttp),
        illegal("lower case", "http/1.1 200 OK\r\n\r\n", NotHttp),
        illegal("space first", " HTTP/1.1 200 OK\r\n\r\n", NotHttp),
        illegal("CR first", "\rHTTP/1.1 200 OK\r\n\r\n", NotHttp),
        illegal("HTTP/2.0", "HTTP/2.0 200 OK\r\n\r\n", Version),
        illegal("HTTP/2", "HTTP/2 200\r\n\r\n", Version),
        illegal("HTTP/0.9 with a head", "HTTP/0.9 200 OK\r\n\r\n", Version),
        illegal("HTTP/1.10", "HTTP/1.10 200 OK\r\n\r\n", StatusLine),
        illegal("no status", "HTTP/1.1\r\n\r\n", StatusLine),
        illegal("two spaces", "HTTP/1.1  200 OK\r\n\r\n", StatusLine),
        illegal("tab", "HTTP/1.1\t200 OK\r\n\r\n", StatusLine),
        illegal("two digits", "HTTP/1.1 20 OK\r\n\r\n", StatusLine),
        illegal("four digits", "HTTP/1.1 2000 OK\r\n\r\n", StatusLine),
        illegal("letters", "HTTP/1.1 2xx OK\r\n\r\n", StatusLine),
        illegal("negative", "HTTP/1.1 -20 OK\r\n\r\n", StatusLine),
        illegal("control character", "HTTP/1.1 200 O\x01K\r\n\r\n", StatusLine),
        illegal("bare CR in the reason", "HTTP/1.1 200 O\rK\r\n\r\n", StatusLine),
        illegal("099", "HTTP/1.1 099 OK\r\n\r\n", Status),
        illegal("000", "HTTP/1.1 000 OK\r\n\r\n", Status),
        illegal("101", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n", Upgrade),
        illegal("5 empty lines", "\r\n\r\n\r\n\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", EmptyLines),
        illegal("no HTTP after an interim", "HTTP/1.1 100 C\r\n\r\nhello", NotHttp),
    ]
}

fn heads() -> Vec<Illegal> {
    use Http1Violation::{HeaderName, HeaderValue, LineEnd};
    vec![
        illegal("no colon", ok("Content-Length 5\r\n", "hello"), HeaderName),
        illegal("no name", ok(": b\r\n", ""), HeaderName),
        illegal("space in a name", ok("A B: c\r\n", ""), HeaderName),
        illegal("NUL in a name", ok("A\0: c\r\n", ""), HeaderName),
        illegal("name of another alphabet", ok("\u{e9}: c\r\n", ""), HeaderName),
        illegal("space before the first field", ok(" A: b\r\n", ""), HeaderName),
        illegal("NUL in a value", ok("A: b\0\r\n", ""), HeaderValue),
        illegal("DEL in a value", ok("A: b\x7f\r\n", ""), HeaderValue),
        illegal("bare CR in a value", ok("A: b\rC: d\r\n", ""), HeaderValue),
        illegal("CR twice", ok("A: b\r\r\n", ""), HeaderValue),
        illegal("bare CR after the head", "HTTP/1.1 200 OK\r\n\rx\n", LineEnd),
        illegal("bad fold", ok("A: b\r\n \x01\r\n", ""), HeaderValue),
    ]
}

fn limits() -> Vec<Illegal> {
    use Http1Violation::{HeadTooLong, TooManyInterim};
    let endless = [b"HTTP/1.1 200 OK\r\nA: ".to_vec(), vec![b'a'; 270_000]].concat();
    let interim = "HTTP/1.1 100 C\r\n\r\n".repeat(65);
    vec![
        illegal("too many fields", ok(&fields(70_000, 5), ""), HeadTooLong),
        illegal("a byte too long", head_of(256 * 1024 + 1), HeadTooLong),
        illegal("a head without end", endless, HeadTooLong),
        illegal("65 interims", interim, TooManyInterim),
    ]
}

fn lengths() -> Vec<Illegal> {
    use Http1Violation::{ContentLength, ContentLengths};
    let says = |value: &str| ok(&format!("Content-Length: {value}\r\n"), "hello");
    vec![
        illegal("empty length", says(""), ContentLength),
        illegal("list of nothing", says(",,"), ContentLength),
        illegal("plus", says("+5"), ContentLength),
        illegal("minus", says("-5"), ContentLength),
        illegal("hexadecimal", says("0x5"), ContentLength),
        illegal("fraction", says("5.0"), ContentLength),
        illegal("two numbers", says("5 5"), ContentLength),
        illegal("folded number", says("5\r\n 5"), ContentLength),
        illegal("quoted", says("\"5\""), ContentLength),
        illegal("2^64", says("18446744073709551616"), ContentLength),
        illegal("a bad one in the list", says("5, x"), ContentLength),
        illegal("two lengths", says("5, 6"), ContentLengths),
        illegal("two lines", says("5\r\nContent-Length: 4"), ContentLengths),
    ]
}

fn codings() -> Vec<Illegal> {
    let says = |value: &str| {
        let bytes = ok(&format!("Transfer-Encoding: {value}\r\n"), "0\r\n\r\n");
        illegal("coding", bytes, Http1Violation::TransferEncoding)
    };
    vec![
        says("chunked, chunked"),
        says("chunked\r\nTransfer-Encoding: chunked"),
        says("chunked, gzip, chunked"),
        says("chunked;a=b"),
        says("chun ked"),
        says("gzip;a=\"b, chunked"),
        says("\"chunked\""),
        says("[chunked]"),
    ]
}

fn chunks() -> Vec<Illegal> {
    use Http1Violation::{ChunkEnd, ChunkLineEnd, ChunkLineTooLong, ChunkSize, ChunkTooLarge};
    let zeros = "0".repeat(16 * 1024 + 1);
    vec![
        illegal("no size", chunked("\r\nhello\r\n"), ChunkSize),
        illegal("only an extension", chunked(";a=b\r\nhello\r\n"), ChunkSize),
        illegal("space before the size", chunked(" 5\r\nhello\r\n"), ChunkSize),
        illegal("0x", chunked("0x5\r\nhello\r\n"), ChunkSize),
        illegal("minus", chunked("-5\r\nhello\r\n"), ChunkSize),
        illegal("two sizes", chunked("5 5\r\nhello\r\n"), ChunkSize),
        illegal("not chunked at all", chunked("<html>"), ChunkSize),
        illegal("2^64", chunked("10000000000000000\r\n"), ChunkTooLarge),
        illegal("2^68", chunked("fffffffffffffffff\r\n"), ChunkTooLarge),
        illegal("size ends in LF", chunked("5\nhello\r\n0\r\n\r\n"), ChunkLineEnd),
        illegal("size ends in CR", chunked("5\rhello\r\n0\r\n\r\n"), ChunkLineEnd),
        illegal("extension ends in LF", chunked("5;a\nhello\r\n0\r\n\r\n"), ChunkLineEnd),
        illegal("no end", chunked("5\r\nhello0\r\n\r\n"), ChunkEnd),
        illegal("LF as an end", chunked("5\r\nhello\n0\r\n\r\n"), ChunkEnd),
        illegal("CR as an end", chunked("5\r\nhello\r0\r\n\r\n"), ChunkEnd),
        illegal("size too small", chunked("4\r\nhello\r\n0\r\n\r\n"), ChunkEnd),
        illegal("long size line", chunked(&zeros), ChunkLineTooLong),
        illegal("long extension", chunked(&format!("0;{}\r\n", &zeros)), ChunkLineTooLong),
    ]
}

fn extensions() -> Vec<Illegal> {
    let with = |extension: &str| {
        let bytes = chunked(&format!("1;{extension}\r\nx\r\n0\r\n\r\n"));
        illegal("extension", bytes, Http1Violation::ChunkExtension)
    };
    vec![with(""), with("a="), with("=b"), with("a b"), with("a=b c"), with("a=b=c"), with("a=\"b")]
        .into_iter()
        .chain([with("a=\"b\"c"), with("a=\"\0\""), with("a=\"\\\r\""), with("a\0"), with(";b")])
        .collect()
}

fn trailers() -> Vec<Illegal> {
    use Http1Violation::{Trailer, TrailersTooLong};
    let end = |trailers: &str| chunked(&format!("0\r\n{trailers}\r\n"));
    vec![
        illegal("no colon", end("A\r\n"), Trailer),
        illegal("no name", end(": b\r\n"), Trailer),
        illegal("space in a name", end("A B: c\r\n"), Trailer),
        illegal("fold of nothing", end(" A: b\r\n"), Trailer),
        illegal("NUL", end("A: \0\r\n"), Trailer),
        illegal("bare CR", end("A: b\rc\r\n"), Trailer),
        illegal("CR at the end", chunked("0\r\n\rx"), Trailer),
        illegal("data after the last chunk", end("hello"), Trailer),
        illegal("long trailers", end(&fields(1, 256 * 1024)), TrailersTooLong),
    ]
}
