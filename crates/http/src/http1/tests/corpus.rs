//! What the tables of legal and illegal responses are made with.

/// A 200 response with `fields`, each ending in its CRLF, and a body.
pub(super) fn ok(fields: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\n{fields}\r\n{body}").into_bytes()
}

/// A 200 response whose body is `chunks` as they are.
pub(super) fn chunked(chunks: &str) -> Vec<u8> {
    ok("Transfer-Encoding: chunked\r\n", chunks)
}

/// `count` fields of `size` bytes each, CRLF included.
pub(super) fn fields(count: usize, size: usize) -> String {
    let value = "v".repeat(size.saturating_sub(5));
    format!("X: {value}\r\n").repeat(count)
}

/// A response without a body whose head has `length` bytes.
pub(super) fn head_of(length: usize) -> Vec<u8> {
    let frame = ok("Content-Length: 0\r\n", "").len();
    ok(&format!("Content-Length: 0\r\n{}", fields(1, length - frame)), "")
}
