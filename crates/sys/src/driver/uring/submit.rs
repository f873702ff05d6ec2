//! Calls into the kernel: when what is queued is handed over, and what is noted of each call.

use std::io;
use std::time::Duration;

use io_uring::squeue::Entry;

use super::{Uring, mark};
use crate::clock;
use crate::driver::errno::errno_of;
use crate::driver::{Event, EventKind};

impl Uring {
    /// Queues a submission; goes to the kernel first where there is no room.
    pub(super) fn push(&mut self, entry: &Entry) {
        // SAFETY: entries point at nothing, or at a static, but for sends, and `lent` holds what
        // those point at for long enough.
        while self.broken.is_none() && !unsafe { self.ring.push(entry) } {
            self.flush();
        }
    }

    /// Hands over what is queued where there is enough of it.
    pub(super) fn count_send(&mut self) {
        self.sends += 1;
        if self.sends >= self.grain.sends {
            self.flush();
        }
    }

    /// Queues the ends of connections.
    pub(super) fn queue_last(&mut self) {
        for entry in std::mem::take(&mut self.last) {
            self.push(&entry);
        }
    }

    /// Hands over what is queued and takes note of what was over at once.
    pub(super) fn flush(&mut self) {
        self.sends = 0;
        let done = self.ring.submit();
        self.take_note(done);
    }

    /// Takes note of what the kernel told during a call that ended just now, and of the time.
    pub(super) fn take_note(&mut self, call: io::Result<()>) -> u64 {
        let at = clock::now();
        for completion in self.ring.completions() {
            match mark::is_pass(completion.mark) {
                true => self.unsent.push(completion),
                false => self.told.push_back((completion, at)),
            }
        }
        if let Err(error) = call {
            self.give_up(errno_of(&error), at);
        }
        if self.lent.holds_unseen() {
            self.see_to_passes(at);
        }
        at
    }

    /// Tells every connection of an error that leaves the ring useless; none ought to.
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

    /// A look found nothing. Between two of those nothing was done but to wait with open eyes.
    pub(super) fn spin(&mut self, before: u64) {
        if std::mem::replace(&mut self.spinning, true) {
            self.waited += self.woke - before;
        }
    }

    /// Waits until something happens or `until` has come.
    pub(super) fn block(&mut self, until: u64) {
        let (before, linger) = (self.woke, Duration::from_nanos(self.grain.linger));
        let done = self.ring.wait(Duration::from_nanos(until - before), linger, self.open);
        self.woke = self.take_note(done);
        self.waited += self.woke - before;
        self.spinning = false;
    }

    /// Lets the kernel finish what was taken back, thousands of receives perhaps: it does that when
    /// it is called, and where nobody calls, one by one when the thread ends.
    pub(super) fn drain(&mut self) {
        loop {
            let more = self.ring.submit_and_look().is_ok() && self.ring.completions().count() > 0;
            if !more {
                return;
            }
        }
    }
}
