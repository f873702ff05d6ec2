//! The head of a request, built once before a run and sent many times.

use super::{is_text_byte, is_token};

/// Whether the connection persists after a request, and the minor version that expresses this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Manner {
    /// Whether the version is HTTP/1.0 instead of HTTP/1.1.
    pub old: bool,
    /// Whether this is the last request on its connection.
    pub last: bool,
}

impl From<bool> for Manner {
    /// HTTP/1.1; `last` tells whether the request is the last one on its connection.
    fn from(last: bool) -> Manner {
        Manner { old: false, last }
    }
}

impl Manner {
    /// Returns the end of the request line.
    pub fn version(self) -> &'static str {
        if self.old { " HTTP/1.0\r\n" } else { " HTTP/1.1\r\n" }
    }

    /// Returns the value of the `Connection` field. HTTP/1.0 closes a connection unless asked to
    /// keep it (RFC 9112, C.2.2); later versions keep it unless asked to close it.
    fn connection(self) -> Option<&'static str> {
        match (self.old, self.last) {
            (false, true) => Some("close"),
            (true, false) => Some("keep-alive"),
            _ => None,
        }
    }
}

/// Returns the length of the content that a head declares: that of the content, or 0 if there is none
/// but the method gives content a meaning (RFC 9110, 8.6). Servers answer 411 to such a request
/// without a length. `None` if the head declares nothing.
pub fn declared_length(method: &str, body_len: Option<u64>) -> Option<u64> {
    body_len.or_else(|| matches!(method, "POST" | "PUT" | "PATCH").then_some(0))
}

/// Builds the head of a request, which its body may follow.
///
/// `Host`, `User-Agent`, `Accept` and, if there is one ([`declared_length`]), `Content-Length` are
/// added unless `headers` contains them. An empty `target_path` means `/`. `method` and `headers`
/// are not checked again: they must come from [`check_method`] and [`parse_header`].
pub fn encode_request(
    method: &str,
    target_path: &str,
    host: &str,
    headers: &[(String, String)],
    body_len: Option<u64>,
    manner: Manner,
) -> Vec<u8> {
    let target = if target_path.is_empty() { "/" } else { target_path };
    let mut head = format!("{method} {target}{}", manner.version());
    let length = declared_length(method, body_len).map(|length| length.to_string());
    for (name, value) in head_fields(host, headers.iter().cloned(), length, manner) {
        head.push_str(&name);
        head.push_str(": ");
        head.push_str(&value);
        head.push_str("\r\n");
    }
    head.push_str("\r\n");
    head.into_bytes()
}

/// Returns the fields of a head in their order: `Host`, then the fields that sixmark adds because
/// `given` lacks them, then `given`.
pub fn head_fields<V: From<String>>(
    host: &str,
    given: impl Iterator<Item = (String, V)>,
    length: Option<V>,
    manner: Manner,
) -> Vec<(String, V)> {
    let given: Vec<(String, V)> = given.collect();
    let has = |name: &str| given.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
    let mut own: Vec<(&str, V)> = vec![
        ("Host", host.to_owned().into()),
        ("User-Agent", concat!("sixmark/", env!("CARGO_PKG_VERSION")).to_owned().into()),
        ("Accept", "*/*".to_owned().into()),
    ];
    // RFC 9112, 6.2: no Content-Length together with a Transfer-Encoding.
    let length = length.filter(|_| !has("Transfer-Encoding"));
    own.extend(length.map(|length| ("Content-Length", length)));
    own.retain(|(name, _)| !has(name));
    // Added even if a Connection field is given: the lines of a list are combined (RFC 9110, 5.3).
    own.extend(manner.connection().map(|says| ("Connection", says.to_owned().into())));

    let mut fields: Vec<_> =
        own.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    fields.extend(given);
    // RFC 9110, 7.2: Host comes first. The sort is stable.
    fields.sort_by_key(|(name, _)| !name.eq_ignore_ascii_case("host"));
    fields
}

/// Checks that `method` is a valid request method.
///
/// # Errors
/// A description of what is wrong.
pub fn check_method(method: &str) -> Result<(), String> {
    if !is_token(method.as_bytes()) {
        return Err(format!("{method:?} is not an HTTP method: use letters, as in GET"));
    }
    // A 2xx response to CONNECT is followed by a tunnel, not by a body (RFC 9112, 6.3).
    if method == "CONNECT" {
        return Err("CONNECT opens a tunnel, which has no response to measure".to_owned());
    }
    Ok(())
}

/// Parses a header field written by a user, `Name: value`.
///
/// # Errors
/// A description of what is wrong.
pub fn parse_header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once(':')
        .ok_or(format!("header {text:?} has no colon: write \"Name: value\""))?;
    if name.is_empty() {
        return Err(format!("header {text:?} has no name before the colon"));
    }
    if !is_token(name.as_bytes()) {
        return Err(format!("header name {name:?} contains a character that names cannot have"));
    }
    let value = value.trim_matches([' ', '\t']);
    if !value.bytes().all(is_text_byte) {
        return Err(format!("value {value:?} of header {name} contains a control character"));
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// Parses a header field that a user wants to send, like [`parse_header`]. Refuses the fields that
/// define the length of the content, because sixmark writes them: a contradicting field would break
/// the connection.
///
/// # Errors
/// A description of what is wrong.
pub fn parse_own_header(text: &str) -> Result<(String, String), String> {
    let (name, value) = parse_header(text)?;
    if ["content-length", "transfer-encoding"].iter().any(|of| name.eq_ignore_ascii_case(of)) {
        Err(format!("header {name} is set by sixmark from the content: omit it"))
    } else {
        Ok((name, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_user_headers_that_frame_the_content() {
        for text in ["Content-Length: 3", "transfer-encoding: chunked", "CONTENT-LENGTH:"] {
            assert!(parse_own_header(text).unwrap_err().contains("omit it"), "{text}");
        }
        assert!(parse_own_header("Content-Type: text/plain").is_ok());
    }

    fn text(headers: &[&str], body_len: Option<u64>, close: bool) -> String {
        let headers: Vec<_> = headers.iter().map(|text| parse_header(text).unwrap()).collect();
        String::from_utf8(encode_request(
            "GET",
            "/a?b",
            "[::1]:8080",
            &headers,
            body_len,
            close.into(),
        ))
        .unwrap()
    }

    const AGENT: &str = concat!("User-Agent: sixmark/", env!("CARGO_PKG_VERSION"), "\r\n");

    #[test]
    fn a_plain_request_has_host_user_agent_and_accept_fields() {
        let expected =
            format!("GET /a?b HTTP/1.1\r\nHost: [::1]:8080\r\n{AGENT}Accept: */*\r\n\r\n");
        assert_eq!(text(&[], None, false), expected);
    }

    #[test]
    fn given_fields_replace_default_fields_regardless_of_case() {
        let given = ["accept: text/html", "user-AGENT: me", "X: y", "HOST: example.net"];
        let expected = "GET /a?b HTTP/1.1\r\nHOST: example.net\r\naccept: text/html\r\n\
                        user-AGENT: me\r\nX: y\r\n\r\n";
        assert_eq!(text(&given, None, false), expected);
    }

    #[test]
    fn sends_content_length_0_for_post_put_and_patch_without_content() {
        for method in ["POST", "PUT", "PATCH"] {
            assert_eq!(declared_length(method, None), Some(0));
            assert_eq!(declared_length(method, Some(3)), Some(3));
            let fields = [("Transfer-Encoding".to_owned(), "chunked".to_owned())];
            for (fields, count) in [(&[][..], 1), (&fields, 0)] {
                let head = encode_request(method, "/", "h", fields, None, false.into());
                let head = String::from_utf8(head).unwrap();
                assert_eq!(head.matches("\r\nContent-Length: 0\r\n").count(), count, "{head}");
            }
        }
        for method in ["GET", "HEAD", "DELETE", "OPTIONS", "PROPFIND", "post"] {
            assert_eq!(declared_length(method, None), None, "{method}");
        }
    }

    #[test]
    fn sends_content_length_only_once() {
        assert!(text(&[], Some(0), false).contains("\r\nContent-Length: 0\r\n"));
        assert_eq!(text(&["content-length: 7"], Some(9), false).matches("ength").count(), 1);
        assert!(!text(&["Transfer-Encoding: chunked"], Some(9), false).contains("Content-Length"));
    }

    #[test]
    fn sends_connection_close_when_asked() {
        assert!(text(&["Connection: TE"], None, true).contains("\r\nConnection: close\r\n"));
        assert!(!text(&[], None, false).contains("close"));
    }

    #[test]
    fn http_1_0_requests_keep_alive_and_never_send_close() {
        for (last, says) in [(true, ""), (false, "Connection: keep-alive\r\n")] {
            let head = encode_request("GET", "/", "h", &[], None, Manner { old: true, last });
            let expected = format!("GET / HTTP/1.0\r\nHost: h\r\n{AGENT}Accept: */*\r\n{says}\r\n");
            assert_eq!(String::from_utf8(head).unwrap(), expected);
        }
    }

    #[test]
    fn an_empty_path_asks_for_the_root() {
        assert!(
            encode_request("GET", "", "h", &[], None, false.into())
                .starts_with(b"GET / HTTP/1.1\r\n")
        );
    }

    #[test]
    fn accepts_any_token_as_method_except_connect() {
        for method in ["GET", "get", "M-SEARCH", "X!"] {
            assert_eq!(check_method(method), Ok(()));
        }
        for method in ["", "GET ", "G\r\nT", "GÉT", "a/b", "CONNECT"] {
            assert!(check_method(method).is_err(), "{method:?}");
        }
    }

    #[test]
    fn headers_are_read_as_curl_users_write_them() {
        for (text, name, value) in [
            ("A: b", "A", "b"),
            ("A:b", "A", "b"),
            ("A:", "A", ""),
            ("A:  b: c\td ", "A", "b: c\td"),
            ("A: ä", "A", "ä"),
        ] {
            assert_eq!(parse_header(text), Ok((name.to_owned(), value.to_owned())));
        }
    }

    #[test]
    fn rejects_a_malformed_header_with_a_reason() {
        for (text, wrong) in [
            ("A b", "no colon"),
            ("", "no colon"),
            (": b", "no name"),
            ("A : b", "cannot have"),
            ("A\r\nB: c", "cannot have"),
            ("A: b\r\nC: d", "control character"),
            ("A: b\0", "control character"),
            ("A: b\x7f", "control character"),
        ] {
            assert!(parse_header(text).unwrap_err().contains(wrong), "{text:?}");
        }
    }
}
