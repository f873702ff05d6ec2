//! The head read last, so that one like it need not be read again.
//!
//! Servers answer the same request with the same bytes but for a date that changes once a second:
//! comparing is several times faster than reading.

use super::Http1Violation;
use super::head::{self, MessageHead};

/// Longer heads are read each time.
const MOST: usize = 1_024;

/// A head and what it says. One for all connections of a worker is best: it need not be theirs.
#[derive(Debug, Default)]
pub struct KnownHead {
    bytes: Vec<u8>,
    head: Option<MessageHead>,
}

impl KnownHead {
    /// As `head::parse`, from memory where it can be.
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
