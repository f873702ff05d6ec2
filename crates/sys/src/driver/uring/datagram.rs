//! Datagrams over io_uring: received by a receive that tells again and again, each time into a buffer
//! with room for as many as the kernel joins; sent by plain calls. Where they come one by one that
//! costs a fifth less of the processor than plain receives after a poll (1.6 and 2.0 us for one sent
//! and received, over loopback); where many are joined, the same.

use super::mark::Operation;
use super::ring::{Completion, Pool};
use super::socket::{Ear, FixedFile};
use super::{Filled, Uring, entry};
use crate::driver::datagram::{self, CONTROL, Datagrams, Received};
use crate::driver::{EventKind, Slot};

/// What the kernel puts before the control messages: struct io_uring_recvmsg_out, whose second number
/// is the length of those that came.
const HEADER: usize = 16;
/// Where a datagram's bytes begin.
const START: usize = HEADER + CONTROL;
impl Uring {
    /// What a slot with datagrams knows of them, and its descriptor.
    pub(super) fn datagrams(
        &mut self,
        slot: Slot,
    ) -> Option<(&std::os::fd::OwnedFd, &mut Datagrams)> {
        let socket = self.sockets.get_mut(slot as usize)?;
        match (&socket.file, &mut socket.datagrams) {
            (Some(FixedFile::Open(fd)), Some(datagrams)) => Some((fd, datagrams)),
            _ => None,
        }
    }

    /// Datagrams came, or an error.
    pub(super) fn heard(&mut self, slot: Slot, completion: Completion) -> Option<EventKind> {
        if !completion.more {
            self.sockets[slot as usize].ear = Ear::Closed;
        }
        match (completion.result, completion.buffer) {
            (count @ 0.., Some(buffer)) => {
                Some(self.opened(buffer, usize::try_from(count).unwrap_or(0)))
            }
            (error, _) if datagram::passes(-error) || -error == libc::ECANCELED => {
                if -error == libc::ENOBUFS {
                    self.ring.give_more(Pool::Datagrams);
                }
                self.listen(slot);
                None
            }
            (error, _) => self.failed(slot, -error),
        }
    }

    /// What the buffer of a receive has in it.
    fn opened(&mut self, buffer: u16, count: usize) -> EventKind {
        let bytes = self.ring.view(Pool::Datagrams, buffer, 0..count);
        let told = bytes.get(4..8).and_then(|bytes| bytes.first_chunk());
        let told = told.map_or(0, |&number| u32::from_ne_bytes(number)) as usize;
        let controls = bytes.get(HEADER..HEADER + told.min(CONTROL)).unwrap_or_default();
        let Received { length, segment, ecn, .. } =
            datagram::received(count.saturating_sub(START), controls);
        let (pool, range) = (Pool::Datagrams, START..START + length);
        self.received = Some(Filled { pool, buffer, range });
        EventKind::Datagrams { length, segment, ecn }
    }

    /// Tell when there is room again for what is left to send.
    pub(super) fn ask_for_room(&mut self, slot: Slot) {
        let socket = &self.sockets[slot as usize];
        let Some(file) = &socket.file else { return };
        let entry = entry::room(socket, slot, file);
        self.push(&entry);
    }

    /// There is room again.
    pub(super) fn go_on_casting(&mut self, slot: Slot) -> Option<EventKind> {
        let (fd, datagrams) = self.datagrams(slot)?;
        match datagrams.go_on(fd) {
            Ok(true) => Some(EventKind::Sent),
            Ok(false) => {
                self.ask_for_room(slot);
                None
            }
            Err(errno) => self.failed(slot, errno),
        }
    }

    /// Whether the kernel is asked to tell of room.
    pub(super) fn awaits_room(&mut self, slot: Slot) -> Option<Operation> {
        self.datagrams(slot).filter(|(_, datagrams)| datagrams.keeps()).map(|_| Operation::Room)
    }
}
