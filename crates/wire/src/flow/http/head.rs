//! The heads of requests and responses: collected until complete, then parsed.

use httparse::{EMPTY_HEADER, Header, Request, Response};
use sixmark_http::http1::framing::{Coding, Codings, Length};

use super::super::budget::Budget;
use super::body::BodyState;
use crate::Span;

/// The maximum length of a head. A longer one is not followed.
const LONGEST: usize = 32 << 10;
/// The maximum number of fields in a head.
const MOST_FIELDS: usize = 96;

/// The part of a head received so far.
#[derive(Debug, Default)]
pub(super) struct Head(Vec<u8>);

/// The result of adding bytes to a head.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Collected<'a> {
    /// The head is incomplete.
    More,
    /// The complete head, and the number of new bytes that belong to it.
    Whole(&'a [u8], usize),
    /// The head is too long, or part of it was not captured.
    Lost,
}

impl Head {
    /// Returns whether no part of a head has been received.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns what has been received.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn clear(&mut self, budget: &mut Budget) {
        budget.give(self.0.len());
        self.0 = Vec::new();
    }

    /// Adds the next bytes. A head that is complete in them is not copied.
    pub(super) fn take<'a>(&'a mut self, next: &Span<'a>, budget: &mut Budget) -> Collected<'a> {
        let known = self.0.len();
        if known == 0
            && let Some(end) = end_of_head(next.bytes)
        {
            return Collected::Whole(&next.bytes[..end], end);
        }
        let room = LONGEST.saturating_sub(known).min(next.bytes.len());
        if !budget.take(room) {
            return Collected::Lost;
        }
        self.0.extend_from_slice(&next.bytes[..room]);
        // The empty line may have begun in the earlier bytes.
        let from = known.saturating_sub(3);
        match end_of_head(&self.0[from..]) {
            Some(end) => {
                Collected::Whole(&self.0[..from + end], (from + end).saturating_sub(known))
            }
            None if room == next.length && self.0.len() < LONGEST => Collected::More,
            None => Collected::Lost,
        }
    }
}

/// Returns the position after the empty line.
fn end_of_head(bytes: &[u8]) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = bytes.get(from..)?.iter().position(|byte| *byte == b'\n') {
        let behind = from + at + 1;
        match bytes.get(behind..)? {
            [b'\n', ..] => return Some(behind + 1),
            [b'\r', b'\n', ..] => return Some(behind + 2),
            _ => from = behind,
        }
    }
    None
}

/// The relevant fields of a request's head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) host: Option<String>,
    /// `None` if there is no content.
    pub(super) body: Option<BodyState>,
}

/// Parses the head of a request. Returns `None` if it is invalid.
pub(super) fn request(head: &[u8]) -> Option<Asked> {
    let mut fields = [EMPTY_HEADER; MOST_FIELDS];
    let mut request = Request::new(&mut fields);
    if !request.parse(head).ok()?.is_complete() {
        return None;
    }
    let body = framing(request.headers)?;
    Some(Asked {
        method: request.method?.to_owned(),
        path: request.path?.to_owned(),
        host: field(request.headers, "host").next().map(words),
        body: body.filter(|body| *body != BodyState::Length(0)),
    })
}

/// The relevant fields of a response's head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answered {
    pub(super) status: u16,
    /// `None` if there is no content.
    pub(super) body: Option<BodyState>,
}

/// Parses the head of a response to a request with this method. Returns `None` if it is invalid.
pub(super) fn response(head: &[u8], method: &str) -> Option<Answered> {
    let mut fields = [EMPTY_HEADER; MOST_FIELDS];
    let mut response = Response::new(&mut fields);
    let mut config = httparse::ParserConfig::default();
    config.allow_spaces_after_header_name_in_responses(true);
    if !config.parse_response(&mut response, head).ok()?.is_complete() {
        return None;
    }
    let status = response.code?;
    let empty = method == "HEAD" || status < 200 || [204, 304].contains(&status);
    let body =
        if empty { None } else { Some(framing(response.headers)?.unwrap_or(BodyState::ToEnd)) };
    Some(Answered { status, body: body.filter(|body| *body != BodyState::Length(0)) })
}

/// Returns the framing of content. The outer option is `None` if the framing fields are invalid or
/// contradict each other.
fn framing(fields: &[Header<'_>]) -> Option<Option<BodyState>> {
    let mut codings = Codings::default();
    field(fields, "transfer-encoding").for_each(|value| codings.add(value));
    let length = field(fields, "content-length").fold(Length::Absent, Length::and);
    match (codings.verdict(), length) {
        (Coding::Faulty, _) | (Coding::Absent, Length::Faulty(_)) => None,
        (Coding::Chunked, _) => Some(Some(BodyState::chunked())),
        (Coding::Other, _) => Some(Some(BodyState::ToEnd)),
        (Coding::Absent, Length::Absent) => Some(None),
        (Coding::Absent, Length::Known(length)) => Some(Some(BodyState::Length(length))),
    }
}

fn field<'a>(fields: &'a [Header<'a>], name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    fields
        .iter()
        .filter(move |field| field.name.eq_ignore_ascii_case(name))
        .map(|field| field.value)
}

fn words(value: &[u8]) -> String {
    String::from_utf8_lossy(value.trim_ascii()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_head_split_at_any_byte() {
        for head in ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.0\nHost: a\n\n"] {
            let all = format!("{head}GET");
            for cut in 1..head.len() {
                let (mut collect, mut budget) = (Head::default(), Budget::new(1_000));
                let (first, second) = all.as_bytes().split_at(cut);
                let first = collect.take(&Span::new(first, cut), &mut budget);
                assert_eq!(first, Collected::More);
                let span = Span::new(second, second.len());
                let expected = Collected::Whole(head.as_bytes(), head.len() - cut);
                assert_eq!(collect.take(&span, &mut budget), expected);
                collect.clear(&mut budget);
                assert_eq!(budget.left(), 1_000);
            }
        }
    }

    #[test]
    fn reports_an_uncaptured_or_overlong_head_as_lost() {
        let mut budget = Budget::new(1 << 20);
        let span = Span::new(b"GET / HTTP/1.1\r\n", 500);
        assert_eq!(Head::default().take(&span, &mut budget), Collected::Lost);
        let long = vec![b'a'; LONGEST];
        let span = Span::new(&long, long.len());
        assert_eq!(Head::default().take(&span, &mut budget), Collected::Lost);
        assert_eq!(Head::default().take(&span, &mut Budget::new(10)), Collected::Lost);
    }

    #[test]
    fn framing_is_read_as_servers_do() {
        let request = |fields: &str| {
            request(format!("POST /a?b HTTP/1.1\r\n{fields}\r\n").as_bytes()).map(|r| r.body)
        };
        assert_eq!(request(""), Some(None));
        assert_eq!(request("Content-Length: 0\r\n"), Some(None));
        assert_eq!(request("content-length: 12\r\n"), Some(Some(BodyState::Length(12))));
        assert_eq!(request("Content-Length: 1\r\nContent-Length: 2\r\n"), None);
        for invalid in ["-1", "+5", "", "1, 2", "5 5"] {
            assert_eq!(request(&format!("Content-Length: {invalid}\r\n")), None, "{invalid}");
        }
        let repeated = Some(Some(BodyState::Length(12)));
        assert_eq!(request("Content-Length: 12, 12\r\n"), repeated);
        let chunked = "Content-Length: 5\r\nTransfer-Encoding: gzip, Chunked\r\n";
        assert_eq!(request(chunked), Some(Some(BodyState::chunked())));
        let response = |status: u16, method, fields: &str| {
            let head = format!("HTTP/1.1 {status} X\r\n{fields}\r\n");
            response(head.as_bytes(), method).map(|r| (r.status, r.body))
        };
        let length = "Content-Length: 9\r\n";
        assert_eq!(response(200, "GET", length), Some((200, Some(BodyState::Length(9)))));
        assert_eq!(response(404, "GET", ""), Some((404, Some(BodyState::ToEnd))));
        for (status, method) in [(200, "HEAD"), (204, "GET"), (304, "GET"), (100, "PUT")] {
            assert_eq!(response(status, method, length), Some((status, None)));
        }
    }

    #[test]
    fn reads_the_method_path_and_host_of_a_request() {
        let head = b"PATCH http://x/y HTTP/1.1\r\nhOST:  a:80 \r\n\r\n";
        let found = request(head).unwrap();
        assert_eq!((&*found.method, &*found.path), ("PATCH", "http://x/y"));
        assert_eq!(found.host.as_deref(), Some("a:80"));
        assert_eq!(request(b"hello\r\n\r\n"), None);
    }
}
