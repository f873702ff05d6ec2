//! The ring of the server. Its functions are safe: no argument can make the kernel access invalid
//! memory.

use std::collections::VecDeque;
use std::io;
use std::mem::ManuallyDrop;
use std::net::TcpListener;
use std::os::fd::{AsRawFd, BorrowedFd};

use io_uring::squeue::{Entry, Flags};
use io_uring::types::{CancelBuilder, Fd, Fixed, Timespec};
use io_uring::{Builder, EnterFlags, IoUring, cqueue, opcode};

use crate::buffers::{Buffers, FilledBuffer, GROUP};
use crate::release;

/// The size of the submission queue.
const SUBMISSIONS: u32 = 4096;
/// The size of the completion queue. The kernel keeps further completions on a list.
const COMPLETIONS: u32 = 16 * 1024;

/// The number of receive buffers and the size of each in bytes. Most requests need only a part of
/// one, but uploads benefit from the size.
const BUFFERS: u16 = 512;
const SIZE: usize = 16 * 1024;

/// A completion.
#[derive(Debug)]
pub(super) struct TurboCompletion {
    /// The token of the submission.
    pub(super) token: u64,
    /// The result: a count, an index, or a negative error number.
    pub(super) result: i32,
    /// More completions of the same submission follow.
    pub(super) more: bool,
    /// The buffer that contains the received bytes.
    pub(super) buffer: Option<FilledBuffer>,
}

/// A ring with a file table and buffers of its own, for the thread that created it.
pub(super) struct TurboRing {
    // Dropped explicitly: the buffers only if the kernel can no longer write to them.
    ring: ManuallyDrop<IoUring>,
    buffers: ManuallyDrop<Buffers>,
    /// Entries that could not be queued yet, in order: single entries or linked pairs.
    waiting: VecDeque<(Entry, Option<Entry>)>,
}

impl TurboRing {
    /// Creates a ring whose file table has room for `room` connections.
    pub(super) fn new(room: u32) -> io::Result<TurboRing> {
        TurboRing::over(build(IoUring::builder())?, room)
    }

    fn over(ring: IoUring, room: u32) -> io::Result<TurboRing> {
        ring.submitter().register_files_sparse(room)?;
        let submitter = ring.submitter();
        // SAFETY: Drop frees the buffers only after all operations in progress were cancelled.
        let buffers =
            unsafe { Buffers::register_group(&submitter, GROUP, BUFFERS, SIZE, BUFFERS) }?;
        let mut ring = ring;
        // Saves a look-up of the descriptor in each call. If the kernel refuses, the ring works
        // without it.
        let _ = ring_descriptor(&mut ring);
        Ok(TurboRing {
            ring: ManuallyDrop::new(ring),
            buffers: ManuallyDrop::new(buffers),
            waiting: VecDeque::new(),
        })
    }

    /// Accepts connections into the file table repeatedly, until an error.
    pub(super) fn accept(&mut self, listener: &TcpListener, token: u64) {
        let asked = opcode::AcceptMulti::new(Fd(listener.as_raw_fd())).allocate_file_index(true);
        // SAFETY: no memory is involved.
        unsafe { self.push(&asked.build().user_data(token)) };
    }

    /// Reports once when the file is readable or has no writer any more.
    pub(super) fn watch(&mut self, file: BorrowedFd<'_>, token: u64) {
        let asked = opcode::PollAdd::new(Fd(file.as_raw_fd()), libc::POLLIN as u32);
        // SAFETY: no memory is involved.
        unsafe { self.push(&asked.build().user_data(token)) };
    }

    /// Reports once after [`REST`].
    pub(super) fn remind(&mut self, token: u64) {
        let asked = opcode::Timeout::new(&raw const REST).build();
        // SAFETY: the time is static.
        unsafe { self.push(&asked.user_data(token)) };
    }

    /// Receives once into one of the buffers.
    pub(super) fn receive(&mut self, index: u32, token: u64) {
        let nowhere = std::ptr::null_mut();
        let asked = opcode::Recv::new(Fixed(index), nowhere, 0).buf_group(GROUP).build();
        // SAFETY: the kernel writes to the registered buffers, which outlive the operation.
        unsafe { self.push(&asked.flags(Flags::BUFFER_SELECT).user_data(token)) };
    }

    /// Receives into the buffers repeatedly, until the connection ends.
    pub(super) fn receive_on(&mut self, index: u32, token: u64) {
        let asked = opcode::RecvMulti::new(Fixed(index), GROUP).build();
        // SAFETY: the kernel writes to the registered buffers, which outlive the operation.
        unsafe { self.push(&asked.user_data(token)) };
    }

    /// Sends all bytes, waiting for room if necessary. The completion contains the number of bytes
    /// sent.
    pub(super) fn send(&mut self, index: u32, bytes: &'static [u8], token: u64) {
        let asked = sending(index, bytes, libc::MSG_WAITALL).user_data(token);
        // SAFETY: the bytes are static.
        unsafe { self.push(&asked) };
    }

    /// Sends all bytes during the submission. Posts a completion only if that was not possible.
    pub(super) fn send_now(&mut self, index: u32, bytes: &'static [u8], token: u64) {
        let asked = sending(index, bytes, NOW).user_data(token).flags(Flags::SKIP_SUCCESS);
        // SAFETY: the bytes are static.
        unsafe { self.push(&asked) };
    }

    /// Sends like [`TurboRing::send_now`] and closes the connection if that succeeded. The data is
    /// held back until the close, so that it leaves in one segment with the FIN.
    pub(super) fn send_now_and_close(
        &mut self,
        index: u32,
        bytes: &'static [u8],
        token: u64,
        closing: u64,
    ) {
        let linked = Flags::SKIP_SUCCESS | Flags::IO_LINK;
        let flags = NOW | libc::MSG_MORE;
        let asked = sending(index, bytes, flags).user_data(token).flags(linked);
        // SAFETY: the bytes are static; closing involves no memory.
        unsafe { self.push_both(asked, Some(closing_of(index, closing))) };
    }

    /// Shuts down one direction of a connection or both (`libc::SHUT_WR`, `libc::SHUT_RDWR`).
    pub(super) fn shut(&mut self, index: u32, how: i32, token: u64) {
        let asked = opcode::Shutdown::new(Fixed(index), how).build();
        // SAFETY: no memory is involved.
        unsafe { self.push(&asked.user_data(token).flags(Flags::SKIP_SUCCESS)) };
    }

    /// Closes a connection and frees its place in the file table.
    pub(super) fn close(&mut self, index: u32, token: u64) {
        // SAFETY: no memory is involved.
        unsafe { self.push(&closing_of(index, token)) };
    }

    /// Submits the queue, waits for a completion if `idle` is set, and appends all completions to
    /// `completions`.
    pub(super) fn turn(
        &mut self,
        idle: bool,
        completions: &mut Vec<TurboCompletion>,
    ) -> io::Result<()> {
        self.buffers.publish();
        self.queue_waiting();
        let idle = idle && self.waiting.is_empty();
        match self.submit_and_look(u32::from(idle)) {
            // Interrupted, temporarily out of memory, or too many completions on the list: the
            // completions are collected first.
            Err(error) if !is_passing(&error) => return Err(error),
            _ => {}
        }
        completions.extend(self.ring.completion().map(|entry| TurboCompletion {
            token: entry.user_data(),
            result: entry.result(),
            more: cqueue::more(entry.flags()),
            // SAFETY: all receives select from this group, and each completion is seen once. What
            // the ring hands over comes back to it alone.
            buffer: unsafe { FilledBuffer::of_completion(GROUP, entry.flags()) },
        }));
        Ok(())
    }

    /// Submits the queue, lets the kernel process pending work, including linked closes, and waits
    /// for `want` completions.
    fn submit_and_look(&mut self, want: u32) -> io::Result<()> {
        let (queued, flags) = (self.ring.submission().len(), EnterFlags::GETEVENTS.bits());
        // SAFETY: there is no argument, and the kernel reads only the queue.
        let done = unsafe { self.ring.submitter().enter::<()>(queued as u32, want, flags, None) };
        done.map(drop)
    }

    /// Returns the bytes in a buffer that a completion named.
    pub(super) fn read(&self, buffer: &FilledBuffer, length: usize) -> &[u8] {
        self.buffers.read(buffer, length)
    }

    /// Returns a buffer that a completion named to the kernel.
    pub(super) fn give(&mut self, buffer: FilledBuffer) {
        self.buffers.give(buffer);
    }

    /// Queues a single entry.
    ///
    /// # Safety
    /// Memory to which the entry points must be valid until its completion.
    unsafe fn push(&mut self, entry: &Entry) {
        // SAFETY: by the condition of this function.
        unsafe { self.push_both(entry.clone(), None) };
    }

    /// Queues an entry or a linked pair. Both entries of a pair must be in the same submission,
    /// because a link does not extend beyond it. Entries that the kernel cannot take now are kept
    /// for later.
    ///
    /// # Safety
    /// Memory to which the entries point must be valid until their completions.
    unsafe fn push_both(&mut self, first: Entry, second: Option<Entry>) {
        if self.waiting.is_empty() && self.make_room(1 + usize::from(second.is_some())) {
            // SAFETY: by the condition of this function.
            unsafe { self.queue(&first, second.as_ref()) };
        } else {
            self.waiting.push_back((first, second));
        }
    }

    /// Queues the kept entries as far as there is room.
    fn queue_waiting(&mut self) {
        while let Some((first, second)) = self.waiting.pop_front() {
            if !self.make_room(1 + usize::from(second.is_some())) {
                return self.waiting.push_front((first, second));
            }
            // SAFETY: whoever pushed the entries guaranteed that the memory is valid until their
            // completions.
            unsafe { self.queue(&first, second.as_ref()) };
        }
    }

    /// Adds one or two entries to the submission queue.
    ///
    /// # Safety
    /// As for [`TurboRing::push_both`]. The queue must have room.
    unsafe fn queue(&mut self, first: &Entry, second: Option<&Entry>) {
        for entry in std::iter::once(first).chain(second) {
            // SAFETY: by the condition of this function.
            let queued = unsafe { self.ring.submission().push(entry) };
            debug_assert!(queued.is_ok(), "room was made");
        }
    }

    /// Returns true if there is room for `count` entries, after submitting the queue if necessary.
    fn make_room(&mut self, count: usize) -> bool {
        loop {
            let queue = self.ring.submission();
            if queue.capacity() - queue.len() >= count {
                return true;
            }
            drop(queue);
            if self.ring.submit().is_err() {
                return false;
            }
        }
    }
}

impl Drop for TurboRing {
    fn drop(&mut self) {
        let patience = Timespec::new().sec(5);
        let cancelled =
            self.ring.submitter().register_sync_cancel(Some(patience), CancelBuilder::any());
        let nothing_left = match &cancelled {
            Ok(()) => true,
            Err(error) => error.raw_os_error() == Some(libc::ENOENT),
        };
        // SAFETY: dropped once, here.
        unsafe { ManuallyDrop::drop(&mut self.ring) };
        // Memory that the kernel might still write to is leaked.
        if nothing_left {
            // SAFETY: dropped once, here, with no operation in progress.
            unsafe { ManuallyDrop::drop(&mut self.buffers) };
        }
    }
}

/// The time that a listener rests if there is no room for another connection.
static REST: Timespec = Timespec::new().nsec(50_000_000);

/// Flags for a send that does not wait for room and never reports a partial send as success.
const NOW: i32 = libc::MSG_DONTWAIT | libc::MSG_WAITALL;

fn sending(index: u32, bytes: &'static [u8], flags: i32) -> Entry {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    opcode::Send::new(Fixed(index), bytes.as_ptr(), length).flags(flags).build()
}

fn closing_of(index: u32, token: u64) -> Entry {
    opcode::Close::new(Fixed(index)).build().user_data(token).flags(Flags::SKIP_SUCCESS)
}

/// Returns true for an error after which the same call may succeed.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINTR | libc::EBUSY | libc::EAGAIN))
}

/// Builds the ring. Before Linux 6.13 a file leaves the table only after all older requests on
/// other files have ended, so that a connection would stay open until another one ends.
fn build(mut builder: Builder) -> io::Result<IoUring> {
    if !release::is_at_least(6, 13) {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "it needs Linux 6.13 or newer"));
    }
    builder.setup_single_issuer().setup_submit_all().setup_cqsize(COMPLETIONS);
    builder.setup_defer_taskrun().build(SUBMISSIONS)
}

fn ring_descriptor(ring: &mut IoUring) -> io::Result<()> {
    ring.submitter().register_ring_fd()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel rejects every submission to a ring that is not enabled.
    #[test]
    fn resubmits_entries_that_the_kernel_rejected_at_first() {
        if !release::is_at_least(6, 13) {
            return;
        }
        let mut builder = IoUring::builder();
        builder.setup_r_disabled();
        let mut ring = TurboRing::over(build(builder).unwrap(), 1).unwrap();
        let (pairs, singles) = (3_000, 1_000);
        for token in (0..2 * pairs).step_by(2) {
            let [first, second] =
                [token, token + 1].map(|t| opcode::Nop::new().build().user_data(t));
            // SAFETY: no memory is involved.
            unsafe { ring.push_both(first.flags(Flags::IO_LINK), Some(second)) };
        }
        for token in 2 * pairs..2 * pairs + singles {
            // SAFETY: no memory is involved.
            unsafe { ring.push(&opcode::Nop::new().build().user_data(token)) };
        }
        assert!(ring.turn(false, &mut Vec::new()).is_err(), "it is not enabled");
        ring.ring.submitter().register_enable_rings().unwrap();
        let mut completions = Vec::new();
        while completions.len() < (2 * pairs + singles) as usize {
            ring.turn(true, &mut completions).unwrap();
        }
        let mut tokens: Vec<u64> = completions.iter().map(|one| one.token).collect();
        let alone = tokens.iter().filter(|&&token| token >= 2 * pairs);
        assert!(alone.is_sorted(), "those that are not linked are told in order");
        tokens.sort_unstable();
        assert_eq!(tokens, (0..2 * pairs + singles).collect::<Vec<_>>());
        assert!(completions.iter().all(|one| one.result == 0));
    }
}
