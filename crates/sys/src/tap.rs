//! TAP devices: Ethernet interfaces whose other end is this process.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;

use crate::{check_return, interface, socket};

/// The device file from which TAP devices are allocated.
const DEVICE: &str = "/dev/net/tun";

/// A TAP device. The interface is removed when this value is dropped.
#[derive(Debug)]
pub struct Tap(OwnedFd);

impl Tap {
    /// Creates a device of this name in the network namespace of the calling thread. The interface
    /// is down at first. Each read or write transfers one whole Ethernet frame without a preceding
    /// header and does not block.
    ///
    /// # Errors
    /// Returns an error if CAP_NET_ADMIN is missing, if the name is taken or longer than 15 bytes,
    /// or if the kernel does not support TUN/TAP.
    pub fn create(name: &str) -> io::Result<Tap> {
        let flags = libc::O_NONBLOCK | libc::O_CLOEXEC;
        let mut options = OpenOptions::new();
        let file =
            options.read(true).write(true).custom_flags(flags).open(DEVICE).map_err(denied)?;
        let mut request = interface::request(name)?;
        request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI) as libc::c_short;
        // SAFETY: the request is a valid ifreq, which the call reads and fills in.
        check_return(unsafe {
            libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw const request)
        })?;
        Ok(Tap(file.into()))
    }

    /// Reads the next frame that the interface transmits and returns its length. A frame longer
    /// than `frame` is truncated.
    ///
    /// # Errors
    /// Returns `WouldBlock` if no frame is queued, and EIO while the interface is down.
    pub fn read(&self, frame: &mut [u8]) -> io::Result<usize> {
        socket::read_socket(&self.0, frame)
    }

    /// Writes a frame, which the interface then receives.
    ///
    /// # Errors
    /// Returns EIO while the interface is down, and EINVAL if the bytes are not a frame.
    pub fn write(&self, frame: &[u8]) -> io::Result<()> {
        socket::write_socket(&self.0, frame).map(drop)
    }
}

/// Adds a remedy to the error. A capability in a user namespace gives no access to a file that
/// belongs to the namespace outside.
fn denied(error: io::Error) -> io::Error {
    let help = match error.raw_os_error() {
        Some(libc::EACCES) => "; give all users access, as udev does (chmod 666), or run as root",
        Some(libc::ENOENT) => "; the kernel module tun creates it",
        _ => "",
    };
    io::Error::new(
        error.kind(),
        format!("can't open {DEVICE}, which emulated links need: {error}{help}"),
    )
}

impl AsFd for Tap {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
