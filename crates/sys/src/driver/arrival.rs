//! When received bytes arrived, by the kernel's timestamps, on connections that asked for them
//! ([`SocketRoute::stamps`](super::SocketRoute::stamps)).

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;

use super::{Arrival, ReceiveStamps};
use crate::realtime::Realtime;
use crate::{socket, stamp};

/// Converts the kernel's timestamps of received bytes to the times of a driver.
pub(super) struct ArrivalClock {
    realtime: Realtime,
    /// Keeps the kernel's timestamps enabled while no connection asks for them. Otherwise the kernel
    /// would patch its code for each connection that does, and give no timestamps until then.
    _guard: OwnedFd,
}

impl ArrivalClock {
    /// # Errors
    /// The kernel provides no timestamps.
    pub(super) fn new() -> io::Result<ArrivalClock> {
        let families: [SocketAddr; 2] =
            [(Ipv6Addr::LOCALHOST, 0).into(), (Ipv4Addr::LOCALHOST, 0).into()];
        let open = |family| socket::open_socket(family, libc::SOCK_DGRAM);
        let guard = open(&families[0]).or_else(|_| open(&families[1]))?;
        stamp::enable_received(&guard)?;
        Ok(ArrivalClock { realtime: Realtime::new(), _guard: guard })
    }

    /// Follows changes of the real-time clock.
    pub(super) fn keep(&mut self, now: u64) {
        self.realtime.keep(now);
    }

    /// Returns the time of what has one timestamp. `None` if it is absent or implausible.
    pub(super) fn arrival_of(&self, real: Option<u64>) -> Option<Arrival> {
        self.realtime.believe(real).map(Arrival::from)
    }

    /// Returns the times of what has timestamps of its first and last byte.
    fn arrival_between(&self, first: Option<u64>, last: Option<u64>) -> Option<Arrival> {
        let last = self.realtime.believe(last)?;
        let first = self.realtime.believe(first).unwrap_or(last);
        // The clock of the timestamps may have been set between them.
        Some(Arrival { first: first.min(last), last })
    }
}

/// Enables the timestamps of what the socket receives. Returns those that the connection will have:
/// none if the kernel provides none.
pub(super) fn enable(
    clock: &mut Option<ArrivalClock>,
    fd: &OwnedFd,
    wanted: ReceiveStamps,
) -> ReceiveStamps {
    if wanted == ReceiveStamps::Absent {
        return wanted;
    }
    if clock.is_none() {
        *clock = ArrivalClock::new().ok();
    }
    if clock.is_some() && stamp::enable_received(fd).is_ok() {
        wanted
    } else {
        ReceiveStamps::Absent
    }
}

/// Receives bytes of a TCP connection with the timestamps that it has.
pub(super) fn receive_timed(
    clock: Option<&ArrivalClock>,
    fd: &OwnedFd,
    stamps: ReceiveStamps,
    buffer: &mut [u8],
) -> io::Result<(usize, Option<Arrival>)> {
    let both = stamps == ReceiveStamps::FirstAndLast;
    let first = if both { stamp::peek_stamp(fd)? } else { None };
    let (count, last) = stamp::receive_stamped(fd, buffer)?;
    let arrival = clock.and_then(|clock| {
        if both { clock.arrival_between(first, last) } else { clock.arrival_of(last) }
    });
    Ok((count, arrival))
}
