//! The submission and completion queues, and all system calls on them.

use std::io;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::os::fd::{FromRawFd as _, OwnedFd, RawFd};
use std::time::Duration;

use io_uring::types::{CancelBuilder, SubmitArgs, Timespec};
use io_uring::{EnterFlags, IoUring, Parameters, squeue};

use super::mark::{Mark, Operation};
use crate::buffers::{Buffers, FilledBuffer, GROUP};
use crate::driver::datagram::ROOM;
use crate::{limit, release};

/// The size of the submission queue.
const SUBMISSIONS: u32 = 256;
/// The size of the completion queue. The kernel keeps further completions on a list, which is
/// slower.
const COMPLETIONS: u32 = 2_048;

/// The number of receive buffers for TCP connections.
const BUFFERS: u16 = 256;
/// The number of receive buffers for datagrams. It is smaller because each holds many datagrams.
const DATAGRAMS: u16 = 64;
/// The number of buffers of either kind that the kernel has at first. Recently used buffers are
/// still in the processor's caches. The kernel gets more when it runs out.
const AHEAD: u16 = 16;
/// The size of a datagram buffer in bytes: the data of one receive and the header that the kernel
/// writes before it.
const DATAGRAM_BYTES: usize = ROOM + 1024;

/// The amount that a peer is expected to write at once. It determines the size of the receive
/// buffers, so that such an amount is received as a whole and is not answered in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerWrites {
    /// One response at a time: 16 KiB.
    Single,
    /// Responses of several streams together: 64 KiB. If there is only one response at a time, each
    /// costs more than with `Single`.
    Several,
}

impl PeerWrites {
    fn buffer_bytes(self) -> usize {
        match self {
            PeerWrites::Single => 16 * 1024,
            PeerWrites::Several => 64 * 1024,
        }
    }
}

/// The buffer groups by their ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pool {
    Bytes = GROUP as isize,
    Datagrams = GROUP as isize + 1,
}

/// A ring with its file table and its buffers.
pub(super) struct DriverRing {
    // Dropped explicitly: the buffers only if the kernel can no longer write to them.
    ring: ManuallyDrop<IoUring>,
    buffers: ManuallyDrop<Buffers>,
    /// Created with the first datagram socket.
    datagrams: ManuallyDrop<Option<Buffers>>,
    /// The number of sockets that the ring's file table can hold.
    files: u32,
    enabled: bool,
    /// Whether the kernel supports a minimum wait time, after which fewer completions than wanted
    /// suffice.
    can_linger: bool,
}

/// The result of a submission.
#[derive(Debug)]
pub(super) struct Completion {
    pub(super) mark: u64,
    /// The return value of the corresponding system call, with an error as a negative number.
    pub(super) result: i32,
    /// The buffer that contains the received bytes.
    pub(super) buffer: Option<FilledBuffer>,
    /// More completions of the same submission follow.
    pub(super) more: bool,
}

impl Completion {
    /// Returns true if it is the result of such an operation.
    pub(super) fn is_of(&self, operation: Operation) -> bool {
        Mark::unpack(self.mark).operation == operation
    }
}

/// Returns the pool from which an operation with this mark selects its buffers.
fn pool_of(mark: u64) -> Pool {
    match Mark::unpack(mark).operation {
        Operation::Hear => Pool::Datagrams,
        _ => Pool::Bytes,
    }
}

impl DriverRing {
    /// Creates a ring that is not enabled yet, so that the thread that enables it becomes its only
    /// user.
    pub(super) fn new(files: u32, writes: PeerWrites) -> io::Result<DriverRing> {
        // Without the index array of the submission queue, which is not needed, since Linux 6.6.
        let ring =
            build(true).or_else(|_| build(false)).map_err(name_part("a ring of Linux 6.1"))?;
        let can_linger = ring.params().is_feature_min_timeout();
        check_parameters(ring.params()).map_err(name_part("features of a ring"))?;
        let submitter = ring.submitter();
        // SAFETY: Drop frees the buffers only after all operations in progress were cancelled.
        let buffers = unsafe {
            Buffers::register_group(&submitter, GROUP, BUFFERS, writes.buffer_bytes(), AHEAD)
        }
        .map_err(name_part("buffers for multishot receives"))?;
        let files = make_table(&ring, files);
        let (ring, buffers) = (ManuallyDrop::new(ring), ManuallyDrop::new(buffers));
        let datagrams = ManuallyDrop::new(None);
        Ok(DriverRing { ring, buffers, datagrams, files, enabled: false, can_linger })
    }

    /// Allocates the buffers for datagrams unless they exist.
    pub(super) fn expect_datagrams(&mut self) -> io::Result<()> {
        if self.datagrams.is_none() {
            let (submitter, group) = (self.ring.submitter(), Pool::Datagrams as u16);
            let (count, size) = (DATAGRAMS, DATAGRAM_BYTES);
            // SAFETY: Drop frees the buffers only after all operations in progress were cancelled.
            let buffers =
                unsafe { Buffers::register_group(&submitter, group, count, size, AHEAD) }?;
            *self.datagrams = Some(buffers);
        }
        Ok(())
    }

    /// Enables the ring on the first call, which makes this thread its only user.
    fn enable(&mut self) -> io::Result<()> {
        if !self.enabled {
            self.ring.submitter().register_enable_rings()?;
            self.enabled = true;
        }
        Ok(())
    }

    /// Returns true if the file table has a place of this number.
    pub(super) fn has_place(&self, place: u32) -> bool {
        place < self.files
    }

    /// Puts a descriptor into the file table. The table then refers to the file in addition to the
    /// caller.
    pub(super) fn put(&mut self, place: u32, fd: RawFd) -> io::Result<()> {
        self.ring.submitter().register_files_update(place, &[fd]).map(drop)
    }

    /// Queues an entry. Returns false if the queue is full.
    ///
    /// # Safety
    /// Everything that `entry` points to must be valid until its completion, or until its
    /// submission if the kernel has finished with it by then.
    pub(super) unsafe fn push(&mut self, entry: &squeue::Entry) -> bool {
        // SAFETY: by the condition of this function.
        unsafe { self.ring.submission().push(entry) }.is_ok()
    }

    /// Returns the number of entries that the kernel has not consumed yet.
    pub(super) fn queued(&mut self) -> usize {
        self.ring.submission().len()
    }

    /// Returns true if completions overflowed the queue. The next [`DriverRing::submit_and_look`]
    /// collects them.
    pub(super) fn holds_back(&mut self) -> bool {
        self.ring.submission().cq_overflow()
    }

    /// Submits the queued entries, each of which the kernel attempts at once. Does not process
    /// completions of earlier operations, so that the call takes no longer than the submission.
    pub(super) fn submit(&mut self) -> io::Result<()> {
        self.enable()?;
        let queued = self.queued() as u32;
        // SAFETY: without flags and argument, the call waits for nothing and reads only the queue.
        let done = unsafe { self.ring.submitter().enter::<()>(queued, 0, 0, None) };
        done.map(drop)
    }

    /// Submits the queued entries and lets the kernel post pending completions.
    pub(super) fn submit_and_look(&mut self) -> io::Result<()> {
        self.enable()?;
        self.publish();
        let (queued, flags) = (self.queued() as u32, EnterFlags::GETEVENTS.bits());
        // SAFETY: there is no argument, and a call that waits for 0 completions returns at once.
        let done = unsafe { self.ring.submitter().enter::<()>(queued, 0, flags, None) };
        done.map(drop)
    }

    /// Waits for a completion, for at most `longest`. If `linger` is not zero, waits that long for
    /// several completions, of which at most `most` are possible.
    pub(super) fn wait(
        &mut self,
        longest: Duration,
        linger: Duration,
        most: usize,
    ) -> io::Result<()> {
        self.publish();
        // The kernel checks the longer timeout only after the shorter one has expired.
        let (linger, longest) = (linger.min(longest), Timespec::from(longest));
        let arguments = SubmitArgs::new().timespec(&longest);
        let done = match linger.as_micros() {
            micros if micros == 0 || !self.can_linger => {
                self.ring.submitter().submit_with_args(1, &arguments)
            }
            micros => {
                let arguments = arguments.min_wait_usec(micros as u32);
                self.ring.submitter().submit_with_args(MANY.min(most).max(1), &arguments)
            }
        };
        done.map(drop)
    }

    /// Returns true if [`DriverRing::wait`] supports `linger`.
    pub(super) fn can_linger(&self) -> bool {
        self.can_linger
    }

    /// Returns the completions since the last call.
    pub(super) fn completions(&mut self) -> impl Iterator<Item = Completion> + '_ {
        self.ring.completion().map(|entry| Completion {
            mark: entry.user_data(),
            result: entry.result(),
            // SAFETY: the pool is that of the operation, and each completion is seen once. What a
            // ring hands over stays within its driver.
            buffer: unsafe {
                FilledBuffer::of_completion(pool_of(entry.user_data()) as u16, entry.flags())
            },
            more: io_uring::cqueue::more(entry.flags()),
        })
    }

    /// Returns the bytes in a range of a buffer.
    pub(super) fn view(&self, buffer: &FilledBuffer, range: Range<usize>) -> &[u8] {
        let buffers = match buffer.group() {
            GROUP => Some(&*self.buffers),
            _ => self.datagrams.as_ref(),
        };
        let bytes = buffers.map_or(&[][..], |buffers| buffers.read(buffer, range.end));
        bytes.get(range).unwrap_or_default()
    }

    /// Returns the same bytes for modification.
    pub(super) fn view_mut(&mut self, buffer: &FilledBuffer, range: Range<usize>) -> &mut [u8] {
        let buffers = self.buffers_of(buffer);
        let bytes = buffers.map_or(&mut [][..], |buffers| buffers.write(buffer, range.end));
        bytes.get_mut(range).unwrap_or_default()
    }

    /// Returns a buffer, which the kernel can use again after the next
    /// [`DriverRing::submit_and_look`] or [`DriverRing::wait`].
    pub(super) fn give_back(&mut self, buffer: FilledBuffer) {
        if let Some(buffers) = self.buffers_of(&buffer) {
            buffers.give(buffer);
        }
    }

    fn buffers_of(&mut self, buffer: &FilledBuffer) -> Option<&mut Buffers> {
        self.pool(if buffer.group() == GROUP { Pool::Bytes } else { Pool::Datagrams })
    }

    fn pool(&mut self, pool: Pool) -> Option<&mut Buffers> {
        match pool {
            Pool::Bytes => Some(&mut self.buffers),
            Pool::Datagrams => self.datagrams.as_mut(),
        }
    }

    /// Increases the number of buffers after the kernel ran out of them.
    pub(super) fn give_more(&mut self, pool: Pool) {
        if let Some(buffers) = self.pool(pool) {
            buffers.give_more();
        }
    }

    fn publish(&mut self) {
        self.buffers.publish();
        if let Some(datagrams) = &mut *self.datagrams {
            datagrams.publish();
        }
    }
}

impl DriverRing {
    /// Cancels all operations in progress. Returns true if the kernel can no longer read or write
    /// any memory of this process.
    pub(super) fn cancel_all(&mut self) -> bool {
        // A ring that was never enabled has no operation in progress.
        if !self.enabled {
            return true;
        }
        let (submitter, patience) = (self.ring.submitter(), Timespec::new().sec(5));
        match submitter.register_sync_cancel(Some(patience), CancelBuilder::any()) {
            Ok(()) => true,
            Err(error) => error.raw_os_error() == Some(libc::ENOENT),
        }
    }
}

impl Drop for DriverRing {
    fn drop(&mut self) {
        let nothing_left = self.cancel_all();
        // SAFETY: dropped once, here.
        unsafe { ManuallyDrop::drop(&mut self.ring) };
        // Memory that the kernel might still write to is leaked.
        if nothing_left {
            // SAFETY: dropped once, here, with no operation in progress.
            unsafe { ManuallyDrop::drop(&mut self.buffers) };
            // SAFETY: as above.
            unsafe { ManuallyDrop::drop(&mut self.datagrams) };
        }
    }
}

/// Adds to an error the part of io_uring that the kernel refuses.
fn name_part(part: &str) -> impl FnOnce(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), format!("{part}: {error}"))
}

/// The number of completions that end a lingering wait.
const MANY: usize = 32;

fn build(direct: bool) -> io::Result<IoUring> {
    let mut builder = IoUring::builder();
    if direct {
        builder.setup_no_sqarray();
    }
    builder
        .setup_single_issuer()
        // The kernel processes completions when this thread calls it, and does not interrupt the
        // thread.
        .setup_defer_taskrun()
        .setup_taskrun_flag()
        // An entry that cannot be submitted does not delay those after it.
        .setup_submit_all()
        .setup_cqsize(COMPLETIONS)
        .setup_r_disabled()
        .dontfork()
        .build(SUBMISSIONS)
}

/// Registers a file table with `wanted` places, limited by the number of files that the process may
/// open. Returns the number of places.
///
/// Returns 0 before Linux 6.13. There, a file leaves the table only after all older requests on
/// other files have ended, so that a connection would be closed only when another one ends.
/// Moreover, a descriptor cannot be made from a table entry before 6.8, and such a socket cannot be
/// reset before 6.7.
fn make_table(ring: &IoUring, wanted: u32) -> u32 {
    if !release::is_at_least(6, 13) {
        return 0;
    }
    let allowed = limit::open_files().map_or(0, |limit| limit.rlim_cur);
    let places = u64::from(wanted).min(allowed) as u32;
    let made = ring.submitter().register_files_sparse(places);
    if made.is_ok() { places } else { 0 }
}

/// Checks the features that the driver requires in addition to those requested when building the
/// ring.
fn check_parameters(parameters: &Parameters) -> io::Result<()> {
    let needed = [
        parameters.is_feature_ext_arg(),
        parameters.is_feature_nodrop(),
        parameters.is_feature_fast_poll(),
        parameters.is_feature_skip_cqe_on_success(),
    ];
    if needed.contains(&false) { Err(io::ErrorKind::Unsupported.into()) } else { Ok(()) }
}

/// Returns the descriptor that the completion of an install contains.
pub(super) fn installed(result: i32) -> Option<OwnedFd> {
    // SAFETY: the kernel has just returned this descriptor and nothing else owns it.
    (result >= 0).then(|| unsafe { OwnedFd::from_raw_fd(result) })
}
