//! How much a peer may still send (RFC 9113, 5.2), as it was told.

use super::Http2Violation;

/// A window of this side, of a stream or of the connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Credit {
    left: u32,
    spent: u32,
}

impl Credit {
    pub(super) fn new(window: u32) -> Credit {
        Credit { left: window, spent: 0 }
    }

    /// Takes the `length` of a frame off. Returns by how much the window is to be opened, which
    /// waits until half of it is used.
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
