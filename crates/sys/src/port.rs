//! This process's end of a link, on which it sends and receives frames.

use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};

use crate::tap::Tap;
use crate::{check_return, interface, socket};

/// A device on which frames are sent and received.
#[derive(Debug)]
pub enum Port {
    /// A TAP device whose other end is a host's interface.
    Tap(Tap),
    /// An interface connected to that of a host, used below the network layer.
    Raw(Raw),
}

/// An interface that is read and written below the network layer (packet(7)). Frames arrive as they
/// were sent, so that the sender must not offload segmentation or checksums to its interface.
#[derive(Debug)]
pub struct Raw(OwnedFd);

impl Port {
    /// Reads the next received frame and returns its length. A frame longer than `frame` is
    /// truncated.
    ///
    /// # Errors
    /// Returns `WouldBlock` if no frame is queued, and EIO while the interface is down.
    pub fn read(&self, frame: &mut [u8]) -> io::Result<usize> {
        match self {
            Port::Tap(tap) => tap.read(frame),
            Port::Raw(raw) => socket::receive_bytes(&raw.0, frame).map_err(down),
        }
    }

    /// Sends a frame.
    ///
    /// # Errors
    /// Returns EIO while the interface is down.
    pub fn write(&self, frame: &[u8]) -> io::Result<()> {
        match self {
            Port::Tap(tap) => tap.write(frame),
            Port::Raw(raw) => socket::send(&raw.0, frame).map(drop).map_err(down),
        }
    }
}

impl From<Tap> for Port {
    fn from(tap: Tap) -> Port {
        Port::Tap(tap)
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Port::Tap(tap) => tap.as_fd(),
            Port::Raw(raw) => raw.0.as_fd(),
        }
    }
}

impl Raw {
    /// Opens the interface of this name in the calling thread's network namespace.
    ///
    /// # Errors
    /// Returns an error if there is no such interface, or if CAP_NET_RAW is missing.
    pub fn open(name: &str) -> io::Result<Raw> {
        let absent = || io::Error::from_raw_os_error(libc::ENODEV);
        let index = interface::index(name).ok_or_else(absent)?;
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: socket takes no pointers. With protocol 0 it receives nothing until it is bound.
        let fd = check_return(unsafe { libc::socket(libc::AF_PACKET, kind, 0) })?;
        // SAFETY: the kernel has just returned this descriptor and nothing else owns it.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        // Otherwise the socket would also receive the frames that it sends.
        socket::set_option(&fd, libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)?;
        bind_to_port(&fd, index)?;
        Ok(Raw(fd))
    }
}

/// From linux/if_packet.h; the libc crate does not define it.
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;

fn bind_to_port(fd: &OwnedFd, index: u32) -> io::Result<()> {
    // SAFETY: sockaddr_ll is a struct of integers, for which all zeros is a valid value.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as libc::c_ushort;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    address.sll_ifindex = index as libc::c_int;
    let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: `address` is an initialised address of `length` bytes.
    check_return(unsafe { libc::bind(fd.as_raw_fd(), (&raw const address).cast(), length) })
        .map(drop)
}

/// Converts the error of an interface that is down to that of a TAP device.
fn down(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(libc::ENETDOWN) => io::Error::from_raw_os_error(libc::EIO),
        _ => error,
    }
}
