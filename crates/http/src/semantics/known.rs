//! A cache of the head read last, so that an equal head need not be parsed again.
//!
//! Servers answer the same request with the same fields except for a date that changes once a
//! second. Comparing is several times faster than parsing.

use super::response::ResponseHead;

/// The largest head that is cached, in bytes.
const MOST: usize = 1_024;

/// An encoded head and its meaning.
#[derive(Debug, Default)]
pub(crate) struct EncodedHead {
    section: Vec<u8>,
    /// The compression state in which the encoded head has this meaning.
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
