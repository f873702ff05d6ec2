//! Non-blocking sockets for background traffic. Messages are sent and received in batches, with the
//! time at which the kernel received them.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd as _, OwnedFd};

use libc::c_int;

use crate::control::Controls;
use crate::driver::drops;
use crate::path;
use crate::{check_return, clock, socket, stamp};
use sixmark_units::tcp_info::TcpInfo;

/// The maximum number of datagrams that one call sends or receives.
pub const BATCH: usize = 32;
/// The number of bytes that are read of a datagram. Its full length is reported nevertheless.
const LOOK: usize = 64;
/// The size of a datagram's control messages in bytes: one timestamp.
const CONTROL: usize = 128;
/// The requested size of the receive buffer in bytes. A burst may arrive while this thread is not
/// running.
const RECEIVE: c_int = 8 * 1024 * 1024;
/// The maximum number of connections that wait to be accepted.
const BACKLOG: c_int = 4_096;

/// The settings of a sending socket. If a setting is absent, the system's default applies.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowSocketSettings {
    /// The local port.
    pub port: Option<u16>,
    /// The IPv4 TTL or IPv6 hop limit.
    pub hops: Option<u8>,
    /// The IPv4 type of service or IPv6 traffic class.
    pub class: Option<u8>,
    /// The size of the send buffer in bytes.
    pub buffer: Option<u32>,
}

/// A socket that sends messages.
#[derive(Debug)]
pub struct Outlet(OwnedFd);

impl Outlet {
    /// Creates a socket that sends datagrams to an address.
    ///
    /// # Errors
    /// Returns the errors of socket(2), bind(2) and connect(2).
    pub fn datagrams(to: &SocketAddr, settings: &FlowSocketSettings) -> io::Result<Outlet> {
        Outlet::open(to, libc::SOCK_DGRAM, settings)
    }

    /// Creates a TCP socket and begins to connect it to an address. See [`Outlet::connected`].
    ///
    /// # Errors
    /// Returns the errors of socket(2), bind(2) and connect(2).
    pub fn stream(to: &SocketAddr, settings: &FlowSocketSettings) -> io::Result<Outlet> {
        Outlet::open(to, libc::SOCK_STREAM, settings)
    }

    fn open(to: &SocketAddr, kind: c_int, settings: &FlowSocketSettings) -> io::Result<Outlet> {
        let fd = socket::open_socket(to, kind)?;
        set_flow_options(&fd, to, settings)?;
        match socket::connect(&fd, to) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
            _ => Ok(Outlet(fd)),
        }
    }

    /// Returns true once the connection is established.
    ///
    /// # Errors
    /// Returns the error with which the connection failed.
    pub fn connected(&self) -> io::Result<bool> {
        match socket::pending_error(&self.0) {
            0 => Ok(socket::peer(&self.0).is_ok()),
            errno => Err(io::Error::from_raw_os_error(errno)),
        }
    }

    /// Returns the local address.
    pub fn local(&self) -> Option<SocketAddr> {
        socket::local(&self.0).ok()
    }

    /// Sends bytes of a stream. Returns the number of bytes that the kernel accepted.
    ///
    /// # Errors
    /// Returns the errors of send(2); `WouldBlock` if there is no buffer space.
    pub fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        socket::send(&self.0, bytes)
    }

    /// Sends `bytes` as datagrams of `size` bytes each, at most [`BATCH`]. Returns the number of
    /// datagrams that the kernel accepted.
    ///
    /// # Errors
    /// Returns the error of sendmmsg(2) for the first datagram; `WouldBlock` if there is no buffer
    /// space.
    pub fn send_each(&self, bytes: &[u8], size: usize) -> io::Result<usize> {
        if bytes.len() <= size {
            return socket::send(&self.0, bytes).map(|_| 1);
        }
        let mut parts = [EMPTY; BATCH];
        // SAFETY: mmsghdr is a struct of integers and pointers, for which all zeros is a valid
        // value.
        let mut headers: [libc::mmsghdr; BATCH] = unsafe { std::mem::zeroed() };
        let mut count = 0;
        for piece in bytes.chunks(size.max(1)).take(BATCH) {
            parts[count] =
                libc::iovec { iov_base: piece.as_ptr().cast_mut().cast(), iov_len: piece.len() };
            headers[count].msg_hdr.msg_iov = &raw mut parts[count];
            headers[count].msg_hdr.msg_iovlen = 1;
            count += 1;
        }
        let (fd, flags) = (self.0.as_raw_fd(), libc::MSG_NOSIGNAL);
        // SAFETY: each of the first `count` headers points to one part, which is a slice of
        // `bytes`. Both arrays live until the call returns, and sending does not write to the
        // slices. musl's sendmmsg makes a call for each header, because it does not trust the bytes
        // around its narrower lengths; here they are zero.
        let sent =
            unsafe { libc::syscall(libc::SYS_sendmmsg, fd, headers.as_mut_ptr(), count, flags) };
        Ok(check_return(sent as libc::c_int)? as usize)
    }

    /// Closes the sending direction of the stream. Data that the kernel has accepted is still sent.
    pub fn finish(&self) {
        // SAFETY: shutdown takes an open descriptor and a number. An error means that the peer is
        // gone.
        let _ = unsafe { libc::shutdown(self.0.as_raw_fd(), libc::SHUT_WR) };
    }

    /// Returns the TCP state of the connection.
    pub fn path(&self) -> Option<TcpInfo> {
        path::read_path(&self.0)
    }

    /// Returns the entry for [`wait_for_flows`] that becomes ready when there is room to send.
    pub fn room(&self) -> Watched {
        Watched(libc::pollfd { fd: self.0.as_raw_fd(), events: libc::POLLOUT, revents: 0 })
    }
}

const EMPTY: libc::iovec = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };

fn set_flow_options(
    fd: &OwnedFd,
    to: &SocketAddr,
    settings: &FlowSocketSettings,
) -> io::Result<()> {
    let v6 = to.is_ipv6();
    let (level, hops, class) = if v6 {
        (libc::IPPROTO_IPV6, libc::IPV6_UNICAST_HOPS, libc::IPV6_TCLASS)
    } else {
        (libc::IPPROTO_IP, libc::IP_TTL, libc::IP_TOS)
    };
    if let Some(value) = settings.hops {
        socket::set_option(fd, level, hops, value.into())?;
    }
    if let Some(value) = settings.class {
        socket::set_option(fd, level, class, value.into())?;
    }
    if let Some(bytes) = settings.buffer {
        socket::set_option(fd, libc::SOL_SOCKET, libc::SO_SNDBUF, bytes as c_int)?;
    }
    if let Some(port) = settings.port.filter(|&port| port > 0) {
        socket::set_option(fd, libc::SOL_SOCKET, libc::SO_REUSEADDR, 1)?;
        socket::bind_socket(fd, &SocketAddr::new(any(v6), port))?;
    }
    Ok(())
}

fn any(v6: bool) -> std::net::IpAddr {
    if v6 { std::net::Ipv6Addr::UNSPECIFIED.into() } else { std::net::Ipv4Addr::UNSPECIFIED.into() }
}

/// A socket that receives messages: a datagram socket, a TCP listener or an accepted connection.
#[derive(Debug)]
pub struct InboxSocket(OwnedFd);

/// A received datagram: its first bytes, its source and its time of arrival.
#[derive(Clone, Copy, Debug)]
pub struct Arrived<'a> {
    /// The first bytes, up to 64.
    pub look: &'a [u8],
    /// The full length in bytes.
    pub length: usize,
    /// The sender's address.
    pub from: SocketAddr,
    /// The time at which the kernel received it, nanoseconds of CLOCK_REALTIME.
    pub at_ns: u64,
}

impl InboxSocket {
    /// Binds a datagram socket. Port 0 lets the kernel choose a free port. An IPv6 socket does not
    /// receive IPv4.
    ///
    /// # Errors
    /// Returns the errors of socket(2) and bind(2).
    pub fn datagrams(at: &SocketAddr) -> io::Result<InboxSocket> {
        let fd = socket::open_socket(at, libc::SOCK_DGRAM)?;
        only(&fd, at)?;
        // SO_RCVBUFFORCE exceeds net.core.rmem_max, if the process is permitted to use it.
        if socket::set_option(&fd, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, RECEIVE).is_err() {
            socket::set_option(&fd, libc::SOL_SOCKET, libc::SO_RCVBUF, RECEIVE)?;
        }
        stamp::enable_received(&fd)?;
        socket::bind_socket(&fd, at)?;
        Ok(InboxSocket(fd))
    }

    /// Binds a TCP listener. Port 0 lets the kernel choose a free port. An IPv6 listener does not
    /// accept IPv4.
    ///
    /// # Errors
    /// Returns the errors of socket(2), bind(2) and listen(2).
    pub fn listener(at: &SocketAddr) -> io::Result<InboxSocket> {
        let fd = socket::open_socket(at, libc::SOCK_STREAM)?;
        only(&fd, at)?;
        socket::set_option(&fd, libc::SOL_SOCKET, libc::SO_REUSEADDR, 1)?;
        socket::bind_socket(&fd, at)?;
        // SAFETY: listen takes an open descriptor and a number.
        check_return(unsafe { libc::listen(fd.as_raw_fd(), BACKLOG) })?;
        Ok(InboxSocket(fd))
    }

    /// Accepts the next connection of a listener.
    ///
    /// # Errors
    /// Returns the errors of accept(2); `WouldBlock` if there is no connection.
    pub fn accept(&self) -> io::Result<InboxSocket> {
        use std::os::fd::FromRawFd as _;
        let (none, flags) = (std::ptr::null_mut(), libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC);
        // SAFETY: accept4 writes no address if the pointers for it are null.
        let fd = check_return(unsafe {
            libc::accept4(self.0.as_raw_fd(), none, std::ptr::null_mut(), flags)
        })?;
        // SAFETY: the kernel has just returned this descriptor and nothing else owns it.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        stamp::enable_received(&fd)?;
        Ok(InboxSocket(fd))
    }

    /// Returns the local address.
    pub fn local(&self) -> Option<SocketAddr> {
        socket::local(&self.0).ok()
    }

    /// Returns the peer's address of a connection.
    pub fn peer(&self) -> Option<SocketAddr> {
        socket::peer(&self.0).ok()
    }

    /// Receives bytes of a connection. Returns their number, which is 0 at the end of the stream,
    /// and the time at which the kernel received the last of them, nanoseconds of CLOCK_REALTIME.
    ///
    /// # Errors
    /// Returns the errors of recvmsg(2); `WouldBlock` if there is nothing to receive.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<(usize, u64)> {
        let (count, stamp) = stamp::receive_stamped(&self.0, buffer)?;
        Ok((count, stamp.unwrap_or_else(clock::real)))
    }

    /// Receives up to [`BATCH`] datagrams with one call and passes each to `each`. Returns their
    /// number.
    ///
    /// # Errors
    /// Returns the errors of recvmmsg(2); `WouldBlock` if there is nothing to receive.
    pub fn receive_each(
        &self,
        inbox: &mut Inbox,
        each: impl FnMut(Arrived<'_>),
    ) -> io::Result<usize> {
        inbox.receive(&self.0, each)
    }

    /// Returns the number of datagrams that were dropped because the receive buffer was full.
    pub fn drops(&self) -> u64 {
        drops(&self.0)
    }

    /// Returns the entry for [`wait_for_flows`] that becomes ready when something arrives.
    pub fn arrivals(&self) -> Watched {
        Watched(libc::pollfd { fd: self.0.as_raw_fd(), events: libc::POLLIN, revents: 0 })
    }
}

fn only(fd: &OwnedFd, at: &SocketAddr) -> io::Result<()> {
    if at.is_ipv6() {
        socket::set_option(fd, libc::IPPROTO_IPV6, libc::IPV6_V6ONLY, 1)
    } else {
        Ok(())
    }
}

/// Buffers for the datagrams of one call.
#[derive(Debug)]
pub struct Inbox(Box<[DatagramSlot; BATCH]>);

/// Buffers for one datagram, aligned as control messages require.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(8))]
struct DatagramSlot {
    control: [u8; CONTROL],
    look: [u8; LOOK],
}

impl Default for Inbox {
    fn default() -> Inbox {
        Inbox(Box::new([DatagramSlot { control: [0; CONTROL], look: [0; LOOK] }; BATCH]))
    }
}

impl Inbox {
    fn receive(&mut self, fd: &OwnedFd, mut each: impl FnMut(Arrived<'_>)) -> io::Result<usize> {
        // SAFETY: sockaddr_storage, iovec and mmsghdr are structs of integers and pointers, for
        // which all zeros is a valid value.
        let (mut names, mut parts, mut headers): (
            [libc::sockaddr_storage; BATCH],
            [libc::iovec; BATCH],
            [libc::mmsghdr; BATCH],
        ) = unsafe { std::mem::zeroed() };
        for (at, slot) in self.0.iter_mut().enumerate() {
            parts[at] = libc::iovec { iov_base: slot.look.as_mut_ptr().cast(), iov_len: LOOK };
            let header = &mut headers[at].msg_hdr;
            header.msg_name = (&raw mut names[at]).cast();
            header.msg_namelen = size_of::<libc::sockaddr_storage>() as u32;
            header.msg_iov = &raw mut parts[at];
            header.msg_iovlen = 1;
            header.msg_control = slot.control.as_mut_ptr().cast();
            header.msg_controllen = CONTROL as _;
        }
        let none = std::ptr::null_mut();
        let (first, count) = (headers.as_mut_ptr(), BATCH as u32);
        // SAFETY: each header points to buffers of the stated lengths for an address, a part and
        // control messages, all of which live until the call returns.
        let count = check_return(unsafe {
            libc::recvmmsg(fd.as_raw_fd(), first, count, libc::MSG_TRUNC as _, none)
        })? as usize;
        for at in 0..count.min(BATCH) {
            let slot = &self.0[at];
            let length = headers[at].msg_len as usize;
            let Some(from) = socket::socket_address(&names[at]) else { continue };
            // The type differs between C libraries.
            #[allow(clippy::unnecessary_cast)]
            let told = (headers[at].msg_hdr.msg_controllen as usize).min(CONTROL);
            let at_ns = stamped(&slot.control[..told]).unwrap_or_else(clock::real);
            each(Arrived { look: &slot.look[..length.min(LOOK)], length, from, at_ns });
        }
        Ok(count)
    }
}

fn stamped(controls: &[u8]) -> Option<u64> {
    let is = |&(level, kind, _): &(i32, i32, &[u8])| {
        level == libc::SOL_SOCKET && kind == libc::SCM_TIMESTAMPING
    };
    Controls(controls).find(is).and_then(|(_, _, data)| stamp::nanos(data))
}

/// A socket to be waited for by [`wait_for_flows`].
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Watched(libc::pollfd);

impl Watched {
    /// Returns true if the awaited condition has occurred, or if the socket has failed.
    pub fn ready(&self) -> bool {
        self.0.revents != 0
    }
}

/// Waits until one of the sockets is ready or `ns` nanoseconds have passed.
///
/// # Errors
/// Returns the errors of ppoll(2), except that a signal ends the wait without an error.
pub fn wait_for_flows(watched: &mut [Watched], ns: u64) -> io::Result<()> {
    let time = libc::timespec {
        tv_sec: (ns / 1_000_000_000) as _,
        tv_nsec: (ns % 1_000_000_000) as libc::c_long,
    };
    let (first, count) = (watched.as_mut_ptr().cast::<libc::pollfd>(), watched.len());
    // SAFETY: `first` points to `count` pollfds that the call may write, because Watched is a
    // transparent wrapper. The time is valid and the signal mask is null.
    let done = check_return(unsafe { libc::ppoll(first, count as _, &time, std::ptr::null()) });
    match done {
        Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: u64 = 20_000_000_000;
    const LOOPBACKS: [&str; 2] = ["[::1]:0", "127.0.0.1:0"];

    fn arrive(sink: &InboxSocket) {
        let mut watched = [sink.arrivals()];
        wait_for_flows(&mut watched, PATIENCE).unwrap();
        assert!(watched[0].ready());
    }

    #[test]
    fn datagrams_arrive_one_by_one_with_their_length_source_and_time() {
        for at in LOOPBACKS {
            let before = clock::real();
            let sink = InboxSocket::datagrams(&at.parse().unwrap()).unwrap();
            let outlet =
                Outlet::datagrams(&sink.local().unwrap(), &FlowSocketSettings::default()).unwrap();
            let bytes: Vec<u8> = (0..3_000).map(|n| (n / 1_000) as u8).collect();
            assert_eq!(outlet.send_each(&bytes, 1_000).unwrap(), 3);
            assert_eq!(outlet.send_each(&bytes[..5], 1_000).unwrap(), 1);
            let (mut inbox, mut found) = (Inbox::default(), Vec::new());
            while found.len() < 4 {
                arrive(&sink);
                let _ = sink.receive_each(&mut inbox, |arrived| {
                    assert_eq!(Some(arrived.from), outlet.local());
                    assert!(arrived.at_ns >= before && arrived.at_ns <= clock::real());
                    found.push((arrived.look[0], arrived.length));
                });
            }
            assert_eq!(found, [(0, 1_000), (1, 1_000), (2, 1_000), (0, 5)]);
            assert_eq!(sink.drops(), 0);
        }
    }

    #[test]
    fn a_stream_connects_and_ends() {
        for at in LOOPBACKS {
            let port = InboxSocket::listener(&at.parse().unwrap()).unwrap();
            let settings = FlowSocketSettings {
                hops: Some(3),
                class: Some(16),
                ..FlowSocketSettings::default()
            };
            let outlet = Outlet::stream(&port.local().unwrap(), &settings).unwrap();
            wait_for_flows(&mut [outlet.room()], PATIENCE).unwrap();
            assert!(outlet.connected().unwrap());
            assert_eq!(outlet.send(b"hello").unwrap(), 5);
            outlet.finish();
            arrive(&port);
            let sink = port.accept().unwrap();
            assert_eq!(sink.peer(), outlet.local());
            let mut buffer = [0; 16];
            arrive(&sink);
            assert_eq!(sink.receive(&mut buffer).unwrap().0, 5);
            arrive(&sink);
            assert_eq!(sink.receive(&mut buffer).unwrap().0, 0);
            assert!(outlet.path().is_some());
        }
    }

    #[test]
    fn a_refused_stream_reports_connection_refused() {
        for at in LOOPBACKS {
            let (_held, to) = held(at);
            let refused = Outlet::stream(&to, &FlowSocketSettings::default()).and_then(|outlet| {
                wait_for_flows(&mut [outlet.room()], PATIENCE).unwrap();
                outlet.connected()
            });
            assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
        }
    }

    /// Returns an address that is bound but has no listener.
    fn held(at: &str) -> (OwnedFd, SocketAddr) {
        let at = at.parse().unwrap();
        let fd = socket::open_socket(&at, libc::SOCK_STREAM).unwrap();
        socket::bind_socket(&fd, &at).unwrap();
        let address = socket::local(&fd).unwrap();
        (fd, address)
    }
}
