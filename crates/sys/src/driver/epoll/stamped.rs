//! Times of sending and receiving from the kernel's stamps.
//!
//! Where a stamp is missing, or lies in the future because somebody set its clock, the time is that
//! of this process's clock, and counted.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::OwnedFd;
use std::time::Duration;

use super::connection::EpollSocket;
use crate::driver::Stamps;
use crate::realtime::Realtime;
use crate::{clock, stamp};

/// A stamp that lies further ahead is not believed, in nanoseconds. The two clocks are read one
/// after the other, so that a little is no wonder.
const AHEAD: u64 = 1_000;
/// Attempts to get a first stamp, and the milliseconds each waits: the kernel begins to stamp what
/// is received a moment after the first socket asked for it.
const ATTEMPTS: u32 = 200;
const PATIENCE: u64 = 5;

/// The kernel's stamps as a driver's times.
pub(super) struct Stamped {
    realtime: Realtime,
    /// Keeps the kernel stamping while no connection is open.
    _guard: UdpSocket,
    missing: u64,
}

impl Stamped {
    /// Fails, with the reason and a way out, where the kernel gives no stamps.
    pub(super) fn new() -> io::Result<Stamped> {
        Ok(Stamped { realtime: Realtime::new(), _guard: guard()?, missing: 0 })
    }

    /// Follows a clock that is set.
    pub(super) fn keep(&mut self, now: u64) {
        self.realtime.keep(now);
    }

    pub(super) fn stamps(&self) -> Stamps {
        Stamps { missing: self.missing, steps: self.realtime.steps() }
    }

    /// When the last byte sent left, where it has and that was not known yet.
    pub(super) fn left(&mut self, socket: &mut EpollSocket) -> Option<u64> {
        let (fd, track) = (socket.fd.as_ref()?, socket.track.as_mut()?);
        if !track.awaits || socket.sending.is_some() {
            return None;
        }
        let last = track.sent.wrapping_sub(1);
        // Earlier bytes of the same request, or sent again, are of no interest.
        let left = std::iter::from_fn(|| stamp::left(fd)).find(|left| left.byte == last)?;
        track.awaits = false;
        let at = self.believe(Some(left.at));
        if at.is_none() {
            self.missing += 1;
        }
        at
    }

    /// Receives into `buffer`, or drops up to `most` bytes where there is none: how many bytes, and
    /// when the last one came.
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
        let believed = self.believe(real);
        if count > 0 {
            track.fresh = false;
            // What was sent has left by now, but nobody will learn when.
            let unknown = track.awaits && socket.sending.is_none();
            track.awaits &= !unknown;
            self.missing += u64::from(unknown) + u64::from(believed.is_none());
        }
        // An end has no stamp; it came after the bytes before it.
        track.latest = believed.unwrap_or_else(clock::now).max(track.latest);
        Ok((count, track.latest))
    }

    /// When datagrams came that have this stamp.
    pub(super) fn came(&mut self, real: Option<u64>) -> u64 {
        let believed = self.believe(real);
        self.missing += u64::from(believed.is_none());
        believed.unwrap_or_else(clock::now)
    }

    /// A stamp as a time of our clock; none where it can't be right.
    fn believe(&self, real: Option<u64>) -> Option<u64> {
        let (at, now) = (self.realtime.monotonic(real?), clock::now());
        (at <= now + AHEAD).then(|| at.min(now))
    }
}

/// A socket that has seen a stamp, so that connections will too.
fn guard() -> io::Result<UdpSocket> {
    let loopback: [SocketAddr; 2] =
        [(Ipv6Addr::LOCALHOST, 0).into(), (Ipv4Addr::LOCALHOST, 0).into()];
    let guard = UdpSocket::bind(&loopback[..])?;
    let fd = OwnedFd::from(guard.try_clone()?);
    stamp::enable(&fd).map_err(|error| {
        let way_out = "they need Linux 6.2 or newer; use --timestamps user";
        io::Error::new(error.kind(), format!("the kernel gives no stamps ({error}): {way_out}"))
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
    Err(io::Error::other("the kernel stamps nothing that it receives; use --timestamps user"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_from_the_future_is_not_believed() {
        let stamped = Stamped { realtime: Realtime::new(), _guard: guard().unwrap(), missing: 0 };
        let now = clock::real();
        assert!(stamped.believe(Some(now)).is_some());
        assert_eq!(stamped.believe(Some(now + 60_000_000_000)), None);
        assert_eq!(stamped.believe(None), None);
    }
}
