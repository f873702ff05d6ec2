//! Reading of the fields by which servers name themselves.

use sixmark_http::http1::ResponseVisitor;
use sixmark_http::observer::Token;
use sixmark_tally::server_fields::ServerFieldsTally;

/// Counts the fields of one response.
pub(super) struct FieldSampler<'a> {
    fields: &'a mut ServerFieldsTally,
    has_begun: bool,
}

impl<'a> FieldSampler<'a> {
    pub(super) fn new(fields: &'a mut ServerFieldsTally) -> FieldSampler<'a> {
        FieldSampler { fields, has_begun: false }
    }
}

impl ResponseVisitor for FieldSampler<'_> {
    fn field(&mut self, name: &[u8], value: &[u8]) {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.fields.count_response();
        }
        self.fields.note_field(name, value);
    }

    fn content(&mut self, _bytes: &[u8]) {}
}

/// Counts the fields of the responses of several exchanges on one connection.
pub(super) struct StreamFieldSampler<'a> {
    fields: &'a mut ServerFieldsTally,
    last: Option<Token>,
}

impl<'a> StreamFieldSampler<'a> {
    pub(super) fn new(fields: &'a mut ServerFieldsTally) -> StreamFieldSampler<'a> {
        StreamFieldSampler { fields, last: None }
    }

    /// Returns true if another response is to be read.
    pub(super) fn wants_more(&self) -> bool {
        self.fields.wants_more()
    }

    /// Counts a field of the response of an exchange, whose fields come one after the other.
    pub(super) fn note_field(&mut self, token: Token, name: &[u8], value: &[u8]) {
        if self.last.replace(token) != Some(token) {
            self.fields.count_response();
        }
        self.fields.note_field(name, value);
    }
}
