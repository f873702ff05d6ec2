//! The meaning of methods, and the fields of a request for HTTP/2 and HTTP/3.

/// A request, independent of the HTTP version that carries it.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// The method, as accepted by [`check_method`](crate::http1::request::check_method).
    pub method: &'a str,
    /// `http` or `https`.
    pub scheme: &'a str,
    /// The host and port, as in a URL. A `Host` field in `headers` replaces it.
    pub authority: &'a str,
    /// The path and query; empty means `/`.
    pub path: &'a str,
    /// The fields, as returned by [`parse_header`](crate::http1::request::parse_header).
    pub headers: &'a [(String, String)],
}

/// Connection-specific fields, which HTTP/2 and HTTP/3 forbid because they frame and close by
/// themselves (RFC 9113, 8.2.2).
const OF_CONNECTION: [&str; 5] =
    ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"];

/// The methods that are idempotent (RFC 9110, 9.2.2).
const IDEMPOTENT: [&str; 6] = ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"];

/// Returns whether several requests with this method have the same effect as one (RFC 9110, 9.2.2),
/// so that a client may send such a request again if it does not know whether it was processed.
pub fn is_idempotent(method: &str) -> bool {
    IDEMPOTENT.contains(&method)
}

impl Parts<'_> {
    /// Returns all fields in their order on the wire, with names in lower case. Adds `User-Agent`,
    /// `Accept` and, if `body_len` (in bytes) is given, `Content-Length`, unless `headers` contains
    /// them.
    ///
    /// # Errors
    /// Which header cannot be sent, and why.
    pub(crate) fn fields(&self, body_len: Option<u64>) -> Result<Vec<(String, String)>, String> {
        let mut given = Vec::new();
        let mut authority = self.authority;
        for (name, value) in self.headers {
            match name.to_ascii_lowercase() {
                host if host == "host" => authority = value,
                name => given.push(checked_field(name, value)?),
            }
        }
        let path = if self.path.is_empty() { "/" } else { self.path };
        let pseudo = [
            (":method", self.method),
            (":scheme", self.scheme),
            (":authority", authority),
            (":path", path),
        ];
        let mut fields: Vec<_> =
            pseudo.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        fields
            .extend(own(body_len).filter(|(name, _)| given.iter().all(|(other, _)| other != name)));
        fields.append(&mut given);
        Ok(fields)
    }

    /// Returns whether the method is HEAD, whose response has no content (RFC 9110, 9.3.2).
    pub(crate) fn is_head(&self) -> bool {
        self.method == "HEAD"
    }
}

fn own(body_len: Option<u64>) -> impl Iterator<Item = (String, String)> {
    let agent = concat!("sixmark/", env!("CARGO_PKG_VERSION"));
    let always = [("user-agent", agent.to_owned()), ("accept", "*/*".to_owned())];
    let length = body_len.map(|length| ("content-length", length.to_string()));
    always.into_iter().chain(length).map(|(name, value)| (name.to_owned(), value))
}

/// Checks a field and removes the blanks around its value, which are not part of it (RFC 9110, 5.5)
/// and are illegal here (RFC 9113, 8.2.1).
fn checked_field(name: String, value: &str) -> Result<(String, String), String> {
    let value = value.trim_matches([' ', '\t']);
    if OF_CONNECTION.contains(&name.as_str()) {
        return Err(format!("header {name} exists only in HTTP/1.1: omit it, or use HTTP/1.1"));
    }
    if name == "te" && value != "trailers" {
        return Err(format!("header te may only be \"trailers\" here, not {value:?}"));
    }
    Ok((name, value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(headers: &[(&str, &str)], body_len: Option<u64>) -> Result<Vec<String>, String> {
        let headers: Vec<_> =
            headers.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        let (method, scheme, authority, path) = ("GET", "http", "[::1]:80", "");
        let parts = Parts { method, scheme, authority, path, headers: &headers };
        let fields = parts.fields(body_len)?;
        Ok(fields.into_iter().map(|(name, value)| format!("{name}: {value}")).collect())
    }

    const AGENT: &str = concat!("user-agent: sixmark/", env!("CARGO_PKG_VERSION"));

    #[test]
    fn recognizes_idempotent_methods() {
        for method in ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"] {
            assert!(is_idempotent(method), "{method}");
        }
        // Methods are case-sensitive, and what an unknown one means is unknown.
        for method in ["POST", "PATCH", "CONNECT", "get", "PROPFIND", ""] {
            assert!(!is_idempotent(method), "{method}");
        }
    }

    #[test]
    fn a_plain_request_has_the_same_fields_as_in_http1() {
        let start = [":method: GET", ":scheme: http", ":authority: [::1]:80", ":path: /"];
        let expected = [&start[..], &[AGENT, "accept: */*"]].concat();
        assert_eq!(fields(&[], None).unwrap(), expected);
        let expected = [&expected[..], &["content-length: 0"]].concat();
        assert_eq!(fields(&[], Some(0)).unwrap(), expected);
    }

    #[test]
    fn given_fields_replace_default_fields_in_lower_case() {
        let given = [("Accept", "a"), ("USER-agent", "b"), ("X", " C\t"), ("hOST", "d")];
        let fields = fields(&given, None).unwrap();
        assert_eq!(
            fields[2..],
            [":authority: d", ":path: /", "accept: a", "user-agent: b", "x: C"]
        );
    }

    #[test]
    fn rejects_connection_specific_fields_by_name() {
        for name in ["Connection", "keep-alive", "Transfer-Encoding", "Upgrade"] {
            let error = fields(&[(name, "x")], None).unwrap_err();
            assert!(error.contains(&name.to_ascii_lowercase()), "{error}");
        }
        assert!(fields(&[("TE", "gzip")], None).unwrap_err().contains("trailers"));
        assert!(fields(&[("TE", "trailers")], None).is_ok());
    }
}
