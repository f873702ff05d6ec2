//! What the kernel's TCP knows of a connection's path and of its handshake (tcp(7), TCP_INFO).
//!
//! With either driver this is a getsockopt call. The io_uring command for it
//! (SOCKET_URING_OP_GETSOCKOPT) supports only options of SOL_SOCKET and refuses those of TCP, up to
//! and including Linux 6.18.

use std::io;
use std::mem::size_of;
use std::os::fd::AsRawFd;

use crate::check_return;
use sixmark_units::tcp_info::{
    TCP_INFO_BYTES, TcpHandshake, TcpInfo, parse_tcp_handshake, parse_tcp_info,
};

/// Reads a connection's path. Returns `None` if the kernel does not report it.
pub fn read_path(fd: &impl AsRawFd) -> Option<TcpInfo> {
    let mut bytes = [0; TCP_INFO_BYTES];
    let length = info(fd, &mut bytes).ok()?;
    parse_tcp_info(&bytes[..length.min(TCP_INFO_BYTES)])
}

/// Reads the duration of the handshake of a connection that is established and has sent nothing
/// yet.
pub fn read_handshake(fd: &impl AsRawFd) -> TcpHandshake {
    let mut bytes = [0; TCP_INFO_BYTES];
    let known = info(fd, &mut bytes).ok().map(|length| &bytes[..length.min(TCP_INFO_BYTES)]);
    known.map_or(TcpHandshake::Untimed, parse_tcp_handshake)
}

fn info(fd: &impl AsRawFd, bytes: &mut [u8; TCP_INFO_BYTES]) -> io::Result<usize> {
    let mut size = size_of::<[u8; TCP_INFO_BYTES]>() as libc::socklen_t;
    let start = bytes.as_mut_ptr().cast();
    let (level, name) = (libc::IPPROTO_TCP, libc::TCP_INFO);
    // SAFETY: `start` points to `size` writable bytes.
    check_return(unsafe { libc::getsockopt(fd.as_raw_fd(), level, name, start, &mut size) })?;
    Ok(size as usize)
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::OwnedFd;
    use std::time::{Duration, Instant};

    use super::*;

    /// A deadline that only a broken kernel reaches.
    const DEADLINE: Duration = Duration::from_secs(300);

    /// A peer that answers delays the acknowledgement of small segments by 40 ms. The kernel
    /// retransmits the last one much earlier, as a tail-loss probe (RFC 8985), or later, where the
    /// machine is slow. On loopback nothing is lost, so that the peer reports each retransmission as a
    /// duplicate, though perhaps only after the acknowledgement.
    #[test]
    fn reports_a_needless_retransmission_as_a_duplicate() {
        for host in ["[::1]:0", "127.0.0.1:0"] {
            let (mut client, mut server) = connected(host);
            let fd = OwnedFd::from(client.try_clone().unwrap());
            let begin = Instant::now();
            loop {
                exchange(&mut client, &mut server);
                let path = read_path(&fd).unwrap();
                let duplicates = path.duplicates.expect("this kernel counts duplicates");
                assert!(duplicates <= path.retransmitted, "{host}: {path:?}");
                if duplicates > 0 && duplicates == path.retransmitted {
                    break;
                }
                assert!(begin.elapsed() < DEADLINE, "{host}: {path:?}");
            }
        }
    }

    fn connected(host: &str) -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind(host).unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        let both = [&client, &server];
        both.iter().for_each(|stream| stream.set_nodelay(true).unwrap());
        (client, server)
    }

    /// Sends a byte in each direction, after which the server's kernel may delay acknowledgements,
    /// then two segments that are not answered before the last of them is acknowledged.
    fn exchange(client: &mut TcpStream, server: &mut TcpStream) {
        client.write_all(b"a").unwrap();
        server.read_exact(&mut [0]).unwrap();
        server.write_all(b"b").unwrap();
        client.read_exact(&mut [0]).unwrap();
        client.write_all(b"c").unwrap();
        client.write_all(b"d").unwrap();
        let fd = OwnedFd::from(client.try_clone().unwrap());
        let begin = Instant::now();
        while unacknowledged(&fd) > 0 {
            assert!(begin.elapsed() < DEADLINE, "the peer does not acknowledge");
            std::thread::yield_now();
        }
        server.read_exact(&mut [0; 2]).unwrap();
    }

    fn unacknowledged(fd: &OwnedFd) -> u32 {
        const UNACKED: usize = 24;
        let mut bytes = [0; TCP_INFO_BYTES];
        info(fd, &mut bytes).unwrap();
        u32::from_ne_bytes(bytes[UNACKED..UNACKED + 4].try_into().unwrap())
    }
}
