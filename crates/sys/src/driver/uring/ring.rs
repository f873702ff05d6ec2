//! The submission and completion queues, and every call into the kernel that serves them.

use std::io;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::os::fd::{FromRawFd as _, OwnedFd, RawFd};
use std::time::Duration;

use io_uring::types::{CancelBuilder, SubmitArgs, Timespec};
use io_uring::{EnterFlags, IoUring, Parameters, squeue};

use crate::buffers::{Buffers, GROUP};
use crate::driver::datagram::ROOM;
use crate::{limit, release};

/// Submissions that can be queued between two calls into the kernel.
const SUBMISSIONS: u32 = 256;
/// Completions that the kernel can tell of between two looks. It keeps more than that, slower.
const COMPLETIONS: u32 = 2_048;

/// Buffers for what comes over connections.
const BUFFERS: u16 = 256;
/// Buffers for datagrams: fewer, since each holds many.
const DATAGRAMS: u16 = 64;
/// As many of either the kernel has at first. Those used again soon are still in the processor's caches;
/// it gets more where it runs out of them.
const AHEAD: u16 = 16;
/// The bytes of a buffer for datagrams: what is received at once, and what the kernel puts before it.
const DATAGRAM_BYTES: usize = ROOM + 1024;

/// How much a peer is expected to write at once: as much as a buffer for what comes over connections
/// should have room for, so that it is received at once, and is not answered piece by piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerWrites {
    /// A response at a time: 16 KiB.
    Single,
    /// Responses of several streams together: 64 KiB. Where there is one at a time, each costs more
    /// with it.
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

/// The groups of buffers, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pool {
    Bytes = GROUP as isize,
    Datagrams = GROUP as isize + 1,
}

/// One ring with its table of files and its buffers.
pub(super) struct DriverRing {
    // Dropped by hand: the buffers only where the kernel can't write to them any more.
    ring: ManuallyDrop<IoUring>,
    buffers: ManuallyDrop<Buffers>,
    /// Made when the first socket of datagrams is.
    datagrams: ManuallyDrop<Option<Buffers>>,
    /// Sockets that the ring's own table has room for.
    files: u32,
    enabled: bool,
    /// Whether the kernel can wait for several completions and give up on them early.
    can_linger: bool,
}

/// What the kernel said of a submission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Completion {
    pub(super) mark: u64,
    /// What the system call of that name would return, errors as negative numbers.
    pub(super) result: i32,
    /// The buffer that holds what was received.
    pub(super) buffer: Option<u16>,
    /// More completions of the same submission follow.
    pub(super) more: bool,
}

impl DriverRing {
    /// A ring that is not enabled yet, so that the thread which enables it becomes its only user.
    pub(super) fn new(files: u32, writes: PeerWrites) -> io::Result<DriverRing> {
        // Without the indirection that nobody needs, from Linux 6.6 on.
        let ring = build(true).or_else(|_| build(false))?;
        let can_linger = ring.params().is_feature_min_timeout();
        check_parameters(ring.params())?;
        let submitter = ring.submitter();
        // SAFETY: Drop frees the buffers only after everything under way was cancelled.
        let buffers = unsafe {
            Buffers::register_group(&submitter, GROUP, BUFFERS, writes.buffer_bytes(), AHEAD)
        }?;
        let files = make_table(&ring, files);
        let (ring, buffers) = (ManuallyDrop::new(ring), ManuallyDrop::new(buffers));
        let datagrams = ManuallyDrop::new(None);
        Ok(DriverRing { ring, buffers, datagrams, files, enabled: false, can_linger })
    }

    /// Makes the buffers for datagrams, once.
    pub(super) fn expect_datagrams(&mut self) -> io::Result<()> {
        if self.datagrams.is_none() {
            let (submitter, group) = (self.ring.submitter(), Pool::Datagrams as u16);
            let (count, size) = (DATAGRAMS, DATAGRAM_BYTES);
            // SAFETY: Drop frees the buffers only after everything under way was cancelled.
            let buffers =
                unsafe { Buffers::register_group(&submitter, group, count, size, AHEAD) }?;
            *self.datagrams = Some(buffers);
        }
        Ok(())
    }

    /// Makes this thread the ring's only user, once.
    fn enable(&mut self) -> io::Result<()> {
        if !self.enabled {
            self.ring.submitter().register_enable_rings()?;
            self.enabled = true;
        }
        Ok(())
    }

    /// True where the table has a place of this number.
    pub(super) fn has_place(&self, place: u32) -> bool {
        place < self.files
    }

    /// Puts a descriptor into the table, which then holds the file as well as the caller does.
    pub(super) fn put(&mut self, place: u32, fd: RawFd) -> io::Result<()> {
        self.ring.submitter().register_files_update(place, &[fd]).map(drop)
    }

    /// Queues a submission; false where there is no room.
    ///
    /// # Safety
    /// Whatever `entry` points at must be valid until its completion, or until the submission where
    /// the kernel is done with it then.
    pub(super) unsafe fn push(&mut self, entry: &squeue::Entry) -> bool {
        // SAFETY: as the caller promises.
        unsafe { self.ring.submission().push(entry) }.is_ok()
    }

    /// How many submissions the kernel has not seen yet.
    pub(super) fn queued(&mut self) -> usize {
        self.ring.submission().len()
    }

    /// The kernel has more to tell than there was room for; that comes with a look.
    pub(super) fn holds_back(&mut self) -> bool {
        self.ring.submission().cq_overflow()
    }

    /// Hands what is queued to the kernel, which tries each at once. Deals with nothing that came
    /// in meanwhile, so that it takes no longer than that.
    pub(super) fn submit(&mut self) -> io::Result<()> {
        self.enable()?;
        let queued = self.queued() as u32;
        // SAFETY: no flags and no argument: nothing is waited for and nothing is read but the queue.
        let done = unsafe { self.ring.submitter().enter::<()>(queued, 0, 0, None) };
        done.map(drop)
    }

    /// Hands what is queued to the kernel and lets it deal with what came in.
    pub(super) fn submit_and_look(&mut self) -> io::Result<()> {
        self.enable()?;
        self.publish();
        let (queued, flags) = (self.queued() as u32, EnterFlags::GETEVENTS.bits());
        // SAFETY: no argument, and waiting for none returns at once.
        let done = unsafe { self.ring.submitter().enter::<()>(queued, 0, flags, None) };
        done.map(drop)
    }

    /// Waits for a completion, or until `longest` has passed. With `linger`, waits that long for
    /// more than one, of which there may be `most`.
    pub(super) fn wait(
        &mut self,
        longest: Duration,
        linger: Duration,
        most: usize,
    ) -> io::Result<()> {
        self.publish();
        // The kernel looks at the longer time only when the shorter one is over.
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

    /// Whether `wait` can linger.
    pub(super) fn can_linger(&self) -> bool {
        self.can_linger
    }

    /// What the kernel told since the last look.
    pub(super) fn completions(&mut self) -> impl Iterator<Item = Completion> + '_ {
        self.ring.completion().map(|entry| Completion {
            mark: entry.user_data(),
            result: entry.result(),
            buffer: io_uring::cqueue::buffer_select(entry.flags()),
            more: io_uring::cqueue::more(entry.flags()),
        })
    }

    /// What was received into a part of a buffer.
    pub(super) fn view(&self, pool: Pool, buffer: u16, range: Range<usize>) -> &[u8] {
        let buffers = match pool {
            Pool::Bytes => Some(&*self.buffers),
            Pool::Datagrams => self.datagrams.as_ref(),
        };
        let bytes = buffers.map_or(&[][..], |buffers| buffers.read(buffer, range.end));
        bytes.get(range).unwrap_or_default()
    }

    /// The same, to be changed.
    pub(super) fn view_mut(&mut self, pool: Pool, buffer: u16, range: Range<usize>) -> &mut [u8] {
        let buffers = self.pool(pool);
        let bytes = buffers.map_or(&mut [][..], |buffers| buffers.write(buffer, range.end));
        bytes.get_mut(range).unwrap_or_default()
    }

    /// Lets the kernel have a buffer again, from the next look on.
    pub(super) fn give_back(&mut self, pool: Pool, buffer: u16) {
        if let Some(buffers) = self.pool(pool) {
            buffers.give(buffer);
        }
    }

    fn pool(&mut self, pool: Pool) -> Option<&mut Buffers> {
        match pool {
            Pool::Bytes => Some(&mut self.buffers),
            Pool::Datagrams => self.datagrams.as_mut(),
        }
    }

    /// The kernel ran out of buffers.
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
    /// Takes everything back that is under way: true where nothing is left that the kernel might
    /// read from or write to.
    pub(super) fn cancel_all(&mut self) -> bool {
        // A ring that was never enabled has nothing under way.
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
        // Memory that the kernel might still write to is left to it.
        if nothing_left {
            // SAFETY: dropped once, here, with nothing under way.
            unsafe { ManuallyDrop::drop(&mut self.buffers) };
            // SAFETY: as above.
            unsafe { ManuallyDrop::drop(&mut self.datagrams) };
        }
    }
}

/// Completions worth lingering for.
const MANY: usize = 32;

fn build(direct: bool) -> io::Result<IoUring> {
    let mut builder = IoUring::builder();
    if direct {
        builder.setup_no_sqarray();
    }
    builder
        .setup_single_issuer()
        // What arrives is dealt with when this thread asks for it, not in the middle of whatever it
        // does.
        .setup_defer_taskrun()
        .setup_taskrun_flag()
        // One submission that can't be made does not hold up those behind it.
        .setup_submit_all()
        .setup_cqsize(COMPLETIONS)
        .setup_r_disabled()
        .dontfork()
        .build(SUBMISSIONS)
}

/// A table of sockets with so many places, or as many as the process may open files: how many.
///
/// None before Linux 6.13: there a file leaves the table only when all requests on others that are
/// older are over, so that a connection would be closed when another ends (and before 6.8 no
/// descriptor can be made of it, before 6.7 it can't be reset).
fn make_table(ring: &IoUring, wanted: u32) -> u32 {
    if !release::is_at_least(6, 13) {
        return 0;
    }
    let allowed = limit::open_files().map_or(0, |limit| limit.rlim_cur);
    let places = u64::from(wanted).min(allowed) as u32;
    let made = ring.submitter().register_files_sparse(places);
    if made.is_ok() { places } else { 0 }
}

/// What the driver can't do without, beside what building the ring asked for.
fn check_parameters(parameters: &Parameters) -> io::Result<()> {
    let needed = [
        parameters.is_feature_ext_arg(),
        parameters.is_feature_nodrop(),
        parameters.is_feature_fast_poll(),
        parameters.is_feature_skip_cqe_on_success(),
    ];
    if needed.contains(&false) { Err(io::ErrorKind::Unsupported.into()) } else { Ok(()) }
}

/// The descriptor that an install was answered with.
pub(super) fn installed(result: i32) -> Option<OwnedFd> {
    // SAFETY: the kernel has just given us this descriptor, nothing else owns it.
    (result >= 0).then(|| unsafe { OwnedFd::from_raw_fd(result) })
}
