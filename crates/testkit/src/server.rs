//! A server that records the requests and their peers.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use sixmark_units::family::Family;

use crate::DEADLINE;

/// A request as the server received it.
#[derive(Debug)]
pub struct Seen {
    pub peer: IpAddr,
    /// The request line and the header fields.
    pub head: String,
}

/// A server on the loopback addresses of both families that answers requests without content.
#[derive(Debug)]
pub struct Server {
    addresses: [SocketAddr; 2],
    connections: Arc<AtomicUsize>,
    seen: Receiver<Seen>,
}

/// The behaviour of a server on a connection.
#[derive(Clone)]
struct Manner {
    greeting: &'static [u8],
    answers: Arc<AtomicUsize>,
    connections: Arc<AtomicUsize>,
    seen: Sender<Seen>,
}

impl Server {
    /// Starts a server that answers every request.
    pub fn start() -> Server {
        Server::with(b"", usize::MAX)
    }

    /// Starts a server that answers this number of requests over all connections and no others.
    pub fn answering(answers: usize) -> Server {
        Server::with(b"", answers)
    }

    /// Starts a server that sends a greeting first, which is not HTTP, and answers no request.
    pub fn greeting(greeting: &'static [u8]) -> Server {
        Server::with(greeting, 0)
    }

    fn with(greeting: &'static [u8], answers: usize) -> Server {
        let (sender, seen) = channel();
        let connections = Arc::new(AtomicUsize::new(0));
        let answers = Arc::new(AtomicUsize::new(answers));
        let manner =
            Manner { greeting, answers, connections: Arc::clone(&connections), seen: sender };
        let own = [IpAddr::from(Ipv6Addr::LOCALHOST), IpAddr::from(Ipv4Addr::LOCALHOST)];
        let addresses = own.map(|address| listen(address, &manner));
        Server { addresses, connections, seen }
    }

    /// Returns the address on which it listens.
    pub fn address(&self, family: Family) -> SocketAddr {
        self.addresses[usize::from(family == Family::Ipv4)]
    }

    /// Returns the URLs of `path`, IPv6 first.
    pub fn urls(&self, path: &str) -> [String; 2] {
        self.addresses.map(|address| format!("http://{address}{path}"))
    }

    /// Returns the number of connections accepted so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Waits for `count` requests and returns them.
    pub fn next(&self, count: usize) -> Vec<Seen> {
        (0..count).map(|_| self.seen.recv_timeout(DEADLINE).unwrap()).collect()
    }

    /// Returns the requests that were received and not returned before. After the client has ended,
    /// these are all.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.try_iter().collect()
    }
}

fn listen(address: IpAddr, manner: &Manner) -> SocketAddr {
    let listener = TcpListener::bind((address, 0)).unwrap();
    let bound = listener.local_addr().unwrap();
    let manner = manner.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            manner.connections.fetch_add(1, Ordering::SeqCst);
            let manner = manner.clone();
            std::thread::spawn(move || serve(stream, &manner));
        }
    });
    bound
}

/// Serves a connection until the client closes it, in whatever way.
fn serve(mut stream: TcpStream, manner: &Manner) {
    let Ok(peer) = stream.peer_addr() else { return };
    let _ = stream.write_all(manner.greeting);
    while let Some(head) = read_head(&mut stream) {
        let bodiless = head.starts_with("HEAD ");
        let _ = manner.seen.send(Seen { peer: peer.ip(), head });
        let take = |left: usize| left.checked_sub(1);
        if manner.answers.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_ok() {
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
            let end = answer.len() - if bodiless { 2 } else { 0 };
            let _ = stream.write_all(&answer.as_bytes()[..end]);
        }
    }
}

fn read_head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return None,
        }
    }
    Some(String::from_utf8_lossy(&head).into_owned())
}
