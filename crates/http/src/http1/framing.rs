//! What frames the content of a message: Transfer-Encoding and Content-Length (RFC 9112, 6). Whoever
//! reads messages of HTTP/1, from a socket or from a capture, frames them by these rules.

use super::{Http1Violation, is_token};
use crate::semantics::response::decimal;

/// The meaning of Transfer-Encoding (RFC 9112, 6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// There is no such field, or none that names a coding.
    Absent,
    /// chunked is the last coding, so the body determines its own end.
    Chunked,
    /// chunked is not the last coding: the end of the connection ends the body.
    Other,
    /// The field is invalid.
    Faulty,
}

/// The meaning of Content-Length (RFC 9110, 8.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Length {
    /// There is no such field.
    #[default]
    Absent,
    /// The number of bytes.
    Known(u64),
    /// The field is invalid, or several contradict each other.
    Faulty(Http1Violation),
}

impl Length {
    /// Combines this length with one more field line. Equal values, on several lines or as a list,
    /// count once (RFC 9112, 6.3).
    pub fn and(self, value: &[u8]) -> Length {
        let mut length = self;
        let mut any = false;
        for element in elements(value) {
            length = length.and_one(element);
            any = true;
        }
        if any { length } else { Length::Faulty(Http1Violation::ContentLength) }
    }

    fn and_one(self, element: &[u8]) -> Length {
        match (self, decimal(element)) {
            (Length::Faulty(violation), _) => Length::Faulty(violation),
            (_, None) => Length::Faulty(Http1Violation::ContentLength),
            (Length::Known(known), Some(new)) if known != new => {
                Length::Faulty(Http1Violation::ContentLengths)
            }
            (_, Some(new)) => Length::Known(new),
        }
    }
}

/// The transfer codings of a message, from its Transfer-Encoding fields.
#[derive(Clone, Copy, Debug, Default)]
pub struct Codings {
    /// Whether there is such a field that does not only say identity.
    pub present: bool,
    chunked: bool,
    /// Whether another coding was applied after chunked.
    covered: bool,
    faulty: bool,
}

impl Codings {
    /// Adds a field line, in the order of the head.
    pub fn add(&mut self, value: &[u8]) {
        self.faulty |= has_open_quote(value);
        let mut codings = elements(value).peekable();
        self.present |= self.faulty || codings.peek().is_none();
        codings.for_each(|coding| self.add_one(coding));
    }

    fn add_one(&mut self, coding: &[u8]) {
        // RFC 2616, 3.6: the identity coding changes nothing. Servers still name it; browsers and
        // curl ignore it.
        if coding.eq_ignore_ascii_case(b"identity") {
            return;
        }
        self.present = true;
        let name = coding.split(|&byte| byte == b';').next().unwrap_or_default();
        let has_parameters = name.len() < coding.len();
        let chunked = name.trim_ascii().eq_ignore_ascii_case(b"chunked");
        self.faulty |= !is_token(name.trim_ascii());
        // RFC 9112, 7.1: a parameter of chunked is an error. 6.1: chunked is applied once.
        self.faulty |= chunked && (has_parameters || self.chunked);
        self.covered |= self.chunked && !chunked;
        self.chunked |= chunked;
    }

    /// Returns the meaning of the field lines together.
    pub fn verdict(&self) -> Coding {
        match self {
            Codings { present: false, .. } => Coding::Absent,
            Codings { faulty: true, .. } => Coding::Faulty,
            Codings { chunked: true, covered: false, .. } => Coding::Chunked,
            _ => Coding::Other,
        }
    }
}

/// Returns the elements of a list without empty ones (RFC 9110, 5.6.1.2) and without the whitespace
/// around them, which may be a fold. A comma in a quoted string does not separate elements.
pub(super) fn elements(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut quotes = Quotes::Outside;
    list.split(move |&byte| {
        quotes = quotes.after(byte);
        byte == b',' && quotes == Quotes::Outside
    })
    .map(<[u8]>::trim_ascii)
    .filter(|element| !element.is_empty())
}

fn has_open_quote(value: &[u8]) -> bool {
    value.iter().fold(Quotes::Outside, |quotes, &byte| quotes.after(byte)) != Quotes::Outside
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    Outside,
    Inside,
    Escaped,
}

impl Quotes {
    fn after(self, byte: u8) -> Quotes {
        match (self, byte) {
            (Quotes::Outside, b'"') | (Quotes::Escaped, _) => Quotes::Inside,
            (Quotes::Inside, b'\\') => Quotes::Escaped,
            (Quotes::Inside, b'"') => Quotes::Outside,
            (same, _) => same,
        }
    }
}
