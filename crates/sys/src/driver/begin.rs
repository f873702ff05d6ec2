//! The start of a connection and its outcome. All drivers share this code.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;

use super::errno::errno_of;
use super::{EventKind, SocketRoute, TcpHandshake, datagram};
use crate::{clock, path, route, socket};

/// A connection whose connect call has returned.
pub(super) struct Begun {
    pub(super) fd: OwnedFd,
    /// The times at which the connect call began and returned.
    pub(super) called: u64,
    pub(super) returned: u64,
    /// The peer, if the connection is already established.
    pub(super) peer: Option<IpAddr>,
    /// The kernel's timing of the handshake, if it is complete and the timing was requested.
    pub(super) handshake: Option<TcpHandshake>,
}

/// Opens a socket and begins to connect it.
pub(super) fn begin_connect(way: &SocketRoute) -> io::Result<Begun> {
    let kind = if way.datagrams { libc::SOCK_DGRAM } else { libc::SOCK_STREAM };
    let fd = socket::open_socket(&way.to, kind)?;
    prepare(&fd, way)?;
    let called = clock::now();
    match socket::connect(&fd, &way.to) {
        // No local port is left. TCP reports this as EADDRNOTAVAIL.
        Err(error) if way.datagrams && errno_of(&error) == libc::EAGAIN => {
            return Err(io::Error::from_raw_os_error(libc::EADDRNOTAVAIL));
        }
        Err(error) if errno_of(&error) != libc::EINPROGRESS => return Err(error),
        _ => {}
    }
    let returned = clock::now();
    // Over loopback the handshake is complete when connect returns. Checking now saves a wake-up
    // and times the connection without the queue of events.
    let peer = socket::peer(&fd).ok().map(|peer| peer.ip());
    let asked = peer.is_some() && way.ask_handshake;
    let handshake = asked.then(|| path::read_handshake(&fd));
    Ok(Begun { fd, called, returned, peer, handshake })
}

/// Returns the outcome of a connection attempt that has ended: the peer or the error number.
fn outcome(fd: &OwnedFd) -> Result<IpAddr, i32> {
    match socket::pending_error(fd) {
        0 => socket::peer(fd).map(|peer| peer.ip()).map_err(|error| errno_of(&error)),
        errno => Err(errno),
    }
}

/// Returns the outcome and, if the attempt succeeded and `asked` is set, the kernel's timing of the
/// handshake.
pub(super) fn outcome_with_handshake(
    fd: &OwnedFd,
    asked: bool,
) -> (Result<IpAddr, i32>, Option<TcpHandshake>) {
    let outcome = outcome(fd);
    let asked = asked && outcome.is_ok();
    (outcome, asked.then(|| path::read_handshake(fd)))
}

/// Returns the event for a connection that could not begin. The kernel has one error number for a
/// lost source address and for exhausted ports, so that a second query has to distinguish them.
pub(super) fn event_of_error(error: &io::Error, way: &SocketRoute) -> EventKind {
    match errno_of(error) {
        errno @ libc::EADDRNOTAVAIL if has_no_source(way) => EventKind::NoSource(errno),
        errno => EventKind::Failed(errno),
    }
}

fn has_no_source(way: &SocketRoute) -> bool {
    let found = match way.from {
        Some(from) if from.foreign => return false,
        Some(from) => route::check_source(from.address),
        None => route::way_to(way.to).map(drop),
    };
    found.is_err_and(|error| errno_of(&error) == libc::EADDRNOTAVAIL)
}

/// Sets the options that must be set before connect.
fn prepare(fd: &OwnedFd, way: &SocketRoute) -> io::Result<()> {
    if way.datagrams {
        datagram::prepare(fd, &way.to)?;
    } else if way.no_delay {
        socket::set_option(fd, libc::IPPROTO_TCP, libc::TCP_NODELAY, 1)?;
    }
    let Some(from) = way.from else { return Ok(()) };
    // The port is chosen by connect, so that one port can serve many destinations.
    socket::set_option(fd, libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, 1)?;
    if from.foreign {
        match from.address {
            SocketAddr::V4(_) => socket::set_option(fd, libc::IPPROTO_IP, libc::IP_FREEBIND, 1)?,
            SocketAddr::V6(_) => {
                socket::set_option(fd, libc::IPPROTO_IPV6, libc::IPV6_FREEBIND, 1)?
            }
        }
    }
    socket::bind_socket(fd, &from.address)
}
