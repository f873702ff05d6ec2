//! A request, encoded once before a run and sent many times.

use std::sync::Arc;

use super::frame::{kind, write_head};
use crate::qpack;
use crate::semantics::request::Parts;

/// A request that can be sent on any stream of any connection: the head and the body, if there is
/// one, after which the stream ends.
#[derive(Clone, Debug)]
pub struct Http3Request {
    head: Vec<u8>,
    body: Option<Arc<Vec<u8>>>,
    pub(super) is_head: bool,
    pub(super) observed: bool,
}

impl Http3Request {
    /// Encodes a request with or without a body. If it is `observed`, the fields and the content of
    /// its response are reported, otherwise only its result.
    ///
    /// # Errors
    /// Which header cannot be sent, and why.
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

    /// Returns the first bytes of the stream: the fields, and the frame head of the body if there
    /// is one.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Returns the bytes that follow, after which the stream ends. All senders share them.
    pub fn body(&self) -> Option<&Arc<Vec<u8>>> {
        self.body.as_ref()
    }
}
