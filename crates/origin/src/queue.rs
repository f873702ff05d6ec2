//! A server of known capacity, which serves one request at a time.

use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

/// The queue of the `/capacity` requests to one listening address.
#[derive(Debug)]
pub(super) struct Queue {
    /// The time at which the last request of the queue will have been served.
    free_at: Mutex<Instant>,
}

impl Queue {
    /// Creates an empty queue.
    pub(super) fn new() -> Queue {
        Queue { free_at: Mutex::new(Instant::now()) }
    }

    /// Waits for the request's turn and then for `service`. Requests are served in the order of the
    /// calls. The end of each turn is calculated, not measured, so that late timers do not reduce
    /// the rate.
    pub(super) async fn serve(&self, service: Duration) {
        let done = self.line_up(service, Instant::now());
        tokio::time::sleep_until(done).await;
    }

    /// Adds a request that arrives at `now`. Returns when it will have been served.
    fn line_up(&self, service: Duration, now: Instant) -> Instant {
        // The value is valid even after a panic elsewhere.
        let mut free_at = self.free_at.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        *free_at = now.max(*free_at) + service;
        *free_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serves_requests_in_sequence_without_making_up_idle_time() {
        let queue = Queue::new();
        let (ms, start) = (Duration::from_millis, Instant::now());
        let served = [(0, 10), (0, 20), (5, 30), (100, 110), (101, 120)];
        for (comes, done) in served {
            assert_eq!(queue.line_up(ms(10), start + ms(comes)), start + ms(done), "at {comes} ms");
        }
    }
}
