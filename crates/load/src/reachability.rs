//! Whether any worker of a run has ever established a connection.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Shared by the workers. Each writes it at most twice, never on the hot path.
#[derive(Debug)]
pub(super) struct Reachability {
    reached: AtomicBool,
    trying: AtomicU32,
}

impl Reachability {
    /// Creates the state for `workers` workers, none of which has connected or given up.
    pub(super) fn new(workers: u32) -> Reachability {
        Reachability { reached: AtomicBool::new(false), trying: AtomicU32::new(workers) }
    }

    /// Records that a worker has established a connection.
    pub(super) fn note_reached(&self) {
        self.reached.store(true, Ordering::Relaxed);
    }

    /// Records that a worker has tried often enough and gives up. Each worker calls this at most
    /// once.
    pub(super) fn note_given_up(&self) {
        self.trying.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns true if no worker ever established a connection and all have given up. A single
    /// worker may fail because of the others, for instance if they took the last local ports.
    pub(super) fn is_unreachable(&self) -> bool {
        self.trying.load(Ordering::Relaxed) == 0 && !self.reached.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_unreachable_if_every_worker_gave_up_and_none_succeeded() {
        let reachability = Reachability::new(2);
        reachability.note_given_up();
        assert!(!reachability.is_unreachable());
        reachability.note_given_up();
        assert!(reachability.is_unreachable());
        reachability.note_reached();
        assert!(!reachability.is_unreachable());
    }
}
