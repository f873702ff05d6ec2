//! Calls into the kernel: when queued entries are submitted, and what is recorded after each call.

use std::io;
use std::time::Duration;

use io_uring::squeue::Entry;

use super::{Uring, mark};
use crate::clock;
use crate::driver::errno::errno_of;
use crate::driver::{Event, EventKind};

impl Uring {
    /// Queues an entry. If the queue is full, submits it first.
    pub(super) fn push(&mut self, entry: &Entry) {
        // SAFETY: entries have no pointers, or point to a static, except those of sends. `kernel_owned`
        // holds the bytes of sends for long enough.
        while self.broken.is_none() && !unsafe { self.ring.push(entry) } {
            self.flush();
        }
    }

    /// Counts a send, and submits the queue when it contains enough of them.
    pub(super) fn count_send(&mut self) {
        self.sends += 1;
        if self.sends >= self.batch.sends {
            self.flush();
        }
    }

    /// Queues the entries that close connections.
    pub(super) fn queue_last(&mut self) {
        for entry in std::mem::take(&mut self.last) {
            self.push(&entry);
        }
    }

    /// Submits the queue and records the completions of entries that completed at once.
    pub(super) fn flush(&mut self) {
        self.sends = 0;
        let done = self.ring.submit();
        self.take_note(done);
    }

    /// Records the completions of a call that has just returned. Returns the current time.
    pub(super) fn take_note(&mut self, call: io::Result<()>) -> u64 {
        let at = clock::now();
        for completion in self.ring.completions() {
            if mark::is_pass(completion.mark) {
                self.unsent.push(completion)
            } else {
                self.told.push_back((completion, at))
            }
        }
        if let Err(error) = call {
            self.give_up(errno_of(&error), at);
        }
        if self.kernel_owned.holds_unseen() {
            self.see_to_passes(at);
        }
        at
    }

    /// Reports an error that makes the ring unusable to every connection. This is not expected to
    /// happen.
    pub(super) fn give_up(&mut self, errno: i32, at: u64) {
        if [libc::EINTR, libc::EAGAIN, libc::EBUSY, libc::ETIME].contains(&errno) {
            return;
        }
        self.broken = Some(errno);
        for (socket, slot) in self.sockets.iter_mut().zip(0..) {
            if socket.file.is_some() && !std::mem::replace(&mut socket.over, true) {
                self.ready.push_back(Event { slot, at, kind: EventKind::Failed(errno) });
            }
        }
    }

    /// Counts the time since the previous wait as waiting if that wait also found nothing: between
    /// the two, the caller did nothing but poll.
    pub(super) fn spin(&mut self, before: u64) {
        if std::mem::replace(&mut self.spinning, true) {
            self.idle_ns += self.woke - before;
        }
    }

    /// Waits until something happens or the time `until` is reached.
    pub(super) fn block(&mut self, until: u64) {
        let (before, linger) = (self.woke, Duration::from_nanos(self.batch.linger));
        let done = self.ring.wait(Duration::from_nanos(until - before), linger, self.open);
        self.woke = self.take_note(done);
        self.idle_ns += self.woke - before;
        self.spinning = false;
    }

    /// Lets the kernel finish cancelled operations, which may be thousands of receives. It does so
    /// when it is called. Otherwise it would finish them one by one when the thread ends.
    pub(super) fn drain(&mut self) {
        loop {
            let more = self.ring.submit_and_look().is_ok() && self.ring.completions().count() > 0;
            if !more {
                return;
            }
        }
    }
}
