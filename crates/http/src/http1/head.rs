//! The head of a response. `httparse` parses it; this module interprets the fields that decide what
//! follows, with [`framing`](super::framing).

use std::mem::{self, MaybeUninit};

use httparse::{EMPTY_HEADER, Error, Header, ParserConfig, Response, Status};

use super::Http1Violation;
use super::framing::{Coding, Codings, Length, elements};
use crate::semantics::MAX_HEAD;

/// Up to this number of fields, parsing needs no allocation.
const FEW_FIELDS: usize = 128;
/// The number of bytes at the start of an incomplete head that are checked early. Without this
/// limit, a head that comes line by line would be parsed from its start again for each line.
const JUDGED_EARLY: usize = 4 * 1024;

/// The meaning of a head, as far as it concerns the message and its body.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageHead {
    pub(super) status: u16,
    pub(super) coding: Coding,
    pub(super) length: Length,
    /// Whether the peer will keep the connection open, according to the head.
    pub(super) persists: bool,
    /// Whether the head contains `Connection: keep-alive`.
    pub(super) keep_alive: bool,
}

/// Parses a head at the start of `bytes`. Returns it with its length, or `None` if more bytes are
/// needed.
pub(super) fn parse_head(bytes: &[u8]) -> Result<Option<(MessageHead, usize)>, Http1Violation> {
    with_response(bytes, |response, read| match read {
        Ok(Status::Complete(length)) if length > MAX_HEAD => Err(Http1Violation::HeadTooLong),
        Ok(Status::Complete(length)) => Ok(Some((MessageHead::of(response)?, length))),
        Ok(Status::Partial) => Ok(None),
        Err(error) => Err(violation(error)),
    })
}

/// Passes the name and value of each field of a head, which [`parse_head`] has accepted, to `tell`.
pub(super) fn tell_fields(head: &[u8], mut tell: impl FnMut(&[u8], &[u8])) {
    with_response(head, |response, read| {
        if read.is_ok() {
            response.headers.iter().for_each(|header| tell(header.name.as_bytes(), header.value));
        }
    });
}

/// Parses the head at the start of `bytes`, with any number of fields, and passes it to `take`.
fn with_response<T>(
    bytes: &[u8],
    take: impl FnOnce(&Response<'_, '_>, Result<Status<usize>, Error>) -> T,
) -> T {
    let mut response = Response::new(&mut []);
    let mut fields = [const { MaybeUninit::uninit() }; FEW_FIELDS];
    let mut config = ParserConfig::default();
    config
        .allow_obsolete_multiline_headers_in_responses(true)
        .allow_spaces_after_header_name_in_responses(true);
    let read = config.parse_response_with_uninit_headers(&mut response, bytes, &mut fields);
    if read != Err(Error::TooManyHeaders) {
        return take(&response, read);
    }
    // Each field takes at least one line.
    let (length, _) = through_empty_line(&[], bytes);
    let lines = bytes[..length.min(MAX_HEAD)].iter().filter(|&&byte| byte == b'\n').count();
    let mut fields = vec![EMPTY_HEADER; lines];
    let mut response = Response::new(&mut fields);
    let read = config.parse_response(&mut response, bytes);
    take(&response, read)
}

fn violation(error: Error) -> Http1Violation {
    match error {
        Error::HeaderName => Http1Violation::HeaderName,
        Error::HeaderValue => Http1Violation::HeaderValue,
        Error::NewLine => Http1Violation::LineEnd,
        // There is room for as many fields as the longest accepted head has lines.
        Error::TooManyHeaders => Http1Violation::HeadTooLong,
        Error::Version => Http1Violation::Version,
        Error::Status | Error::Token => Http1Violation::StatusLine,
    }
}

impl MessageHead {
    fn of(response: &Response<'_, '_>) -> Result<MessageHead, Http1Violation> {
        let status = response.code.filter(|&code| code >= 100).ok_or(Http1Violation::Status)?;
        let mut fields = HeadFields::default();
        response.headers.iter().for_each(|header| fields.add(header));
        Ok(MessageHead {
            status,
            coding: fields.codings.verdict(),
            length: fields.length,
            persists: fields.persists(response.version == Some(0)),
            keep_alive: fields.keep_alive,
        })
    }
}

#[derive(Default)]
struct HeadFields {
    codings: Codings,
    length: Length,
    close: bool,
    keep_alive: bool,
}

impl HeadFields {
    fn add(&mut self, header: &Header<'_>) {
        // Lengths are compared first, because most fields are none of the three.
        let named = |name: &str| header.name.eq_ignore_ascii_case(name);
        match header.name.len() {
            10 if named("connection") => self.add_connection(header.value),
            14 if named("content-length") => self.length = self.length.and(header.value),
            17 if named("transfer-encoding") => self.codings.add(header.value),
            _ => {}
        }
    }

    fn add_connection(&mut self, value: &[u8]) {
        for option in elements(value) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    /// Returns whether the connection persists (RFC 9112, 9.3). It does not if Transfer-Encoding
    /// occurs together with Content-Length or in HTTP/1.0 (6.1 and 6.3): such a sender may not mean
    /// what it says, so nothing after this response can be trusted.
    fn persists(&self, http_1_0: bool) -> bool {
        let doubtful = self.codings.present && (http_1_0 || self.length != Length::Absent);
        !self.close && !doubtful && (self.keep_alive || !http_1_0)
    }
}

/// A head and the bytes from which it was parsed.
type Whole = (MessageHead, Vec<u8>);

/// A head that comes in several pieces. It is empty and uses no memory unless a head is half read:
/// an idle connection must cost next to nothing.
#[derive(Debug, Default)]
pub(super) struct SplitHead {
    held: Vec<u8>,
    /// The number of bytes that have been checked.
    judged: usize,
}

impl SplitHead {
    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    #[cfg(test)]
    pub(super) fn memory(&self) -> usize {
        self.held.capacity()
    }

    pub(super) fn clear(&mut self) {
        *self = SplitHead::default();
    }

    /// Takes bytes up to the end of the head. Returns their number and, once the head is complete,
    /// the head with its bytes.
    pub(super) fn add(&mut self, bytes: &[u8]) -> Result<(usize, Option<Whole>), Http1Violation> {
        let room = MAX_HEAD.saturating_sub(self.held.len());
        let piece = &bytes[..bytes.len().min(room)];
        let (length, ended) = through_empty_line(&self.held, piece);
        let piece = &piece[..length];
        self.held.extend_from_slice(piece);
        check_start(&self.held)?;
        if piece.contains(&b'\n')
            && let Some(head) = self.judge(ended)?
        {
            return Ok((piece.len(), Some((head, mem::take(self).held))));
        }
        if self.held.len() >= MAX_HEAD {
            Err(Http1Violation::HeadTooLong)
        } else {
            Ok((piece.len(), None))
        }
    }

    /// Parses the complete lines; until the head has `ended`, only those near its start. It does so
    /// only if there is a new line: otherwise the head of a peer that sends byte by byte would be
    /// parsed for each byte, and the violation found would depend on how the bytes are split.
    fn judge(&mut self, ended: bool) -> Result<Option<MessageHead>, Http1Violation> {
        // httparse accepts 1.0 and 1.1. RFC 9110, 2.5 requires 1.2 to be read as the highest known
        // version.
        if let Some(minor @ b'2'..=b'9') = self.held.get_mut(7) {
            *minor = b'1';
        }
        let most = if ended { self.held.len() } else { self.held.len().min(JUDGED_EARLY) };
        let last = self.held[..most].iter().rposition(|&byte| byte == b'\n');
        let lines = last.map_or(0, |last| last + 1);
        if mem::replace(&mut self.judged, lines) == lines {
            return Ok(None);
        }
        Ok(parse_head(&self.held[..lines])?.map(|(head, _)| head))
    }
}

/// Returns how many bytes of `piece`, which continues `held`, belong to the head (all of them, or
/// those up to the end of the empty line), and whether the empty line was found.
fn through_empty_line(held: &[u8], piece: &[u8]) -> (usize, bool) {
    let mut line_is_empty = held.iter().rev().find(|&&byte| byte != b'\r') == Some(&b'\n');
    for (at, byte) in piece.iter().enumerate() {
        match byte {
            b'\n' if mem::replace(&mut line_is_empty, true) => return (at + 1, true),
            b'\n' | b'\r' => {}
            _ => line_is_empty = false,
        }
    }
    (piece.len(), false)
}

/// Returns an error at the first byte that cannot belong to a status line, because the greeting of
/// another protocol may be all that the peer sends.
fn check_start(held: &[u8]) -> Result<(), Http1Violation> {
    for (at, &byte) in held.iter().take(13).enumerate() {
        match (at, byte) {
            (0..=4, _) if byte == b"HTTP/"[at] => {}
            (0..=4, _) => return Err(Http1Violation::NotHttp),
            (5, b'1') | (6, b'.') | (7, b'0'..=b'9') | (8, b' ') => {}
            (5..=7, _) => return Err(Http1Violation::Version),
            (9, b'0') => return Err(Http1Violation::Status),
            (9..=11, b'0'..=b'9') | (12, b' ' | b'\r' | b'\n') => {}
            _ => return Err(Http1Violation::StatusLine),
        }
    }
    Ok(())
}
