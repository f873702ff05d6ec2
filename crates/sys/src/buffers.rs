//! Receive buffers that are provided to an io_uring. The kernel takes a buffer only when data
//! arrives, so that an idle connection occupies none.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::Submitter;
use io_uring::types::BufRingEntry;

/// Distance in bytes from the end of one buffer to the beginning of the next. With a power of two
/// between their addresses, the beginnings of all buffers would compete for the same few cache
/// sets.
const GAP: usize = 4096 + 64;
/// The buffer group of the receive buffers.
pub(crate) const GROUP: u16 = 0;

/// A buffer that the kernel has filled and handed over. There is one such value for each time that the
/// kernel does so, so that a buffer is given back once and read by its holder alone.
#[derive(Debug)]
pub(crate) struct FilledBuffer {
    group: u16,
    id: u16,
}

impl FilledBuffer {
    /// Returns the buffer of a completion, of which these are the flags, or `None` if it has none.
    ///
    /// # Safety
    /// The completion is of an operation that selects its buffer from `group`. This is called once for
    /// each completion, and the buffer goes to the [`Buffers`] that the ring of the completion uses.
    pub(crate) unsafe fn of_completion(group: u16, flags: u32) -> Option<FilledBuffer> {
        io_uring::cqueue::buffer_select(flags).map(|id| FilledBuffer { group, id })
    }

    /// Returns the group that the buffer belongs to.
    pub(crate) fn group(&self) -> u16 {
        self.group
    }
}

/// A group of provided buffers: the page-aligned entries that the kernel reads, and the memory that
/// it writes to.
#[derive(Debug)]
pub(crate) struct Buffers {
    entries: NonNull<BufRingEntry>,
    bytes: NonNull<u8>,
    count: u16,
    /// The size of each buffer, in bytes.
    size: usize,
    tail: u16,
    /// Buffers that neither the kernel nor the caller uses. The most recently used one is last and
    /// is taken first, because its memory is the most likely to be in a cache.
    free: Vec<u16>,
    /// The number of buffers that may be outside `free` at once.
    ahead: u16,
}

// SAFETY: nothing else points to the memory, so it may move to another thread.
unsafe impl Send for Buffers {}

impl Buffers {
    /// Allocates `count` buffers of `size` bytes and registers them as this group; `ahead` of them
    /// are provided to the kernel. `count` must be a power of two (io_uring_register_buf_ring(3)).
    ///
    /// # Safety
    /// The ring must be closed, or have no operation in progress, before the buffers are dropped.
    pub(crate) unsafe fn register_group(
        submitter: &Submitter<'_>,
        group: u16,
        count: u16,
        size: usize,
        ahead: u16,
    ) -> io::Result<Buffers> {
        let mut buffers = Buffers::new(count, size, ahead);
        // SAFETY: the entries are zeroed, page-aligned and `count` in number. By the safety
        // condition of this function they outlive the ring's use of them.
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

    /// Doubles the number of buffers that may be in use, up to all of them. Called when the kernel
    /// needed a buffer and found none.
    pub(crate) fn give_more(&mut self) {
        self.ahead = self.ahead.saturating_mul(2).min(self.count);
    }

    /// Returns the first `length` bytes that the kernel wrote to a buffer.
    pub(crate) fn read(&self, buffer: &FilledBuffer, length: usize) -> &[u8] {
        let buffer = self.start(buffer.id);
        // SAFETY: the bytes are initialised (zeroed at first) and within the buffer. The kernel
        // has handed it over, or `buffer` would not exist, and does not write to it before it is
        // given back, which takes `buffer` and a mutable borrow of `self`.
        unsafe { std::slice::from_raw_parts(buffer.as_ptr(), length.min(self.size)) }
    }

    /// Returns the same bytes for modification. The buffer belongs to this process until it is
    /// given back.
    pub(crate) fn write(&mut self, buffer: &FilledBuffer, length: usize) -> &mut [u8] {
        let buffer = self.start(buffer.id);
        // SAFETY: as in `read`; `self` is borrowed mutably, so that no other slice of the buffer
        // exists.
        unsafe { std::slice::from_raw_parts_mut(buffer.as_ptr(), length.min(self.size)) }
    }

    /// Takes back a buffer that the kernel handed over. It may be provided again by the next
    /// [`Buffers::publish`].
    pub(crate) fn give(&mut self, buffer: FilledBuffer) {
        self.free.push(buffer.id % self.count);
    }

    /// Provides free buffers to the kernel until `ahead` buffers are in use.
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

    /// Writes a buffer into the next entry.
    fn put(&mut self, id: u16) {
        let place = usize::from(self.tail % self.count);
        let address = self.start(id);
        // SAFETY: there are `count` entries.
        let entry = unsafe { self.entries.add(place) };
        // SAFETY: entries are plain integers in memory that `self` owns, and the kernel does not
        // read entries beyond the published tail. Only single fields are written: the last field of
        // the first entry is the tail of the ring.
        let entry = unsafe { &mut *entry.as_ptr() };
        entry.set_addr(address.as_ptr() as u64);
        entry.set_len(self.size as u32);
        entry.set_bid(id);
        self.tail = self.tail.wrapping_add(1);
    }

    /// Returns the address of a buffer's first byte.
    fn start(&self, id: u16) -> NonNull<u8> {
        let start = usize::from(id % self.count) * (self.size + GAP);
        // SAFETY: `start` is the offset of one of the `count` buffers of `size` bytes, each
        // followed by a gap.
        unsafe { self.bytes.add(start) }
    }

    /// Publishes the entries up to the tail to the kernel.
    fn show_tail(&self) {
        // SAFETY: this is the address of the first of the initialised entries.
        let tail = unsafe { BufRingEntry::tail(self.entries.as_ptr()) };
        // SAFETY: the tail is an aligned u16 within the memory of the entries, which lives as long
        // as `self`. Only this process writes it, and always atomically.
        let tail = unsafe { AtomicU16::from_ptr(tail.cast_mut()) };
        tail.store(self.tail, Ordering::Release);
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout and, by the condition of `register_group`, not in use.
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

/// Returns a layout that is aligned to the largest page size of Linux.
fn aligned(size: usize) -> Layout {
    const PAGE: usize = 64 * 1024;
    Layout::from_size_align(size, PAGE).unwrap_or_else(|_| Layout::new::<u8>())
}
