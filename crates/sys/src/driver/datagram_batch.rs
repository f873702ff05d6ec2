//! Receiving several messages of a datagram socket with one call (recvmmsg(2)). A peer that does
//! not use segmentation offload sends each datagram by itself, and each is a message.

use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd as _, OwnedFd};

use super::datagram::{CONTROL, ROOM, Received, received};
use crate::check_return;

/// The maximum number of messages received by one call.
const MESSAGES: usize = 16;
/// The distance between buffers in bytes. With a power of two, the starts of all buffers, which is
/// what most messages fill, would compete for the same few lines of the processor's caches.
const STRIDE: usize = ROOM + 17 * 64;

/// Messages that were received together, and their buffers.
pub(super) struct DatagramBatch {
    buffers: Box<[u8]>,
    controls: Box<[[u64; CONTROL / 8]; MESSAGES]>,
    received: [Received; MESSAGES],
    /// The number of messages, and of those that were returned.
    count: usize,
    returned: usize,
}

impl DatagramBatch {
    pub(super) fn new() -> DatagramBatch {
        let none = Received { length: 0, segment: 1, ecn: 0, stamp: None };
        DatagramBatch {
            buffers: vec![0; STRIDE * MESSAGES].into(),
            controls: Box::new([[0; CONTROL / 8]; MESSAGES]),
            received: [none; MESSAGES],
            count: 0,
            returned: 0,
        }
    }

    /// Returns the next message. Its bytes are those of [`DatagramBatch::bytes_mut`].
    pub(super) fn next(&mut self) -> Option<Received> {
        let next = *self.received[..self.count].get(self.returned)?;
        self.returned += 1;
        Some(next)
    }

    /// Returns true if there are messages that were not returned.
    pub(super) fn has_more(&self) -> bool {
        self.returned < self.count
    }

    /// Discards the remaining messages.
    pub(super) fn clear(&mut self) {
        self.count = 0;
        self.returned = 0;
    }

    /// Returns the bytes of the message that was returned last.
    pub(super) fn bytes(&self) -> &[u8] {
        let Some(at) = self.returned.checked_sub(1) else { return &[] };
        &self.buffers[at * STRIDE..][..self.received[at].length]
    }

    /// Returns the same bytes for modification in place.
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        let Some(at) = self.returned.checked_sub(1) else { return &mut [] };
        &mut self.buffers[at * STRIDE..][..self.received[at].length]
    }

    /// Replaces the messages by new ones. Returns false if the socket was emptied.
    ///
    /// # Errors
    /// Returns the errors of recvmmsg(2); `WouldBlock` if there is nothing to receive.
    pub(super) fn receive(&mut self, fd: &OwnedFd) -> io::Result<bool> {
        self.clear();
        // SAFETY: iovec and mmsghdr are structs of integers and pointers, for which all zeros is a
        // valid value.
        let (mut parts, mut headers): ([libc::iovec; MESSAGES], [libc::mmsghdr; MESSAGES]) =
            unsafe { std::mem::zeroed() };
        let buffers = self.buffers.chunks_mut(STRIDE).zip(&mut *self.controls);
        for ((buffer, control), (part, header)) in buffers.zip(parts.iter_mut().zip(&mut headers)) {
            *part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: ROOM };
            header.msg_hdr.msg_iov = part;
            header.msg_hdr.msg_iovlen = 1;
            header.msg_hdr.msg_control = control.as_mut_ptr().cast();
            header.msg_hdr.msg_controllen = size_of::<[u64; CONTROL / 8]>() as _;
        }
        let (fd, first, none) = (fd.as_raw_fd(), headers.as_mut_ptr(), std::ptr::null_mut());
        // SAFETY: each header points to a part of ROOM bytes and to CONTROL bytes for control
        // messages, which live until the call returns.
        let done = unsafe { libc::recvmmsg(fd, first, MESSAGES as u32, 0, none) };
        let count = (check_return(done)? as usize).min(MESSAGES);
        for (at, header) in headers[..count].iter().enumerate() {
            let controls = self.controls[at].map(u64::to_ne_bytes);
            // The type differs between C libraries.
            #[allow(clippy::unnecessary_cast)]
            let told = (header.msg_hdr.msg_controllen as usize).min(CONTROL);
            let length = (header.msg_len as usize).min(ROOM);
            self.received[at] = received(length, &controls.as_flattened()[..told]);
        }
        self.count = count;
        Ok(count == MESSAGES)
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv6Addr, SocketAddr};

    use super::*;
    use crate::driver::datagram;
    use crate::socket;

    #[test]
    fn one_call_receives_as_many_messages_as_there_are_buffers() {
        let any = SocketAddr::from((Ipv6Addr::LOCALHOST, 0));
        let [here, there] = [(); 2].map(|()| socket::open_socket(&any, libc::SOCK_DGRAM).unwrap());
        datagram::prepare(&here, &any).unwrap();
        socket::bind_socket(&here, &any).unwrap();
        let to = socket::local(&here).unwrap();
        socket::connect(&there, &to).unwrap();
        let mut sender = datagram::Datagrams::new(&to);
        let mut batch = DatagramBatch::new();
        let error = batch.receive(&here).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        assert!(batch.next().is_none() && batch.bytes().is_empty());
        // A buffer for each, and two more. Datagrams with other ECN bits are not merged.
        let sent: Vec<Vec<u8>> = (0..MESSAGES + 2).map(|at| vec![at as u8; 100 + at]).collect();
        for (bytes, at) in sent.iter().zip(0..) {
            assert_eq!(sender.cast(&there, bytes, None, at % 4), Ok(true));
        }
        let mut got = Vec::new();
        for full in [true, false] {
            assert_eq!(batch.receive(&here).unwrap(), full);
            while let Some(message) = batch.next() {
                assert_eq!(usize::from(message.ecn), got.len() % 4);
                assert_eq!(message.segment, message.length);
                got.push(batch.bytes().to_vec());
            }
        }
        assert_eq!(got, sent);
        batch.clear();
        assert!(batch.bytes().is_empty());
    }
}
