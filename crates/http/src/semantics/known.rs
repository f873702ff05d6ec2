//! The head read last, so that one like it need not be read again.
//!
//! Servers answer the same request with the same fields but for a date that changes once a second:
//! comparing is several times faster than reading.

use super::response::ResponseHead;

/// Longer heads are read each time.
const MOST: usize = 1_024;

/// A head as it was encoded, and what it says.
#[derive(Debug, Default)]
pub(crate) struct EncodedHead {
    section: Vec<u8>,
    /// The state of the compression in which it says that.
    state: u64,
    head: Option<ResponseHead>,
}

impl EncodedHead {
    pub(crate) fn find(&self, section: &[u8], state: u64) -> Option<ResponseHead> {
        self.head.filter(|_| self.state == state && self.section == section)
    }

    pub(crate) fn learn(&mut self, section: &[u8], state: u64, head: Option<ResponseHead>) {
        if section.len() <= MOST {
            self.section.clear();
            self.section.extend_from_slice(section);
            (self.state, self.head) = (state, head);
        }
    }
}
