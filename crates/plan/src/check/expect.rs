//! A single expectation of a response.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use regex::bytes::{Regex, RegexBuilder};
use serde_json::Value;

use super::Needs;

/// The most memory that a compiled pattern may use, in bytes.
const MOST_PATTERN: usize = 1 << 20;

/// One check, with the text that it was parsed from.
#[derive(Clone, Debug)]
pub struct Expect {
    text: Arc<str>,
    pub(super) what: ExpectedPart,
}

/// The part of the response that is compared, with the expected value.
#[derive(Clone, Debug)]
pub(super) enum ExpectedPart {
    Status(Vec<(u16, u16)>),
    Sha256([u8; 32]),
    Size(u64),
    Json {
        pointer: String,
        value: Value,
    },
    Body(Regex),
    Header {
        name: String,
        value: String,
    },
    /// A check of a document written by another release, which this one cannot parse. It never
    /// fails.
    Unknown,
}

impl Expect {
    /// Returns the text of the check as requested.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    pub(super) fn needs(&self) -> Needs {
        let nothing = Needs::default();
        match self.what {
            ExpectedPart::Status(_) | ExpectedPart::Unknown => nothing,
            ExpectedPart::Header { .. } => Needs { fields: true, ..nothing },
            ExpectedPart::Size(_) => Needs { content: true, ..nothing },
            // The content coding is in a field.
            ExpectedPart::Sha256(_) => Needs { fields: true, content: true, hash: true, ..nothing },
            ExpectedPart::Json { .. } | ExpectedPart::Body(_) => {
                Needs { fields: true, content: true, whole: true, ..nothing }
            }
        }
    }

    pub(super) fn of_document(text: &str) -> Expect {
        text.parse().unwrap_or_else(|_| Expect { text: text.into(), what: ExpectedPart::Unknown })
    }
}

impl PartialEq for Expect {
    fn eq(&self, other: &Expect) -> bool {
        self.text == other.text
    }
}

impl fmt::Display for Expect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Expect {
    type Err = String;

    /// The error states what is wrong with the text and what to write instead.
    fn from_str(text: &str) -> Result<Expect, String> {
        let what = what(text).map_err(|error| format!("'{text}': {error}"))?;
        Ok(Expect { text: text.into(), what })
    }
}

fn what(text: &str) -> Result<ExpectedPart, String> {
    if let Some(pattern) = text.strip_prefix("body~") {
        return pattern_of(pattern).map(ExpectedPart::Body);
    }
    let (name, value) = text.split_once('=').ok_or_else(unknown)?;
    if let Some(pointer) = name.strip_prefix("json:") {
        return json(pointer, value);
    }
    if let Some(name) = name.strip_prefix("header:") {
        return header(name, value);
    }
    match name {
        "status" => {
            value.split(',').map(statuses).collect::<Result<_, _>>().map(ExpectedPart::Status)
        }
        "sha256" => hash(value).map(ExpectedPart::Sha256),
        "size" => {
            let size = value.parse().map_err(|_| "expected a whole number of bytes".to_owned())?;
            Ok(ExpectedPart::Size(size))
        }
        _ => Err(unknown()),
    }
}

fn unknown() -> String {
    "not a check: use status=200, sha256=HEX, size=BYTES, json:/POINTER=VALUE, body~PATTERN or \
     header:NAME=VALUE"
        .to_owned()
}

/// Parses `200` or `2xx` into the first and last code of a range. Final responses have codes from
/// 200 to 599 (RFC 9110, 15).
fn statuses(text: &str) -> Result<(u16, u16), String> {
    let (first, last) = any_statuses(text)?;
    match (200..=599).contains(&first) {
        true => Ok((first, last)),
        false => Err(format!("no response has status {text}: they are from 200 to 599")),
    }
}

fn any_statuses(text: &str) -> Result<(u16, u16), String> {
    let wrong = || format!("'{text}' is not a status code: write 200, 2xx or 200,204");
    let digits = text.strip_suffix("xx");
    let plain =
        |text: &str, length| text.len() == length && text.bytes().all(|b| b.is_ascii_digit());
    match digits {
        Some(class) if plain(class, 1) && class != "0" => {
            let class: u16 = class.parse().map_err(|_| wrong())?;
            Ok((class * 100, class * 100 + 99))
        }
        None if plain(text, 3) && !text.starts_with('0') => {
            let status = text.parse().map_err(|_| wrong())?;
            Ok((status, status))
        }
        _ => Err(wrong()),
    }
}

fn hash(text: &str) -> Result<[u8; 32], String> {
    let wrong = || "a SHA-256 is 64 hexadecimal digits, as sha256sum prints them".to_owned();
    let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
    let mut hash = [0; 32];
    if text.len() != 64 {
        return Err(wrong());
    }
    for (byte, pair) in hash.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        let (high, low) = digit(pair[0]).zip(digit(pair[1])).ok_or_else(wrong)?;
        *byte = high << 4 | low;
    }
    Ok(hash)
}

/// RFC 6901: the empty pointer is the whole document; every other pointer begins with `/`.
fn json(pointer: &str, value: &str) -> Result<ExpectedPart, String> {
    if !(pointer.is_empty() || pointer.starts_with('/')) {
        return Err("a pointer begins with /, as in json:/items/0/name=x".to_owned());
    }
    if value.is_empty() {
        return Err(format!("no value; for an empty string write json:{pointer}=\"\""));
    }
    // A value that is not JSON is a string, because nested quotes are hard to type in a shell.
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
    Ok(ExpectedPart::Json { pointer: pointer.to_owned(), value })
}

fn pattern_of(pattern: &str) -> Result<Regex, String> {
    if pattern.is_empty() {
        return Err("an empty pattern is found in any content; write what to look for".to_owned());
    }
    let compiled = RegexBuilder::new(pattern).size_limit(MOST_PATTERN).build();
    // The message draws arrows below the pattern. Its last line states what is wrong.
    compiled.map_err(|error| {
        let error = error.to_string();
        let last = error.lines().last().unwrap_or_default();
        format!("not a valid pattern: {}", last.trim_start_matches("error: "))
    })
}

fn header(name: &str, value: &str) -> Result<ExpectedPart, String> {
    let (name, value) = sixmark_http::http1::request::parse_header(&format!("{name}: {value}"))?;
    Ok(ExpectedPart::Header { name, value })
}
