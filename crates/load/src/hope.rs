//! Whether anything can be reached, as the workers of a run know together.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Shared by the workers, but written at most twice by each: never on the hot path.
#[derive(Debug)]
pub(super) struct Hope {
    reached: AtomicBool,
    hoping: AtomicU32,
}

impl Hope {
    /// All of `workers` have hope.
    pub(super) fn new(workers: u32) -> Hope {
        Hope { reached: AtomicBool::new(false), hoping: AtomicU32::new(workers) }
    }

    /// A worker got a connection.
    pub(super) fn reach(&self) {
        self.reached.store(true, Ordering::Relaxed);
    }

    /// A worker has tried often enough; to be called once by each.
    pub(super) fn lose(&self) {
        self.hoping.fetch_sub(1, Ordering::Relaxed);
    }

    /// True where no worker ever got a connection and all have tried often enough. One alone may
    /// have lost to the others, to whom the last ports went, say.
    pub(super) fn is_lost(&self) -> bool {
        self.hoping.load(Ordering::Relaxed) == 0 && !self.reached.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hope_is_lost_when_every_worker_lost_it_and_none_got_through() {
        let hope = Hope::new(2);
        hope.lose();
        assert!(!hope.is_lost());
        hope.lose();
        assert!(hope.is_lost());
        hope.reach();
        assert!(!hope.is_lost());
    }
}
