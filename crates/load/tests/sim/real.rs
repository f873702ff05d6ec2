//! The scenes of `conformance`, over loopback.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use sixmark_sys::driver::{Driver, Epoll, PeerWrites, ReceiveStamps, SocketRoute, Uring};
use sixmark_units::family::Family;
use socket2::{Domain, Socket, Type};

use super::stage::{Checker, Scene, Stage};

/// A driver of the kernel's with such a peer.
pub(crate) struct Real<D, const LASTING: bool> {
    driver: D,
    stamps: ReceiveStamps,
    peer: Peer,
}

/// Every way in which a driver of the kernel's treats connections.
pub(crate) type OverEpoll = Real<Epoll, true>;
pub(crate) type OverUring = Real<Uring, true>;
pub(crate) type OverUringOnce = Real<Uring, false>;

/// How a driver of the kernel's is made.
pub(crate) trait Make: Driver {
    fn make() -> Self;
}

impl Make for Epoll {
    fn make() -> Epoll {
        Epoll::new().unwrap()
    }
}

impl Make for Uring {
    fn make() -> Uring {
        Uring::new(8, PeerWrites::Single).unwrap()
    }
}

impl<D: Make, const LASTING: bool> Stage for Real<D, LASTING> {
    type Driver = D;

    fn set(scene: Scene, family: Family) -> Self {
        Real { driver: D::make(), stamps: ReceiveStamps::Absent, peer: Peer::start(scene, family) }
    }

    fn parts(&mut self) -> (&mut D, SocketRoute) {
        let way = SocketRoute {
            to: self.peer.address,
            from: None,
            no_delay: false,
            lasting: LASTING,
            ask_handshake: true,
            stamps: self.stamps,
            datagrams: false,
        };
        (&mut self.driver, way)
    }

    fn go_on(&mut self) {
        // Only one that hesitates waits for it.
        let _ = self.peer.go_on.send(());
    }
}

/// The same with the kernel's stamps.
pub(crate) struct OverStampedEpoll(OverEpoll);

impl Stage for OverStampedEpoll {
    type Driver = Epoll;

    fn set(scene: Scene, family: Family) -> OverStampedEpoll {
        let driver = Epoll::with_kernel_stamps().unwrap();
        let (stamps, peer) = (ReceiveStamps::Absent, Peer::start(scene, family));
        OverStampedEpoll(OverEpoll { driver, stamps, peer })
    }

    fn parts(&mut self) -> (&mut Epoll, SocketRoute) {
        self.0.parts()
    }

    fn go_on(&mut self) {
        self.0.go_on();
    }
}

/// A driver with timestamps of arrivals beside its own times: of the first byte as well if `BOTH`.
pub(crate) struct Arriving<D, const BOTH: bool>(Real<D, true>);

pub(crate) type OverEpollLast = Arriving<Epoll, false>;
pub(crate) type OverEpollBoth = Arriving<Epoll, true>;
pub(crate) type OverUringLast = Arriving<Uring, false>;
pub(crate) type OverUringBoth = Arriving<Uring, true>;

impl<D: Make, const BOTH: bool> Stage for Arriving<D, BOTH> {
    type Driver = D;

    fn set(scene: Scene, family: Family) -> Self {
        let stamps = if BOTH { ReceiveStamps::FirstAndLast } else { ReceiveStamps::Last };
        Arriving(Real { driver: D::make(), stamps, peer: Peer::start(scene, family) })
    }

    fn parts(&mut self) -> (&mut D, SocketRoute) {
        self.0.parts()
    }

    fn go_on(&mut self) {
        self.0.go_on();
    }
}

/// A server on a port of its own. Its threads end when their connections do; the one that accepts
/// ends with the process.
struct Peer {
    address: SocketAddr,
    go_on: Sender<()>,
    /// Bound but not listening: the port is taken and refuses.
    _refusing: Option<Socket>,
}

impl Peer {
    fn start(scene: Scene, family: Family) -> Peer {
        let address = match family {
            Family::Ipv6 => SocketAddr::from((Ipv6Addr::LOCALHOST, 0)),
            Family::Ipv4 => SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        };
        let (go_on, gone_on) = channel();
        if scene == Scene::Refuses {
            let socket = Socket::new(Domain::for_address(address), Type::STREAM, None).unwrap();
            socket.bind(&address.into()).unwrap();
            let address = socket.local_addr().unwrap().as_socket().unwrap();
            return Peer { address, go_on, _refusing: Some(socket) };
        }
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || serve(&listener, scene, &gone_on));
        Peer { address, go_on, _refusing: None }
    }
}

/// One connection after the other: the scenes have one at a time.
fn serve(listener: &TcpListener, scene: Scene, gone_on: &Receiver<()>) {
    while let Ok((stream, _)) = listener.accept() {
        // The client may be gone already; that is for its side to judge.
        let _ = play(stream, scene, gone_on);
    }
}

fn check(mut stream: TcpStream) -> std::io::Result<()> {
    let (mut checker, mut bytes) = (Checker::default(), vec![0; 32 * 1024]);
    loop {
        let count = stream.read(&mut bytes)?;
        let ends = checker.check(&bytes[..count]).filter(|_| count > 0);
        let Some(ends) = ends else { return Ok(()) };
        stream.write_all(&vec![b'x'; ends])?;
    }
}

fn play(mut stream: TcpStream, scene: Scene, gone_on: &Receiver<()>) -> std::io::Result<()> {
    let mut request = [0; 7];
    match scene {
        Scene::Hesitates => {
            let _ = gone_on.recv();
            std::io::copy(&mut stream, &mut std::io::sink())?;
        }
        Scene::Checks => {
            let _ = gone_on.recv();
            check(stream)?;
        }
        Scene::Answers(size) => loop {
            stream.read_exact(&mut request)?;
            stream.write_all(&vec![b'x'; size])?;
        },
        Scene::Objects => {
            stream.read_exact(&mut request[..4])?;
            stream.write_all(&[b'x'; 45])?;
            // What is unread makes the close a reset; the peer has the answer by then.
        }
        Scene::BreaksOff => {
            stream.read_exact(&mut request)?;
            stream.write_all(&[b'x'; 45])?;
            Socket::from(stream).set_linger(Some(Duration::ZERO))?;
        }
        Scene::Resets => {
            stream.read_exact(&mut request)?;
            Socket::from(stream).set_linger(Some(Duration::ZERO))?;
        }
        Scene::Closes => stream.read_exact(&mut request)?,
        Scene::Refuses => {}
    }
    Ok(())
}
