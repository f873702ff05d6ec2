//! A worker that stood still: its process was stopped, the machine paused, or the worker was occupied
//! with one thing. What exchanges in flight seem to have taken then is no doing of their servers.

use sixmark_model::clocks::Timestamps;
use sixmark_sys::driver::Driver;

use super::Worker;
use crate::STALL;

impl<D: Driver> Worker<'_, D> {
    /// Waits for what happens next, until `due` at the latest, and notes where that was much later.
    pub(super) fn wait(&mut self, due: u64) {
        let before = self.driver.woke();
        self.driver.wait(due);
        self.note_stall(before.max(due), self.driver.woke());
    }

    /// What was to be at `due` is at `now`.
    fn note_stall(&mut self, due: u64, now: u64) {
        let late = now.saturating_sub(due.max(self.record.back_at));
        if late >= STALL {
            self.record.stood_still(late, now);
        }
    }

    /// The same of what the driver tells at `at`, long after its last wait. Only by this client's clock:
    /// the other one may be set.
    pub(super) fn note_late_news(&mut self, at: u64) {
        let woke = self.driver.woke();
        if at.saturating_sub(woke) >= STALL
            && self.prepared.plan.load.timestamps == Timestamps::User
        {
            self.note_stall(woke, at);
        }
    }
}
