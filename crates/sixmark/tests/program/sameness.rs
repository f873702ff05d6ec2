//! A family that does not answer, on loopback.

use std::net::{Ipv6Addr, SocketAddr, TcpStream};
use std::time::Duration;

use sixmark_testkit::incomparable::{BLOCKS, must_say};
use sixmark_testkit::{DEADLINE, Origin, refusing};
use sixmark_units::family::Family;
use socket2::{Domain, Socket, Type};

#[test]
fn a_comparison_reports_that_a_family_does_not_answer() {
    let origin = Origin::start();
    let fine = origin.url(Family::Ipv4, "/bytes/4096");
    let (_kept, closed) = refusing(Family::Ipv6);
    let (_full, deaf) = deaf();
    let short = ["--blocks", "6", "-n", "8", "-c", "4", "--timeout", "100ms"];
    for (url, load, headline) in [
        (format!("http://{closed}/"), BLOCKS.to_vec(), "IPv6 does not answer: 0 of "),
        (
            format!("http://{deaf}/"),
            short.to_vec(),
            "IPv6 does not answer: 0 of 8, no connection in time",
        ),
        (
            origin.url(Family::Ipv6, "/truncate/4096"),
            BLOCKS.to_vec(),
            "IPv6 returns no complete response: 0 of 60, the answer ended too early",
        ),
    ] {
        must_say(&[url, fine.clone()], &load, headline, 3, true);
    }
}

/// An address whose queue of connections is full, so that what asks for more is dropped.
pub(super) fn deaf() -> (Vec<Box<dyn std::any::Any>>, SocketAddr) {
    let socket = Socket::new(Domain::IPV6, Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from((Ipv6Addr::LOCALHOST, 0)).into()).unwrap();
    socket.listen(0).unwrap();
    let address = socket.local_addr().unwrap().as_socket().unwrap();
    // A queue of 0 holds one connection; that the second one is not let in shows that it is full.
    let first = TcpStream::connect_timeout(&address, DEADLINE).unwrap();
    let mut kept: Vec<Box<dyn std::any::Any>> = vec![Box::new(socket), Box::new(first)];
    while let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_millis(200)) {
        kept.push(Box::new(stream));
    }
    (kept, address)
}
