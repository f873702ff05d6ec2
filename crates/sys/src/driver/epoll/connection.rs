//! A socket of the epoll driver: what epoll reported about it and what remains to be sent.

use std::os::fd::OwnedFd;

use libc::{EPOLLERR, EPOLLHUP, EPOLLIN, EPOLLOUT, EPOLLRDHUP};

use super::track::Track;
use crate::driver::begin::outcome_with_handshake;
use crate::driver::datagram::Datagrams;
use crate::driver::own::{OwnBytes, Spare};
use crate::driver::{EventKind, ReceiveStamps, TcpHandshake};
use crate::socket;

/// The state of a slot, which is vacant if `fd` is `None`.
#[derive(Default)]
pub(super) struct EpollSocket {
    pub(super) fd: Option<OwnedFd>,
    pub(super) generation: u32,
    pub(super) connecting: bool,
    /// Whether to read from the kernel how long the handshake took, and the value that was read.
    pub(super) ask_handshake: bool,
    pub(super) handshake: Option<TcpHandshake>,
    /// The kernel's timestamps of received bytes that are wanted beside the driver's times.
    pub(super) stamps: ReceiveStamps,
    /// There may be something to receive.
    pub(super) readable: bool,
    /// There may be room to send.
    pub(super) writable: bool,
    /// The peer has ended the connection or it is broken, so that a short receive is not the last
    /// one.
    pub(super) ending: bool,
    /// The socket is registered for EPOLLOUT.
    pub(super) asks_writable: bool,
    /// When bytes or datagrams were last handed to the kernel, except the rest of earlier ones.
    pub(super) handed_at: u64,
    /// The bytes that are being sent and the number of them already sent.
    pub(super) sending: Option<(OwnBytes, usize)>,
    pub(super) droppable: u64,
    /// The state of a datagram socket, if it is one.
    pub(super) datagrams: Option<Datagrams>,
    /// The error number of a failed send. It is reported when there is nothing more to receive,
    /// because the peer may have answered before.
    pub(super) refused: Option<i32>,
    /// The state of the kernel's timestamps, if they are used.
    pub(super) track: Option<Track>,
}

impl EpollSocket {
    /// Records the flags that epoll reported.
    pub(super) fn note(&mut self, events: i32) {
        // A timestamp in the error queue is reported like an error, but does not end the
        // connection.
        let stamped = self.track.is_some() && !self.connecting;
        // Errors on datagram sockets are transient and do not end them either.
        let error = if stamped || self.datagrams.is_some() { 0 } else { EPOLLERR };
        self.ending |= events & (EPOLLRDHUP | EPOLLHUP | error) != 0;
        self.readable |= self.ending || events & (EPOLLIN | EPOLLERR) != 0;
        self.writable |= self.ending || events & EPOLLOUT != 0;
    }

    /// Returns the outcome of a connection attempt that epoll reported.
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

    /// Sends the remaining bytes. Returns `None` if the kernel has no room for all of them.
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

    /// Sends the remaining datagrams.
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

    /// Sends the bytes from `from` to `length` until the kernel has no more room. `rest` returns
    /// the bytes after an offset. Returns the number of bytes that the kernel has accepted in
    /// total.
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

    /// Records a failed send. The remaining bytes are received before it is reported.
    pub(super) fn refuse(&mut self, errno: i32) {
        self.refused = Some(errno);
        (self.readable, self.ending) = (true, true);
    }

    /// Returns the last event of the socket, after which no operation is attempted. If a send
    /// failed before, the event is that failure.
    pub(super) fn ended(&mut self, kind: EventKind) -> Option<EventKind> {
        self.readable = false;
        self.writable = false;
        Some(self.refused.take().map_or(kind, EventKind::Failed))
    }

    /// Records that there is nothing to receive now. Returns the failure of an earlier send, if
    /// there was one.
    pub(super) fn ended_none(&mut self) -> Option<EventKind> {
        self.readable = false;
        self.refused.and_then(|errno| self.ended(EventKind::Failed(errno)))
    }
}
