//! Redirects: which requests follow from them.

#[cfg(test)]
mod tests;

use crate::url::{Scheme, Url};

/// The largest number of redirects followed in a row.
pub const MOST_HOPS: u8 = 10;

/// The reason why a redirect is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// There is no Location, or an empty one, which browsers take for none.
    NoLocation,
    /// The Location is neither `http://` nor `https://`.
    Scheme,
    /// The Location is not a URI reference, or not the URL of a host.
    Broken,
    /// The Location is a URL of `https://`, the target one of `http://`.
    ToHttps,
    /// The Location is a URL of `http://`, the target one of `https://`.
    ToHttp,
    /// The Location is a URL of another host or port.
    Elsewhere,
}

impl Why {
    /// Returns the reason in words, as the end of a sentence about redirects.
    pub fn text(self) -> &'static str {
        match self {
            Why::NoLocation => "there is no Location",
            Why::Scheme => "the Location is neither http:// nor https://",
            Why::Broken => "the Location is not a valid URL or path",
            Why::ToHttps => "the Location leads to another target (https://)",
            Why::ToHttp => "the Location leads to another target (http://, without TLS)",
            Why::Elsewhere => "the Location leads to another target (host or port)",
        }
    }
}

/// A resolved Location.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Resolved {
    /// A path and query of the same origin.
    Path(String),
    /// A URL of another origin.
    Elsewhere(Url),
}

/// Returns whether a status, together with a Location, redirects the client (RFC 9110, 15.4).
pub fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

/// Returns the method of the request that follows, and whether that request repeats the content of
/// the one before. 303 leads to a GET, and so do 301 and 302 after a POST, as in all browsers (RFC
/// 9110, 15.4).
pub fn next_method(status: u16, method: &str) -> (&str, bool) {
    match (status, method) {
        (_, "HEAD") => (method, true),
        (303, _) | (301 | 302, "POST") => ("GET", false),
        _ => (method, true),
    }
}

/// Returns the path and query to which a redirect leads within its target. `base` is the URL of the
/// request, and `host` the value of its Host field if it is not that of the URL: the target has that
/// name too.
///
/// # Errors
/// The reason why the redirect is not followed.
pub fn leads_to(base: &Url, host: Option<&str>, location: &[u8]) -> Result<String, Why> {
    let url = match resolve(base, location)? {
        Resolved::Path(path) => return Ok(path),
        Resolved::Elsewhere(url) => url,
    };
    let asked = host.and_then(|host| format!("{}://{host}", base.scheme).parse().ok());
    let is_asked = asked.is_some_and(|asked: Url| asked.authority() == url.authority());
    match (url.scheme == base.scheme, url.scheme) {
        (true, _) if is_asked => Ok(url.path),
        (true, _) => Err(Why::Elsewhere),
        (false, Scheme::Https) => Err(Why::ToHttps),
        (false, Scheme::Http) => Err(Why::ToHttp),
    }
}

/// Returns the URL to which a redirect leads, if that is of another scheme, host or port.
pub fn url_elsewhere(base: &Url, location: &[u8]) -> Option<Url> {
    match resolve(base, location) {
        Ok(Resolved::Elsewhere(url)) => Some(url),
        _ => None,
    }
}

/// Returns true if a Location has a value. An empty one is ignored, as in browsers.
pub fn has_value(location: &[u8]) -> bool {
    !trim(location).is_empty()
}

/// Resolves a Location against the URL of the request (RFC 3986, 5.2; RFC 9110, 10.2.2).
fn resolve(base: &Url, location: &[u8]) -> Result<Resolved, Why> {
    if !has_value(location) {
        return Err(Why::NoLocation);
    }
    let reference = encoded(location)?;
    let reference = reference.split('#').next().unwrap_or_default();
    match scheme(reference) {
        Some((scheme, _)) if !is_http(scheme) => Err(Why::Scheme),
        Some(_) => absolute(base, reference),
        None if reference.starts_with("//") => {
            absolute(base, &format!("{}:{reference}", base.scheme))
        }
        None => Ok(Resolved::Path(merged(&base.path, reference))),
    }
}

/// Returns a Location with what cannot be in a URI percent-encoded (RFC 3986, 2), as browsers do:
/// servers send spaces and UTF-8 as they are. Spaces and tabs around it are omitted. Control
/// characters are refused, since no server means them.
fn encoded(location: &[u8]) -> Result<String, Why> {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(location.len());
    for &byte in trim(location) {
        match byte {
            b'\0'..=0x1f | 0x7f => return Err(Why::Broken),
            b' ' | b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' | 0x80.. => {
                // Writing to a string does not fail.
                let _ = write!(text, "%{byte:02X}");
            }
            _ => text.push(char::from(byte)),
        }
    }
    Ok(text)
}

/// Removes the spaces and tabs around a field's value (RFC 9110, 5.5).
fn trim(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

/// Splits off the scheme (RFC 3986, 3.1): the text before the first colon, unless that colon is in
/// a path or query.
fn scheme(reference: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = reference.split_once(':')?;
    let mut bytes = scheme.bytes();
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let is_scheme =
        bytes.next().is_some_and(|first| first.is_ascii_alphabetic()) && bytes.all(fits);
    is_scheme.then_some((scheme, rest))
}

fn is_http(scheme: &str) -> bool {
    ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
}

fn absolute(base: &Url, text: &str) -> Result<Resolved, Why> {
    let mut url: Url = text.parse().map_err(|_| Why::Broken)?;
    url.path = without_dots(&url.path);
    let origin = |url: &Url| (url.scheme, url.authority());
    if origin(&url) == origin(base) {
        Ok(Resolved::Path(url.path))
    } else {
        Ok(Resolved::Elsewhere(url))
    }
}

/// Merges a reference without scheme and authority with the base (RFC 3986, 5.2.2 and 5.2.3).
fn merged(base: &str, reference: &str) -> String {
    let (path, query) =
        base.split_once('?').map_or((base, None), |(path, query)| (path, Some(query)));
    match reference.as_bytes().first() {
        // No path: use that of the base, and its query as well if there is none.
        None => match query {
            Some(query) => format!("{path}?{query}"),
            None => path.to_owned(),
        },
        Some(b'?') => format!("{path}{reference}"),
        Some(b'/') => without_dots(reference),
        Some(_) => {
            let folder = path.rfind('/').map_or("/", |at| &path[..=at]);
            without_dots(&format!("{folder}{reference}"))
        }
    }
}

/// Removes dot segments from a path that begins with `/` (RFC 3986, 5.2.4). A query after it is
/// unchanged.
fn without_dots(target: &str) -> String {
    let (path, query) = target.split_at(target.find('?').unwrap_or(target.len()));
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if last {
                    kept.push("");
                }
            }
            other => kept.push(other),
        }
    }
    format!("/{}{query}", kept.join("/"))
}
