//! Receiving by plain calls when the ring reports that there is something to receive. Only such a call
//! can look at the timestamp of the first byte and leave the byte where it is.

use super::socket::ReceiveState;
use super::{Filled, Holder, Uring};
use crate::driver::arrival::receive_timed;
use crate::driver::{EventKind, Slot};

/// The size of the buffer, as large as those of responses that arrive together.
const BUFFER: usize = 64 * 1024;

impl Uring {
    /// Receives from a socket that has something to receive. What its buffer does not hold is
    /// reported again.
    pub(super) fn readable(&mut self, slot: Slot, result: i32) -> Option<EventKind> {
        self.sockets[slot as usize].receive_state = ReceiveState::Closed;
        if result < 0 {
            return self.no_bytes(slot, result);
        }
        let mut buffer = std::mem::take(&mut self.own);
        if buffer.is_empty() {
            buffer = vec![0; BUFFER].into();
        }
        let (clock, stamps) = (self.arrivals.take(), self.sockets[slot as usize].stamps);
        let timed = self.ask(slot, |fd| receive_timed(clock.as_ref(), fd, stamps, &mut buffer));
        (self.own, self.arrivals) = (buffer, clock);
        match timed.unwrap_or_else(|| Err(std::io::Error::from_raw_os_error(libc::EMFILE))) {
            Ok((count @ 1.., arrived)) => {
                self.arrived = arrived;
                self.received = Some(Filled { holder: Holder::Own, range: 0..count });
                let socket = &mut self.sockets[slot as usize];
                socket.droppable = socket.droppable.saturating_sub(count as u64);
                Some(EventKind::Received(count))
            }
            Ok((0, _)) => self.no_bytes(slot, 0),
            Err(error) => self.no_bytes(slot, -error.raw_os_error().unwrap_or(libc::EIO)),
        }
    }
}
