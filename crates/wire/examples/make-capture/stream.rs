//! The data of one side of a connection: literal heads, and a pattern as content.

use std::fmt::Write as _;

/// A stream of bytes.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    pieces: Vec<Piece>,
    length: u64,
}

/// A part of a stream.
#[derive(Debug)]
struct Piece {
    start: u64,
    length: u64,
    /// The bytes, or empty for the pattern.
    text: Vec<u8>,
}

impl Stream {
    /// Returns the length.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Adds these bytes.
    pub(crate) fn say(&mut self, text: Vec<u8>) {
        self.add(text.len() as u64, text);
    }

    /// Adds `length` bytes of content.
    pub(crate) fn fill(&mut self, length: u64) {
        if length > 0 {
            self.add(length, Vec::new());
        }
    }

    fn add(&mut self, length: u64, text: Vec<u8>) {
        self.pieces.push(Piece { start: self.length, length, text });
        self.length += length;
    }

    /// Copies the bytes at a position.
    pub(crate) fn copy(&self, at: u64, to: &mut [u8]) {
        let mut done = 0;
        let mut index = self.pieces.partition_point(|piece| piece.start + piece.length <= at);
        while done < to.len() {
            let piece = &self.pieces[index];
            let from = at + done as u64 - piece.start;
            let take = ((piece.length - from) as usize).min(to.len() - done);
            let room = &mut to[done..done + take];
            match piece.text.get(from as usize..from as usize + take) {
                Some(text) if !piece.text.is_empty() => room.copy_from_slice(text),
                _ => pattern(from, room),
            }
            (done, index) = (done + take, index + 1);
        }
    }
}

fn pattern(at: u64, to: &mut [u8]) {
    for (byte, n) in to.iter_mut().zip(at..) {
        *byte = b'a' + (n % 23) as u8;
    }
}

/// Returns the head of a request.
pub(crate) fn request(name: &str, number: u64, upload: u64) -> Vec<u8> {
    let mut text = String::new();
    let method = if upload > 0 { "POST" } else { "GET" };
    let _ = write!(
        text,
        "{method} /some/path/object-{number:06}?session=0123456789abcdef HTTP/1.1\r\nHost: {name}\r\n\
         User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0\r\n\
         Accept: text/html,application/xhtml+xml,*/*;q=0.8\r\nAccept-Language: en,de;q=0.5\r\n\
         Accept-Encoding: gzip, deflate\r\nCookie: id={number:032x}\r\nConnection: keep-alive\r\n"
    );
    if upload > 0 {
        let _ = write!(text, "Content-Length: {upload}\r\n");
    }
    text.push_str("\r\n");
    text.into_bytes()
}

/// Returns the head of a response.
pub(crate) fn response(status: u16, length: u64) -> Vec<u8> {
    let reason = match status {
        200 => "OK",
        304 => "Not Modified",
        404 => "Not Found",
        _ => "Service Unavailable",
    };
    let length =
        if status == 304 { String::new() } else { format!("Content-Length: {length}\r\n") };
    format!(
        "HTTP/1.1 {status} {reason}\r\nServer: nginx\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\n\
         Content-Type: application/octet-stream\r\n{length}\
         Last-Modified: Wed, 31 Dec 2025 12:00:00 GMT\r\nConnection: keep-alive\r\n\
         ETag: \"69550000-1000\"\r\nAccept-Ranges: bytes\r\n\r\n"
    )
    .into_bytes()
}

/// Returns a TLS 1.3 ClientHello that requests this name and offers h2 and HTTP/1.1.
pub(crate) fn client_hello(name: &str) -> Vec<u8> {
    let host = [&[0], &short(name.len())[..], name.as_bytes()].concat();
    let names = [&short(host.len())[..], &host].concat();
    let alpn = b"\x00\x0c\x02h2\x08http/1.1".to_vec();
    let share = [&[0, 36, 0, 29, 0, 32][..], &[0x55; 32]].concat();
    let extensions: [(u16, Vec<u8>); 6] = [
        (0, names),
        (16, [&short(alpn.len() - 2)[..], &alpn[2..]].concat()),
        (43, vec![4, 3, 4, 3, 3]),
        (10, vec![0, 2, 0, 29]),
        (13, vec![0, 4, 4, 3, 8, 4]),
        (51, share),
    ];
    let hello = [
        &[3, 3][..],
        &[0x11; 32],
        &[32],
        &[0x22; 32],
        &[0, 4, 0x13, 1, 0x13, 2, 1, 0],
        &extended(&extensions),
    ]
    .concat();
    record(22, &handshake(1, &hello))
}

/// Returns a TLS 1.3 server's answer: its hello, and `encrypted` bytes of application data.
pub(crate) fn server_hello(encrypted: usize) -> Vec<u8> {
    let share = [&[0, 29, 0, 32][..], &[0x66; 32]].concat();
    let extensions = [(43, vec![3, 4]), (51, share)];
    let hello =
        [&[3, 3][..], &[0x33; 32], &[32], &[0x22; 32], &[0x13, 1, 0], &extended(&extensions)]
            .concat();
    [record(22, &handshake(2, &hello)), record(20, &[1]), application(encrypted)].concat()
}

/// Returns the client's last message of the handshake.
pub(crate) fn client_finished() -> Vec<u8> {
    [record(20, &[1]), application(53)].concat()
}

/// Returns a record of application data.
pub(crate) fn application(length: usize) -> Vec<u8> {
    record(23, &vec![0x5a; length])
}

fn record(kind: u8, content: &[u8]) -> Vec<u8> {
    [&[kind, 3, 3][..], &short(content.len()), content].concat()
}

fn handshake(kind: u8, content: &[u8]) -> Vec<u8> {
    [&[kind, 0][..], &short(content.len()), content].concat()
}

fn extended(extensions: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let each = |(kind, content): &(u16, Vec<u8>)| {
        [&kind.to_be_bytes()[..], &short(content.len()), content].concat()
    };
    let all: Vec<u8> = extensions.iter().flat_map(each).collect();
    [&short(all.len())[..], &all].concat()
}

fn short(length: usize) -> [u8; 2] {
    (length as u16).to_be_bytes()
}
