//! What every driver must do alike, the simulated one included: a driver is a [`Stage`] away from
//! being held to it.

use std::net::IpAddr;
use std::sync::Arc;

use libc::{ECONNREFUSED, ECONNRESET, EPIPE};
use sixmark_sys::driver::{
    Close, CompletionBatch, Driver, EventKind, Message, SendProgress, SocketRoute, Stamps,
    TcpHandshake,
};
use sixmark_testkit::events::next;
use sixmark_units::family::Family;

use super::real::{
    OverEpoll, OverEpollBoth, OverEpollLast, OverStampedEpoll, OverUring, OverUringBoth,
    OverUringLast, OverUringOnce,
};
use super::simulated::InSimulation;
use super::stage::{Scene, Stage, piece};

/// Only something broken takes so long.
const SLOT: u32 = 3;

fn connected<S: Stage>(stage: &mut S) -> IpAddr {
    let (driver, way) = stage.parts();
    driver.connect(SLOT, &way);
    let event = next(driver);
    assert_eq!(event.slot, SLOT);
    assert_eq!(event.kind, EventKind::Connected(way.to.ip()));
    way.to.ip()
}

fn ask<S: Stage>(stage: &mut S) {
    let (driver, _) = stage.parts();
    match driver.send(SLOT, &Message::new(*b"request")) {
        SendProgress::Whole(at) => assert!(at <= driver.now()),
        SendProgress::Later => assert_eq!(next(driver).kind, EventKind::Sent),
    }
}

/// Hands over bytes by `pass` and lets the peer go on where they are not taken at once: whether that
/// was so, and how many answers came meanwhile.
fn pass<S: Stage>(stage: &mut S, bytes: &mut Vec<u8>) -> (bool, usize) {
    let driver = stage.parts().0;
    let progress = driver.pass(SLOT, bytes);
    assert!(bytes.is_empty());
    match progress {
        SendProgress::Whole(at) => {
            assert!(at <= driver.now());
            (false, 0)
        }
        SendProgress::Later => {
            stage.go_on();
            (true, answers_before_the_end_of_sending(stage.parts().0))
        }
    }
}

fn answers_before_the_end_of_sending(driver: &mut impl Driver) -> usize {
    let mut answers = 0;
    loop {
        match next(driver).kind {
            EventKind::Sent => return answers,
            EventKind::Received(count) => answers += count,
            other => panic!("{other:?} before all was sent"),
        }
    }
}

/// How many of `count` bytes to come were received and dropped.
fn receive(driver: &mut impl Driver, count: usize) -> (usize, usize) {
    let (mut received, mut dropped) = (0, 0);
    while received + dropped < count {
        match next(driver).kind {
            EventKind::Received(more) => {
                assert_eq!(driver.bytes().len(), more);
                assert!(driver.bytes().iter().all(|&byte| byte == b'x'));
                received += more;
            }
            EventKind::Dropped(more) => dropped += more as usize,
            other => panic!("{other:?} in the middle of {count} bytes"),
        }
    }
    assert_eq!(received + dropped, count);
    (received, dropped)
}

fn a_refusal_is_told<S: Stage>(family: Family) {
    let mut stage = S::set(Scene::Refuses, family);
    let (driver, way) = stage.parts();
    for _ in 0..3 {
        driver.connect(SLOT, &way);
        assert_eq!(next(driver).kind, EventKind::Failed(ECONNREFUSED));
        driver.close(SLOT, Close::Reset);
    }
}

fn a_connection_carries_several_exchanges<S: Stage>(family: Family) {
    for size in [1, 100, 1_000_000] {
        let mut stage = S::set(Scene::Answers(size), family);
        connected(&mut stage);
        for _ in 0..3 {
            ask(&mut stage);
            assert_eq!(receive(stage.parts().0, size), (size, 0));
        }
        stage.parts().0.close(SLOT, Close::Orderly);
    }
}

fn bytes_that_may_be_dropped_are_told_all_the_same<S: Stage>(family: Family) {
    let size = 3_000_000;
    let mut stage = S::set(Scene::Answers(size), family);
    connected(&mut stage);
    for allowed in [1, 1_000_000, size] {
        ask(&mut stage);
        stage.parts().0.drop_next(SLOT, allowed as u64);
        let (_, dropped) = receive(stage.parts().0, size);
        assert!(dropped <= allowed, "{dropped} of {allowed}");
        stage.parts().0.drop_next(SLOT, 0);
    }
}

fn an_end_is_told<S: Stage>(family: Family) {
    let mut stage = S::set(Scene::Closes, family);
    connected(&mut stage);
    ask(&mut stage);
    assert_eq!(next(stage.parts().0).kind, EventKind::Ended);
    stage.parts().0.close(SLOT, Close::Orderly);
}

fn a_reset_is_told<S: Stage>(family: Family) {
    let mut stage = S::set(Scene::Resets, family);
    connected(&mut stage);
    ask(&mut stage);
    let kind = next(stage.parts().0).kind;
    assert!(matches!(kind, EventKind::Failed(ECONNRESET | EPIPE)), "{kind:?}");
    stage.parts().0.close(SLOT, Close::Orderly);
}

fn what_there_is_no_room_for_is_sent_later<S: Stage>(family: Family) {
    let mut stage = S::set(Scene::Hesitates, family);
    connected(&mut stage);
    let body = Arc::new(vec![b'x'; 64 << 20]);
    let bytes = Message::with_body(b"head".to_vec(), Some(&body));
    assert_eq!(stage.parts().0.send(SLOT, &bytes), SendProgress::Later);
    stage.go_on();
    assert_eq!(next(stage.parts().0).kind, EventKind::Sent);
    stage.parts().0.close(SLOT, Close::Orderly);
}

fn a_response_before_the_requests_end_is_told_before_the_end<S: Stage>(family: Family) {
    let mut stage = S::set(Scene::Objects, family);
    connected(&mut stage);
    let body = Arc::new(vec![b'x'; 64 << 20]);
    let driver = stage.parts().0;
    assert_eq!(
        driver.send(SLOT, &Message::with_body(b"head".to_vec(), Some(&body))),
        SendProgress::Later
    );
    assert_eq!(receive(driver, 45), (45, 0));
    let kind = next(driver).kind;
    assert!(matches!(kind, EventKind::Failed(ECONNRESET | EPIPE) | EventKind::Ended), "{kind:?}");
    driver.close(SLOT, Close::Orderly);
}

fn a_reset_right_behind_bytes_is_told_after_them<S: Stage>(family: Family) {
    for _ in 0..20 {
        let mut stage = S::set(Scene::BreaksOff, family);
        connected(&mut stage);
        ask(&mut stage);
        stage.go_on();
        let driver = stage.parts().0;
        assert_eq!(receive(driver, 45), (45, 0));
        let kind = next(driver).kind;
        assert!(matches!(kind, EventKind::Failed(ECONNRESET | EPIPE)), "{kind:?}");
        driver.close(SLOT, Close::Orderly);
    }
}

fn what_was_to_be_sent_does_not_go_to_the_slots_next_connection<S: Stage>(family: Family) {
    let mut stage = S::set(Scene::Answers(3), family);
    connected(&mut stage);
    let body = Arc::new(vec![b'y'; 100_000]);
    let driver = stage.parts().0;
    let _ = driver.send(SLOT, &Message::with_body(b"request".to_vec(), Some(&body)));
    driver.close(SLOT, Close::Orderly);
    // A peer that were sent the rest of the first body would answer more than once.
    connected(&mut stage);
    ask(&mut stage);
    let driver = stage.parts().0;
    assert_eq!(receive(driver, 3), (3, 0));
    driver.wait(driver.now());
    assert_eq!(driver.next(), None);
}

fn passed_bytes_arrive_as_they_were<S: Stage>(family: Family) {
    for batch in [1, 8] {
        let mut stage = S::set(Scene::Checks, family);
        stage.parts().0.keep_to(CompletionBatch { sends: batch, linger: 0 });
        connected(&mut stage);
        stage.go_on();
        let mut from = 0;
        for length in [1, 100, 8_192, 8_193, 100, 20_000, 3_000_000, 1] {
            let mut bytes = piece(from, length);
            let left = 1 - pass(&mut stage, &mut bytes).1;
            assert_eq!(receive(stage.parts().0, left), (left, 0));
            from += length;
        }
        stage.parts().0.close(SLOT, Close::Orderly);
    }
}

fn many_passes_in_a_row_stay_in_order<S: Stage>(family: Family) {
    for (batch, most) in [(1, 3_000), (8, 3_000), (8, 300_000)] {
        let mut stage = S::set(Scene::Checks, family);
        stage.parts().0.keep_to(CompletionBatch { sends: batch, linger: 0 });
        connected(&mut stage);
        let (mut from, mut bytes, mut pieces) = (0, Vec::new(), 0);
        let (mut waits, mut answers) = (0, 0);
        // The peer reads nothing until there was no room, and then not all at once.
        while waits < 5 {
            let length = 1 + pieces * 7_919 % most;
            bytes.extend_from_slice(&piece(from, length));
            let (waited, answered) = pass(&mut stage, &mut bytes);
            (waits, answers) = (waits + u32::from(waited), answers + answered);
            (from, pieces) = (from + length, pieces + 1);
        }
        let left = pieces - answers;
        assert_eq!(receive(stage.parts().0, left), (left, 0));
        stage.parts().0.close(SLOT, Close::Orderly);
    }
}

fn a_reset_amid_passes_is_told_after_what_came<S: Stage>(family: Family) {
    let mut stage = S::set(Scene::Objects, family);
    connected(&mut stage);
    let driver = stage.parts().0;
    assert_eq!(driver.pass(SLOT, &mut vec![b'x'; 64 << 20]), SendProgress::Later);
    assert_eq!(receive(driver, 45), (45, 0));
    let kind = next(driver).kind;
    assert!(matches!(kind, EventKind::Failed(ECONNRESET | EPIPE) | EventKind::Ended), "{kind:?}");
    driver.close(SLOT, Close::Orderly);
}

fn a_reset_after_a_pass_is_told<S: Stage>(family: Family) {
    let mut stage = S::set(Scene::Resets, family);
    connected(&mut stage);
    pass(&mut stage, &mut b"request".to_vec());
    let kind = next(stage.parts().0).kind;
    assert!(matches!(kind, EventKind::Failed(ECONNRESET | EPIPE)), "{kind:?}");
    stage.parts().0.close(SLOT, Close::Orderly);
}

fn what_was_passed_does_not_go_to_the_slots_next_connection<S: Stage>(family: Family) {
    for size in [8_000, 3_000_000] {
        let mut stage = S::set(Scene::Checks, family);
        stage.parts().0.keep_to(CompletionBatch { sends: 8, linger: 0 });
        connected(&mut stage);
        let _ = stage.parts().0.pass(SLOT, &mut vec![0; size]);
        stage.parts().0.close(SLOT, Close::Orderly);
        connected(&mut stage);
        // One for each connection.
        (0..2).for_each(|_| stage.go_on());
        assert_eq!(pass(&mut stage, &mut piece(0, 1_000)), (false, 0));
        assert_eq!(receive(stage.parts().0, 1), (1, 0));
    }
}

fn received_bytes_may_be_changed_in_place<S: Stage>(family: Family) {
    let mut stage = S::set(Scene::Answers(3), family);
    connected(&mut stage);
    for _ in 0..300 {
        ask(&mut stage);
        let (driver, mut left) = (stage.parts().0, 3);
        while left > 0 {
            let EventKind::Received(count) = next(driver).kind else { panic!("no bytes") };
            assert_eq!(driver.bytes_mut(), &b"xxx"[..count]);
            driver.bytes_mut().fill(b'y');
            assert_eq!(driver.bytes(), &b"yyy"[..count]);
            left -= count;
        }
    }
}

fn nothing_is_told_of_a_slots_former_connection<S: Stage>(family: Family) {
    let mut stage = S::set(Scene::Answers(100_000), family);
    for close in [Close::Orderly, Close::Reset, Close::Orderly] {
        connected(&mut stage);
        ask(&mut stage);
        // Its first bytes are here, others are on their way.
        assert!(matches!(next(stage.parts().0).kind, EventKind::Received(_)));
        stage.parts().0.close(SLOT, close);
    }
    // A connect whose end was not waited for.
    let (driver, way) = stage.parts();
    driver.connect(SLOT, &way);
    driver.close(SLOT, Close::Reset);
    connected(&mut stage);
    ask(&mut stage);
    assert_eq!(receive(stage.parts().0, 100_000), (100_000, 0));
}

/// A machine that is busy may let the time pass before the wait begins, and a driver may wake for
/// what it tells nobody. Each attempt is twice as long as the one before, so that only a driver whose
/// waits end too early, or are not counted, fails at all of them.
fn a_wait_ends_when_it_is_to<S: Stage>(family: Family) {
    let mut stage = S::set(Scene::Answers(1), family);
    connected(&mut stage);
    let (driver, _) = stage.parts();
    assert_eq!(driver.next(), None);
    let waits_out = |attempt| {
        let (until, idle_ns) = (driver.now() + (2_000_000_u64 << attempt), driver.idle_ns());
        driver.wait(until);
        assert_eq!(driver.next(), None);
        driver.woke() >= until && driver.idle_ns() > idle_ns
    };
    assert!((0..12).any(waits_out), "no wait lasted until its end");
}

/// How late a wait ends is up to the machine, except where the clock is simulated.
#[test]
fn a_simulated_wait_ends_neither_early_nor_late() {
    for family in Family::BOTH {
        let mut stage = InSimulation::set(Scene::Answers(1), family);
        connected(&mut stage);
        let (driver, _) = stage.parts();
        let (now, idle_ns) = (driver.now(), driver.idle_ns());
        driver.wait(now + 2_000_000);
        assert_eq!(driver.next(), None);
        assert_eq!(driver.woke(), now + 2_000_000);
        assert_eq!(driver.idle_ns() - idle_ns, 2_000_000);
    }
}

fn a_path_is_told_until_the_close<S: Stage>(family: Family) {
    for scene in [Scene::Answers(100), Scene::Closes, Scene::Resets] {
        let mut stage = S::set(scene, family);
        connected(&mut stage);
        ask(&mut stage);
        match scene {
            Scene::Answers(size) => drop(receive(stage.parts().0, size)),
            _ => drop(next(stage.parts().0)),
        }
        let (driver, _) = stage.parts();
        let path = driver.path(SLOT).unwrap();
        assert!(path.mss >= 500 && path.rtt.is_some_and(|rtt| rtt > 0), "{path:?}");
        assert!(path.options.is_some(), "{path:?}");
        driver.close(SLOT, Close::Orderly);
    }
}

/// The kernel's time of the handshake lies within the caller's, but for the microsecond that it counts
/// in.
fn the_handshake_is_told_once_established<S: Stage>(family: Family) {
    for _ in 0..20 {
        let mut stage = S::set(Scene::Answers(1), family);
        let (driver, way) = stage.parts();
        let called = driver.connect(SLOT, &way);
        let event = next(driver);
        assert_eq!(event.kind, EventKind::Connected(way.to.ip()));
        let told = driver.handshake(SLOT);
        let Some(TcpHandshake::Took(nanos)) = told else { panic!("{told:?}") };
        assert!(nanos <= event.at - called + 1_000, "{nanos}, {called} {event:?}");
        // It stays what it was, whatever is sent.
        ask(&mut stage);
        assert_eq!(receive(stage.parts().0, 1), (1, 0));
        assert_eq!(stage.parts().0.handshake(SLOT), told);
        stage.parts().0.close(SLOT, Close::Orderly);
    }
}

fn no_handshake_is_told_that_was_not_asked_for<S: Stage>(family: Family) {
    let mut stage = S::set(Scene::Answers(1), family);
    for asked in [true, false] {
        let (driver, way) = stage.parts();
        driver.connect(SLOT, &SocketRoute { ask_handshake: asked, ..way });
        assert_eq!(next(driver).kind, EventKind::Connected(way.to.ip()));
        assert_eq!(driver.handshake(SLOT).is_some(), asked);
        driver.close(SLOT, Close::Orderly);
    }
}

/// Sent, first byte, last byte: each not before the one before, whoever takes the time.
fn times_are_in_order<S: Stage>(family: Family) {
    for size in [1, 100, 1_000_000] {
        let mut stage = S::set(Scene::Answers(size), family);
        let mut latest = stage.parts().0.now();
        connected(&mut stage);
        for turn in 0..20 {
            let (driver, _) = stage.parts();
            let progress = match turn % 2 {
                0 => driver.send(SLOT, &Message::new(*b"request")),
                _ => driver.pass(SLOT, &mut b"request".to_vec()),
            };
            let SendProgress::Whole(sent) = progress else { panic!("no room for a request") };
            assert!(latest <= sent && sent <= driver.now(), "sent {sent}, before {latest}");
            latest = sent;
            let mut left = size;
            while left > 0 {
                let event = next(driver);
                let EventKind::Received(count) = event.kind else { panic!("{event:?}") };
                assert!(latest <= event.at, "received {}, before {latest}", event.at);
                (latest, left) = (event.at, left - count);
            }
            assert_eq!(driver.stamps(), Stamps::default());
        }
    }
}

macro_rules! held_to {
    ($($stage:ident: $module:ident),*; $scenarios:tt) => {
        $(mod $module {
            held_to!(@ $stage $scenarios);
        })*
    };
    (@ $stage:ident ($($scenario:ident),* $(,)?)) => {
        $(#[test]
        fn $scenario() {
            for family in super::Family::BOTH {
                super::$scenario::<super::$stage>(family);
            }
        })*
    };
}

held_to! {
    OverEpoll: epoll, OverStampedEpoll: epoll_with_kernel_stamps,
    OverUring: uring, OverUringOnce: uring_once, InSimulation: simulation;
    (
        a_refusal_is_told,
        a_connection_carries_several_exchanges,
        bytes_that_may_be_dropped_are_told_all_the_same,
        an_end_is_told,
        a_reset_is_told,
        what_there_is_no_room_for_is_sent_later,
        a_response_before_the_requests_end_is_told_before_the_end,
        a_reset_right_behind_bytes_is_told_after_them,
        what_was_to_be_sent_does_not_go_to_the_slots_next_connection,
        passed_bytes_arrive_as_they_were,
        many_passes_in_a_row_stay_in_order,
        a_reset_amid_passes_is_told_after_what_came,
        a_reset_after_a_pass_is_told,
        what_was_passed_does_not_go_to_the_slots_next_connection,
        received_bytes_may_be_changed_in_place,
        nothing_is_told_of_a_slots_former_connection,
        a_wait_ends_when_it_is_to,
        a_path_is_told_until_the_close,
        the_handshake_is_told_once_established,
        no_handshake_is_told_that_was_not_asked_for,
        times_are_in_order,
    )
}

// What concerns receiving also holds where received bytes have timestamps of their arrival.
held_to! {
    OverEpollLast: epoll_with_arrivals, OverEpollBoth: epoll_with_first_arrivals,
    OverUringLast: uring_with_arrivals, OverUringBoth: uring_with_first_arrivals;
    (
        a_connection_carries_several_exchanges,
        bytes_that_may_be_dropped_are_told_all_the_same,
        an_end_is_told,
        a_reset_is_told,
        a_response_before_the_requests_end_is_told_before_the_end,
        a_reset_right_behind_bytes_is_told_after_them,
        a_reset_amid_passes_is_told_after_what_came,
        a_reset_after_a_pass_is_told,
        received_bytes_may_be_changed_in_place,
        nothing_is_told_of_a_slots_former_connection,
        a_path_is_told_until_the_close,
        the_handshake_is_told_once_established,
        times_are_in_order,
    )
}
