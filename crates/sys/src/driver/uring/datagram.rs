//! Datagrams over io_uring. They are received by a multishot receive into buffers that have room
//! for as many datagrams as the kernel merges, and sent by plain calls. If datagrams arrive one by
//! one, this costs a fifth less processor time than a poll followed by a plain receive (1.6 instead
//! of 2.0 us for one sent and one received over loopback). If many are merged, the cost is equal.

use std::ops::Range;

use super::mark::Operation;
use super::ring::{Completion, Pool};
use super::socket::{FixedFile, ReceiveState};
use super::{Filled, Holder, Uring, entry};
use crate::buffers::FilledBuffer;
use crate::driver::datagram::{self, CONTROL, Datagrams, Received};
use crate::driver::{EventKind, Slot};
use crate::stamp;

/// The size of struct io_uring_recvmsg_out, which the kernel writes before the control messages.
/// Its second field is the length of the control messages.
const HEADER: usize = 16;
/// The offset of the received bytes.
const START: usize = HEADER + CONTROL;

/// Returns the control messages in the buffer of a receive.
fn controls_of(bytes: &[u8]) -> &[u8] {
    let told = bytes.get(4..8).and_then(|bytes| bytes.first_chunk());
    let told = told.map_or(0, |&number| u32::from_ne_bytes(number)) as usize;
    bytes.get(HEADER..HEADER + told.min(CONTROL)).unwrap_or_default()
}

impl Uring {
    /// Returns the datagram state and the descriptor of a slot, or `None` if it has no datagram
    /// socket.
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

    /// Handles the completion of a receive: datagrams or an error.
    pub(super) fn heard(&mut self, slot: Slot, completion: Completion) -> Option<EventKind> {
        if !completion.more {
            self.sockets[slot as usize].receive_state = ReceiveState::Closed;
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

    /// Interprets the buffer of a receive.
    fn opened(&mut self, buffer: FilledBuffer, count: usize) -> EventKind {
        let controls = controls_of(self.ring.view(&buffer, 0..count));
        let Received { length, segment, ecn, stamp } =
            datagram::received(count.saturating_sub(START), controls);
        self.arrived = self.arrivals.as_ref().and_then(|clock| clock.arrival_of(stamp));
        self.received = Some(Filled { holder: Holder::Pool(buffer), range: START..START + length });
        EventKind::Datagrams { length, segment, ecn, more: false }
    }

    /// Interprets the buffer of a receive with timestamps. Returns the range of the received bytes,
    /// which is empty at the end of the stream.
    pub(super) fn opened_stamped(&mut self, buffer: &FilledBuffer, count: usize) -> Range<usize> {
        let real = stamp::stamp(controls_of(self.ring.view(buffer, 0..count)));
        self.arrived = self.arrivals.as_ref().and_then(|clock| clock.arrival_of(real));
        START..count.max(START)
    }

    /// Returns true if the next completion, too, has datagrams that were collected at the time `at`
    /// from the connection of this mark.
    pub(super) fn has_more_datagrams(&self, mark: u64, at: u64) -> bool {
        self.told.front().is_some_and(|(next, collected)| {
            next.mark == mark && *collected == at && next.result >= 0 && next.buffer.is_some()
        })
    }

    /// Requests a completion when there is room again for the remaining datagrams.
    pub(super) fn ask_for_room(&mut self, slot: Slot) {
        let socket = &self.sockets[slot as usize];
        let Some(file) = &socket.file else { return };
        let entry = entry::room(socket, slot, file);
        self.push(&entry);
    }

    /// Sends the remaining datagrams. Called when there is room again.
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

    /// Returns [`Operation::Room`] if the kernel has been asked to report room.
    pub(super) fn awaits_room(&mut self, slot: Slot) -> Option<Operation> {
        self.datagrams(slot).filter(|(_, datagrams)| datagrams.keeps()).map(|_| Operation::Room)
    }
}
