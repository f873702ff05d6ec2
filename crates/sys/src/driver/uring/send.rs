//! Sends of messages that the kernel may not accept at once.

use super::Uring;
use super::entry;
use super::mark::Operation;
use crate::driver::Slot;
use crate::driver::own::OwnBytes;

impl Uring {
    /// Sends a message that is kept permanently.
    pub(super) fn send_kept(&mut self, slot: Slot, bytes: &[u8]) {
        let socket = &mut self.sockets[slot as usize];
        let Some(file) = &socket.file else { return };
        let entry = entry::send_quietly(socket, slot, file, bytes);
        socket.request = bytes.as_ptr() as usize;
        socket.asked = true;
        self.push(&entry);
    }

    /// Sends bytes that are held until the completion.
    pub(super) fn send_owned(&mut self, slot: Slot, bytes: OwnBytes) {
        let socket = &mut self.sockets[slot as usize];
        let Some(file) = &socket.file else { return };
        let rest = self.kernel_owned.hold(socket.mark(slot, Operation::Send), bytes).rest();
        let entry = entry::send(socket, slot, file, &rest);
        socket.sending = true;
        self.push(&entry);
    }

    /// Records that `count` more bytes of a message were sent and submits the remainder. Returns
    /// true if all bytes have been sent.
    pub(super) fn go_on_sending(&mut self, slot: Slot, mark: u64, count: usize) -> bool {
        let socket = &self.sockets[slot as usize];
        let Some((part, file)) = self.kernel_owned.held(mark).zip(socket.file.as_ref()) else {
            return true;
        };
        if part.advance(count) {
            return true;
        }
        let entry = entry::send(socket, slot, file, &part.rest());
        self.push(&entry);
        false
    }
}
