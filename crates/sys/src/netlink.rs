//! Requests to the kernel over rtnetlink(7), each a single message with a single reply.

use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};

use crate::check_return;

/// Sends a request of type `kind` and returns the kernel's reply, including its header of 16 bytes.
pub(crate) fn ask(kind: u16, payload: &[u8]) -> io::Result<Vec<u8>> {
    let fd = open_netlink()?;
    let question = message(kind, payload);
    let mut answer = vec![0; 4096];
    crate::socket::send(&fd, &question)?;
    let length = crate::socket::receive_bytes(&fd, &mut answer)?;
    answer.truncate(length);
    Ok(answer)
}

fn open_netlink() -> io::Result<OwnedFd> {
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
    // SAFETY: socket takes no pointers.
    let fd = check_return(unsafe { libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_ROUTE) })?;
    // SAFETY: the kernel has just returned this descriptor and nothing else owns it.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    connect_to_kernel(&fd)?;
    Ok(fd)
}

/// Connects the socket to the kernel, so that it sends to the kernel and receives from it alone.
fn connect_to_kernel(fd: &OwnedFd) -> io::Result<()> {
    // SAFETY: sockaddr_nl is a struct of integers, for which all zeros is a valid value.
    let mut kernel: libc::sockaddr_nl = unsafe { std::mem::zeroed() };
    kernel.nl_family = libc::AF_NETLINK as libc::sa_family_t;
    let size = size_of::<libc::sockaddr_nl>() as libc::socklen_t;
    // SAFETY: `kernel` is a valid address of `size` bytes.
    check_return(unsafe { libc::connect(fd.as_raw_fd(), (&raw const kernel).cast(), size) })
        .map(drop)
}

/// Builds an nlmsghdr followed by the payload.
fn message(kind: u16, payload: &[u8]) -> Vec<u8> {
    let length = 16 + payload.len() as u32;
    let mut bytes = length.to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend((libc::NLM_F_REQUEST as u16).to_ne_bytes());
    // Sequence number and port may be 0: there is one request and one reply.
    bytes.extend([0; 8]);
    bytes.extend(payload);
    bytes
}
