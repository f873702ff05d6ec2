//! Looks at a response as it comes.

use std::borrow::Cow;
use std::cell::OnceCell;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::decode::decode_content;
use super::expect::{Expect, ExpectedPart};
use super::{Checks, KeptContent, MOST_CONTENT, Mismatch, Rejection, pointer, shown_bytes};

/// A value of JSON whose text is longer than this, and much longer than the expected one's, is another
/// one, in bytes.
const LONGEST_VALUE: usize = 64 << 10;
/// How much longer white space and escapes may make it.
const SPACED: usize = 8;

/// What was seen of a response, and room for the next one.
#[derive(Clone, Debug, Default)]
pub struct Inspection {
    /// The values of Content-Encoding, as one list.
    codings: String,
    /// What the fields that are asked for say: the number of the check, and the values as one list.
    fields: Vec<(usize, Vec<u8>)>,
    /// Content, as far as it is needed.
    content: Vec<u8>,
    size: u64,
    hash: Sha256,
    /// There was no room to keep the content.
    unkept: bool,
}

/// Content as the checks see it, or why they can't.
type SeenContent<'a> = Result<Cow<'a, [u8]>, String>;

impl Inspection {
    /// A response begins, whatever became of the last.
    pub fn begin(&mut self, kept: &mut KeptContent) {
        self.let_go(kept);
        self.codings.clear();
        self.fields.clear();
        self.size = 0;
        self.hash.reset();
        self.unkept = false;
    }

    /// Nobody looks at the content any more: the room is for others.
    pub fn let_go(&mut self, kept: &mut KeptContent) {
        if self.content.capacity() > 0 {
            kept.take_back(&mut self.content);
        }
    }

    /// A field of the final response's head, in its order. To be called where
    /// [`Needs::fields`](super::Needs::fields).
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

    /// RFC 9110, 5.3: the lines of a field are one list.
    fn add(&mut self, check: usize, value: &[u8]) {
        match self.fields.iter_mut().find(|(known, _)| *known == check) {
            Some((_, list)) => {
                list.extend_from_slice(b", ");
                list.extend_from_slice(value);
            }
            None => self.fields.push((check, value.to_vec())),
        }
    }

    /// Some of the content, the framing of chunks taken off. To be called where
    /// [`Needs::content`](super::Needs::content), after the fields.
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
        match self.is_too_long() {
            true => self.let_go(kept),
            false => self.unkept = self.unkept || !kept.append(&mut self.content, bytes),
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

    /// The response ended. What must be looked at whole is decoded and looked at now.
    ///
    /// # Errors
    /// The first check that it does not pass, or that can't be made.
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
        match self.is_coded() {
            true => decode_content(&self.content, &self.codings),
            false => Ok(Cow::Borrowed(&self.content)),
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

/// The error is what was found.
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
    let no_json = |_| format!("no JSON: {}", shown_bytes(content));
    let Some(text) = pointer::find_value(content, pointer).map_err(no_json)? else {
        return Err(format!("nothing there: {}", shown_bytes(content)));
    };
    if text.len() > LONGEST_VALUE.max(SPACED * value.to_string().len()) {
        return Err(format!("a value of {} bytes: {}", text.len(), shown_bytes(text.as_bytes())));
    }
    let found: Value = serde_json::from_str(text).map_err(no_json)?;
    unless(same(&found, value), || shown_bytes(found.to_string().as_bytes()))
}

/// Numbers are the same whether written 1 or 1.0 (RFC 8259, 6).
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
