//! The memory of a ring, in which each block belongs either to the kernel or to the program.

use std::io;
use std::mem::offset_of;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// The offset of a block's status word, which states its owner.
const STATUS: usize =
    offset_of!(libc::tpacket_block_desc, hdr) + offset_of!(libc::tpacket_hdr_v1, block_status);

/// The mapped blocks of a ring.
#[derive(Debug)]
pub(super) struct RingMap {
    start: NonNull<u8>,
    block: usize,
    blocks: usize,
}

// SAFETY: the mapping is owned by this value alone, on whatever thread. It is shared only with the
// kernel, for which the thread makes no difference.
unsafe impl Send for RingMap {}

impl RingMap {
    /// Maps a ring that was requested with these sizes.
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

    /// Returns the number of blocks.
    pub(super) fn blocks(&self) -> usize {
        self.blocks
    }

    /// Returns true if the kernel has handed this block over. Its writes to the block are then
    /// visible.
    pub(super) fn is_ours(&self, at: usize) -> bool {
        self.status(at).load(Ordering::Acquire) & libc::TP_STATUS_USER != 0
    }

    /// Returns the bytes of a block that the kernel has handed over.
    ///
    /// # Panics
    /// Panics if the kernel owns the block, or if there is no such block.
    pub(super) fn bytes(&self, at: usize) -> &[u8] {
        assert!(self.is_ours(at), "the kernel writes here");
        // SAFETY: `at` is below `blocks`, otherwise `is_ours` would have panicked. The block is
        // within the mapping, which lives as long as `self`, and the kernel writes to it only after
        // `give_back`, which needs a mutable borrow of `self`.
        unsafe { std::slice::from_raw_parts(self.at(at * self.block), self.block) }
    }

    /// Returns a block to the kernel, which may then write to it.
    pub(super) fn give_back(&mut self, at: usize) {
        self.status(at).store(libc::TP_STATUS_KERNEL, Ordering::Release);
    }

    fn status(&self, at: usize) -> &AtomicU32 {
        assert!(at < self.blocks, "there is no block {at}");
        let place = self.at(at * self.block + STATUS).cast();
        // SAFETY: the word is within the mapping, which lives as long as `self`. It is aligned
        // because blocks consist of pages. Kernel and program both access it atomically.
        unsafe { AtomicU32::from_ptr(place) }
    }

    fn at(&self, offset: usize) -> *mut u8 {
        self.start.as_ptr().wrapping_add(offset)
    }
}

impl Drop for RingMap {
    fn drop(&mut self) {
        let start = self.start.as_ptr().cast();
        // SAFETY: the mapping is owned by `self`, was created with this length and is no longer
        // borrowed.
        unsafe { libc::munmap(start, self.block * self.blocks) };
    }
}
