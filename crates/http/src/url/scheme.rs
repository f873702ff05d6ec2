//! Schemes of URLs, and texts without one.

use std::fmt;

use super::host::parse_ipv6;

/// The characters before which an authority ends (RFC 3986, 3.2).
pub(super) const PATH_BEGINS: [char; 3] = ['/', '?', '#'];

/// The scheme of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// `http://`
    Http,
    /// `https://`
    Https,
}

impl Scheme {
    /// Returns the default port (RFC 9110, 4.2.1 and 4.2.2).
    pub fn port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        })
    }
}

/// Splits a URL into its scheme and what is behind `://`. The error message says which URL the text
/// is probably meant to be.
pub(super) fn split_scheme(text: &str) -> Result<(Scheme, &str), String> {
    // What is behind a slash is not a scheme but a part of a path or query.
    match text.split_once("://").filter(|(scheme, _)| !scheme.contains(PATH_BEGINS)) {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => Ok((Scheme::Http, rest)),
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => Ok((Scheme::Https, rest)),
        Some((scheme, _)) => {
            Err(format!("'{scheme}://' is not supported; use http:// or https://"))
        }
        None => Err(format!("no scheme; write {}", with_scheme(text))),
    }
}

/// Returns true if a text has a scheme, be it a mistyped one such as `http:/`, and is not a host
/// with or without a port and path.
pub fn has_scheme(text: &str) -> bool {
    let before_path = text.split_once("://").is_some_and(|(begin, _)| !begin.contains(PATH_BEGINS));
    before_path || after_mistyped_scheme(text).is_some()
}

/// Splits a text that begins like a URL, but without `://`, into the scheme and what is behind it.
fn after_mistyped_scheme(text: &str) -> Option<(Scheme, &str)> {
    [(Scheme::Https, "https"), (Scheme::Http, "http")].into_iter().find_map(|(scheme, name)| {
        let (begin, rest) = text.split_at_checked(name.len())?;
        let begins = rest.starts_with(':') || rest.starts_with("//");
        let rest = rest.trim_start_matches([':', '/', '\\']);
        let host = rest.split(PATH_BEGINS).next().unwrap_or_default();
        // `http:8080` is rather a host and a port.
        let is_port = !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_digit());
        let is_it = begins && begin.eq_ignore_ascii_case(name) && !is_port;
        is_it.then_some((scheme, rest))
    })
}

/// Returns the URL that a text without `://` is probably meant to be.
fn with_scheme(text: &str) -> String {
    match after_mistyped_scheme(text) {
        Some((scheme, "")) => return format!("{scheme}://example.com/"),
        Some((scheme, rest)) => return format!("{scheme}://{rest}"),
        None => {}
    }
    let (host, tail) = text.split_at(text.find(PATH_BEGINS).unwrap_or(text.len()));
    match parse_ipv6(host) {
        Ok(_) => format!("http://[{host}]{tail}"),
        Err(_) if host.is_empty() => "http://example.com/".to_owned(),
        Err(_) => format!("http://{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_a_mistyped_scheme() {
        for text in ["http://a", "HTTPS://a", "ftp://a", "http:/a", "https:a", "http//a", "http:"] {
            assert!(has_scheme(text), "{text}");
        }
        for text in ["", "a", "a:80", "a/b", "a/?b=http://c", "http", "http/a", "http:80", "::1"] {
            assert!(!has_scheme(text), "{text}");
        }
    }
}
