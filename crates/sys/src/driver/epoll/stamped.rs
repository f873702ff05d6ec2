//! Times of sending and receiving from the kernel's timestamps.
//!
//! If a timestamp is missing, or lies in the future because its clock was set, the time is taken
//! from this process's clock, and the case is counted.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::OwnedFd;
use std::time::Duration;

use super::connection::EpollSocket;
use crate::driver::Stamps;
use crate::realtime::Realtime;
use crate::{clock, stamp};

/// The number of attempts to obtain a first timestamp, and the wait for each in milliseconds. The
/// kernel begins to timestamp received packets a moment after the first socket requests it.
const ATTEMPTS: u32 = 200;
const PATIENCE: u64 = 5;

/// Converts the kernel's timestamps to the times of a driver.
pub(super) struct Stamped {
    realtime: Realtime,
    /// Keeps the kernel's timestamps enabled while no connection is open.
    _guard: UdpSocket,
    missing: u64,
}

impl Stamped {
    /// Returns an error with the reason and a remedy if the kernel provides no timestamps.
    pub(super) fn new() -> io::Result<Stamped> {
        Ok(Stamped { realtime: Realtime::new(), _guard: guard()?, missing: 0 })
    }

    /// Follows changes of the real-time clock.
    pub(super) fn keep(&mut self, now: u64) {
        self.realtime.keep(now);
    }

    pub(super) fn stamps(&self) -> Stamps {
        Stamps { missing: self.missing, steps: self.realtime.steps() }
    }

    /// Returns the time at which the last sent byte left, if it has left and the time was not known
    /// before.
    pub(super) fn left(&mut self, socket: &mut EpollSocket) -> Option<u64> {
        let (fd, track) = (socket.fd.as_ref()?, socket.track.as_mut()?);
        if !track.awaits || socket.sending.is_some() {
            return None;
        }
        let last = track.sent.wrapping_sub(1);
        // Timestamps of earlier bytes of the same request and of retransmissions are ignored.
        let left = std::iter::from_fn(|| stamp::left(fd)).find(|left| left.byte == last)?;
        track.awaits = false;
        let at = self.realtime.believe(Some(left.at));
        if at.is_none() {
            self.missing += 1;
        }
        at
    }

    /// Receives into `buffer`, or discards up to `most` bytes if it is `None`. Returns the number
    /// of bytes and the time at which the last one arrived.
    pub(super) fn receive(
        &mut self,
        socket: &mut EpollSocket,
        buffer: Option<&mut [u8]>,
        most: usize,
    ) -> io::Result<(usize, u64)> {
        let fd = socket.fd.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        let (count, real) = match buffer {
            Some(buffer) => stamp::receive_stamped(fd, buffer)?,
            None => stamp::discard(fd, most)?,
        };
        let Some(track) = &mut socket.track else {
            self.missing += u64::from(count > 0);
            return Ok((count, clock::now()));
        };
        let believed = self.realtime.believe(real);
        if count > 0 {
            track.fresh = false;
            // The sent bytes have left by now, but the time will not become known.
            let unknown = track.awaits && socket.sending.is_none();
            track.awaits &= !unknown;
            self.missing += u64::from(unknown) + u64::from(believed.is_none());
        }
        // An end of stream has no timestamp. It arrived after the bytes before it.
        track.latest = believed.unwrap_or_else(clock::now).max(track.latest);
        Ok((count, track.latest))
    }

    /// Returns the time at which datagrams with this timestamp arrived.
    pub(super) fn came(&mut self, real: Option<u64>) -> u64 {
        let believed = self.realtime.believe(real);
        self.missing += u64::from(believed.is_none());
        believed.unwrap_or_else(clock::now)
    }
}

/// Creates a socket that has received a timestamp, so that connections will receive them as well.
fn guard() -> io::Result<UdpSocket> {
    let loopback: [SocketAddr; 2] =
        [(Ipv6Addr::LOCALHOST, 0).into(), (Ipv4Addr::LOCALHOST, 0).into()];
    let guard = UdpSocket::bind(&loopback[..])?;
    let fd = OwnedFd::from(guard.try_clone()?);
    stamp::enable(&fd).map_err(|error| {
        let way_out = "kernel timestamps need Linux 6.2 or newer; use --timestamps user";
        io::Error::new(error.kind(), format!("the kernel gives no timestamps ({error}): {way_out}"))
    })?;
    guard.set_read_timeout(Some(Duration::from_millis(PATIENCE)))?;
    let own = guard.local_addr()?;
    for _ in 0..ATTEMPTS {
        guard.send_to(b"?", own)?;
        if let Ok((_, Some(_))) = stamp::receive_stamped(&fd, &mut [0; 1]) {
            return Ok(guard);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Err(io::Error::other("received packets have no timestamps; use --timestamps user"))
}
