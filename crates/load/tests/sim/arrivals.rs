//! The times at which received bytes arrived, over loopback.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use sixmark_sys::driver::{Arrival, Driver, Epoll, EventKind, Message, SendProgress, Uring};
use sixmark_sys::driver::{ReceiveStamps, SocketRoute};
use sixmark_testkit::datagrams::loopback;
use sixmark_testkit::events::next;
use sixmark_units::family::Family;

use super::real::Make;

const SLOT: u32 = 1;
const PIECE: usize = 1_000;
const ROUNDS: usize = 40;

struct Burst {
    /// A time between the two pieces.
    between: u64,
    arrived: Arrival,
}

/// Sends a request, lets the peer answer in two pieces at different times, and only then receives.
/// Returns `None` if the pieces were not received together, or have no timestamp: on a busy machine
/// the kernel may deliver the second one later, and begin late to timestamp what it receives.
fn receive_burst(driver: &mut impl Driver, peer: &mut TcpStream) -> Option<Burst> {
    let before = driver.now();
    let progress = driver.send(SLOT, &Message::new(*b"request"));
    assert!(matches!(progress, SendProgress::Whole(_)), "{progress:?}");
    peer.read_exact(&mut [0; 7]).unwrap();
    peer.write_all(&[b'x'; PIECE]).unwrap();
    let between = driver.now();
    // Longer than the clocks of arrivals and of the driver may be apart.
    while driver.now() < between + 100_000 {}
    peer.write_all(&[b'x'; PIECE]).unwrap();
    let event = next(driver);
    if event.kind == EventKind::Received(PIECE) {
        assert_eq!(next(driver).kind, EventKind::Received(PIECE));
        return None;
    }
    assert_eq!(event.kind, EventKind::Received(2 * PIECE));
    let arrived = driver.arrived()?;
    assert!(before <= arrived.first && arrived.first <= arrived.last, "{arrived:?}");
    assert!(between <= arrived.last && arrived.last <= event.at, "{arrived:?} {event:?}");
    Some(Burst { between, arrived })
}

/// Returns in how many of the bursts the first byte's time was that of the first piece. The kernel may
/// merge the pieces of some.
fn bursts_told_apart<D: Make>(stamps: ReceiveStamps, family: Family) -> usize {
    let listener = TcpListener::bind(loopback(family)).unwrap();
    let to = listener.local_addr().unwrap();
    let mut driver = D::make();
    let way = SocketRoute {
        to,
        from: None,
        no_delay: true,
        lasting: true,
        ask_handshake: false,
        stamps,
        datagrams: false,
    };
    driver.connect(SLOT, &way);
    assert_eq!(next(&mut driver).kind, EventKind::Connected(to.ip()));
    let mut peer = listener.accept().unwrap().0;
    peer.set_nodelay(true).unwrap();
    let bursts = (0..ROUNDS).filter_map(|_| receive_burst(&mut driver, &mut peer));
    bursts.filter(|Burst { between, arrived }| arrived.first <= *between).count()
}

fn tells_first_from_last<D: Make>() {
    for family in Family::BOTH {
        let apart = |stamps| bursts_told_apart::<D>(stamps, family);
        assert!(apart(ReceiveStamps::FirstAndLast) > 0, "{family}");
        assert_eq!(apart(ReceiveStamps::Last), 0, "{family}");
    }
}

#[test]
fn epoll_tells_when_the_first_and_the_last_byte_arrived() {
    tells_first_from_last::<Epoll>();
}

#[test]
fn io_uring_tells_when_the_first_and_the_last_byte_arrived() {
    tells_first_from_last::<Uring>();
}
