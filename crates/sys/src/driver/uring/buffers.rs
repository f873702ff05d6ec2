//! Buffers that the kernel picks from when something has arrived, so that a connection which waits
//! holds none.

use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::IoUring;
use io_uring::types::BufRingEntry;

/// How many buffers; a power of two.
const COUNT: u16 = 256;
/// Bytes of each.
pub(super) const SIZE: usize = 16 * 1024;
/// The group's number in its ring: there is one.
pub(super) const GROUP: u16 = 0;

/// The buffers and the ring of those that the kernel may take.
pub(super) struct Buffers {
    entries: Pages,
    bytes: Pages,
    /// Where the next buffer is put.
    tail: u16,
}

impl Buffers {
    /// Gives a ring its buffers. They must live as long as it does.
    pub(super) fn register(ring: &IoUring) -> io::Result<Buffers> {
        let entries = Pages::new(usize::from(COUNT) * size_of::<BufRingEntry>())?;
        let bytes = Pages::new(usize::from(COUNT) * SIZE)?;
        let start = entries.start.as_ptr() as u64;
        // SAFETY: `start` is page-aligned, has room for COUNT entries, and lives until `Buffers` is
        // dropped, which its owner does after the ring.
        unsafe { ring.submitter().register_buf_ring_with_flags(start, COUNT, GROUP, 0)? };
        let mut buffers = Buffers { entries, bytes, tail: 0 };
        (0..COUNT).for_each(|buffer| buffers.give_back(buffer));
        buffers.publish();
        Ok(buffers)
    }

    /// What the kernel wrote into a buffer.
    pub(super) fn view(&self, buffer: u16, length: usize) -> &[u8] {
        let start = self.start_of(buffer);
        // SAFETY: `start_of` points at SIZE bytes; the kernel writes to a buffer only while it has
        // it, and its owner does not give a buffer back while it is viewed.
        unsafe { std::slice::from_raw_parts(start, length.min(SIZE)) }
    }

    /// Puts a buffer into the ring; the kernel sees it when this is published.
    pub(super) fn give_back(&mut self, buffer: u16) {
        let address = self.start_of(buffer) as u64;
        let place = usize::from(self.tail & (COUNT - 1));
        let first = self.entries.start.as_ptr().cast::<BufRingEntry>();
        // SAFETY: `place` is below COUNT, for which there is room.
        let entry = unsafe { first.add(place) };
        // SAFETY: zeroed pages are valid entries, and nothing else refers to this one.
        let entry = unsafe { &mut *entry };
        entry.set_addr(address);
        entry.set_len(SIZE as u32);
        entry.set_bid(buffer);
        self.tail = self.tail.wrapping_add(1);
    }

    /// Lets the kernel see the buffers given back.
    pub(super) fn publish(&mut self) {
        let first = self.entries.start.as_ptr().cast::<BufRingEntry>().cast_const();
        // SAFETY: `first` is the ring's first entry.
        let tail = unsafe { BufRingEntry::tail(first) };
        // SAFETY: the tail is an aligned u16 inside pages of ours that the kernel only reads.
        unsafe { AtomicU16::from_ptr(tail.cast_mut()) }.store(self.tail, Ordering::Release);
    }

    fn start_of(&self, buffer: u16) -> *mut u8 {
        let offset = usize::from(buffer & (COUNT - 1)) * SIZE;
        // SAFETY: the offset is below COUNT * SIZE, which `bytes` is long.
        unsafe { self.bytes.start.as_ptr().add(offset) }
    }
}

/// Zeroed memory of whole pages.
struct Pages {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: nothing else points at the pages, whichever thread has them.
unsafe impl Send for Pages {}

impl Pages {
    fn new(length: usize) -> io::Result<Pages> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping of its own touches no memory that is in use.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), length, access, kind, -1, 0) };
        let failed = std::ptr::eq(start, libc::MAP_FAILED);
        match NonNull::new(start.cast::<u8>()).filter(|_| !failed) {
            Some(start) => Ok(Pages { start, length }),
            None => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, of this length, and nothing is left that points into it.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}
