//! How much of streams may be kept at once, of all connections together.

/// Bytes that may still be kept.
#[derive(Debug)]
pub(super) struct Budget(usize);

impl Budget {
    pub(super) fn new(bytes: usize) -> Budget {
        Budget(bytes)
    }

    /// Takes so many, or none: false.
    pub(super) fn take(&mut self, bytes: usize) -> bool {
        let left = self.0.checked_sub(bytes);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }

    /// Gives back what was taken.
    pub(super) fn give(&mut self, bytes: usize) {
        self.0 = self.0.saturating_add(bytes);
    }

    #[cfg(test)]
    pub(super) fn left(&self) -> usize {
        self.0
    }
}
