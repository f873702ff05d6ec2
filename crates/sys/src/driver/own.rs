//! Bytes that a driver keeps until they are sent: messages that others have too, or its own.

use super::Message;

/// Buffers with more room than this are not kept for the next time.
const ROOMY: usize = 1024 * 1024;
/// Buffers kept for the next time.
const SPARE: usize = 64;

/// What is to be sent.
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

    /// What is left to be sent after `from` bytes, in its pieces.
    #[inline]
    pub(super) fn rest(&self, from: usize) -> [&[u8]; 2] {
        match self {
            OwnBytes::Shared(message) => message.rest(from),
            OwnBytes::Own(bytes) => rest(bytes, from),
        }
    }
}

/// What is left of `bytes` after `from` of them, in one piece and an empty one.
#[inline]
pub(super) fn rest(bytes: &[u8], from: usize) -> [&[u8]; 2] {
    [&bytes[from.min(bytes.len())..], &[]]
}

/// Empty buffers with the room that they had when they were full, so that none has to grow anew.
#[derive(Default)]
pub(super) struct Spare(Vec<Vec<u8>>);

impl Spare {
    /// Takes `bytes` and leaves an empty buffer.
    pub(super) fn swap(&mut self, bytes: &mut Vec<u8>) -> Vec<u8> {
        std::mem::replace(bytes, self.0.pop().unwrap_or_default())
    }

    /// Takes a buffer back that is not needed any more.
    pub(super) fn give(&mut self, mut bytes: Vec<u8>) {
        if bytes.capacity() <= ROOMY && self.0.len() < SPARE {
            bytes.clear();
            self.0.push(bytes);
        }
    }

    /// Takes the buffer back where it is one.
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
    fn a_buffer_comes_back_empty_and_with_its_room() {
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
    fn what_grew_too_large_is_not_kept() {
        let mut spare = Spare::default();
        spare.give(vec![0; ROOMY + 1]);
        assert_eq!(spare.swap(&mut Vec::new()).capacity(), 0);
        assert!(spare.0.is_empty());
    }
}
