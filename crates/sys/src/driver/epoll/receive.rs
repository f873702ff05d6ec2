//! Receiving from sockets that epoll reported.

use super::{BUFFER, DROP, Epoll};
use crate::driver::arrival::receive_timed;
use crate::driver::datagram::{self, Received};
use crate::driver::errno::errno_of;
use crate::driver::{EventKind, ReceiveStamps, Slot};
use crate::socket;

impl Epoll {
    /// Receives datagrams, and returns the first of them.
    pub(super) fn receive_datagrams(&mut self, slot: Slot) -> Option<EventKind> {
        let socket = &mut self.sockets[slot as usize];
        loop {
            match self.batch.as_mut()?.receive(socket.fd.as_ref()?) {
                Ok(_) => return self.next_of_batch(),
                Err(error) => match errno_of(&error) {
                    libc::EAGAIN => return socket.ended_none(),
                    errno if datagram::passes(errno) => {}
                    errno => return socket.ended(EventKind::Failed(errno)),
                },
            }
        }
    }

    /// Returns the next datagrams among those that were received.
    pub(super) fn next_of_batch(&mut self) -> Option<EventKind> {
        let batch = self.batch.as_mut()?;
        let Received { length, segment, ecn, stamp } = batch.next()?;
        // Each message has a timestamp of its own.
        self.arrived = self.arrivals.as_ref().and_then(|clock| clock.arrival_of(stamp));
        let more = self.stamped.is_none() && self.arrived.is_none() && batch.has_more();
        self.stamp = self.stamped.as_mut().map(|stamped| stamped.came(stamp));
        self.in_batch = true;
        Some(EventKind::Datagrams { length, segment, ecn, more })
    }

    pub(super) fn receive(&mut self, slot: Slot) -> Option<EventKind> {
        let socket = &mut self.sockets[slot as usize];
        let fd = socket.fd.as_ref()?;
        let asked = socket.droppable.min(DROP) as usize;
        let dropping = asked > 0;
        let room = match &socket.track {
            _ if dropping => asked,
            Some(track) => track.room(BUFFER),
            None => BUFFER,
        };
        let received = match (dropping, &mut self.stamped) {
            (_, Some(stamped)) => {
                let buffer = (!dropping).then(|| &mut self.buffer[..room]);
                let received = stamped.receive(socket, buffer, asked);
                received.map(|(count, at)| {
                    self.stamp = Some(at);
                    count
                })
            }
            (true, None) => socket::discard(fd, asked),
            (false, None) if socket.stamps == ReceiveStamps::Absent => {
                socket::receive_bytes(fd, &mut self.buffer)
            }
            (false, None) => {
                let clock = self.arrivals.as_ref();
                let timed = receive_timed(clock, fd, socket.stamps, &mut self.buffer);
                timed.map(|(count, arrived)| {
                    self.arrived = arrived;
                    count
                })
            }
        };
        match received {
            Ok(0) => socket.ended(EventKind::Ended),
            Ok(count) => {
                socket.readable = count == room || socket.ending;
                if dropping {
                    socket.droppable -= count as u64;
                    return Some(EventKind::Dropped(count as u64));
                }
                (self.received, self.in_batch) = (count, false);
                Some(EventKind::Received(count))
            }
            Err(error) => match error.raw_os_error() {
                Some(libc::EAGAIN | libc::EINTR) => socket.ended_none(),
                errno => socket.ended(EventKind::Failed(errno.unwrap_or(libc::EIO))),
            },
        }
    }
}
