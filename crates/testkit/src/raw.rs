//! A server that does with each connection what a test says.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

/// Listens on loopback of both families.
#[derive(Debug)]
pub struct Raw {
    addresses: [SocketAddr; 2],
}

impl Raw {
    /// Each connection has a thread of its own, in which `manner` deals with it until it is closed.
    pub fn start(manner: impl Fn(TcpStream) + Send + Sync + 'static) -> Raw {
        let manner = Arc::new(manner);
        let own = [IpAddr::from(Ipv6Addr::LOCALHOST), IpAddr::from(Ipv4Addr::LOCALHOST)];
        Raw { addresses: own.map(|address| listen(address, &manner)) }
    }

    /// The URLs of `/`, IPv6 first.
    pub fn urls(&self, scheme: &str) -> [String; 2] {
        self.addresses.map(|address| format!("{scheme}://{address}/"))
    }
}

fn listen(address: IpAddr, manner: &Arc<impl Fn(TcpStream) + Send + Sync + 'static>) -> SocketAddr {
    let listener = TcpListener::bind((address, 0)).unwrap();
    let bound = listener.local_addr().unwrap();
    let manner = Arc::clone(manner);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let manner = Arc::clone(&manner);
            std::thread::spawn(move || manner(stream));
        }
    });
    bound
}
