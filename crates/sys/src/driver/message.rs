//! The content of a send: a head of its own and a body that may be shared.

use std::sync::Arc;

/// Bodies up to this length are copied into one buffer with the head. The copy is made once, when
/// the message is built, and costs less than a second buffer in each send.
const SHORT: usize = 64 * 1024;

/// Bytes to be sent. Clones share them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    head: Arc<[u8]>,
    body: Option<Arc<Vec<u8>>>,
}

impl Message {
    /// Creates a message from these bytes.
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Message {
        Message { head: bytes.into(), body: None }
    }

    /// Creates a message from a head and a body. A long body is not copied.
    pub fn with_body(head: Vec<u8>, body: Option<&Arc<Vec<u8>>>) -> Message {
        match body {
            Some(body) if body.len() > SHORT => {
                Message { head: head.into(), body: Some(Arc::clone(body)) }
            }
            Some(body) => Message::new([head, body.to_vec()].concat()),
            None => Message::new(head),
        }
    }

    /// Returns the total length, head and body.
    #[inline]
    pub fn length(&self) -> usize {
        self.head.len() + self.tail().len()
    }

    /// Returns the bytes that are sent first. Unless the body is long, these are all bytes.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Returns the long body, or an empty slice if there is none.
    pub(super) fn tail(&self) -> &[u8] {
        self.body.as_ref().map_or(&[], |body| body.as_slice())
    }

    /// Returns the bytes that remain after the first `from` bytes, in two parts.
    #[inline]
    pub fn rest(&self, from: usize) -> [&[u8]; 2] {
        let head = self.head.len();
        [&self.head[from.min(head)..], &self.tail()[from.saturating_sub(head)..]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rest_returns_the_unsent_bytes_of_head_and_body() {
        for size in [0, 1, SHORT, SHORT + 1, 3 * SHORT] {
            let body: Vec<u8> = (0..size).map(|at| at as u8).collect();
            let whole = [b"head".to_vec(), body.clone()].concat();
            let message = Message::with_body(b"head".to_vec(), Some(&Arc::new(body)));
            assert_eq!(message.length(), whole.len());
            for from in [0, 1, 4, 5, whole.len() / 2, whole.len()] {
                let from = from.min(whole.len());
                assert_eq!(message.rest(from).concat(), whole[from..], "{from} of {size}");
            }
        }
    }
}
