//! Flow control of received content (RFC 9113, 5.2): how much the peer may still send.

use super::Http2Violation;

/// The receive window of a stream or of the connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Credit {
    left: u32,
    spent: u32,
}

impl Credit {
    pub(super) fn new(window: u32) -> Credit {
        Credit { left: window, spent: 0 }
    }

    /// Deducts the `length` of a frame. Returns the increment of the window to send, which is
    /// delayed until half of the window is used.
    pub(super) fn spend(&mut self, length: u32) -> Result<Option<u32>, Http2Violation> {
        self.left = self.left.checked_sub(length).ok_or(Http2Violation::WindowExceeded)?;
        self.spent += length;
        if self.spent <= self.left {
            return Ok(None);
        }
        self.left += self.spent;
        Ok(Some(std::mem::take(&mut self.spent)))
    }
}
