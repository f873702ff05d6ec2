//! What the drivers of the kernel's must do alike with datagrams, over loopback: two slots of one
//! driver are each other's peers.

use std::net::UdpSocket;

use libc::ECONNREFUSED;
use sixmark_sys::driver::{
    Close, Driver, Epoll, EventKind, PeerWrites, SendProgress, Stamps, Uring,
};
use sixmark_testkit::datagrams::{
    HERE, SIZE, THERE, cast, connected, heard, heard_in_all, loopback, numbered, pair,
};
use sixmark_testkit::events::next;
use sixmark_units::family::Family;

fn several_datagrams_go_and_come_at_once(driver: &mut impl Driver, family: Family) {
    pair(driver, family);
    for (from, to) in [(HERE, THERE), (THERE, HERE), (HERE, THERE)] {
        let mut sent = numbered(0..11, SIZE);
        sent[10].truncate(500);
        cast(driver, from, &sent.concat(), Some(SIZE), 0);
        // The kernel joins what it has not cut yet.
        let (first, _) = heard(driver, to);
        assert!(first.len() > 1);
        let rest = heard_in_all(driver, to, sent.len() - first.len());
        assert_eq!([first, rest].concat(), sent);
        driver.bytes_mut().fill(0);
    }
}

fn more_than_one_packet_holds_is_cut_into_several(driver: &mut impl Driver, family: Family) {
    pair(driver, family);
    for (count, size) in [(150, SIZE), (300, 100), (3, 40_000)] {
        let sent = numbered(0..count, size);
        cast(driver, HERE, &sent.concat(), Some(size), 0);
        assert_eq!(heard_in_all(driver, THERE, sent.len()), sent);
    }
}

fn a_large_burst_stays_in_order(driver: &mut impl Driver, family: Family) {
    pair(driver, family);
    for round in 0..200 {
        let sent = numbered(round * 50..(round + 1) * 50, SIZE);
        cast(driver, HERE, &sent.concat(), Some(SIZE), 0);
        assert_eq!(heard_in_all(driver, THERE, 50), sent);
    }
    assert_eq!(driver.drops(THERE), 0);
}

fn ecn_bits_are_carried(driver: &mut impl Driver, family: Family) {
    pair(driver, family);
    for ecn in [0, 1, 2, 3, 0] {
        for (sent, segment) in [(numbered(0..1, SIZE), None), (numbered(0..3, SIZE), Some(SIZE))] {
            cast(driver, HERE, &sent.concat(), segment, ecn);
            assert_eq!(heard(driver, THERE), (sent, ecn));
        }
    }
}

fn an_empty_datagram_is_one_too(driver: &mut impl Driver, family: Family) {
    pair(driver, family);
    for _ in 0..3 {
        cast(driver, HERE, b"", None, 0);
        cast(driver, HERE, b"x", None, 0);
        assert_eq!(heard_in_all(driver, THERE, 2), [b"".to_vec(), b"x".to_vec()]);
    }
}

fn a_port_that_nobody_has_refuses(driver: &mut impl Driver, family: Family) {
    for _ in 0..3 {
        let gone = UdpSocket::bind(loopback(family)).unwrap().local_addr().unwrap();
        connected(driver, HERE, gone, None);
        cast(driver, HERE, b"anybody?", None, 0);
        assert_eq!(next(driver).kind, EventKind::Failed(ECONNREFUSED));
        driver.close(HERE, Close::Orderly);
    }
}

fn what_is_too_large_is_lost_and_no_failure(driver: &mut impl Driver, family: Family) {
    pair(driver, family);
    let mtu = driver.mtu(HERE).unwrap();
    assert!(mtu >= 1_280, "{mtu}");
    cast(driver, HERE, &vec![0; mtu as usize], None, 0);
    cast(driver, HERE, &vec![0; 3 * mtu as usize], Some(mtu as usize), 0);
    cast(driver, HERE, b"small", None, 0);
    assert_eq!(heard_in_all(driver, THERE, 1), [b"small"]);
}

fn times_are_in_order(driver: &mut impl Driver, family: Family) {
    pair(driver, family);
    for (from, to) in [(HERE, THERE), (THERE, HERE)].repeat(10) {
        let SendProgress::Whole(sent) = driver.cast(from, &[0; 3 * SIZE], Some(SIZE), 0) else {
            panic!("no room")
        };
        let event = next(driver);
        assert!(event.slot == to && sent <= event.at, "sent {sent}, {event:?}");
    }
    assert_eq!(driver.stamps(), Stamps::default());
}

fn an_answer_within_one_wait_is_not_older_than_its_request(
    driver: &mut impl Driver,
    family: Family,
) {
    pair(driver, family);
    for _ in 0..10 {
        cast(driver, THERE, b"first", None, 0);
        assert_eq!(next(driver).slot, HERE);
        let SendProgress::Whole(sent) = driver.cast(HERE, b"request", None, 0) else {
            panic!("no room")
        };
        cast(driver, THERE, b"answer", None, 0);
        // The request is told too, before it or after it.
        let events = [next(driver), next(driver)];
        let answer = events.iter().find(|event| event.slot == HERE).unwrap();
        assert!(sent <= answer.at, "sent {sent}, {events:?}");
    }
}

fn what_finds_no_room_is_counted(driver: &mut impl Driver, family: Family) {
    pair(driver, family);
    for number in 0..400 {
        let sent = numbered(number..number + 50, SIZE);
        cast(driver, HERE, &sent.concat(), Some(SIZE), 0);
    }
    assert!(driver.drops(THERE) > 0);
    assert_eq!(driver.drops(HERE), 0);
    // What did find room is intact.
    assert_eq!(heard(driver, THERE).0[0], numbered(0..1, SIZE)[0]);
}

fn nothing_is_told_of_a_closed_slots_datagrams(driver: &mut impl Driver, family: Family) {
    pair(driver, family);
    for close in [Close::Orderly, Close::Reset, Close::Orderly] {
        let sent = numbered(0..100, SIZE);
        cast(driver, HERE, &sent.concat(), Some(SIZE), 0);
        cast(driver, THERE, &sent.concat(), Some(SIZE), 0);
        // Some was told, some waits.
        assert!(matches!(next(driver).kind, EventKind::Datagrams { .. }));
        driver.close(HERE, close);
        driver.close(THERE, close);
        pair(driver, family);
        cast(driver, HERE, b"new", None, 0);
        assert_eq!(heard_in_all(driver, THERE, 1), [b"new"]);
    }
}

macro_rules! held_to {
    ($($module:ident: $make:expr),*; $scenarios:tt) => {
        $(mod $module {
            use super::*;
            held_to!(@ $make; $scenarios);
        })*
    };
    (@ $make:expr; ($($scenario:ident),* $(,)?)) => {
        $(#[test]
        fn $scenario() {
            for family in Family::BOTH {
                super::$scenario(&mut $make.unwrap(), family);
            }
        })*
    };
}

held_to! {
    epoll: Epoll::new(), epoll_with_kernel_stamps: Epoll::with_kernel_stamps(), uring: Uring::new(8, PeerWrites::Single);
    (
        several_datagrams_go_and_come_at_once,
        more_than_one_packet_holds_is_cut_into_several,
        a_large_burst_stays_in_order,
        ecn_bits_are_carried,
        an_empty_datagram_is_one_too,
        a_port_that_nobody_has_refuses,
        what_is_too_large_is_lost_and_no_failure,
        times_are_in_order,
        an_answer_within_one_wait_is_not_older_than_its_request,
        what_finds_no_room_is_counted,
        nothing_is_told_of_a_closed_slots_datagrams,
    )
}
