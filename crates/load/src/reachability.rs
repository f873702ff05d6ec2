//! Whether anything can be reached, as the workers of a run know together.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Shared by the workers, but written at most twice by each: never on the hot path.
#[derive(Debug)]
pub(super) struct Reachability {
    reached: AtomicBool,
    trying: AtomicU32,
}

impl Reachability {
    /// None of so many workers has reached anything or given up.
    pub(super) fn new(workers: u32) -> Reachability {
        Reachability { reached: AtomicBool::new(false), trying: AtomicU32::new(workers) }
    }

    /// A worker got a connection.
    pub(super) fn note_reached(&self) {
        self.reached.store(true, Ordering::Relaxed);
    }

    /// A worker has tried often enough, and gives up; to be called once by each.
    pub(super) fn note_given_up(&self) {
        self.trying.fetch_sub(1, Ordering::Relaxed);
    }

    /// True where no worker ever got a connection and all have tried often enough. One alone may
    /// have lost to the others, to whom the last ports went, say.
    pub(super) fn is_unreachable(&self) -> bool {
        self.trying.load(Ordering::Relaxed) == 0 && !self.reached.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_can_be_reached_when_every_worker_gave_up_and_none_got_through() {
        let reachability = Reachability::new(2);
        reachability.note_given_up();
        assert!(!reachability.is_unreachable());
        reachability.note_given_up();
        assert!(reachability.is_unreachable());
        reachability.note_reached();
        assert!(!reachability.is_unreachable());
    }
}
