//! The limit on buffered stream data, shared by all connections.

/// The number of bytes that may still be buffered.
#[derive(Debug)]
pub(super) struct Budget(usize);

impl Budget {
    pub(super) fn new(bytes: usize) -> Budget {
        Budget(bytes)
    }

    /// Takes `bytes` from the budget. Returns false and takes none if fewer remain.
    pub(super) fn take(&mut self, bytes: usize) -> bool {
        let left = self.0.checked_sub(bytes);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }

    /// Returns `bytes` to the budget.
    pub(super) fn give(&mut self, bytes: usize) {
        self.0 = self.0.saturating_add(bytes);
    }

    #[cfg(test)]
    pub(super) fn left(&self) -> usize {
        self.0
    }
}
