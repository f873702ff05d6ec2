//! The memory of a ring, which kernel and program write in turn.

use std::io;
use std::mem::offset_of;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// Where a block says whose it is.
const STATUS: usize =
    offset_of!(libc::tpacket_block_desc, hdr) + offset_of!(libc::tpacket_hdr_v1, block_status);

/// The mapped blocks of a socket.
#[derive(Debug)]
pub(super) struct RingMap {
    start: NonNull<u8>,
    block: usize,
    blocks: usize,
}

// SAFETY: the memory belongs to this value alone, wherever that is; what it shares it with is the
// kernel, which does not care which thread looks.
unsafe impl Send for RingMap {}

impl RingMap {
    /// Maps a ring that was asked for with these sizes.
    pub(super) fn new(socket: &OwnedFd, block: usize, blocks: usize) -> io::Result<RingMap> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let (fd, none) = (socket.as_raw_fd(), std::ptr::null_mut());
        // SAFETY: the kernel chooses the place of a new mapping; no memory of ours is touched.
        let start = unsafe { libc::mmap(none, block * blocks, access, libc::MAP_SHARED, fd, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or_else(io::Error::last_os_error)?;
        Ok(RingMap { start, block, blocks })
    }

    /// How many blocks there are.
    pub(super) fn blocks(&self) -> usize {
        self.blocks
    }

    /// Whether the kernel has handed this block over. What it wrote before is then seen.
    pub(super) fn is_ours(&self, at: usize) -> bool {
        self.status(at).load(Ordering::Acquire) & libc::TP_STATUS_USER != 0
    }

    /// The bytes of a block that is ours. The caller gives none back while it holds them.
    pub(super) fn bytes(&self, at: usize) -> &[u8] {
        assert!(self.is_ours(at), "the kernel writes here");
        // SAFETY: `at` is below `blocks`, or `is_ours` had panicked; the block lies within the mapping,
        // which lives as long as `self`, and the kernel writes to it only after `give_back`.
        unsafe { std::slice::from_raw_parts(self.at(at * self.block), self.block) }
    }

    /// Lets the kernel write to a block again.
    pub(super) fn give_back(&self, at: usize) {
        self.status(at).store(libc::TP_STATUS_KERNEL, Ordering::Release);
    }

    fn status(&self, at: usize) -> &AtomicU32 {
        assert!(at < self.blocks, "there is no block {at}");
        let place = self.at(at * self.block + STATUS).cast();
        // SAFETY: the word lies within the mapping, which lives as long as `self`, and is aligned, blocks
        // being pages; kernel and program both change it in one piece.
        unsafe { AtomicU32::from_ptr(place) }
    }

    fn at(&self, offset: usize) -> *mut u8 {
        self.start.as_ptr().wrapping_add(offset)
    }
}

impl Drop for RingMap {
    fn drop(&mut self) {
        let start = self.start.as_ptr().cast();
        // SAFETY: the mapping is ours, was made with this length, and nothing borrows it any more.
        unsafe { libc::munmap(start, self.block * self.blocks) };
    }
}
