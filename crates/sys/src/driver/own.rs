//! Bytes that a driver keeps until they are sent: shared messages or buffers of its own.

use super::Message;

/// Buffers with a larger capacity are not reused, bytes.
const ROOMY: usize = 1024 * 1024;
/// The maximum number of buffers kept for reuse.
const SPARE: usize = 64;

/// Bytes to be sent.
pub(super) enum OwnBytes {
    Shared(Message),
    Own(Vec<u8>),
}

impl OwnBytes {
    #[inline]
    pub(super) fn length(&self) -> usize {
        match self {
            OwnBytes::Shared(message) => message.length(),
            OwnBytes::Own(bytes) => bytes.len(),
        }
    }

    /// Returns the bytes that remain after the first `from` bytes, in two parts.
    #[inline]
    pub(super) fn rest(&self, from: usize) -> [&[u8]; 2] {
        match self {
            OwnBytes::Shared(message) => message.rest(from),
            OwnBytes::Own(bytes) => rest(bytes, from),
        }
    }
}

/// Returns the bytes that remain after the first `from` bytes, and an empty second part.
#[inline]
pub(super) fn rest(bytes: &[u8], from: usize) -> [&[u8]; 2] {
    [&bytes[from.min(bytes.len())..], &[]]
}

/// Empty buffers that keep their capacity, so that a reused buffer does not have to grow again.
#[derive(Default)]
pub(super) struct Spare(Vec<Vec<u8>>);

impl Spare {
    /// Takes `bytes` and leaves an empty buffer in its place.
    pub(super) fn swap(&mut self, bytes: &mut Vec<u8>) -> Vec<u8> {
        std::mem::replace(bytes, self.0.pop().unwrap_or_default())
    }

    /// Takes back a buffer that is no longer needed.
    pub(super) fn give(&mut self, mut bytes: Vec<u8>) {
        if bytes.capacity() <= ROOMY && self.0.len() < SPARE {
            bytes.clear();
            self.0.push(bytes);
        }
    }

    /// Takes back the buffer if `bytes` is one.
    pub(super) fn give_all(&mut self, bytes: OwnBytes) {
        if let OwnBytes::Own(own) = bytes {
            self.give(own);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reuses_a_spare_buffer_empty_and_with_its_capacity() {
        let mut spare = Spare::default();
        let mut bytes = vec![1; 1_000];
        let taken = spare.swap(&mut bytes);
        assert_eq!((taken.len(), bytes.len()), (1_000, 0));
        spare.give(taken);
        bytes = vec![2; 3];
        assert_eq!(spare.swap(&mut bytes), [2; 3]);
        assert!(bytes.is_empty() && bytes.capacity() >= 1_000);
    }

    #[test]
    fn discards_a_buffer_that_grew_too_large() {
        let mut spare = Spare::default();
        spare.give(vec![0; ROOMY + 1]);
        assert_eq!(spare.swap(&mut Vec::new()).capacity(), 0);
        assert!(spare.0.is_empty());
    }
}
