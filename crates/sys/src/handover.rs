//! Open files passed to another process over a Unix socket (unix(7), SCM_RIGHTS).

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

use crate::check_return;
use crate::control::{Controls, Writer};

/// The maximum number of files in one message.
pub const MOST: usize = 8;
/// Bytes for the control message of that many files.
const ROOM: usize = 64;

/// Sends one byte and these files.
///
/// # Errors
/// Returns an error if there are more than [`MOST`] files, or if the other side has closed.
pub fn send(stream: &UnixStream, files: &[BorrowedFd<'_>]) -> io::Result<()> {
    if files.len() > MOST {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "too many files to hand over"));
    }
    let numbers: Vec<u8> = files.iter().flat_map(|file| file.as_raw_fd().to_ne_bytes()).collect();
    let mut controls = Writer::<ROOM>::new();
    controls.add(libc::SOL_SOCKET, libc::SCM_RIGHTS, &numbers);
    let mut byte = [0_u8];
    let mut piece = piece(&mut byte);
    let mut message = empty(&mut piece);
    let bytes = controls.bytes();
    message.msg_control = bytes.as_mut_ptr().cast();
    message.msg_controllen = bytes.len() as _;
    // SAFETY: the message points to one byte and to the control messages, which outlive the call.
    let sent = unsafe { libc::sendmsg(stream.as_raw_fd(), &message, libc::MSG_NOSIGNAL) };
    check_return(sent as libc::c_int).map(drop)
}

/// Receives one byte and the files that accompany it.
///
/// # Errors
/// Returns an error if the other side has closed.
pub fn receive_files(stream: &UnixStream) -> io::Result<Vec<OwnedFd>> {
    let mut byte = [0_u8];
    let mut piece = piece(&mut byte);
    let mut message = empty(&mut piece);
    let mut room = [0_usize; ROOM / 8];
    message.msg_control = room.as_mut_ptr().cast();
    message.msg_controllen = ROOM as _;
    // SAFETY: the message points to one byte and to room for control messages, which outlive the
    // call.
    let read = unsafe { libc::recvmsg(stream.as_raw_fd(), &mut message, libc::MSG_CMSG_CLOEXEC) };
    if check_return(read as libc::c_int)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let bytes: Vec<u8> = room.iter().flat_map(|word| word.to_ne_bytes()).collect();
    // The type differs between C libraries.
    #[allow(clippy::unnecessary_cast)]
    let length = (message.msg_controllen as usize).min(ROOM);
    let controls = Controls(&bytes[..length]);
    let mut files = Vec::new();
    for (level, kind, data) in controls {
        if (level, kind) == (libc::SOL_SOCKET, libc::SCM_RIGHTS) {
            files.extend(data.chunks_exact(4).filter_map(|n| n.try_into().ok()).map(own));
        }
    }
    Ok(files)
}

fn own(number: [u8; 4]) -> OwnedFd {
    // SAFETY: the kernel has just opened this descriptor for this process and nothing else owns it.
    unsafe { OwnedFd::from_raw_fd(RawFd::from_ne_bytes(number)) }
}

fn piece(byte: &mut [u8; 1]) -> libc::iovec {
    libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 1 }
}

fn empty(piece: &mut libc::iovec) -> libc::msghdr {
    // SAFETY: msghdr is a struct of integers and pointers, for which all zeros is a valid value.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = piece;
    message.msg_iovlen = 1;
    message
}

/// The process at the other end of a Unix socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its user id.
    pub account: libc::uid_t,
    /// Its process id. If this side connected, it is that of the process that called listen.
    pub process: u32,
}

/// Returns the process at the other end (unix(7), SO_PEERCRED).
///
/// # Errors
/// Returns an error if the socket is not connected.
pub fn peer(stream: &UnixStream) -> io::Result<Peer> {
    let mut found = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut size = size_of::<libc::ucred>() as libc::socklen_t;
    let to = (&raw mut found).cast();
    // SAFETY: `found` is a ucred of `size` bytes that the call may write.
    check_return(unsafe {
        libc::getsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, libc::SO_PEERCRED, to, &mut size)
    })?;
    Ok(Peer { account: found.uid, process: found.pid as u32 })
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::os::fd::AsFd as _;

    use super::*;

    #[test]
    fn receives_the_open_file_that_was_sent() {
        let (near, far) = UnixStream::pair().unwrap();
        let (mut given, mut kept) = UnixStream::pair().unwrap();
        send(&near, &[given.as_fd(), near.as_fd()]).unwrap();
        let got = receive_files(&far).unwrap();
        assert_eq!(got.len(), 2);
        let mut got = UnixStream::from(got.into_iter().next().unwrap());
        got.write_all(b"a").unwrap();
        let mut byte = [0];
        kept.read_exact(&mut byte).unwrap();
        assert_eq!(&byte, b"a");
        given.write_all(b"b").unwrap();
        assert_eq!(peer(&near).unwrap(), peer(&far).unwrap());
        assert_eq!(peer(&near).unwrap().process, std::process::id());
        drop(near);
        assert_eq!(receive_files(&far).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
