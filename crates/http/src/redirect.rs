//! Redirects: which requests follow from them.

use std::fmt;

use crate::url::Url;

/// The largest number of redirects followed in a row.
pub const MOST_HOPS: u8 = 10;

/// The target of a redirect that can be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Another path and query of the same origin.
    Path(String),
    /// A URL of another origin.
    Elsewhere(Url),
}

/// The reason why a redirect cannot be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The target is neither `http://` nor `https://`.
    Scheme,
    /// The Location is not a URI reference.
    Broken,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Why::Scheme => "its Location is neither http:// nor https://",
            Why::Broken => "its Location is not a URI reference",
        })
    }
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

/// Resolves a Location against the URL of the request (RFC 3986, 5.2; RFC 9110, 10.2.2).
///
/// # Errors
/// The reason why the redirect cannot be followed.
pub fn resolve(base: &Url, location: &[u8]) -> Result<Next, Why> {
    let reference =
        std::str::from_utf8(location).map_err(|_| Why::Broken)?.trim_matches([' ', '\t']);
    let reference = reference.split('#').next().unwrap_or_default();
    if !reference.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Why::Broken);
    }
    match scheme(reference) {
        Some((scheme, _)) if !is_http(scheme) => Err(Why::Scheme),
        Some(_) => absolute(base, reference),
        None if reference.starts_with("//") => {
            absolute(base, &format!("{}:{reference}", base.scheme))
        }
        None => Ok(Next::Path(merged(&base.path, reference))),
    }
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

fn absolute(base: &Url, text: &str) -> Result<Next, Why> {
    let mut url: Url = text.parse().map_err(|_| Why::Broken)?;
    url.path = without_dots(&url.path);
    let origin = |url: &Url| (url.scheme, url.authority());
    match origin(&url) == origin(base) {
        true => Ok(Next::Path(url.path)),
        false => Ok(Next::Elsewhere(url)),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn to(base: &str, location: &str) -> Result<Next, Why> {
        resolve(&base.parse().unwrap(), location.as_bytes())
    }

    fn path(path: &str) -> Result<Next, Why> {
        Ok(Next::Path(path.to_owned()))
    }

    /// The examples of RFC 3986, 5.4, except those that change the scheme; fragments are discarded.
    #[test]
    fn references_are_resolved_as_the_rfc_has_it() {
        for (location, expected) in [
            ("g", "/b/c/g"),
            ("./g", "/b/c/g"),
            ("g/", "/b/c/g/"),
            ("/g", "/g"),
            ("?y", "/b/c/d;p?y"),
            ("g?y", "/b/c/g?y"),
            ("", "/b/c/d;p?q"),
            ("#s", "/b/c/d;p?q"),
            ("g#s", "/b/c/g"),
            (";x", "/b/c/;x"),
            ("g;x?y#s", "/b/c/g;x?y"),
            (".", "/b/c/"),
            ("./", "/b/c/"),
            ("..", "/b/"),
            ("../g", "/b/g"),
            ("../..", "/"),
            ("../../g", "/g"),
            ("../../../g", "/g"),
            ("/./g", "/g"),
            ("/../g", "/g"),
            ("g.", "/b/c/g."),
            ("..g", "/b/c/..g"),
            ("./g/.", "/b/c/g/"),
            ("g/../h", "/b/c/h"),
            ("g;x=1/../y", "/b/c/y"),
            ("g?y/../x", "/b/c/g?y/../x"),
            ("http://a/x/../y", "/y"),
            ("HTTP://A:80", "/"),
            ("//a/z", "/z"),
            (" /g\t", "/g"),
        ] {
            assert_eq!(to("http://a/b/c/d;p?q", location), path(expected), "{location}");
        }
        assert_eq!(to("http://a/", "x:y/z"), Err(Why::Scheme));
        assert_eq!(to("http://a/", "x/y:z"), path("/x/y:z"));
    }

    #[test]
    fn another_origin_is_named() {
        for location in ["http://b/x", "//b/x"] {
            let expected = Next::Elsewhere("http://b/x".parse().unwrap());
            assert_eq!(to("http://a/", location), Ok(expected));
        }
        assert!(matches!(to("http://[::1]:80/", "http://[::1]:81/"), Ok(Next::Elsewhere(_))));
        assert!(matches!(to("http://a/", "https://a/"), Ok(Next::Elsewhere(_))));
        assert!(matches!(to("http://a:443/", "https://a/"), Ok(Next::Elsewhere(_))));
        assert_eq!(to("https://a/", "//a:443/x"), path("/x"));
        assert_eq!(to("http://[fe80::1%eth0]/", "http://[fe80::1]/x"), path("/x"));
        assert_eq!(to("http://[::1]:81/", "http://[0::1]:81/x"), path("/x"));
    }

    #[test]
    fn what_leads_nowhere_is_told_why() {
        assert_eq!(to("http://a/", "ftp://a/"), Err(Why::Scheme));
        assert_eq!(to("http://a/", "mailto:x"), Err(Why::Scheme));
        for broken in ["http://", "/a b", "/\u{e4}", "http://[::1/", "/a\r\nb"] {
            assert_eq!(to("http://a/", broken), Err(Why::Broken), "{broken:?}");
        }
        assert_eq!(resolve(&"http://a/".parse().unwrap(), b"\xff"), Err(Why::Broken));
    }

    #[test]
    fn methods_change_as_in_browsers() {
        for (status, method, expected) in [
            (301, "POST", ("GET", false)),
            (302, "POST", ("GET", false)),
            (303, "PUT", ("GET", false)),
            (303, "GET", ("GET", false)),
            (303, "HEAD", ("HEAD", true)),
            (302, "PUT", ("PUT", true)),
            (307, "POST", ("POST", true)),
            (308, "DELETE", ("DELETE", true)),
        ] {
            assert_eq!(next_method(status, method), expected, "{status} {method}");
        }
        assert!(is_redirect(308) && !is_redirect(304) && !is_redirect(300) && !is_redirect(200));
    }
}
