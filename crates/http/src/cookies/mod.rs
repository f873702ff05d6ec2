//! The cookies of one user, as far as load generation needs them (RFC 6265, and what its successor,
//! RFC 6265bis, has made precise).
//!
//! A jar belongs to one target. Its host is usually the same for all requests, but a Host field may
//! give each request another one, for which `Domain` decides. There is no clock here: every call
//! has the time.

mod date;
mod domain;
mod set_cookie;
#[cfg(test)]
mod tests;

use domain::{canonical, domain_matches, is_public_suffix};
use set_cookie::{LONGEST_ATTRIBUTE, SetCookie};

/// The largest number of cookies in a jar; a further cookie replaces the oldest (RFC 6265, 6.1
/// requires 50 per domain).
const MOST: usize = 50;
/// The largest size of a cookie, in bytes of name and value (RFC 6265, 6.1). Longer ones are
/// rejected.
const LONGEST: usize = 4_096;

/// The cookies of one user and one target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Jar {
    /// The cookies, oldest first.
    cookies: Vec<Cookie>,
}

/// What cookies depend on of a request: the one that they are sent with, or the one whose response
/// sets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CookieContext<'a> {
    /// The host as in a URL, without a port: a name, an IPv4 address, or an IPv6 address in
    /// brackets.
    pub host: &'a str,
    /// The path and query.
    pub path: &'a str,
    /// True if the connection uses TLS.
    pub secure: bool,
    /// The time, in milliseconds since 1970 (UTC).
    pub now_ms: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Cookie {
    name: Vec<u8>,
    value: Vec<u8>,
    /// The host that set it, or the domain for whose hosts it is; in lower case.
    domain: Vec<u8>,
    /// True if it is for the host alone that set it.
    host_only: bool,
    path: Vec<u8>,
    secure: bool,
    /// When it expires, in milliseconds since 1970; the largest number if it does not.
    expires_ms: i64,
}

impl Jar {
    /// Returns whether the jar contains no cookie.
    pub fn is_empty(&self) -> bool {
        self.cookies.is_empty()
    }

    /// Removes all cookies, as for a new user.
    pub fn clear(&mut self) {
        self.cookies.clear();
    }

    /// Stores the cookie of a Set-Cookie field, or deletes it if it has expired. A value that is
    /// not a valid cookie is ignored, as in browsers (RFC 6265, 5.3).
    pub fn set(&mut self, value: &[u8], of: CookieContext<'_>) {
        let Some(cookie) = SetCookie::parse(value).and_then(|set| Cookie::new(&set, of)) else {
            return;
        };
        self.cookies.retain(|other| !other.is_over(of.now_ms));
        let at = self.cookies.iter().position(|other| other.is_same(&cookie));
        match at {
            Some(at) if cookie.is_over(of.now_ms) => drop(self.cookies.remove(at)),
            // The new cookie keeps the creation time of the old one (RFC 6265, 5.3, 11.3).
            Some(at) => self.cookies[at] = cookie,
            None if cookie.is_over(of.now_ms) => {}
            None => {
                if self.cookies.len() == MOST {
                    self.cookies.remove(0);
                }
                self.cookies.push(cookie);
            }
        }
    }

    /// Appends the value of the request's Cookie field, or nothing if no cookie matches.
    pub fn header(&self, of: CookieContext<'_>, out: &mut Vec<u8>) {
        if self.cookies.is_empty() {
            return;
        }
        let host = canonical(of.host);
        let path = without_query(of.path).as_bytes();
        let fits = |cookie: &&Cookie| {
            cookie.is_for(&host)
                && path_matches(path, &cookie.path)
                && (of.secure || !cookie.secure)
                && !cookie.is_over(of.now_ms)
        };
        let before = out.len();
        // RFC 6265, 5.4: longer paths first, then older cookies. There are few, so the jar is not
        // kept sorted.
        let mut fitting: Vec<&Cookie> = self.cookies.iter().filter(fits).collect();
        fitting.sort_by_key(|cookie| std::cmp::Reverse(cookie.path.len()));
        for cookie in fitting {
            if out.len() > before {
                out.extend_from_slice(b"; ");
            }
            out.extend_from_slice(&cookie.name);
            out.push(b'=');
            out.extend_from_slice(&cookie.value);
        }
    }
}

impl Cookie {
    /// Creates the cookie that a response sets; `None` if it must be refused.
    fn new(set: &SetCookie<'_>, of: CookieContext<'_>) -> Option<Cookie> {
        let path = if set.path.is_empty() { folder(of.path).as_bytes() } else { set.path };
        // A path that is too long can only be a default path, from a request whose path a redirect
        // made arbitrarily long.
        if set.name.len() + set.value.len() > LONGEST || path.len() > LONGEST_ATTRIBUTE {
            return None;
        }
        // RFC 6265bis, 5.7: without TLS nobody sets a cookie that only TLS carries.
        if (set.secure && !of.secure) || !set.has_what_its_prefix_says() {
            return None;
        }
        let (domain, host_only) = scope(set.domain, canonical(of.host))?;
        Some(Cookie {
            name: set.name.to_vec(),
            value: set.value.to_vec(),
            domain,
            host_only,
            path: path.to_vec(),
            secure: set.secure,
            expires_ms: set.expires_ms(of.now_ms),
        })
    }

    /// Returns true if the cookie takes the place of the other (RFC 6265bis, 5.7).
    fn is_same(&self, other: &Cookie) -> bool {
        self.name == other.name
            && self.domain == other.domain
            && self.host_only == other.host_only
            && self.path == other.path
    }

    /// Returns true if the cookie is for this host, in canonical form.
    fn is_for(&self, host: &[u8]) -> bool {
        if self.host_only { host == self.domain } else { domain_matches(host, &self.domain) }
    }

    fn is_over(&self, now_ms: i64) -> bool {
        self.expires_ms <= now_ms
    }
}

/// Returns the domain of a cookie with this Domain attribute from `host`, and whether it is for that
/// host alone. `None` if the attribute does not fit the host (RFC 6265, 5.3, 5 and 6).
fn scope(attribute: &[u8], host: Vec<u8>) -> Option<(Vec<u8>, bool)> {
    let domain = attribute.to_ascii_lowercase();
    match () {
        () if domain.is_empty() => Some((host, true)),
        () if is_public_suffix(&domain) => (domain == host).then_some((host, true)),
        () => domain_matches(&host, &domain).then_some((domain, false)),
    }
}

fn without_query(target: &str) -> &str {
    target.split('?').next().unwrap_or_default()
}

/// Returns the default path (RFC 6265, 5.1.4).
fn folder(request_path: &str) -> &str {
    let path = without_query(request_path);
    match path.rfind('/') {
        None | Some(0) => "/",
        Some(at) => &path[..at],
    }
}

/// Returns whether the request path matches the cookie's path (RFC 6265, 5.1.4).
fn path_matches(path: &[u8], of_cookie: &[u8]) -> bool {
    let rest = path.strip_prefix(of_cookie);
    rest.is_some_and(|rest| of_cookie.ends_with(b"/") || matches!(rest.first(), None | Some(b'/')))
}
