//! A cache of the head read last, so that an equal head need not be parsed again.
//!
//! Servers answer the same request with the same bytes except for a date that changes once a
//! second. Comparing is several times faster than parsing.

use super::Http1Violation;
use super::head::{self, MessageHead};

/// The largest head that is cached, in bytes.
const MOST: usize = 1_024;

/// A head and its meaning. All connections of a worker should share one, because the head need not
/// come from the same connection.
#[derive(Debug, Default)]
pub struct KnownHead {
    bytes: Vec<u8>,
    head: Option<MessageHead>,
}

impl KnownHead {
    /// Parses a head like `head::parse_head`, from the cache if possible.
    pub(super) fn parse(
        &mut self,
        bytes: &[u8],
    ) -> Result<Option<(MessageHead, usize)>, Http1Violation> {
        if let Some(head) = self.head
            && bytes.starts_with(&self.bytes)
        {
            return Ok(Some((head, self.bytes.len())));
        }
        let read = head::parse_head(bytes)?;
        if let Some((head, length)) = read.filter(|&(_, length)| length <= MOST) {
            self.bytes.clear();
            self.bytes.extend_from_slice(&bytes[..length]);
            self.head = Some(head);
        }
        Ok(read)
    }
}
