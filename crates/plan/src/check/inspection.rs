//! Inspection of a response as it arrives.

use std::borrow::Cow;
use std::cell::OnceCell;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::decode::decode_content;
use super::expect::{Expect, ExpectedPart};
use super::{Checks, KeptContent, MOST_CONTENT, Mismatch, Rejection, pointer, shown_bytes};

/// A JSON value whose text is longer than this, in bytes, and much longer than that of the expected
/// value, counts as different without being parsed.
const LONGEST_VALUE: usize = 64 << 10;
/// How many times longer whitespace and escapes may make the text of a value.
const SPACED: usize = 8;

/// What was seen of one response; reused for the next.
#[derive(Clone, Debug, Default)]
pub struct Inspection {
    /// The values of Content-Encoding, as one list.
    codings: String,
    /// The values of the fields that are checked: the number of the check, and the values as one
    /// list.
    fields: Vec<(usize, Vec<u8>)>,
    /// The content, as far as the checks need it.
    content: Vec<u8>,
    size: u64,
    hash: Sha256,
    /// True if there was no room to keep the content.
    unkept: bool,
}

/// The content as the checks see it, or why they can't see it.
type SeenContent<'a> = Result<Cow<'a, [u8]>, String>;

impl Inspection {
    /// Begins a response and discards the state of the previous one.
    pub fn begin(&mut self, kept: &mut KeptContent) {
        self.let_go(kept);
        self.codings.clear();
        self.fields.clear();
        self.size = 0;
        self.hash.reset();
        self.unkept = false;
    }

    /// Releases the kept content, so that its room can be used for other responses.
    pub fn let_go(&mut self, kept: &mut KeptContent) {
        if self.content.capacity() > 0 {
            kept.take_back(&mut self.content);
        }
    }

    /// Records a field of the final response's header section, in the order received. Call it if
    /// [`Needs::fields`](super::Needs::fields) is set.
    pub fn field(&mut self, checks: &Checks, name: &[u8], value: &[u8]) {
        if name.eq_ignore_ascii_case(b"content-encoding") {
            if !self.codings.is_empty() {
                self.codings.push(',');
            }
            self.codings.push_str(&String::from_utf8_lossy(value));
        }
        for (number, expect) in checks.list().iter().enumerate() {
            if matches!(&expect.what, ExpectedPart::Header { name: wanted, .. }
                if name.eq_ignore_ascii_case(wanted.as_bytes()))
            {
                self.add(number, value);
            }
        }
    }

    /// RFC 9110, 5.3: the lines of a field form one list.
    fn add(&mut self, check: usize, value: &[u8]) {
        match self.fields.iter_mut().find(|(known, _)| *known == check) {
            Some((_, list)) => {
                list.extend_from_slice(b", ");
                list.extend_from_slice(value);
            }
            None => self.fields.push((check, value.to_vec())),
        }
    }

    /// Records a piece of the content, without chunked framing. Call it if
    /// [`Needs::content`](super::Needs::content) is set, after the fields.
    pub fn content(&mut self, checks: &Checks, bytes: &[u8], kept: &mut KeptContent) {
        self.size += bytes.len() as u64;
        let needs = checks.needs();
        if needs.hash && !self.is_coded() {
            self.hash.update(bytes);
        }
        if needs.whole || (needs.hash && self.is_coded()) {
            self.keep(bytes, kept);
        }
    }

    fn keep(&mut self, bytes: &[u8], kept: &mut KeptContent) {
        if self.is_too_long() {
            self.let_go(kept)
        } else {
            self.unkept = self.unkept || !kept.append(&mut self.content, bytes)
        }
    }

    fn is_too_long(&self) -> bool {
        self.size > MOST_CONTENT as u64
    }

    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.content.capacity()
    }

    fn is_coded(&self) -> bool {
        !self.codings.is_empty()
    }

    /// Ends the response. Content that must be checked as a whole is decoded and checked here.
    ///
    /// # Errors
    /// The first check that the response does not pass, or that can't be made.
    pub fn finish(&self, checks: &Checks, status: u16) -> Result<(), Rejection> {
        let seen = OnceCell::new();
        let seen = || seen.get_or_init(|| self.seen()).as_deref().map_err(Clone::clone);
        for (number, expect) in checks.list().iter().enumerate() {
            if self.unkept && !self.is_too_long() && self.is_of_whole(expect) {
                return Err(Rejection::Unchecked);
            }
            let found = match &expect.what {
                ExpectedPart::Status(ranges) => of_status(ranges, status),
                ExpectedPart::Size(size) => unless(self.size == *size, || self.size.to_string()),
                ExpectedPart::Header { value, .. } => self.of_field(number, value),
                ExpectedPart::Sha256(expected) if self.is_coded() => {
                    seen().and_then(|content| of_hash(expected, &Sha256::digest(content).into()))
                }
                ExpectedPart::Sha256(expected) => {
                    of_hash(expected, &self.hash.clone().finalize().into())
                }
                ExpectedPart::Json { pointer, value } => {
                    seen().and_then(|content| of_json(content, pointer, value))
                }
                ExpectedPart::Body(pattern) => seen()
                    .and_then(|content| unless(pattern.is_match(content), || shown_bytes(content))),
                ExpectedPart::Unknown => Ok(()),
            };
            found.map_err(|found| Rejection::Mismatch(mismatch(expect, found)))?;
        }
        Ok(())
    }

    fn is_of_whole(&self, expect: &Expect) -> bool {
        match expect.what {
            ExpectedPart::Json { .. } | ExpectedPart::Body(_) => true,
            ExpectedPart::Sha256(_) => self.is_coded(),
            ExpectedPart::Status(_)
            | ExpectedPart::Size(_)
            | ExpectedPart::Header { .. }
            | ExpectedPart::Unknown => false,
        }
    }

    fn seen(&self) -> SeenContent<'_> {
        if self.is_too_long() {
            return Err(format!("{} bytes of content, more than {MOST_CONTENT}", self.size));
        }
        if self.is_coded() {
            decode_content(&self.content, &self.codings)
        } else {
            Ok(Cow::Borrowed(&self.content))
        }
    }

    fn of_field(&self, number: usize, value: &str) -> Result<(), String> {
        match self.fields.iter().find(|(check, _)| *check == number) {
            Some((_, found)) => unless(found == value.as_bytes(), || shown_bytes(found)),
            None => Err("no such field".to_owned()),
        }
    }
}

fn mismatch(expect: &Expect, found: String) -> Mismatch {
    Mismatch { check: expect.text().clone(), found }
}

/// Returns what was found as the error.
fn unless(passes: bool, found: impl FnOnce() -> String) -> Result<(), String> {
    if passes { Ok(()) } else { Err(found()) }
}

fn of_status(ranges: &[(u16, u16)], status: u16) -> Result<(), String> {
    let fits = ranges.iter().any(|&(first, last)| (first..=last).contains(&status));
    unless(fits, || status.to_string())
}

fn of_hash(expected: &[u8; 32], found: &[u8; 32]) -> Result<(), String> {
    unless(expected == found, || found.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn of_json(content: &[u8], pointer: &str, value: &Value) -> Result<(), String> {
    let no_json = |_| format!("not JSON: {}", shown_bytes(content));
    let Some(text) = pointer::find_value(content, pointer).map_err(no_json)? else {
        return Err(format!("no value there: {}", shown_bytes(content)));
    };
    if text.len() > LONGEST_VALUE.max(SPACED * value.to_string().len()) {
        return Err(format!("a value of {} bytes: {}", text.len(), shown_bytes(text.as_bytes())));
    }
    let found: Value = serde_json::from_str(text).map_err(no_json)?;
    unless(same(&found, value), || shown_bytes(found.to_string().as_bytes()))
}

/// Compares two values. Numbers are equal whether written 1 or 1.0 (RFC 8259, 6).
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => {
            x == y || (x.is_f64() || y.is_f64()) && x.as_f64() == y.as_f64()
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let equal = |(name, value): (&String, &Value)| {
                b.get(name).is_some_and(|other| same(value, other))
            };
            a.len() == b.len() && a.iter().all(equal)
        }
        _ => a == b,
    }
}
