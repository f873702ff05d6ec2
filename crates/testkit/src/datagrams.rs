//! Two slots of a driver that send datagrams to each other.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use sixmark_sys::driver::{
    Close, Driver, Event, EventKind, LocalAddress, ReceiveStamps, SendProgress, Slot, SocketRoute,
};
use sixmark_units::family::Family;

use crate::events::next;

/// The slot of one end.
pub const HERE: Slot = 2;
/// The slot of the other end.
pub const THERE: Slot = 5;
/// The size in bytes of a datagram that fits every path MTU.
pub const SIZE: usize = 1_200;

/// Returns the loopback address with port 0.
pub fn loopback(family: Family) -> SocketAddr {
    match family {
        Family::Ipv6 => (Ipv6Addr::LOCALHOST, 0).into(),
        Family::Ipv4 => (Ipv4Addr::LOCALHOST, 0).into(),
    }
}

/// Connects a slot and asserts that it succeeds.
pub fn connected(driver: &mut impl Driver, slot: Slot, to: SocketAddr, from: Option<SocketAddr>) {
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
        stamps: ReceiveStamps::Absent,
        datagrams: true,
    };
    driver.connect(slot, &way);
    let event = next(driver);
    assert_eq!(event.slot, slot);
    event.kind
}

/// Sends datagrams of `segment` bytes and waits until the kernel has accepted them.
pub fn cast(driver: &mut impl Driver, slot: Slot, bytes: &[u8], segment: Option<usize>, ecn: u8) {
    match driver.cast(slot, bytes, segment, ecn) {
        SendProgress::Whole(at) => assert!(at <= driver.now()),
        SendProgress::Later => {
            let event = next(driver);
            assert_eq!((event.slot, event.kind), (slot, EventKind::Sent));
        }
    }
}

/// Connects the two slots to each other. A temporary socket serves to find their ports.
pub fn pair(driver: &mut impl Driver, family: Family) {
    while !paired(driver, family) {
        driver.close(HERE, Close::Orderly);
        driver.close(THERE, Close::Orderly);
    }
}

/// Returns false if another process took the port in the meantime.
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

/// Returns the next datagrams received in a slot, and their ECN bits.
pub fn heard(driver: &mut impl Driver, slot: Slot) -> (Vec<Vec<u8>>, u8) {
    let event = next(driver);
    let Event { kind: EventKind::Datagrams { length, segment, ecn, .. }, .. } = event else {
        panic!("{event:?}")
    };
    assert_eq!((event.slot, driver.bytes().len()), (slot, length));
    let cut: Vec<_> = driver.bytes().chunks(segment).map(<[u8]>::to_vec).collect();
    (if cut.is_empty() { vec![Vec::new()] } else { cut }, ecn)
}

/// Receives in a slot until there are at least `count` datagrams, and returns them.
pub fn heard_in_all(driver: &mut impl Driver, slot: Slot, count: usize) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    while all.len() < count {
        all.extend(heard(driver, slot).0);
    }
    all
}

/// Returns datagrams that begin with their number.
pub fn numbered(numbers: std::ops::Range<u32>, size: usize) -> Vec<Vec<u8>> {
    let datagram = |number: u32| {
        let mut bytes = vec![number as u8; size];
        bytes[..4].copy_from_slice(&number.to_be_bytes());
        bytes
    };
    numbers.map(datagram).collect()
}
