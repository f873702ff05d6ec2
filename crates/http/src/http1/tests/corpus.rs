//! Helpers to build the tables of legal and illegal responses.

/// Returns a 200 response with `fields`, each ending in CRLF, and a body.
pub(super) fn ok(fields: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\n{fields}\r\n{body}").into_bytes()
}

/// Returns a 200 response whose body is `chunks`, unchanged.
pub(super) fn chunked(chunks: &str) -> Vec<u8> {
    ok("Transfer-Encoding: chunked\r\n", chunks)
}

/// Returns `count` fields of `size` bytes each, including CRLF.
pub(super) fn fields(count: usize, size: usize) -> String {
    let value = "v".repeat(size.saturating_sub(5));
    format!("X: {value}\r\n").repeat(count)
}

/// Returns a response without a body whose head has `length` bytes.
pub(super) fn head_of(length: usize) -> Vec<u8> {
    let frame = ok("Content-Length: 0\r\n", "").len();
    ok(&format!("Content-Length: 0\r\n{}", fields(1, length - frame)), "")
}
