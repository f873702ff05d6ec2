//! The first line of a request, as far as it is there (RFC 9112, 3). HTTP has no list of methods: any
//! token is one (RFC 9110, 9.1).

use sixmark_http::http1::is_token_byte;

use crate::Span;

/// The methods of RFC 9110 and RFC 5789, each followed by a space: a line that begins so is taken for
/// a request before the rest of it is seen.
const METHODS: [&[u8]; 9] = [
    b"GET ",
    b"POST ",
    b"HEAD ",
    b"PUT ",
    b"DELETE ",
    b"OPTIONS ",
    b"PATCH ",
    b"CONNECT ",
    b"TRACE ",
];
/// The longest method; the longest that is registered has 17 letters (UPDATEREDIRECTREF).
const LONGEST_METHOD: usize = 64;
/// The end of the line without its last digit.
const VERSION: &[u8] = b"HTTP/1.";

/// What bytes say about the line that begins with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestLine {
    /// It is one of a request of HTTP/1.
    Request,
    /// It is none.
    Other,
    /// It may be one: it goes on behind these bytes.
    Open,
}

/// Returns whether a payload begins with a request: with its whole line, or if the rest is missing
/// with as much as distinguishes it from other protocols.
pub(in super::super) fn is_request(payload: Span<'_>) -> bool {
    let bytes = payload.bytes;
    match read_request_line(bytes) {
        RequestLine::Request => true,
        RequestLine::Other => false,
        RequestLine::Open => {
            METHODS.iter().any(|method| bytes.starts_with(method))
                || (payload.length > bytes.len() && has_target(bytes))
        }
    }
}

/// Returns the same for the first bytes of a connection, of which as few as one may be present. What
/// follows has to confirm it.
pub(in super::super) fn may_be_request(payload: Span<'_>) -> bool {
    let goes_on = payload.length == payload.bytes.len() && payload.length > 0;
    is_request(payload) || (goes_on && read_request_line(payload.bytes) == RequestLine::Open)
}

/// Reads a line as far as it is there.
pub(super) fn read_request_line(bytes: &[u8]) -> RequestLine {
    let method = bytes.iter().take_while(|byte| is_token_byte(**byte)).count();
    let rest = match bytes.get(method..) {
        Some([b' ', rest @ ..]) if (1..=LONGEST_METHOD).contains(&method) => rest,
        Some([]) if method <= LONGEST_METHOD => return RequestLine::Open,
        _ => return RequestLine::Other,
    };
    // In a path some clients leave bytes as they are that are to be percent-encoded.
    let target = rest.iter().take_while(|byte| **byte > b' ' && **byte != 0x7f).count();
    match (target, rest.get(target)) {
        (_, None) => RequestLine::Open,
        (1.., Some(b' ')) => read_version(&rest[target + 1..]),
        _ => RequestLine::Other,
    }
}

fn read_version(bytes: &[u8]) -> RequestLine {
    let known = bytes.len().min(VERSION.len());
    match (bytes[..known] == VERSION[..known], bytes.get(VERSION.len()..).unwrap_or_default()) {
        (false, _) => RequestLine::Other,
        (true, [] | [b'0'..=b'9']) => RequestLine::Open,
        (true, [b'0'..=b'9', b'\r' | b'\n', ..]) => RequestLine::Request,
        (true, _) => RequestLine::Other,
    }
}

/// Returns whether a target follows a method: a path or a whole URL.
fn has_target(bytes: &[u8]) -> bool {
    let target = bytes.iter().position(|byte| *byte == b' ').map(|at| &bytes[at + 1..]);
    target.is_some_and(|target| target.starts_with(b"/") || target.starts_with(b"http"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_method_begins_a_request_of_http_1() {
        for method in ["GET", "PROPFIND", "REPORT", "PURGE", "QUERY", "M-SEARCH", "get", "X.1", "!"]
        {
            for target in ["/", "/a?b=c", "*", "http://h/x", "h:443", "/\u{e4}"] {
                let line = format!("{method} {target} HTTP/1.1\r\n");
                for end in 0..line.len() - 1 {
                    let found = read_request_line(&line.as_bytes()[..end]);
                    assert_eq!(found, RequestLine::Open, "{line} {end}");
                }
                let found = read_request_line(line.as_bytes());
                assert_eq!(found, RequestLine::Request, "{line}");
            }
        }
    }

    #[test]
    fn rejects_lines_of_other_protocols() {
        let long = format!("{} / HTTP/1.1\r\n", "A".repeat(65));
        for line in [
            "PRI * HTTP/2.0\r\n",
            "OPTIONS sip:a@b SIP/2.0\r\n",
            "DESCRIBE rtsp://a/b RTSP/1.0\r\n",
            "SSH-2.0-OpenSSH_9.2\r\n",
            "EHLO example.net\r\n",
            "MAIL FROM:<a@b>\r\n",
            "USER a\r\n",
            "* OK ready\r\n",
            "get key\r\n",
            "*1\r\n$4\r\nPING\r\n",
            "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n",
            "HTTP/1.1 200 OK\r\n",
            " / HTTP/1.1\r\n",
            "GET  HTTP/1.1\r\n",
            "GET / HTTP/1.1x",
            "GET / HTTP/1.x\r\n",
            "\u{16}\u{3}\u{1}",
            &long,
        ] {
            assert_eq!(read_request_line(line.as_bytes()), RequestLine::Other, "{line}");
            assert!(!may_be_request(Span::new(line.as_bytes(), line.len())), "{line}");
        }
    }

    #[test]
    fn recognises_a_truncated_request_line_by_its_target() {
        let seen = |text: &'static str, length: usize| {
            let span = Span::new(text.as_bytes(), length);
            (is_request(span), may_be_request(span))
        };
        assert_eq!(seen("REPORT /calendar/a", 400), (true, true));
        assert_eq!(seen("REPORT /calendar/a", 18), (false, true));
        assert_eq!(seen("REPORT ", 400), (false, false));
        assert_eq!(seen("GET /a", 6), (true, true));
        assert_eq!(seen("G", 1), (false, true));
        assert_eq!(seen("G", 400), (false, false));
        assert_eq!(seen("", 400), (false, false));
        assert_eq!(seen("", 0), (false, false));
    }
}
