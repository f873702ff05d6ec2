//! A part of a response.

/// Bytes to send, repeated until a length is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepeatedBytes {
    block: &'static [u8],
    sent: u64,
    length: u64,
}

impl RepeatedBytes {
    /// Creates a part that sends these bytes once.
    pub fn once(bytes: &'static [u8]) -> RepeatedBytes {
        RepeatedBytes { block: bytes, sent: 0, length: bytes.len() as u64 }
    }

    /// Creates a part of `length` bytes that repeats `block`. If `block` is empty, so is the part.
    pub fn repeated(block: &'static [u8], length: u64) -> RepeatedBytes {
        let length = if block.is_empty() { 0 } else { length };
        RepeatedBytes { block, sent: 0, length }
    }

    /// Returns the bytes to send next, or an empty slice if all were sent.
    pub fn next(&self) -> &'static [u8] {
        let size = self.block.len() as u64;
        if self.sent >= self.length {
            return &[];
        }
        // Both values are within the block, whose length is a usize.
        let from = (self.sent % size) as usize;
        let count = (self.length - self.sent).min(size - from as u64) as usize;
        &self.block[from..from + count]
    }

    /// Records that `count` bytes were sent.
    pub fn advance(&mut self, count: u64) {
        self.sent = self.length.min(self.sent.saturating_add(count));
    }

    /// Returns true if one send is enough for the rest.
    pub(super) fn is_one_piece(&self) -> bool {
        self.next().len() as u64 == self.length - self.sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_a_block_up_to_the_length_for_any_send_size() {
        for step in 1..9 {
            let mut part = RepeatedBytes::repeated(b"abc", 8);
            let mut sent = Vec::new();
            while !part.next().is_empty() {
                let count = part.next().len().min(step);
                sent.extend_from_slice(&part.next()[..count]);
                part.advance(count as u64);
            }
            assert_eq!(sent, b"abcabcab");
        }
    }

    #[test]
    fn a_part_is_one_piece_if_one_send_can_carry_it() {
        assert!(RepeatedBytes::once(b"abc").is_one_piece());
        assert!(RepeatedBytes::repeated(b"abc", 2).is_one_piece());
        assert!(!RepeatedBytes::repeated(b"abc", 4).is_one_piece());
        assert!(RepeatedBytes::repeated(b"", 4).next().is_empty());
    }
}
