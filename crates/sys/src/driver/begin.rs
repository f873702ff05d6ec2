//! How a connection begins and how that turned out: the same for all drivers.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;

use super::errno::errno_of;
use super::{EventKind, Handshake, SocketRoute, datagram};
use crate::{clock, path, route, socket};

/// A connection that was begun.
pub(super) struct Begun {
    pub(super) fd: OwnedFd,
    /// When the connect call began and returned.
    pub(super) called: u64,
    pub(super) returned: u64,
    /// The peer where the connection is established already.
    pub(super) peer: Option<IpAddr>,
    /// What the kernel says of its handshake, where it is over and that was to be asked.
    pub(super) handshake: Option<Handshake>,
}

/// Opens a socket and begins its connection.
pub(super) fn begin_connect(way: &SocketRoute) -> io::Result<Begun> {
    let kind = if way.datagrams { libc::SOCK_DGRAM } else { libc::SOCK_STREAM };
    let fd = socket::open_socket(&way.to, kind)?;
    prepare(&fd, way)?;
    let called = clock::now();
    match socket::connect(&fd, &way.to) {
        // No port is left; TCP says it in these words.
        Err(error) if way.datagrams && errno_of(&error) == libc::EAGAIN => {
            return Err(io::Error::from_raw_os_error(libc::EADDRNOTAVAIL));
        }
        Err(error) if errno_of(&error) != libc::EINPROGRESS => return Err(error),
        _ => {}
    }
    let returned = clock::now();
    // Over loopback the handshake is over when connect returns; asking now spares a wake-up and
    // times the connection, not the queue of things to deal with.
    let peer = socket::peer(&fd).ok().map(|peer| peer.ip());
    let asked = peer.is_some() && way.ask_handshake;
    let handshake = asked.then(|| path::handshake(&fd));
    Ok(Begun { fd, called, returned, peer, handshake })
}

/// What became of a connection that the kernel is done with: its peer, or the error number.
fn outcome(fd: &OwnedFd) -> Result<IpAddr, i32> {
    match socket::pending_error(fd) {
        0 => socket::peer(fd).map(|peer| peer.ip()).map_err(|error| errno_of(&error)),
        errno => Err(errno),
    }
}

/// What became of it as above, and what the kernel says of the handshake where that is `asked`.
pub(super) fn outcome_with_handshake(
    fd: &OwnedFd,
    asked: bool,
) -> (Result<IpAddr, i32>, Option<Handshake>) {
    let outcome = outcome(fd);
    let asked = asked && outcome.is_ok();
    (outcome, asked.then(|| path::handshake(fd)))
}

/// What is told of a connection that could not begin. The kernel has one number for a source address
/// that is gone and for ports that are used up, so that it has to be asked which it is.
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

/// Options that must be set before connecting.
fn prepare(fd: &OwnedFd, way: &SocketRoute) -> io::Result<()> {
    if way.datagrams {
        datagram::prepare(fd, &way.to)?;
    } else if way.no_delay {
        socket::set_option(fd, libc::IPPROTO_TCP, libc::TCP_NODELAY, 1)?;
    }
    let Some(from) = way.from else { return Ok(()) };
    // The port is then chosen at connect, so that one port can serve many destinations.
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
