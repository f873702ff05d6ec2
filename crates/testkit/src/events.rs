//! What a driver tells.

use sixmark_sys::driver::{Driver, Event, EventKind};

/// Only a broken build takes this long.
const DEADLINE_NS: u64 = 30_000_000_000;

/// The next thing that happens, but that what was sent has left: not every driver tells that.
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
