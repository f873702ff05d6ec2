//! Listening sockets. Each serves a single address family.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener, UdpSocket};

use socket2::{Domain, Protocol, Socket, Type};

/// The number of connections that may wait to be accepted. The kernel limits it to
/// `net.core.somaxconn`.
const BACKLOG: i32 = 4096;

/// The size of the send and receive buffers for datagrams, in bytes.
const DATAGRAM_ROOM: usize = 4 << 20;

/// Binds all addresses, or none if one fails. The error names the address that failed.
pub(super) fn bind_all(addresses: &[SocketAddr]) -> io::Result<Vec<TcpListener>> {
    if addresses.is_empty() {
        let message = "no address to listen on; name at least one, such as [::1]:8080";
        return Err(io::Error::new(ErrorKind::InvalidInput, message));
    }
    addresses
        .iter()
        .map(|&address| bind_listener(address).map_err(|e| explain(address, &e)))
        .collect()
}

/// Binds the UDP sockets for QUIC, at the same addresses as `listeners`.
pub(super) fn bind_all_udp(listeners: &[TcpListener]) -> io::Result<Vec<UdpSocket>> {
    let bind = |listener: &TcpListener| {
        let address = listener.local_addr()?;
        bind_udp(address).map_err(|e| explain(address, &e))
    };
    listeners.iter().map(bind).collect()
}

/// Binds all addresses once for each thread. The kernel distributes connections among the threads
/// by a hash (SO_REUSEPORT).
pub(super) fn bind_all_shared(
    addresses: &[SocketAddr],
    threads: usize,
) -> io::Result<Vec<Vec<TcpListener>>> {
    // Only our own threads may share the port. Binding without sharing first detects other
    // listeners.
    let first = bind_all(addresses)?;
    if threads == 1 {
        return Ok(vec![first]);
    }
    let bound = first.iter().map(TcpListener::local_addr).collect::<io::Result<Vec<_>>>()?;
    drop(first);
    let shared = |&address| bind_shared(address).map_err(|e| explain(address, &e));
    (0..threads).map(|_| bound.iter().map(shared).collect()).collect()
}

fn bind_listener(address: SocketAddr) -> io::Result<TcpListener> {
    listen(open_socket(address)?, address)
}

fn bind_shared(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = open_socket(address)?;
    socket.set_reuse_port(true)?;
    listen(socket, address)
}

fn bind_udp(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    // A packet lost because a buffer is full is sent again. The kernel may grant less.
    let _ = socket.set_recv_buffer_size(DATAGRAM_ROOM);
    let _ = socket.set_send_buffer_size(DATAGRAM_ROOM);
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    Ok(socket.into())
}

fn open_socket(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if address.is_ipv6() {
        // By default, Linux lets [::] accept IPv4 as well. This would hide the family, and 0.0.0.0
        // could not be bound to the same port.
        socket.set_only_v6(true)?;
    }
    // A restart must not wait for connections of the previous run in TIME-WAIT.
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    // Accepted sockets inherit the option.
    socket.set_tcp_nodelay(true)?;
    Ok(socket)
}

fn listen(socket: Socket, address: SocketAddr) -> io::Result<TcpListener> {
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

fn explain(address: SocketAddr, error: &io::Error) -> io::Error {
    let advice = match error.kind() {
        ErrorKind::AddrInUse => "; stop what listens there, or choose another port",
        ErrorKind::AddrNotAvailable => "; no interface of this host has that address",
        ErrorKind::PermissionDenied => "; choose a port above 1023, or run as root",
        _ => "",
    };
    io::Error::new(error.kind(), format!("can't listen on {address}: {error}{advice}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_wildcards_share_a_port() {
        // Another process may use the port for IPv4 only. If so, the kernel is asked for another
        // one.
        let shared = (0..20).any(|_| {
            let v6 = bind_listener("[::]:0".parse().unwrap()).unwrap();
            let port = v6.local_addr().unwrap().port();
            bind_listener(SocketAddr::from(([0, 0, 0, 0], port))).is_ok()
        });
        assert!(shared);
    }

    #[test]
    fn names_an_address_in_use_and_suggests_another_port() {
        for address in ["[::1]:0", "127.0.0.1:0"] {
            let holder = TcpListener::bind(address).unwrap();
            let taken = holder.local_addr().unwrap();
            let error = bind_all(&[taken]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::AddrInUse);
            let message = error.to_string();
            assert!(message.contains(&taken.to_string()), "{message}");
            assert!(message.contains("choose another port"), "{message}");
        }
    }

    #[test]
    fn names_an_address_of_another_host_that_it_can_not_listen_on() {
        for address in ["[2001:db8::1]:0", "192.0.2.1:0"] {
            let error = bind_all(&[address.parse().unwrap()]).unwrap_err();
            assert!(error.to_string().starts_with("can't listen on "), "{error}");
        }
    }

    #[test]
    fn rejects_an_empty_address_list() {
        assert_eq!(bind_all(&[]).unwrap_err().kind(), ErrorKind::InvalidInput);
    }
}
