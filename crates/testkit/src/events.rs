//! Waiting for the events of a driver.

use sixmark_sys::driver::{Driver, Event, EventKind};

/// A deadline that only a broken build reaches.
const DEADLINE_NS: u64 = 30_000_000_000;

/// Waits for the next event other than [`EventKind::Left`], which not every driver reports.
pub fn next(driver: &mut impl Driver) -> Event {
    loop {
        let event = next_of_all(driver);
        if event.kind != EventKind::Left {
            return event;
        }
    }
}

fn next_of_all(driver: &mut impl Driver) -> Event {
    let deadline = driver.now() + DEADLINE_NS;
    loop {
        if let Some(event) = driver.next() {
            assert!(event.at <= driver.now(), "told before it happened");
            return event;
        }
        assert!(driver.now() < deadline, "nothing happened");
        driver.wait(deadline);
    }
}
