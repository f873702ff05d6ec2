//! The cookies of one user, as far as load generation needs them (RFC 6265).
//!
//! A jar belongs to one origin. Cookies are never sent to another host, so `Domain` has no effect,
//! except that a cookie for another domain is rejected. There is no clock: a cookie lasts as long
//! as the jar unless it is deleted.

/// The largest number of cookies in a jar; a further cookie replaces the oldest (RFC 6265, 6.1
/// requires 50 per domain).
const MOST: usize = 50;
/// The largest size of a cookie, in bytes of name and value (RFC 6265, 6.1). Longer ones are
/// rejected.
const LONGEST: usize = 4_096;

/// The largest size of an attribute, in bytes of its value (RFC 6265bis, 5.6). Longer ones are
/// ignored.
const LONGEST_ATTRIBUTE: usize = 1_024;

/// The cookies of one user and one origin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Jar {
    /// The cookies, oldest first.
    cookies: Vec<Cookie>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Cookie {
    name: Vec<u8>,
    value: Vec<u8>,
    path: Vec<u8>,
    secure: bool,
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

    /// Stores the cookie of a Set-Cookie field in a response to `request_path` (path and query)
    /// from `host`. A value that is not a valid cookie is ignored, as in browsers (RFC 6265, 5.2).
    pub fn set(&mut self, value: &[u8], host: &str, request_path: &str) {
        let mut parts = value.split(|&byte| byte == b';');
        let Some((name, value)) = parts.next().and_then(pair) else { return };
        let mut cookie = Cookie {
            name: name.to_vec(),
            value: value.to_vec(),
            path: folder(request_path).into(),
            secure: false,
        };
        let mut deleted = Deletion::default();
        for part in parts {
            let (name, value) = pair(part).unwrap_or((trim(part), b""));
            if value.len() > LONGEST_ATTRIBUTE {
                continue;
            }
            match name.to_ascii_lowercase().as_slice() {
                b"path" if value.starts_with(b"/") => cookie.path = value.to_vec(),
                b"path" => cookie.path = folder(request_path).into(),
                b"secure" => cookie.secure = true,
                b"domain" if !domain_fits(value, host) => return,
                b"max-age" => deleted.by_age = age_is_over(value).or(deleted.by_age),
                b"expires" => deleted.by_date = is_past(value),
                _ => {}
            }
        }
        self.put(cookie, deleted.is_meant());
    }

    fn put(&mut self, cookie: Cookie, deleted: bool) {
        let bad = |byte: &u8| *byte < b' ' || *byte == 0x7f;
        let all = [&*cookie.name, &*cookie.value].concat();
        if cookie.name.is_empty() || all.len() > LONGEST || all.iter().any(bad) {
            return;
        }
        // This can only be a default path, from a request whose path a redirect made arbitrarily
        // long.
        if cookie.path.len() > LONGEST_ATTRIBUTE {
            return;
        }
        let same = |other: &Cookie| other.name == cookie.name && other.path == cookie.path;
        match self.cookies.iter().position(same) {
            Some(at) if deleted => drop(self.cookies.remove(at)),
            // The new cookie keeps the creation time of the old one (RFC 6265, 5.3, 11.3).
            Some(at) => self.cookies[at] = cookie,
            None if deleted => {}
            None => {
                if self.cookies.len() == MOST {
                    self.cookies.remove(0);
                }
                self.cookies.push(cookie);
            }
        }
    }

    /// Appends the value of the Cookie field for a request of `path` (path and query), or nothing
    /// if no cookie matches. `secure` is true for connections over TLS.
    pub fn header(&self, path: &str, secure: bool, out: &mut Vec<u8>) {
        let path = path.split('?').next().unwrap_or_default().as_bytes();
        let fits =
            |cookie: &&Cookie| (secure || !cookie.secure) && path_matches(path, &cookie.path);
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

/// Whether a field deletes its cookie: Max-Age takes precedence over Expires (RFC 6265, 5.3, 3).
#[derive(Default)]
struct Deletion {
    by_age: Option<bool>,
    by_date: bool,
}

impl Deletion {
    fn is_meant(&self) -> bool {
        self.by_age.unwrap_or(self.by_date)
    }
}

fn pair(part: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = part.iter().position(|&byte| byte == b'=')?;
    Some((trim(&part[..at]), trim(&part[at + 1..])))
}

fn trim(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = text {
        text = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = text {
        text = rest;
    }
    text
}

/// Returns the default path (RFC 6265, 5.1.4).
fn folder(request_path: &str) -> &str {
    let path = request_path.split('?').next().unwrap_or_default();
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

/// Returns whether `host` is `domain` or within it (RFC 6265, 5.1.3). An empty domain always
/// matches.
fn domain_fits(domain: &[u8], host: &str) -> bool {
    let domain = domain.strip_prefix(b".").unwrap_or(domain).to_ascii_lowercase();
    let host = host.to_ascii_lowercase();
    let inside = host.as_bytes().strip_suffix(&*domain).is_some_and(|rest| rest.ends_with(b"."));
    domain.is_empty() || host.as_bytes() == domain || inside
}

/// Returns whether a Max-Age has expired, or `None` if it is not a number (RFC 6265, 5.2.2).
fn age_is_over(value: &[u8]) -> Option<bool> {
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    is_number.then(|| value.starts_with(b"-") || digits.iter().all(|&byte| byte == b'0'))
}

/// Returns whether a date is long past. Servers delete a cookie with a date long ago, usually 1970;
/// recent dates would need a clock. The year is the first number with four digits, and it is past
/// if it is before 2000.
fn is_past(value: &[u8]) -> bool {
    let year = value.split(|byte| !byte.is_ascii_digit()).find(|number| number.len() == 4);
    year.is_some_and(|year| year < b"2000".as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jar(set: &[&str]) -> Jar {
        let mut jar = Jar::default();
        set.iter().for_each(|value| jar.set(value.as_bytes(), "www.example.net", "/a/b?c=/d"));
        jar
    }

    fn sent(jar: &Jar, path: &str) -> String {
        let mut out = Vec::new();
        jar.header(path, false, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn cookies_are_sent_back_where_their_path_says() {
        let jar = jar(&["x=1", "y = 2 ; Path=/", "z=\"3\"; path=/a/b; HttpOnly; SameSite=Lax"]);
        for (path, expected) in [
            ("/a/b", "z=\"3\"; x=1; y=2"),
            ("/a/b/c?x", "z=\"3\"; x=1; y=2"),
            ("/a", "x=1; y=2"),
            ("/a/", "x=1; y=2"),
            ("/ab", "y=2"),
            ("/?/a/b", "y=2"),
        ] {
            assert_eq!(sent(&jar, path), expected, "{path}");
        }
        assert_eq!(sent(&Jar::default(), "/"), "");
    }

    #[test]
    fn a_cookie_of_the_same_name_and_path_takes_the_old_one_s_place() {
        let jar = jar(&["x=1; Path=/", "y=2; Path=/", "x=3; Path=/", "x=4; Path=/a"]);
        assert_eq!(sent(&jar, "/"), "x=3; y=2");
        assert_eq!(sent(&jar, "/a"), "x=4; x=3; y=2");
    }

    #[test]
    fn a_path_that_is_too_long_is_passed_over() {
        let long = format!("/{}", "a".repeat(LONGEST_ATTRIBUTE));
        let jar = jar(&[&format!("x=1; Path={long}")]);
        assert_eq!(sent(&jar, "/a/b"), "x=1", "the default path is taken");
        let mut jar = Jar::default();
        jar.set(b"x=1", "www.example.net", &format!("{long}/b"));
        assert!(jar.is_empty());
    }

    #[test]
    fn a_cookie_is_deleted_by_an_age_or_a_date_that_is_over() {
        for deletion in [
            "x=; Max-Age=0; Path=/",
            "x=; max-age=-5; path=/",
            "x=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/",
            "x=; Max-Age=0; Expires=Fri, 01 Jan 2100 00:00:00 GMT; Path=/",
        ] {
            assert!(jar(&["x=1; Path=/", deletion]).is_empty(), "{deletion}");
        }
        for kept in [
            "x=2; Max-Age=5; Path=/",
            "x=2; Max-Age=; Path=/",
            "x=2; Expires=Fri, 01 Jan 2100 00:00:00 GMT; Path=/",
            "x=2; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/",
        ] {
            assert_eq!(sent(&jar(&["x=1; Path=/", kept]), "/"), "x=2", "{kept}");
        }
    }

    #[test]
    fn what_is_not_for_this_host_or_no_cookie_is_passed_over() {
        for value in ["", "x", "=1", ";x=1", "x=\u{7}", "x=1; Domain=example.org"] {
            assert!(jar(&[value]).is_empty(), "{value:?}");
        }
        assert!(jar(&[&format!("x={}", "y".repeat(4_096))]).is_empty());
        for value in ["x=1; Domain=example.net", "x=1; Domain=.WWW.example.net", "x=1; Domain="] {
            assert_eq!(sent(&jar(&[value]), "/a/"), "x=1", "{value}");
        }
        assert!(jar(&["x=1; Domain=ample.net"]).is_empty());
    }

    #[test]
    fn a_secure_cookie_stays_off_plain_connections() {
        let jar = jar(&["x=1; Secure; Path=/"]);
        assert_eq!(sent(&jar, "/"), "");
        let mut out = Vec::new();
        jar.header("/", true, &mut out);
        assert_eq!(out, b"x=1");
    }

    #[test]
    fn a_jar_does_not_grow_without_end() {
        let many: Vec<String> = (0..60).map(|n| format!("c{n}=1; Path=/")).collect();
        let jar = jar(&many.iter().map(String::as_str).collect::<Vec<_>>());
        let sent = sent(&jar, "/");
        assert_eq!(sent.split("; ").count(), MOST);
        assert!(sent.starts_with("c10=1") && sent.ends_with("c59=1"));
    }
}
