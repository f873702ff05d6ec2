//! Non-blocking sockets: the few calls that the drivers need, each a single system call.

use std::io;
use std::mem::size_of;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use libc::{c_int, c_void, sockaddr_in, sockaddr_in6, sockaddr_storage, socklen_t};

use crate::check_return;

/// Opens a socket of the given kind for the address's family, non-blocking and closed on exec.
pub(crate) fn open_socket(address: &SocketAddr, kind: c_int) -> io::Result<OwnedFd> {
    let domain = if address.is_ipv6() { libc::AF_INET6 } else { libc::AF_INET };
    let kind = kind | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: socket takes no pointers.
    let fd = check_return(unsafe { libc::socket(domain, kind, 0) })?;
    // SAFETY: the kernel has just returned this descriptor and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Begins a connection. The usual "error" is EINPROGRESS.
pub(crate) fn connect(fd: &OwnedFd, to: &SocketAddr) -> io::Result<()> {
    let (storage, length) = raw_address(to);
    let address = (&raw const storage).cast();
    // SAFETY: `address` points to `length` initialised bytes of a socket address.
    check_return(unsafe { libc::connect(fd.as_raw_fd(), address, length) }).map(drop)
}

/// Binds the socket to a local address.
pub(crate) fn bind_socket(fd: &OwnedFd, address: &SocketAddr) -> io::Result<()> {
    let (storage, length) = raw_address(address);
    let address = (&raw const storage).cast();
    // SAFETY: `address` points to `length` initialised bytes of a socket address.
    check_return(unsafe { libc::bind(fd.as_raw_fd(), address, length) }).map(drop)
}

/// Returns the peer's address, or ENOTCONN until the connection is established. One call thus
/// checks for both.
pub(crate) fn peer(fd: &OwnedFd) -> io::Result<SocketAddr> {
    socket_address_by(fd, libc::getpeername)
}

/// Returns the local address.
pub(crate) fn local(fd: &OwnedFd) -> io::Result<SocketAddr> {
    socket_address_by(fd, libc::getsockname)
}

/// Sends bytes. On a broken connection it returns EPIPE and raises no signal.
pub(crate) fn send(fd: &OwnedFd, bytes: &[u8]) -> io::Result<usize> {
    let start = bytes.as_ptr().cast();
    // SAFETY: `start` points to `bytes.len()` readable bytes.
    length(unsafe { libc::send(fd.as_raw_fd(), start, bytes.len(), libc::MSG_NOSIGNAL) })
}

/// Sends two slices as if they were contiguous.
pub(crate) fn send_parts(fd: &OwnedFd, parts: [&[u8]; 2]) -> io::Result<usize> {
    if parts[1].is_empty() {
        return send(fd, parts[0]);
    }
    let piece = |part: &[u8]| libc::iovec {
        iov_base: part.as_ptr().cast_mut().cast(),
        iov_len: part.len(),
    };
    let mut pieces = parts.map(piece);
    // SAFETY: msghdr is a struct of integers and pointers, for which all zeros is a valid value.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = pieces.as_mut_ptr();
    message.msg_iovlen = pieces.len() as _;
    // SAFETY: `message` points to two slices of readable bytes. Sending does not write to them.
    length(unsafe { libc::sendmsg(fd.as_raw_fd(), &message, libc::MSG_NOSIGNAL) })
}

/// Receives into `buffer`. Returns the number of bytes.
pub(crate) fn receive_bytes(fd: &OwnedFd, buffer: &mut [u8]) -> io::Result<usize> {
    let start = buffer.as_mut_ptr().cast();
    // SAFETY: `start` points to `buffer.len()` writable bytes.
    length(unsafe { libc::recv(fd.as_raw_fd(), start, buffer.len(), 0) })
}

/// Reads from a file that is not a socket.
pub(crate) fn read_socket(fd: &OwnedFd, buffer: &mut [u8]) -> io::Result<usize> {
    let start = buffer.as_mut_ptr().cast();
    // SAFETY: `start` points to `buffer.len()` writable bytes.
    length(unsafe { libc::read(fd.as_raw_fd(), start, buffer.len()) })
}

/// Writes to a file that is not a socket.
pub(crate) fn write_socket(fd: &OwnedFd, bytes: &[u8]) -> io::Result<usize> {
    let start = bytes.as_ptr().cast();
    // SAFETY: `start` points to `bytes.len()` readable bytes.
    length(unsafe { libc::write(fd.as_raw_fd(), start, bytes.len()) })
}

/// Discards up to `most` received bytes without copying them (tcp(7), MSG_TRUNC). Returns their
/// number.
pub(crate) fn discard(fd: &OwnedFd, most: usize) -> io::Result<usize> {
    let nowhere = std::ptr::null_mut();
    // SAFETY: with MSG_TRUNC, TCP writes nothing, so that no buffer is needed whatever the length.
    length(unsafe { libc::recv(fd.as_raw_fd(), nowhere, most, libc::MSG_TRUNC) })
}

fn length(returned: isize) -> io::Result<usize> {
    usize::try_from(returned).map_err(|_| io::Error::last_os_error())
}

/// Returns and clears the error with which an asynchronous connect ended; 0 if there is none.
pub(crate) fn pending_error(fd: &OwnedFd) -> i32 {
    option(fd, libc::SOL_SOCKET, libc::SO_ERROR).unwrap_or_else(|e| e.raw_os_error().unwrap_or(0))
}

/// Sets an option whose value is a C int.
pub(crate) fn set_option(fd: &OwnedFd, level: c_int, name: c_int, value: c_int) -> io::Result<()> {
    set_bytes(fd, level, name, &value)
}

/// Makes closing the socket send a reset at once.
pub(crate) fn reset_on_close(fd: &OwnedFd) -> io::Result<()> {
    let now = libc::linger { l_onoff: 1, l_linger: 0 };
    set_bytes(fd, libc::SOL_SOCKET, libc::SO_LINGER, &now)
}

/// Sets an option. `T` must be the type that the kernel expects.
pub(crate) fn set_bytes<T: Copy>(
    fd: &OwnedFd,
    level: c_int,
    name: c_int,
    value: &T,
) -> io::Result<()> {
    let size = size_of::<T>() as socklen_t;
    let start = (&raw const *value).cast::<c_void>();
    // SAFETY: `start` points to `size` readable bytes.
    check_return(unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, start, size) }).map(drop)
}

/// Reads an option whose value is a C int.
pub(crate) fn option(fd: &OwnedFd, level: c_int, name: c_int) -> io::Result<c_int> {
    let (mut value, mut size) = (0 as c_int, size_of::<c_int>() as socklen_t);
    let start = (&raw mut value).cast::<c_void>();
    // SAFETY: `start` points to `size` writable bytes.
    check_return(unsafe { libc::getsockopt(fd.as_raw_fd(), level, name, start, &mut size) })?;
    Ok(value)
}

/// Returns the address in the kernel's form and its length in bytes.
pub(crate) fn raw_address(address: &SocketAddr) -> (sockaddr_storage, socklen_t) {
    // SAFETY: sockaddr_storage is a struct of integers, for which all zeros is a valid value.
    let mut storage: sockaddr_storage = unsafe { std::mem::zeroed() };
    let start = &raw mut storage;
    let length = match address {
        SocketAddr::V4(v4) => {
            // SAFETY: `storage` is large enough and aligned for every socket address.
            unsafe { start.cast::<sockaddr_in>().write(encode_v4(v4)) };
            size_of::<sockaddr_in>()
        }
        SocketAddr::V6(v6) => {
            // SAFETY: `storage` is large enough and aligned for every socket address.
            unsafe { start.cast::<sockaddr_in6>().write(encode_v6(v6)) };
            size_of::<sockaddr_in6>()
        }
    };
    (storage, length as socklen_t)
}

fn encode_v4(address: &SocketAddrV4) -> sockaddr_in {
    sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: address.port().to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(address.ip().octets()) },
        sin_zero: [0; 8],
    }
}

fn encode_v6(address: &SocketAddrV6) -> sockaddr_in6 {
    sockaddr_in6 {
        sin6_family: libc::AF_INET6 as libc::sa_family_t,
        sin6_port: address.port().to_be(),
        sin6_flowinfo: address.flowinfo(),
        sin6_addr: libc::in6_addr { s6_addr: address.ip().octets() },
        sin6_scope_id: address.scope_id(),
    }
}

/// A system call that writes a socket's address.
type AddressCall = unsafe extern "C" fn(c_int, *mut libc::sockaddr, *mut socklen_t) -> c_int;

fn socket_address_by(fd: &OwnedFd, call: AddressCall) -> io::Result<SocketAddr> {
    // SAFETY: sockaddr_storage is a struct of integers, for which all zeros is a valid value.
    let mut storage: sockaddr_storage = unsafe { std::mem::zeroed() };
    let mut length = size_of::<sockaddr_storage>() as socklen_t;
    let start = (&raw mut storage).cast();
    // SAFETY: `start` points to `length` bytes that the call may write.
    check_return(unsafe { call(fd.as_raw_fd(), start, &mut length) })?;
    socket_address(&storage).ok_or_else(|| io::Error::from_raw_os_error(libc::EAFNOSUPPORT))
}

/// Returns the address in `storage`, or `None` if it is not an IP address.
pub(crate) fn socket_address(storage: &sockaddr_storage) -> Option<SocketAddr> {
    let start = &raw const *storage;
    match c_int::from(storage.ss_family) {
        libc::AF_INET => {
            // SAFETY: the family states that a sockaddr_in is stored, for which `storage` is large
            // enough.
            let v4 = unsafe { start.cast::<sockaddr_in>().read() };
            let ip = Ipv4Addr::from(v4.sin_addr.s_addr.to_ne_bytes());
            Some(SocketAddr::new(IpAddr::V4(ip), u16::from_be(v4.sin_port)))
        }
        libc::AF_INET6 => {
            // SAFETY: the family states that a sockaddr_in6 is stored, for which `storage` is large
            // enough.
            let v6 = unsafe { start.cast::<sockaddr_in6>().read() };
            let (ip, port) = (Ipv6Addr::from(v6.sin6_addr.s6_addr), u16::from_be(v6.sin6_port));
            Some(SocketAddrV6::new(ip, port, v6.sin6_flowinfo, v6.sin6_scope_id).into())
        }
        _ => None,
    }
}
