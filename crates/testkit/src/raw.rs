//! A server whose behaviour on a connection is determined by the test.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

/// A server on the loopback addresses of both families.
#[derive(Debug)]
pub struct Raw {
    addresses: [SocketAddr; 2],
}

impl Raw {
    /// Starts a server that calls `manner` for each connection, in a thread of its own.
    pub fn start(manner: impl Fn(TcpStream) + Send + Sync + 'static) -> Raw {
        let manner = Arc::new(manner);
        let own = [IpAddr::from(Ipv6Addr::LOCALHOST), IpAddr::from(Ipv4Addr::LOCALHOST)];
        Raw { addresses: own.map(|address| listen(address, &manner)) }
    }

    /// Returns the URLs of `/`, IPv6 first.
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
