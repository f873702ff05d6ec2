//! The order in which streams send content, and the peer's window for it.

use std::collections::VecDeque;

use super::settings::FIRST_WINDOW;
use super::streams::OpenStream;

/// The peer's window for the connection, and the streams that wait for it.
#[derive(Debug)]
pub(super) struct Sending {
    pub(super) window: i64,
    pub(super) turns: VecDeque<u32>,
}

impl Sending {
    pub(super) fn new() -> Sending {
        Sending { window: i64::from(FIRST_WINDOW), turns: VecDeque::new() }
    }

    /// Removes a stream that will send no more.
    pub(super) fn unqueue(&mut self, stream: &OpenStream) {
        if stream.queued {
            self.turns.retain(|&id| id != stream.id);
        }
    }
}
