//! Buffers that belong to the ring: the kernel takes one when bytes have come, so that an idle
//! connection holds none.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::Submitter;
use io_uring::types::BufRingEntry;

/// From the end of one to the beginning of the next: were the distance a power of two, the beginnings
/// of all would compete for the same few places of the processor's caches.
const GAP: usize = 4096 + 64;
/// The group of those.
pub(crate) const GROUP: u16 = 0;

/// The entries that the kernel reads, page-aligned, and the bytes that it writes.
#[derive(Debug)]
pub(crate) struct Buffers {
    entries: NonNull<BufRingEntry>,
    bytes: NonNull<u8>,
    count: u16,
    /// The bytes of each.
    size: usize,
    tail: u16,
    /// Those that nobody has, the one used last at the end: its memory is the nearest.
    free: Vec<u16>,
    /// How many the kernel may have at once.
    ahead: u16,
}

// SAFETY: nothing else points at the memory, whichever thread has it.
unsafe impl Send for Buffers {}

impl Buffers {
    /// Makes `count` buffers of `size` bytes, the number of which is a power of two
    /// (io_uring_register_buf_ring(3)), and gives `ahead` of them to the kernel as those of this group.
    ///
    /// # Safety
    /// The ring must be gone, or have nothing under way, before the buffers are dropped.
    pub(crate) unsafe fn register_group(
        submitter: &Submitter<'_>,
        group: u16,
        count: u16,
        size: usize,
        ahead: u16,
    ) -> io::Result<Buffers> {
        let mut buffers = Buffers::new(count, size, ahead);
        // SAFETY: the entries are zeroed, page-aligned and as many as we say; by this function's
        // own condition they outlive the ring's use of them.
        unsafe {
            let address = buffers.entries.as_ptr() as u64;
            submitter.register_buf_ring_with_flags(address, count, group, 0)
        }?;
        buffers.publish();
        Ok(buffers)
    }

    fn new(count: u16, size: usize, ahead: u16) -> Buffers {
        let (entries, bytes) = (zeroed(entries_layout(count)), zeroed(bytes_layout(count, size)));
        let free = (0..count).rev().collect();
        Buffers { entries: entries.cast(), bytes, count, size, tail: 0, free, ahead }
    }

    /// The kernel found none left when it needed one: it may have twice as many, if there are.
    pub(crate) fn give_more(&mut self) {
        self.ahead = self.ahead.saturating_mul(2).min(self.count);
    }

    /// The bytes that the kernel wrote into a buffer that it has handed back.
    pub(crate) fn read(&self, id: u16, length: usize) -> &[u8] {
        let buffer = self.start(id);
        // SAFETY: the bytes are initialised (zeroed at first) and within the buffer, which the
        // kernel doesn't write before it is given back, for which `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts(buffer.as_ptr(), length.min(self.size)) }
    }

    /// The same bytes, to be changed: until it is given back the buffer is ours to write to.
    pub(crate) fn write(&mut self, id: u16, length: usize) -> &mut [u8] {
        let buffer = self.start(id);
        // SAFETY: as in `read`, and `self` is borrowed mutably, so that no other slice of it is held.
        unsafe { std::slice::from_raw_parts_mut(buffer.as_ptr(), length.min(self.size)) }
    }

    /// Gives a buffer back, which was told to hold something, to be taken after the next
    /// [`Buffers::publish`].
    pub(crate) fn give(&mut self, id: u16) {
        self.free.push(id % self.count);
    }

    /// Lets the kernel have of those that nobody has as many as it may.
    pub(crate) fn publish(&mut self) {
        let before = self.tail;
        while self.count - (self.free.len() as u16) < self.ahead
            && let Some(id) = self.free.pop()
        {
            self.put(id);
        }
        if self.tail != before {
            self.show_tail();
        }
    }

    /// Puts a buffer into the next entry.
    fn put(&mut self, id: u16) {
        let place = usize::from(self.tail % self.count);
        let address = self.start(id);
        // SAFETY: there are `count` entries.
        let entry = unsafe { self.entries.add(place) };
        // SAFETY: entries are plain integers in memory that is ours, and the kernel doesn't read
        // those beyond the published tail. Only fields are set: the first entry's last one is the
        // ring's tail.
        let entry = unsafe { &mut *entry.as_ptr() };
        entry.set_addr(address.as_ptr() as u64);
        entry.set_len(self.size as u32);
        entry.set_bid(id);
        self.tail = self.tail.wrapping_add(1);
    }

    /// Where a buffer's bytes begin.
    fn start(&self, id: u16) -> NonNull<u8> {
        let start = usize::from(id % self.count) * (self.size + GAP);
        // SAFETY: `start` is the start of one of the `count` buffers of `size` bytes with a gap behind
        // each.
        unsafe { self.bytes.add(start) }
    }

    /// Lets the kernel see the entries up to the tail.
    fn show_tail(&self) {
        // SAFETY: this is the address of the first of the initialised entries.
        let tail = unsafe { BufRingEntry::tail(self.entries.as_ptr()) };
        // SAFETY: the tail is an aligned u16 within the entries' memory, which lives as long as
        // `self`; only we write it, and always as an atomic.
        let tail = unsafe { AtomicU16::from_ptr(tail.cast_mut()) };
        tail.store(self.tail, Ordering::Release);
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and by the condition of `register_group` not in use.
        unsafe { dealloc(self.entries.as_ptr().cast(), entries_layout(self.count)) };
        // SAFETY: as above.
        unsafe { dealloc(self.bytes.as_ptr(), bytes_layout(self.count, self.size)) };
    }
}

fn zeroed(layout: Layout) -> NonNull<u8> {
    // SAFETY: no layout here has the size zero.
    NonNull::new(unsafe { alloc_zeroed(layout) }).unwrap_or_else(|| handle_alloc_error(layout))
}

fn entries_layout(count: u16) -> Layout {
    aligned(usize::from(count) * size_of::<BufRingEntry>())
}

fn bytes_layout(count: u16, size: usize) -> Layout {
    aligned(usize::from(count) * (size + GAP))
}

/// On a page of any size that Linux has.
fn aligned(size: usize) -> Layout {
    const PAGE: usize = 64 * 1024;
    Layout::from_size_align(size, PAGE).unwrap_or_else(|_| Layout::new::<u8>())
}
