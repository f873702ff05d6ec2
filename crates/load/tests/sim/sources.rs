//! The kernel has one number for a source address that is not this host's and for ports that are used up:
//! drivers tell which it is.

use std::net::SocketAddr;

use libc::EADDRNOTAVAIL;
use sixmark_sys::driver::{
    Close, Epoll, EventKind, LocalAddress, ReceiveStamps, SocketRoute, Uring,
};
use sixmark_testkit::events::next;

use super::real::Make;

const SLOT: u32 = 3;
/// Addresses of nobody, and of this host.
const ADDRESSES: [(&str, &str); 2] =
    [("[2001:db8::9]:0", "[::1]:9"), ("192.0.2.9:0", "127.0.0.1:9")];

fn without_source<D: Make>() {
    for (from, to) in ADDRESSES.map(|(from, to)| (from.parse().unwrap(), to.parse().unwrap())) {
        for datagrams in [false, true] {
            assert_eq!(
                begun::<D>(from, to, datagrams),
                EventKind::NoSource(EADDRNOTAVAIL),
                "{from}"
            );
        }
    }
}

fn begun<D: Make>(from: SocketAddr, to: SocketAddr, datagrams: bool) -> EventKind {
    let from = Some(LocalAddress { address: from, foreign: false });
    let way = SocketRoute {
        to,
        from,
        no_delay: false,
        lasting: true,
        ask_handshake: false,
        stamps: ReceiveStamps::Absent,
        datagrams,
    };
    let mut driver = D::make();
    driver.connect(SLOT, &way);
    let kind = next(&mut driver).kind;
    driver.close(SLOT, Close::Reset);
    kind
}

#[test]
fn epoll_reports_an_unavailable_source_address() {
    without_source::<Epoll>();
}

#[test]
fn io_uring_reports_an_unavailable_source_address() {
    without_source::<Uring>();
}
