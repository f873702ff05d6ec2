//! Sockets for the protocols by which routers tell hosts of their links what to use: they say by which interface a
//! message came, and send by the interface that the caller chooses.

use std::io;
use std::mem::size_of;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};

use libc::c_int;

use crate::control::{Controls, Writer};
use crate::{check_return, socket};

/// A message that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentMessage {
    /// Its length in bytes, at most that of the buffer.
    pub length: usize,
    /// Its sender.
    pub from: SocketAddr,
    /// The index of the interface that it came by.
    pub interface: u32,
    /// Its hop limit, if the socket reports it.
    pub hop_limit: Option<u8>,
}

/// A socket that is used by several interfaces of a host. It does not block.
#[derive(Debug)]
pub struct SegmentSocket(OwnedFd);

/// From linux/icmpv6.h; the libc crate does not define it.
const ICMP6_FILTER: c_int = 1;
/// Router Solicitation (RFC 4861, 4.1).
const ROUTER_SOLICITATION: usize = 133;
/// All routers of a link (RFC 4291, 2.7.1).
const ALL_ROUTERS: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 2);
/// The hop limit of messages that no router has forwarded (RFC 4861, 3.1).
const NOT_FORWARDED: c_int = 255;

impl SegmentSocket {
    /// Opens a raw socket in the calling thread's network namespace that receives Router Solicitations on the
    /// interfaces with these indexes. Its messages have a hop limit of 255; the kernel sets their checksums.
    ///
    /// # Errors
    /// Returns an error if CAP_NET_RAW is missing, or if an interface has no IPv6.
    pub fn open_for_solicitations(interfaces: &[u32]) -> io::Result<SegmentSocket> {
        let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: socket takes no pointers.
        let fd = check_return(unsafe { libc::socket(libc::AF_INET6, kind, libc::IPPROTO_ICMPV6) })?;
        // SAFETY: the kernel has just returned this descriptor and nothing else owns it.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        // A bit that is set blocks a type.
        let mut blocked = [u32::MAX; 8];
        blocked[ROUTER_SOLICITATION / 32] &= !(1 << (ROUTER_SOLICITATION % 32));
        socket::set_bytes(&fd, libc::IPPROTO_ICMPV6, ICMP6_FILTER, &blocked)?;
        let options = [
            (libc::IPV6_RECVPKTINFO, 1),
            (libc::IPV6_RECVHOPLIMIT, 1),
            (libc::IPV6_MULTICAST_LOOP, 0),
            (libc::IPV6_MULTICAST_HOPS, NOT_FORWARDED),
            (libc::IPV6_UNICAST_HOPS, NOT_FORWARDED),
        ];
        for (name, value) in options {
            socket::set_option(&fd, libc::IPPROTO_IPV6, name, value)?;
        }
        for &index in interfaces {
            let group = libc::ipv6_mreq {
                ipv6mr_multiaddr: libc::in6_addr { s6_addr: ALL_ROUTERS.octets() },
                ipv6mr_interface: index,
            };
            socket::set_bytes(&fd, libc::IPPROTO_IPV6, libc::IPV6_ADD_MEMBERSHIP, &group)?;
        }
        Ok(SegmentSocket(fd))
    }

    /// Opens a socket for UDP over IPv4 on a port of all addresses in the calling thread's network namespace. It may
    /// send to all hosts of a link.
    ///
    /// # Errors
    /// Returns an error if the port is taken, or if this user may not use it.
    pub fn open_for_datagrams(port: u16) -> io::Result<SegmentSocket> {
        let address = SocketAddr::from((Ipv4Addr::UNSPECIFIED, port));
        let fd = socket::open_socket(&address, libc::SOCK_DGRAM)?;
        socket::set_option(&fd, libc::SOL_SOCKET, libc::SO_BROADCAST, 1)?;
        socket::set_option(&fd, libc::IPPROTO_IP, libc::IP_PKTINFO, 1)?;
        socket::bind_socket(&fd, &address)?;
        Ok(SegmentSocket(fd))
    }

    /// Receives the next message into `buffer`; what does not fit is lost.
    ///
    /// # Errors
    /// Returns `WouldBlock` if there is none, and `InvalidData` if the kernel does not say where it came from.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<SegmentMessage> {
        // SAFETY: sockaddr_storage is a struct of integers, for which all zeros is a valid value.
        let mut name: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
        // SAFETY: msghdr is a struct of integers and pointers, for which all zeros is a valid value.
        let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
        let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
        let mut control = ControlRoom([0; CONTROL_ROOM]);
        header.msg_name = (&raw mut name).cast();
        header.msg_namelen = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
        header.msg_iov = &raw mut part;
        header.msg_iovlen = 1;
        header.msg_control = control.0.as_mut_ptr().cast();
        header.msg_controllen = CONTROL_ROOM as _;
        // SAFETY: `header` points to room for a name and for control messages and to one part, each of the given
        // length. Everything lives until the call returns.
        let length = unsafe { libc::recvmsg(self.0.as_raw_fd(), &raw mut header, 0) };
        let length = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
        // The type of the length depends on the C library.
        #[allow(clippy::unnecessary_cast)]
        let controls = &control.0[..(header.msg_controllen as usize).min(CONTROL_ROOM)];
        let lost = || io::Error::from(io::ErrorKind::InvalidData);
        let from = socket::socket_address(&name).ok_or_else(lost)?;
        let interface = interface_of(controls).ok_or_else(lost)?;
        Ok(SegmentMessage { length, from, interface, hop_limit: hop_limit(controls) })
    }

    /// Sends a message by the interface with this index.
    ///
    /// # Errors
    /// Returns the errors of sendmsg(2), such as ENETDOWN or EADDRNOTAVAIL of an interface without addresses.
    pub fn send(&self, bytes: &[u8], to: &SocketAddr, interface: u32) -> io::Result<()> {
        let (mut name, name_length) = socket::raw_address(to);
        let mut part =
            libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        let mut control = Writer::<CONTROL_ROOM>::new();
        let index = interface.to_ne_bytes();
        // Without an address, the kernel chooses the source.
        match to {
            SocketAddr::V6(_) => {
                let info = [&[0; 16][..], &index].concat();
                control.add(libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, &info);
            }
            SocketAddr::V4(_) => {
                let info = [&index[..], &[0; 8]].concat();
                control.add(libc::IPPROTO_IP, libc::IP_PKTINFO, &info);
            }
        }
        let controls = control.bytes();
        // SAFETY: msghdr is a struct of integers and pointers, for which all zeros is a valid value.
        let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
        header.msg_name = (&raw mut name).cast();
        header.msg_namelen = name_length;
        header.msg_iov = &raw mut part;
        header.msg_iovlen = 1;
        header.msg_control = controls.as_mut_ptr().cast();
        header.msg_controllen = controls.len() as _;
        // SAFETY: `header` points to an address, control messages and readable bytes of the given lengths, which
        // live until the call returns. Sending does not write to them.
        let sent =
            unsafe { libc::sendmsg(self.0.as_raw_fd(), &raw const header, libc::MSG_NOSIGNAL) };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

impl AsFd for SegmentSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Room for the control messages of a packet, aligned as the kernel requires.
#[repr(C, align(8))]
struct ControlRoom([u8; CONTROL_ROOM]);

const CONTROL_ROOM: usize = 128;

/// Returns the interface that a message came by. Its index follows the address (in6_pktinfo) or precedes it
/// (in_pktinfo).
fn interface_of(controls: &[u8]) -> Option<u32> {
    let index = Controls(controls).find_map(|(level, kind, data)| match (level, kind) {
        (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) => data.get(16..20),
        (libc::IPPROTO_IP, libc::IP_PKTINFO) => data.get(..4),
        _ => None,
    })?;
    Some(u32::from_ne_bytes(index.try_into().ok()?))
}

fn hop_limit(controls: &[u8]) -> Option<u8> {
    let find = |&(level, kind, _): &(i32, i32, &[u8])| {
        (level, kind) == (libc::IPPROTO_IPV6, libc::IPV6_HOPLIMIT)
    };
    let (_, _, data) = Controls(controls).find(find)?;
    u8::try_from(i32::from_ne_bytes(data.get(..4)?.try_into().ok()?)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interface_and_hop_limit_are_read_from_control_messages() {
        let mut writer = Writer::<CONTROL_ROOM>::new();
        writer.add(libc::IPPROTO_IPV6, libc::IPV6_HOPLIMIT, &255_i32.to_ne_bytes());
        let info = [&[0xfe; 16][..], &7_u32.to_ne_bytes()].concat();
        writer.add(libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, &info);
        assert_eq!(interface_of(writer.bytes()), Some(7));
        assert_eq!(hop_limit(writer.bytes()), Some(255));
        let mut ipv4 = Writer::<CONTROL_ROOM>::new();
        ipv4.add(libc::IPPROTO_IP, libc::IP_PKTINFO, &[&8_u32.to_ne_bytes()[..], &[9; 8]].concat());
        assert_eq!((interface_of(ipv4.bytes()), hop_limit(ipv4.bytes())), (Some(8), None));
        let mut short = Writer::<CONTROL_ROOM>::new();
        short.add(libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, &[0; 18]);
        short.add(libc::IPPROTO_IPV6, libc::IPV6_HOPLIMIT, &1_000_i32.to_ne_bytes());
        assert_eq!((interface_of(short.bytes()), hop_limit(short.bytes())), (None, None));
    }
}
