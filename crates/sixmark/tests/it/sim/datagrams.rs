//! What the drivers of the kernel's must do alike with datagrams, over loopback: two slots of one
//! driver are each other's peers.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::process::Command;

use libc::ECONNREFUSED;
use sixmark_sys::driver::{
    Close, Driver, Epoll, Event, EventKind, Handed, LocalAddress, PeerWrites, Slot, SocketRoute,
    Stamps, Uring,
};
use sixmark_units::family::Family;

use super::conformance::next;
use crate::support::skipped;

const HERE: Slot = 2;
const THERE: Slot = 5;
const SIZE: usize = 1_200;

pub(super) fn loopback(family: Family) -> SocketAddr {
    match family {
        Family::Ipv6 => (Ipv6Addr::LOCALHOST, 0).into(),
        Family::Ipv4 => (Ipv4Addr::LOCALHOST, 0).into(),
    }
}

fn connected(driver: &mut impl Driver, slot: Slot, to: SocketAddr, from: Option<SocketAddr>) {
    assert_eq!(connect(driver, slot, to, from), EventKind::Connected(to.ip()));
}

fn connect(
    driver: &mut impl Driver,
    slot: Slot,
    to: SocketAddr,
    from: Option<SocketAddr>,
) -> EventKind {
    let from = from.map(|address| LocalAddress { address, foreign: false });
    let way = SocketRoute {
        to,
        from,
        no_delay: false,
        lasting: true,
        ask_handshake: false,
        datagrams: true,
    };
    driver.connect(slot, &way);
    let event = next(driver);
    assert_eq!(event.slot, slot);
    event.kind
}

fn cast(driver: &mut impl Driver, slot: Slot, bytes: &[u8], segment: Option<usize>, ecn: u8) {
    match driver.cast(slot, bytes, segment, ecn) {
        Handed::Whole(at) => assert!(at <= driver.now()),
        Handed::Later => {
            let event = next(driver);
            assert_eq!((event.slot, event.kind), (slot, EventKind::Sent));
        }
    }
}

/// Makes the two slots each other's peers: a socket that is gone by then introduces them.
fn pair(driver: &mut impl Driver, family: Family) {
    while !paired(driver, family) {
        driver.close(HERE, Close::Orderly);
        driver.close(THERE, Close::Orderly);
    }
}

/// False where somebody else took the port in between.
fn paired(driver: &mut impl Driver, family: Family) -> bool {
    let between = UdpSocket::bind(loopback(family)).unwrap();
    let there = between.local_addr().unwrap();
    connected(driver, HERE, there, None);
    cast(driver, HERE, b"hello", None, 0);
    let here = between.recv_from(&mut [0; 5]).unwrap().1;
    drop(between);
    let kind = connect(driver, THERE, here, Some(there));
    assert!(kind == EventKind::Connected(here.ip()) || kind == EventKind::Failed(libc::EADDRINUSE));
    kind == EventKind::Connected(here.ip())
}

/// The next datagrams to come in a slot, and their ECN bits.
fn heard(driver: &mut impl Driver, slot: Slot) -> (Vec<Vec<u8>>, u8) {
    let event = next(driver);
    let Event { kind: EventKind::Datagrams { length, segment, ecn }, .. } = event else {
        panic!("{event:?}")
    };
    assert_eq!((event.slot, driver.bytes().len()), (slot, length));
    let cut: Vec<_> = driver.bytes().chunks(segment).map(<[u8]>::to_vec).collect();
    (if cut.is_empty() { vec![Vec::new()] } else { cut }, ecn)
}

fn heard_in_all(driver: &mut impl Driver, slot: Slot, count: usize) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    while all.len() < count {
        all.extend(heard(driver, slot).0);
    }
    all
}

/// Datagrams whose first bytes say their number.
fn numbered(numbers: std::ops::Range<u32>, size: usize) -> Vec<Vec<u8>> {
    let datagram = |number: u32| {
        let mut bytes = vec![number as u8; size];
        bytes[..4].copy_from_slice(&number.to_be_bytes());
        bytes
    };
    numbers.map(datagram).collect()
}

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
        let Handed::Whole(sent) = driver.cast(from, &[0; 3 * SIZE], Some(SIZE), 0) else {
            panic!("no room")
        };
        let event = next(driver);
        assert!(event.slot == to && sent <= event.at, "sent {sent}, {event:?}");
    }
    assert_eq!(driver.stamps(), Stamps::default());
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

/// Sends twice until there is no room, and expects all of it in order.
fn what_there_is_no_room_for_goes_later(driver: &mut impl Driver, family: Family) {
    pair(driver, family);
    let (mut sent, mut came) = (0, Vec::new());
    for _ in 0..2 {
        let mut handed = Handed::Whole(0);
        while handed != Handed::Later {
            let datagrams = numbered(sent..sent + 50, SIZE).concat();
            handed = driver.cast(HERE, &datagrams, Some(SIZE), 0);
            sent += 50;
            assert!(sent < 20_000, "there is room for everything");
        }
        loop {
            match next(driver).kind {
                EventKind::Sent => break,
                EventKind::Datagrams { segment, .. } => {
                    came.extend(driver.bytes().chunks(segment).map(<[u8]>::to_vec));
                }
                other => panic!("{other:?}"),
            }
        }
    }
    let left = sent as usize - came.len();
    came.extend(heard_in_all(driver, THERE, left));
    assert_eq!(came, numbered(0..sent, SIZE));
    // And one that is closed while something is left.
    while driver.cast(HERE, &[0; 50 * SIZE], Some(SIZE), 0) != Handed::Later {}
    driver.close(HERE, Close::Orderly);
    assert_eq!(heard(driver, THERE).0[0].len(), SIZE);
}

#[test]
#[ignore = "for a network whose loopback is slow: see the next one"]
fn over_a_slow_loopback() {
    for family in Family::BOTH {
        what_there_is_no_room_for_goes_later(&mut Epoll::new().unwrap(), family);
        what_there_is_no_room_for_goes_later(&mut Epoll::with_kernel_stamps().unwrap(), family);
        what_there_is_no_room_for_goes_later(
            &mut Uring::new(8, PeerWrites::Single).unwrap(),
            family,
        );
    }
}

/// An ordinary loopback never has what was sent wait.
#[test]
fn datagrams_that_there_is_no_room_for_go_later() {
    if skipped("netns") {
        return;
    }
    let slow = "ip link set lo up && tc qdisc add dev lo root tbf rate 400mbit burst 128kb limit 40mb \
        && exec \"$0\" --ignored --exact sim::datagrams::over_a_slow_loopback";
    let this = std::env::current_exe().unwrap();
    let output = Command::new("unshare").args(["-n", "sh", "-c", slow]).arg(this).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let lacking = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("1 passed"), "this needs root, unshare, ip and tc: {lacking}{said}");
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
        what_finds_no_room_is_counted,
        nothing_is_told_of_a_closed_slots_datagrams,
    )
}
