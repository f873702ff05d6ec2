//! When received bytes arrived, by the kernel's timestamps, on connections that asked for them
//! ([`SocketRoute::stamped`](super::SocketRoute::stamped)).

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;

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

    /// Returns the time of a timestamp. `None` if it is absent or implausible.
    pub(super) fn time_of(&self, real: Option<u64>) -> Option<u64> {
        self.realtime.believe(real)
    }
}

/// Enables timestamps of what the socket receives. Returns false if the kernel provides none: then
/// the connection has none.
pub(super) fn enable(clock: &mut Option<ArrivalClock>, fd: &OwnedFd) -> bool {
    if clock.is_none() {
        *clock = ArrivalClock::new().ok();
    }
    clock.is_some() && stamp::enable_received(fd).is_ok()
}
