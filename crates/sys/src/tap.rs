//! TAP devices: an Ethernet interface whose other end is this process.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;

use crate::{check_return, interface, socket};

/// Where the kernel gives them out.
const DEVICE: &str = "/dev/net/tun";

/// A TAP device. It goes when this is dropped.
#[derive(Debug)]
pub struct Tap(OwnedFd);

impl Tap {
    /// A new one with this name in the network namespace of the calling thread, down at first. Frames
    /// are whole Ethernet frames without anything before them, one a read or write; nothing blocks.
    ///
    /// # Errors
    /// The right is missing (CAP_NET_ADMIN), the name is taken or longer than 15 bytes, or the kernel
    /// has no TUN/TAP.
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

    /// The next frame that the interface sends; how long it is. What is longer than `frame` is cut.
    ///
    /// # Errors
    /// `WouldBlock` where there is none; EIO while the interface is down.
    pub fn read(&self, frame: &mut [u8]) -> io::Result<usize> {
        socket::read_socket(&self.0, frame)
    }

    /// Has the interface receive a frame.
    ///
    /// # Errors
    /// EIO while the interface is down; EINVAL of what is no frame.
    pub fn write(&self, frame: &[u8]) -> io::Result<()> {
        socket::write_socket(&self.0, frame).map(drop)
    }
}

/// Rights in a user namespace are none over a file of outside.
fn denied(error: io::Error) -> io::Error {
    let help = match error.raw_os_error() {
        Some(libc::EACCES) => "; let everybody use it, as udev does (chmod 666), or be root",
        Some(libc::ENOENT) => "; the kernel's module tun makes it",
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
