//! What is kept of a response while it is read.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};
use sixmark_http::http1::ResponseVisitor;
use sixmark_http::observer::{Answer, Loss, Observer, Token};

use crate::site_fetch::COMPARED_FIELDS;

/// The content that is read at most, in bytes.
pub(super) const MOST_CONTENT: u64 = 16 << 20;
/// The content that is searched for hosts, in bytes.
const MOST_SEARCHED: usize = 256 << 10;
/// The longest value of a field that is kept, in bytes.
const LONGEST_VALUE: usize = 1_000;
/// The longest value of Location that is kept, in bytes.
const LONGEST_LOCATION: usize = 4_000;

/// What is kept of a response.
#[derive(Default)]
pub(super) struct CollectedResponse {
    pub(super) fields: BTreeMap<String, String>,
    pub(super) location: Option<String>,
    pub(super) asks_to_wait: bool,
    pub(super) content_bytes: u64,
    pub(super) status: Option<u16>,
    /// Why there is no complete response.
    pub(super) lost: Option<String>,
    pub(super) has_begun: bool,
    /// The beginning of the content.
    pub(super) searched: Vec<u8>,
    sum: Sha256,
}

impl CollectedResponse {
    /// Returns the SHA-256 of the content in hexadecimal digits.
    pub(super) fn content_sha256(&self) -> String {
        hex(&self.sum.clone().finalize())
    }

    pub(super) fn note_field(&mut self, name: &[u8], value: &[u8]) {
        let name = String::from_utf8_lossy(name).to_ascii_lowercase();
        let text = |most: usize| {
            let value = &value[..value.len().min(most)];
            String::from_utf8_lossy(value).chars().filter(|c| !c.is_control()).collect::<String>()
        };
        match name.as_str() {
            "location" => self.location = Some(text(LONGEST_LOCATION)),
            "retry-after" => self.asks_to_wait = true,
            _ => {}
        }
        if COMPARED_FIELDS.contains(&name.as_str()) {
            let kept = self.fields.entry(name).or_default();
            if kept.len() < LONGEST_VALUE {
                let separator = if kept.is_empty() { "" } else { ", " };
                *kept += &format!("{separator}{}", text(LONGEST_VALUE));
            }
        }
    }

    pub(super) fn note_content(&mut self, bytes: &[u8]) {
        self.content_bytes += bytes.len() as u64;
        self.sum.update(bytes);
        let room = MOST_SEARCHED - self.searched.len();
        self.searched.extend(&bytes[..bytes.len().min(room)]);
    }
}

/// Returns bytes in hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl ResponseVisitor for CollectedResponse {
    fn field(&mut self, name: &[u8], value: &[u8]) {
        self.note_field(name, value);
    }

    fn content(&mut self, bytes: &[u8]) {
        self.note_content(bytes);
    }
}

impl Observer for CollectedResponse {
    fn begun(&mut self, _: Token) {
        self.has_begun = true;
    }

    fn field(&mut self, _: Token, name: &[u8], value: &[u8]) {
        self.note_field(name, value);
    }

    fn content(&mut self, _: Token, bytes: &[u8]) {
        self.note_content(bytes);
    }

    fn complete(&mut self, _: Token, answer: Answer) {
        self.status = Some(answer.status);
    }

    fn lost(&mut self, _: Token, loss: Loss) {
        self.lost = Some(match loss {
            Loss::Reset(code) => format!("the peer reset the stream (code {code})"),
            Loss::Unprocessed => "the peer did not process the request".to_owned(),
            Loss::Malformed { why, .. } => format!("malformed response: {why}"),
        });
    }
}
