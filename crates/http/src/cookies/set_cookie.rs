//! Parsing a Set-Cookie field (RFC 6265, 5.2).

use super::date::parse_date;

/// The largest size of an attribute, in bytes of its value (RFC 6265bis, 5.6). Longer ones are
/// ignored.
pub(super) const LONGEST_ATTRIBUTE: usize = 1_024;

/// A Set-Cookie field. Of several attributes with the same name the last valid one counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SetCookie<'a> {
    /// The name; not empty.
    pub(super) name: &'a [u8],
    pub(super) value: &'a [u8],
    /// The Domain attribute without a leading dot. Empty if there is none, or none but the dot.
    pub(super) domain: &'a [u8],
    /// The Path attribute. Empty if there is none, or if the last one does not begin with `/`.
    pub(super) path: &'a [u8],
    pub(super) secure: bool,
    /// The Max-Age attribute, in seconds.
    pub(super) max_age_s: Option<i64>,
    /// The Expires attribute, in seconds since 1970.
    pub(super) expires_s: Option<i64>,
}

impl<'a> SetCookie<'a> {
    /// Parses the value of a field. Returns `None` if it is not a cookie: without a name, or with
    /// control characters other than a tab (RFC 6265bis, 5.6).
    pub(super) fn parse(field: &'a [u8]) -> Option<SetCookie<'a>> {
        if field.iter().any(|&byte| byte.is_ascii_control() && byte != b'\t') {
            return None;
        }
        let mut parts = field.split(|&byte| byte == b';');
        let (name, value) = parts.next().and_then(pair).filter(|(name, _)| !name.is_empty())?;
        let mut cookie = SetCookie { name, value, ..SetCookie::default() };
        for part in parts {
            let (name, value) = pair(part).unwrap_or((part.trim_ascii(), b""));
            if value.len() <= LONGEST_ATTRIBUTE {
                cookie.set_attribute(name, value);
            }
        }
        Some(cookie)
    }

    fn set_attribute(&mut self, name: &[u8], value: &'a [u8]) {
        match name.to_ascii_lowercase().as_slice() {
            // An empty one is ignored (RFC 6265, 5.2.3).
            b"domain" if !value.is_empty() => {
                self.domain = value.strip_prefix(b".").unwrap_or(value);
            }
            b"path" => self.path = if value.starts_with(b"/") { value } else { b"" },
            b"secure" => self.secure = true,
            b"max-age" => self.max_age_s = parse_age(value).or(self.max_age_s),
            b"expires" => self.expires_s = parse_date(value).or(self.expires_s),
            _ => {}
        }
    }

    /// Returns true unless the name has a prefix that promises attributes which the field lacks
    /// (RFC 6265bis, 4.1.3).
    pub(super) fn has_what_its_prefix_says(&self) -> bool {
        let begins = |prefix: &[u8]| {
            self.name.get(..prefix.len()).is_some_and(|name| name.eq_ignore_ascii_case(prefix))
        };
        match () {
            () if begins(b"__Host-") => self.secure && self.domain.is_empty() && self.path == b"/",
            () if begins(b"__Secure-") => self.secure,
            () => true,
        }
    }

    /// Returns the time at which the cookie expires if it is received at `now_ms`, both in
    /// milliseconds since 1970; the largest number if it does not. Max-Age takes precedence over
    /// Expires (RFC 6265, 5.3, 3).
    pub(super) fn expires_ms(&self, now_ms: i64) -> i64 {
        match (self.max_age_s, self.expires_s) {
            (Some(age), _) if age <= 0 => i64::MIN,
            (Some(age), _) => now_ms.saturating_add(age.saturating_mul(1_000)),
            (None, Some(at)) => at.saturating_mul(1_000),
            (None, None) => i64::MAX,
        }
    }
}

/// Splits at the first `=`; `None` if there is none.
fn pair(part: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = part.iter().position(|&byte| byte == b'=')?;
    Some((part[..at].trim_ascii(), part[at + 1..].trim_ascii()))
}

/// Parses a Max-Age: digits, and a minus sign before them, if any (RFC 6265, 5.2.2). A number that
/// is too large is the largest.
fn parse_age(value: &[u8]) -> Option<i64> {
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let add = |age: i64, digit: &u8| age.saturating_mul(10).saturating_add((digit - b'0').into());
    let age = is_number.then(|| digits.iter().fold(0, add))?;
    Some(if value.starts_with(b"-") { -age } else { age })
}
