//! Reading of the fields by which servers name themselves.

use sixmark_http::http1::ResponseVisitor;
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
