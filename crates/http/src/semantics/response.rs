//! Checks the field sections and the content of a response, alone and together.
//!
//! # What is read although the grammar forbids it
//! Whitespace around a value (RFC 9113, 8.2.1) is accepted, as by curl. Everything else that makes
//! a response malformed (RFC 9113, 8.1.1; RFC 9114, 4.1.2) is refused.

use crate::observer::Answer;

/// The largest number of interim responses. RFC 9110, 15.2 sets no limit, but a peer that never
/// sends a final response must not occupy the client for ever.
const MAX_INTERIM: u8 = 64;

/// The response breaks a rule, which the text names. The stream is unusable; the connection may be
/// usable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed(pub(crate) &'static str);

const NO_STATUS: Malformed = Malformed("no status in the head");
const INTERIM_END: Malformed = Malformed("the response ends with an interim (1xx) head");
const TOO_MANY_INTERIM: Malformed = Malformed("more than 64 interim (1xx) responses");
const SWITCHING: Malformed = Malformed("101 Switching Protocols, which only HTTP/1 has");
const HEAD_AGAIN: Malformed = Malformed("header fields in the middle of the content");
const TOO_EARLY: Malformed = Malformed("content before the head");
const TOO_MUCH: Malformed = Malformed("more content than Content-Length says");
const TOO_LITTLE: Malformed = Malformed("less content than Content-Length says");
const NO_HEAD: Malformed = Malformed("the response ends without a head");

/// What is needed from the head of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ResponseHead {
    pub(crate) status: u16,
    pub(crate) length: Option<u64>,
}

/// The state of reading one field section.
#[derive(Debug, Default)]
pub(crate) struct FieldSection {
    trailers: bool,
    regular: bool,
    status: Option<u16>,
    length: Option<u64>,
    malformed: Option<&'static str>,
}

/// The progress of a response.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Response {
    section: Section,
    bodiless: bool,
    interim: u8,
    status: u16,
    /// The length given by Content-Length, or 0 if the response cannot have content.
    promised: Option<u64>,
    body: u64,
}

/// The kind of the next field section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    Head,
    Trailers,
}

impl FieldSection {
    pub(crate) fn of(section: Section) -> FieldSection {
        FieldSection { trailers: section == Section::Trailers, ..FieldSection::default() }
    }

    /// Checks the next field. Returns whether it is a valid field of a final response's head.
    pub(crate) fn add(&mut self, name: &[u8], value: &[u8]) -> bool {
        if self.malformed.is_none() && !self.takes(name, value) {
            self.malformed = Some(what_is_wrong(name, value));
        }
        self.malformed.is_none() && self.regular && self.status.is_some_and(|status| status >= 200)
    }

    /// Returns the result of a complete section; `None` for trailers.
    pub(crate) fn verdict(&self) -> Result<Option<ResponseHead>, Malformed> {
        match self {
            FieldSection { malformed: Some(why), .. } => Err(Malformed(why)),
            FieldSection { trailers: true, .. } => Ok(None),
            FieldSection { status: Some(status), length, .. } => {
                Ok(Some(ResponseHead { status: *status, length: *length }))
            }
            FieldSection { status: None, .. } => Err(NO_STATUS),
        }
    }

    fn takes(&mut self, name: &[u8], value: &[u8]) -> bool {
        if name.first() == Some(&b':') {
            return self.takes_status(name, value);
        }
        self.regular = true;
        // Lengths are compared first, because most fields are none of these.
        is_name(name)
            && is_value(value)
            && match name.len() {
                14 if name == b"content-length" && !self.trailers => self.takes_length(value),
                7 | 10 | 16 | 17 => !is_of_connection(name),
                _ => true,
            }
    }

    /// Checks the only pseudo-header field of a response, which precedes all others (RFC 9113,
    /// 8.3.2).
    fn takes_status(&mut self, name: &[u8], value: &[u8]) -> bool {
        let in_place = !self.regular && !self.trailers && self.status.is_none();
        self.status = parse_status(value);
        in_place && name == b":status" && self.status.is_some()
    }

    fn takes_length(&mut self, value: &[u8]) -> bool {
        let length = decimal(value.trim_ascii());
        let agrees = self.length.is_none_or(|known| Some(known) == length);
        self.length = length;
        agrees && length.is_some()
    }
}

impl Response {
    /// Creates the state of a response not yet begun. `head` is true if the request was HEAD.
    pub(crate) fn new(head: bool) -> Response {
        let section = Section::Head;
        Response { section, bodiless: head, interim: 0, status: 0, promised: None, body: 0 }
    }

    pub(crate) fn section(&self) -> Section {
        self.section
    }

    /// Processes a field section; `ends` is true if the response ends after it.
    pub(crate) fn fields(
        &mut self,
        head: Option<ResponseHead>,
        ends: bool,
    ) -> Result<(), Malformed> {
        match (self.section, head) {
            (Section::Head, Some(head)) => self.head(head, ends),
            // RFC 9113, 8.1: nothing follows trailers.
            (Section::Trailers, None) if ends => Ok(()),
            _ => Err(HEAD_AGAIN),
        }
    }

    fn head(&mut self, head: ResponseHead, ends: bool) -> Result<(), Malformed> {
        match head.status {
            // RFC 9113, 8.6: HTTP/2 does not support upgrades.
            101 => Err(SWITCHING),
            100..=199 if ends => Err(INTERIM_END),
            100..=199 if self.interim == MAX_INTERIM => Err(TOO_MANY_INTERIM),
            100..=199 => {
                self.interim += 1;
                Ok(())
            }
            status => {
                self.bodiless |= matches!(status, 204 | 304);
                self.promised = if self.bodiless { Some(0) } else { head.length };
                self.status = status;
                self.section = Section::Trailers;
                Ok(())
            }
        }
    }

    /// Adds `length` bytes of content.
    pub(crate) fn content(&mut self, length: u64) -> Result<(), Malformed> {
        self.body = self.body.saturating_add(length);
        let too_much = self.promised.is_some_and(|promised| self.body > promised);
        match self.section {
            Section::Head => Err(TOO_EARLY),
            Section::Trailers if too_much => Err(TOO_MUCH),
            Section::Trailers => Ok(()),
        }
    }

    /// Ends the response and returns it.
    pub(crate) fn end(&self) -> Result<Answer, Malformed> {
        let too_little = self.promised.is_some_and(|promised| self.body < promised);
        match self.section {
            Section::Head => Err(NO_HEAD),
            Section::Trailers if too_little => Err(TOO_LITTLE),
            Section::Trailers => Ok(Answer { status: self.status, body: self.body }),
        }
    }
}

/// Parses three digits, of which the first is not 0.
fn parse_status(value: &[u8]) -> Option<u16> {
    match *value {
        [a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9'] => {
            Some([a, b, c].iter().fold(0, |number, digit| number * 10 + u16::from(digit - b'0')))
        }
        _ => None,
    }
}

/// Parses digits only: `str::parse` would also accept a plus sign.
pub(crate) fn decimal(digits: &[u8]) -> Option<u64> {
    let start = (!digits.is_empty()).then_some(0u64)?;
    digits.iter().try_fold(start, |number, &byte| {
        let digit = char::from(byte).to_digit(10)?;
        number.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// Returns whether `name` is valid (RFC 9113, 8.2.1; RFC 9114, 4.2): visible ASCII without capitals
/// and colons.
fn is_name(name: &[u8]) -> bool {
    let allowed = |&byte: &u8| matches!(byte, b'!'..=b'~') && !matches!(byte, b'A'..=b'Z' | b':');
    !name.is_empty() && name.iter().all(allowed)
}

fn is_value(value: &[u8]) -> bool {
    // No branch for each byte, because values are most of what is read.
    !value.iter().fold(false, |bad, &byte| bad | (byte == 0) | (byte == b'\r') | (byte == b'\n'))
}

/// Returns whether a field is connection-specific (RFC 9113, 8.2.2; RFC 9114, 4.2).
fn is_of_connection(name: &[u8]) -> bool {
    matches!(
        name,
        b"connection" | b"keep-alive" | b"proxy-connection" | b"transfer-encoding" | b"upgrade"
    )
}

/// Returns why a field was refused.
fn what_is_wrong(name: &[u8], value: &[u8]) -> &'static str {
    match name {
        b":status" => ":status that is invalid, repeated or not the first field",
        [b':', ..] => "pseudo-header field that no response has",
        _ if !is_name(name) => "header field name with capitals or characters that it cannot have",
        _ if !is_value(value) => "header field value with a line end or a NUL in it",
        b"connection" => "header field 'connection', which only HTTP/1 has",
        b"keep-alive" => "header field 'keep-alive', which only HTTP/1 has",
        b"proxy-connection" => "header field 'proxy-connection', which only HTTP/1 has",
        b"transfer-encoding" => "header field 'transfer-encoding', which only HTTP/1 has",
        b"upgrade" => "header field 'upgrade', which only HTTP/1 has",
        _ => "Content-Length that is not a number, or contradictory ones",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn describes_what_is_wrong_with_a_malformed_head() {
        for (fields, part) in [
            (&[(":status", "200"), ("connection", "close")][..], "'connection', which only HTTP/1"),
            (&[(":status", "200"), ("upgrade", "h2c")], "'upgrade'"),
            (&[(":status", "200"), ("Server", "x")], "capitals"),
            (&[(":status", "200"), ("a", "b\n")], "line end"),
            (
                &[(":status", "200"), ("content-length", "1"), ("content-length", "2")],
                "Content-Length",
            ),
            (&[("a", "b"), (":status", "200")], "not the first"),
            (&[(":status", "200"), (":path", "/")], "pseudo-header"),
            (&[("a", "b")], "no status"),
        ] {
            let mut section = FieldSection::of(Section::Head);
            fields.iter().for_each(|(name, value)| {
                section.add(name.as_bytes(), value.as_bytes());
            });
            let Err(Malformed(why)) = section.verdict() else { panic!("{fields:?} was taken") };
            assert!(why.contains(part), "{fields:?}: {why}");
        }
    }
}
