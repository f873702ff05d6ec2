//! A server whose capacity is known: one request after the other.

use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

/// The requests to one listening address that are served one after the other, each taking its time.
#[derive(Debug)]
pub(super) struct Queue {
    /// When the last one that came will have been served.
    free_at: Mutex<Instant>,
}

impl Queue {
    /// Nobody waits.
    pub(super) fn new() -> Queue {
        Queue { free_at: Mutex::new(Instant::now()) }
    }

    /// Waits for its turn and for `service` to pass. Turns come in the order of the calls and are
    /// added up, not timed, so that a timer that is late lowers no rate.
    pub(super) async fn serve(&self, service: Duration) {
        let done = self.line_up(service, Instant::now());
        tokio::time::sleep_until(done).await;
    }

    /// When a request that comes `now` has been served.
    fn line_up(&self, service: Duration, now: Instant) -> Instant {
        // A panic elsewhere leaves a time that is as good as any.
        let mut free_at = self.free_at.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        *free_at = now.max(*free_at) + service;
        *free_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_served_one_after_the_other_and_idle_time_is_not_made_up() {
        let queue = Queue::new();
        let (ms, start) = (Duration::from_millis, Instant::now());
        let served = [(0, 10), (0, 20), (5, 30), (100, 110), (101, 120)];
        for (comes, done) in served {
            assert_eq!(queue.line_up(ms(10), start + ms(comes)), start + ms(done), "at {comes} ms");
        }
    }
}
