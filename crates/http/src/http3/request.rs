//! A request, encoded once before a run and sent many times.

use std::sync::Arc;

use super::frame::{kind, write_head};
use crate::qpack;
use crate::semantics::request::Parts;

/// A request as it goes onto any stream of any connection: the head, the body if there is one, and
/// the end of the stream.
#[derive(Clone, Debug)]
pub struct Http3Request {
    head: Vec<u8>,
    body: Option<Arc<Vec<u8>>>,
    pub(super) is_head: bool,
    pub(super) observed: bool,
}

impl Http3Request {
    /// A request with or without a body. The fields and the content of an `observed` one's response
    /// are told, else only what became of it.
    ///
    /// # Errors
    /// Which header can't be sent, and why.
    pub fn new(
        parts: &Parts<'_>,
        body: Option<Arc<Vec<u8>>>,
        observed: bool,
    ) -> Result<Http3Request, String> {
        let mut section = Vec::new();
        qpack::write_prefix(&mut section);
        for (name, value) in parts.fields(body.as_ref().map(|body| body.len() as u64))? {
            qpack::write_field(&mut section, &name, &value);
        }
        let mut head = Vec::new();
        write_head(&mut head, kind::HEADERS, section.len() as u64);
        head.append(&mut section);
        let body = body.filter(|body| !body.is_empty());
        if let Some(body) = &body {
            write_head(&mut head, kind::DATA, body.len() as u64);
        }
        Ok(Http3Request { head, body, is_head: parts.is_head(), observed })
    }

    /// What comes first: the fields, and what is needed in front of the body.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// What comes behind that; the stream ends with it. Its bytes are shared by all that send them.
    pub fn body(&self) -> Option<&Arc<Vec<u8>>> {
        self.body.as_ref()
    }
}
