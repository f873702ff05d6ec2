//! A server that remembers who asked for what.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use sixmark_units::family::Family;

use crate::DEADLINE;

/// A request as the server saw it.
#[derive(Debug)]
pub struct Seen {
    pub peer: IpAddr,
    /// Request line and header fields.
    pub head: String,
}

/// Listens on loopback of both families and answers requests without content.
#[derive(Debug)]
pub struct Server {
    addresses: [SocketAddr; 2],
    connections: Arc<AtomicUsize>,
    seen: Receiver<Seen>,
}

/// What a server does with a connection.
#[derive(Clone)]
struct Manner {
    greeting: &'static [u8],
    answers: Arc<AtomicUsize>,
    connections: Arc<AtomicUsize>,
    seen: Sender<Seen>,
}

impl Server {
    /// Answers every request.
    pub fn start() -> Server {
        Server::with(b"", usize::MAX)
    }

    /// Answers this many requests, over all connections, and leaves the others waiting.
    pub fn answering(answers: usize) -> Server {
        Server::with(b"", answers)
    }

    /// Speaks first, and something else than HTTP.
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

    /// Where it listens.
    pub fn address(&self, family: Family) -> SocketAddr {
        self.addresses[usize::from(family == Family::Ipv4)]
    }

    /// The URLs of `path`, IPv6 first.
    pub fn urls(&self, path: &str) -> [String; 2] {
        self.addresses.map(|address| format!("http://{address}{path}"))
    }

    /// Connections accepted so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Waits for that many requests.
    pub fn next(&self, count: usize) -> Vec<Seen> {
        (0..count).map(|_| self.seen.recv_timeout(DEADLINE).unwrap()).collect()
    }

    /// The requests seen and not yet taken; all of them once their client has ended.
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

/// Serves until the client goes away; its ways to do so are not errors here.
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
