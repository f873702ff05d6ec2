//! One socket of the epoll driver: what epoll said of it, what is left to send.

use std::os::fd::OwnedFd;

use libc::{EPOLLERR, EPOLLHUP, EPOLLIN, EPOLLOUT, EPOLLRDHUP};

use super::track::Track;
use crate::driver::begin::outcome_with_handshake;
use crate::driver::datagram::Datagrams;
use crate::driver::own::{OwnBytes, Spare};
use crate::driver::{EventKind, Handshake};
use crate::socket;

/// A slot: vacant where it has no descriptor.
#[derive(Default)]
pub(super) struct EpollSocket {
    pub(super) fd: Option<OwnedFd>,
    pub(super) generation: u32,
    pub(super) connecting: bool,
    /// The kernel is to be asked how long the handshake took, and what it said.
    pub(super) ask_handshake: bool,
    pub(super) handshake: Option<Handshake>,
    /// There may be something to receive.
    pub(super) readable: bool,
    /// There may be room to send.
    pub(super) writable: bool,
    /// The peer is done or the connection broken, so that a short receive is not the last.
    pub(super) ending: bool,
    /// Registered for EPOLLOUT.
    pub(super) asks_writable: bool,
    /// What is left to send, and how much of it is sent.
    pub(super) sending: Option<(OwnBytes, usize)>,
    pub(super) droppable: u64,
    /// It is one of datagrams.
    pub(super) datagrams: Option<Datagrams>,
    /// The error number that sending met. The peer may have answered before: it is told when there
    /// is nothing more to receive.
    pub(super) refused: Option<i32>,
    /// What is known of the kernel's stamps, where they are asked for.
    pub(super) track: Option<Track>,
}

impl EpollSocket {
    /// Takes note of what epoll says.
    pub(super) fn note(&mut self, events: i32) {
        // A stamp in the error queue is told like an error, but is no end.
        let stamped = self.track.is_some() && !self.connecting;
        // Nor are there ends among datagrams, but errors that pass.
        let error = if stamped || self.datagrams.is_some() { 0 } else { EPOLLERR };
        self.ending |= events & (EPOLLRDHUP | EPOLLHUP | error) != 0;
        self.readable |= self.ending || events & (EPOLLIN | EPOLLERR) != 0;
        self.writable |= self.ending || events & EPOLLOUT != 0;
    }

    /// What became of a connection attempt that epoll spoke of.
    pub(super) fn connected(&mut self) -> Option<EventKind> {
        if !self.writable {
            return None;
        }
        let (outcome, handshake) = outcome_with_handshake(self.fd.as_ref()?, self.ask_handshake);
        self.handshake = handshake;
        match outcome {
            Ok(peer) => {
                self.connecting = false;
                Some(EventKind::Connected(peer))
            }
            Err(errno) => self.ended(EventKind::Failed(errno)),
        }
    }

    /// Sends what is left; none where the kernel has no room.
    pub(super) fn go_on_sending(&mut self, spare: &mut Spare) -> Option<EventKind> {
        let (bytes, from) = self.sending.take()?;
        match self.hand(bytes.length(), from, |from| bytes.rest(from)) {
            Ok(end) if end == bytes.length() => {
                spare.give_all(bytes);
                Some(EventKind::Sent)
            }
            Ok(end) => {
                self.writable = false;
                self.sending = Some((bytes, end));
                None
            }
            Err(errno) => {
                self.refuse(errno);
                None
            }
        }
    }

    /// Sends the datagrams that are left.
    pub(super) fn go_on_casting(&mut self) -> Option<EventKind> {
        let datagrams = self.datagrams.as_mut().filter(|datagrams| datagrams.keeps())?;
        match datagrams.go_on(self.fd.as_ref()?) {
            Ok(true) => Some(EventKind::Sent),
            Ok(false) => {
                self.writable = false;
                None
            }
            Err(errno) => self.ended(EventKind::Failed(errno)),
        }
    }

    /// Hands `length` bytes, of which `rest` gives those after so many, to the kernel until it has no
    /// more room: how many of them it has.
    pub(super) fn hand<'b>(
        &self,
        length: usize,
        mut from: usize,
        rest: impl Fn(usize) -> [&'b [u8]; 2],
    ) -> Result<usize, i32> {
        let fd = self.fd.as_ref().ok_or(libc::EBADF)?;
        while from < length {
            match socket::send_parts(fd, rest(from)) {
                Ok(count) => from += count,
                Err(error) => match error.raw_os_error() {
                    Some(libc::EINTR) => {}
                    Some(libc::EAGAIN) => break,
                    errno => return Err(errno.unwrap_or(libc::EIO)),
                },
            }
        }
        Ok(from)
    }

    /// Sending failed: what there is left to receive comes before that is told.
    pub(super) fn refuse(&mut self, errno: i32) {
        self.refused = Some(errno);
        (self.readable, self.ending) = (true, true);
    }

    /// The last thing to tell: nothing more is asked of the socket. Where sending failed before, that
    /// is what ended it.
    pub(super) fn ended(&mut self, kind: EventKind) -> Option<EventKind> {
        self.readable = false;
        self.writable = false;
        Some(self.refused.take().map_or(kind, EventKind::Failed))
    }

    /// Nothing to receive for now.
    pub(super) fn ended_none(&mut self) -> Option<EventKind> {
        self.readable = false;
        self.refused.and_then(|errno| self.ended(EventKind::Failed(errno)))
    }
}
