//! What becomes of requests that still wait for room when their connection is closed, over loopback.

use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use sixmark_sys::driver::{
    Close, Epoll, EventKind, Message, ReceiveStamps, SendProgress, SocketRoute, Uring,
};
use sixmark_testkit::datagrams::loopback;
use sixmark_testkit::events::next;
use sixmark_units::family::Family;

use super::real::Make;

const SLOT: u32 = 3;
/// More than the buffers of both sockets have room for.
const REQUESTS: usize = 4_000;
const SIZE: usize = 8_000;
const SECOND: u64 = 1_000_000_000;

/// Small requests fill the buffers and wait, a large one waits behind them; then the connection is
/// closed. The kernel is done with the large one's body once the driver lets go of it, so that others
/// may write there.
fn a_close_takes_back_what_waits_for_room<D: Make>(family: Family, lasting: bool) {
    let listener = TcpListener::bind(loopback(family)).unwrap();
    let to = listener.local_addr().unwrap();
    let mut driver = D::make();
    let way = SocketRoute {
        to,
        from: None,
        no_delay: true,
        lasting,
        ask_handshake: false,
        stamps: ReceiveStamps::Absent,
        datagrams: false,
    };
    driver.connect(SLOT, &way);
    assert_eq!(next(&mut driver).kind, EventKind::Connected(to.ip()));
    let peer = listener.accept().unwrap().0;

    let small = (0..REQUESTS).map(|_| Message::new(vec![b's'; SIZE]));
    let progress =
        small.take_while(|small| driver.send(SLOT, small) != SendProgress::Later).count();
    let mut body = Arc::new(vec![b'l'; 1 << 20]);
    if progress == REQUESTS {
        // None of them waits to be told of.
        let large = Message::with_body(b"large".to_vec(), Some(&body));
        assert_eq!(driver.send(SLOT, &large), SendProgress::Later);
    }
    driver.wait(driver.now());
    driver.close(SLOT, Close::Reset);

    let deadline = driver.now() + 60 * SECOND;
    let wait_on = |driver: &mut D, what: &str| {
        assert!(driver.now() < deadline, "{what}");
        driver.wait(driver.now() + SECOND / 1_000);
        assert_eq!(driver.next(), None, "nothing is told of a closed connection");
    };
    while Arc::get_mut(&mut body).is_none() {
        wait_on(&mut driver, "the driver keeps the body of a closed connection");
    }
    Arc::get_mut(&mut body).unwrap().fill(b'X');
    let read = std::thread::spawn(move || read_all(peer));
    while !read.is_finished() {
        wait_on(&mut driver, "the connection stays open");
    }
    let came = read.join().unwrap();
    assert!(!came.contains(&b'X'), "bytes were sent that the driver had let go of");
    assert!(came.len() < progress * SIZE, "a closed connection went on sending: {}", came.len());
}

/// What comes until the end, which may be a reset.
fn read_all(mut peer: TcpStream) -> Vec<u8> {
    let mut came = Vec::new();
    let _ = peer.read_to_end(&mut came);
    came
}

fn over_both<D: Make>(lasting: bool) {
    for family in Family::BOTH {
        a_close_takes_back_what_waits_for_room::<D>(family, lasting);
    }
}

#[test]
fn closing_a_connection_discards_its_queued_sends_in_epoll() {
    over_both::<Epoll>(true);
}

#[test]
fn closing_discards_queued_sends_in_the_file_table_of_io_uring() {
    over_both::<Uring>(true);
}

#[test]
fn closing_a_connection_discards_its_queued_sends_in_io_uring() {
    over_both::<Uring>(false);
}
