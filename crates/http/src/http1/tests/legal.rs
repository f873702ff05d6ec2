//! Responses that a client must read.

use super::corpus::{chunked, fields, head_of, ok};
use super::{Complete, Early, RequestKind};

pub(super) struct Legal {
    pub(super) name: &'static str,
    pub(super) kind: RequestKind,
    pub(super) bytes: Vec<u8>,
    /// Whether only the end of the connection ends the response.
    pub(super) until_close: bool,
    complete: Complete,
}

impl Legal {
    pub(super) fn expected(&self) -> Result<Complete, Early> {
        Ok(self.complete)
    }

    fn status(mut self, status: u16) -> Legal {
        self.complete.status = status;
        self
    }

    fn body(mut self, body: u64) -> Legal {
        self.complete.body = body;
        self
    }

    fn closing(mut self) -> Legal {
        self.complete.keep_alive = false;
        self
    }

    fn until_close(mut self) -> Legal {
        self.until_close = true;
        self.closing()
    }

    fn head(mut self) -> Legal {
        self.kind = RequestKind::Head;
        self
    }
}

/// Returns a 200 response without content, after which the connection stays open.
fn legal(name: &'static str, bytes: impl AsRef<[u8]>) -> Legal {
    Legal {
        name,
        kind: RequestKind::Ordinary,
        bytes: bytes.as_ref().to_vec(),
        until_close: false,
        complete: Complete { status: 200, body: 0, keep_alive: true },
    }
}

pub(super) fn cases() -> Vec<Legal> {
    [status_lines(), lengths(), no_body(), codings(), chunks(), trailers(), persistence(), heads()]
        .into_iter()
        .flatten()
        .collect()
}

fn status_lines() -> Vec<Legal> {
    vec![
        legal("reason", "HTTP/1.1 200 Very well\r\nContent-Length: 0\r\n\r\n"),
        legal("empty reason", "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n"),
        legal("no space for a reason", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n"),
        legal("reason in Latin-1", b"HTTP/1.1 200 d\xe9j\xe0\tvu\r\nContent-Length: 0\r\n\r\n"),
        legal("599", "HTTP/1.1 599 No\r\nContent-Length: 0\r\n\r\n").status(599),
        legal("600", "HTTP/1.1 600 No\r\nContent-Length: 0\r\n\r\n").status(600),
        legal("999", "HTTP/1.1 999 No\r\nContent-Length: 1\r\n\r\nx").status(999).body(1),
        legal("minor version 9", "HTTP/1.9 200 OK\r\nContent-Length: 1\r\n\r\nx").body(1),
        legal("bare LF", "HTTP/1.1 200 OK\nContent-Length: 3\nA: b\n\nxyz").body(3),
        legal("mixed line ends", "HTTP/1.1 200 OK\r\nA: b\nContent-Length: 1\r\n\nx").body(1),
        legal("empty lines first", "\r\n\n\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
    ]
}

fn lengths() -> Vec<Legal> {
    vec![
        legal("length", ok("Content-Length: 5\r\n", "hello")).body(5),
        legal("length, other case", ok("cONTENT-lENGTH:5\r\n", "hello")).body(5),
        legal("length twice", ok("Content-Length: 5\r\nContent-Length: 5\r\n", "hello")).body(5),
        legal("length as a list", ok("Content-Length: 5, 5 ,5\r\n", "hello")).body(5),
        legal("empty elements", ok("Content-Length: ,5,,\r\n", "hello")).body(5),
        legal("leading zeros", ok("Content-Length: 0000000000000000000000005\r\n", "hello"))
            .body(5),
        legal("space around it", ok("Content-Length:  \t5 \t\r\n", "hello")).body(5),
        legal("space before colon", ok("Content-Length : 5\r\n", "hello")).body(5),
        legal("body like a head", ok("Content-Length: 19\r\n", "HTTP/1.1 404 No\r\n\r\n")).body(19),
        legal("body with newlines", ok("Content-Length: 4\r\n", "\r\n\r\n")).body(4),
        legal("long body", ok("Content-Length: 100000\r\n", &"x".repeat(100_000))).body(100_000),
        legal("no length", ok("", "all there is")).body(12).until_close(),
        legal("no length, no body", ok("", "")).until_close(),
        legal("no fields at all", "HTTP/1.0 200 OK\r\n\r\nx").body(1).until_close(),
    ]
}

fn no_body() -> Vec<Legal> {
    let with = |status: &str, fields: &str| format!("HTTP/1.1 {status}\r\n{fields}\r\n");
    vec![
        legal("204", with("204 No Content", "")).status(204),
        legal("204 with a length", with("204 No", "Content-Length: 9\r\n")).status(204),
        legal("304 with a length", with("304 Not", "Content-Length: 9\r\n")).status(304),
        legal("304, chunked", with("304 Not", "Transfer-Encoding: chunked\r\n")).status(304),
        legal("HEAD with a length", with("200 OK", "Content-Length: 9\r\n")).head(),
        legal("HEAD, chunked", with("200 OK", "Transfer-Encoding: chunked\r\n")).head(),
        legal("HEAD without either", with("200 OK", "")).head(),
        legal("HEAD, bad length", with("200 OK", "Content-Length: x\r\n")).head(),
        legal("HEAD that closes", with("404 No", "Connection: close\r\n"))
            .head()
            .status(404)
            .closing(),
        legal("interim", with("100 Continue", "") + &with("204 No", "")).status(204),
        legal(
            "interim with a length",
            with("103 Early", "Content-Length: 9\r\nLink: </a>\r\n") + &with("204 No", ""),
        )
        .status(204),
        legal("close in an interim", with("102 P", "Connection: close\r\n") + &with("204 No", ""))
            .status(204),
        legal("interim before HEAD", with("100 C", "") + &with("200 OK", "Content-Length: 1\r\n"))
            .head(),
        legal("64 interims", with("100 C", "").repeat(64) + &with("204 No", "")).status(204),
    ]
}

fn codings() -> Vec<Legal> {
    const END: &str = "1\r\nx\r\n0\r\n\r\n";
    let coded = |value: &str, body: &str| ok(&format!("Transfer-Encoding: {value}\r\n"), body);
    vec![
        legal("other case", coded("CHUNKED", END)).body(1),
        legal("chunked last", coded("gzip, chunked", END)).body(1),
        legal("on two lines", coded("gzip\r\nTransfer-Encoding: chunked", END)).body(1),
        legal("empty elements", coded(", gzip,,chunked,", END)).body(1),
        legal("folded list", coded("gzip,\r\n chunked", END)).body(1),
        legal("parameter with a comma", coded("x;a=\", chunked\\\"\", chunked", END)).body(1),
        legal("quoted chunked", coded("x;a=\", chunked\"", "rest")).body(4).until_close(),
        legal("chunked first", coded("chunked, gzip", "rest")).body(4).until_close(),
        legal("unknown coding", coded("br", "rest")).body(4).until_close(),
        legal("identity", coded("identity", "rest")).body(4).until_close(),
        legal("identity with a length", coded("identity\r\nContent-Length: 4", "rest")).body(4),
        legal("identity in capitals", coded("IDENTITY\r\nContent-Length: 4", "rest")).body(4),
        legal("identity beside chunked", coded("identity, chunked", END)).body(1),
        legal(
            "identity in 1.0",
            "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: identity\r\n\
             Content-Length: 1\r\n\r\nx",
        )
        .body(1),
        legal("parameter of identity", coded("identity;a=b\r\nContent-Length: 2", "rest"))
            .body(4)
            .until_close(),
        legal("no coding", coded("", "rest")).body(4).until_close(),
        legal("over a length", coded("chunked\r\nContent-Length: 3", END)).body(1).closing(),
        legal("over a bad length", coded("chunked\r\nContent-Length: -", END)).body(1).closing(),
        legal("coding over a length", coded("gzip\r\nContent-Length: 2", "rest"))
            .body(4)
            .until_close(),
        legal(
            "chunked in 1.0",
            "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        )
        .closing(),
    ]
}

fn chunks() -> Vec<Legal> {
    let zeros = "0".repeat(16 * 1024 - 3) + "1\r\nx\r\n0\r\n\r\n";
    vec![
        legal("no chunks", chunked("0\r\n\r\n")),
        legal("many zeros end it", chunked("000\r\n\r\n")),
        legal("one chunk", chunked("5\r\nhello\r\n0\r\n\r\n")).body(5),
        legal("several", chunked("1\r\na\r\n2\r\nbc\r\n3\r\ndef\r\n0\r\n\r\n")).body(6),
        legal("hexadecimal", chunked("00B\r\n0123456789x\r\na\r\n0123456789\r\n0\r\n\r\n"))
            .body(21),
        legal("data like framing", chunked("7\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n")).body(7),
        legal("extension", chunked("1;a\r\nx\r\n0;b=c\r\n\r\n")).body(1),
        legal("quoted extension", chunked("1;a=\";\\\"\\\\b\";c\r\nx\r\n0\r\n\r\n")).body(1),
        legal("empty quotes", chunked("1;a=\"\"\r\nx\r\n0\r\n\r\n")).body(1),
        legal("spaced extension", chunked("1 ; a = b\t;\tc = \"d\" \r\nx\r\n0\r\n\r\n")).body(1),
        legal("padded size", chunked("1   \r\nx\r\n0 \r\n\r\n")).body(1),
        legal("longest size line", chunked(&zeros)).body(1),
        legal("long chunk", chunked(&format!("186A0\r\n{}\r\n0\r\n\r\n", "y".repeat(100_000))))
            .body(100_000),
    ]
}

fn trailers() -> Vec<Legal> {
    let long = format!("0\r\n{}\r\n", fields(1, 256 * 1024 - 2));
    vec![
        legal("trailer", chunked("0\r\nX-Sum: 1\r\n\r\n")),
        legal("empty trailer", chunked("0\r\nX-Sum:\r\n\r\n")),
        legal("several trailers", chunked("1\r\nx\r\n0\r\nA: b\r\nC : d\u{e9}\r\n\r\n")).body(1),
        legal("folded trailer", chunked("0\r\nA: b\r\n c\r\n\td:\r\n\r\n")),
        legal("bare LF", chunked("0\r\nA: b\n\n")),
        legal("many trailers", chunked(&format!("0\r\n{}\r\n", fields(1_000, 8)))),
        legal("longest trailers", chunked(&long)),
    ]
}

fn persistence() -> Vec<Legal> {
    let says = |version: &str, fields: &str| {
        legal("persistence", format!("HTTP/{version} 200 OK\r\nContent-Length: 0\r\n{fields}\r\n"))
    };
    vec![
        says("1.1", ""),
        says("1.1", "Connection: keep-alive\r\n"),
        says("1.1", "Connection: closed\r\n"),
        says("1.1", "X-Connection: close\r\n"),
        says("1.1", "Connection: close\r\n").closing(),
        says("1.1", "CONNECTION: foo ,\tCLOSE\r\n").closing(),
        says("1.1", "Connection: foo\r\nA: b\r\nConnection: close\r\n").closing(),
        says("1.1", "Connection: keep-alive, close\r\n").closing(),
        says("1.1", "Connection:\r\n close\r\n").closing(),
        says("1.0", "").closing(),
        says("1.0", "Connection: foo\r\n").closing(),
        says("1.0", "Connection: Keep-Alive\r\n"),
        says("1.0", "Connection: keep-alive\r\nConnection: close\r\n").closing(),
        says("1.2", ""),
    ]
}

fn heads() -> Vec<Legal> {
    let with = |fields: &str| ok(&format!("{fields}Content-Length: 1\r\n"), "x");
    vec![
        legal("empty value", with("A:\r\nB: \t\r\n")).body(1),
        legal("every token character", with("!#$%&'*+-.^_`|~09azAZ: b\r\n")).body(1),
        legal("text of other alphabets", with("A: \u{e9}\u{4e2d}\r\n")).body(1),
        legal("folds", with("A: b\r\n c\r\n\td\r\nE:\r\n f\r\n")).body(1),
        legal("fold that is all space", with("A: b\r\n \r\n")).body(1),
        legal("folded length", ok("Content-Length: 1,\r\n\t1\r\n", "x")).body(1),
        legal("length hidden in a fold", with("A: b\r\n Content-Length: 9\r\n")).body(1),
        legal("128 fields", with(&fields(127, 8))).body(1),
        legal("129 fields", with(&fields(128, 8))).body(1),
        legal("as many fields as fit", with(&fields(52_000, 5))).body(1),
        legal("256 KiB", head_of(256 * 1024)),
    ]
}
