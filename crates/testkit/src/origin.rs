//! sixmark's own server within the test process, and an address without a listener.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use sixmark_origin::{Identity, Options};
use sixmark_units::family::Family;
use socket2::{Domain, Socket, Type};
use tempfile::NamedTempFile;

/// sixmark's own server on the loopback addresses of both families.
#[derive(Debug)]
pub struct Origin {
    origin: sixmark_origin::Origin,
    scheme: &'static str,
    /// The certificate that clients have to trust, as a PEM file.
    authority: Option<NamedTempFile>,
}

impl Origin {
    /// Starts a server that speaks plain text.
    pub fn start() -> Origin {
        Origin::with(Options::default())
    }

    /// Starts a server that speaks TLS and HTTP/3.
    pub fn secure() -> Origin {
        Origin::secure_with(Options::default())
    }

    /// Starts a server that speaks TLS and HTTP/3, with other limits or addresses.
    pub fn secure_with(options: Options) -> Origin {
        let identity = Identity::made(&[]).unwrap();
        Origin::with(Options { identity: Some(identity), http3: true, ..options })
    }

    /// Starts a server with these options and one thread.
    pub fn with(options: Options) -> Origin {
        let options = Options { threads: 1, ..options };
        let scheme = if options.identity.is_some() { "https" } else { "http" };
        let authority = options.identity.as_ref().and_then(Identity::authority).map(|pem| {
            let file = NamedTempFile::new().unwrap();
            std::fs::write(file.path(), pem).unwrap();
            file
        });
        let origin = sixmark_origin::Origin::start(options).unwrap();
        Origin { origin, scheme, authority }
    }

    /// Returns the file for `--cacert`.
    pub fn authority(&self) -> &str {
        self.authority.as_ref().unwrap().path().to_str().unwrap()
    }

    /// Returns the address on which it listens.
    pub fn address(&self, family: Family) -> SocketAddr {
        let mut addresses = self.origin.addresses().iter();
        *addresses.find(|address| Family::of(address.ip()) == family).unwrap()
    }

    /// Returns the URL of `path`, which begins with `/`.
    pub fn url(&self, family: Family, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.address(family))
    }

    /// Returns the URLs of `path`, IPv6 first.
    pub fn urls(&self, path: &str) -> [String; 2] {
        Family::BOTH.map(|family| self.url(family, path))
    }
}

/// Returns an address that refuses connections for as long as the socket exists.
pub fn refusing(family: Family) -> (Socket, SocketAddr) {
    let (domain, address) = match family {
        Family::Ipv6 => (Domain::IPV6, SocketAddr::from((Ipv6Addr::LOCALHOST, 0))),
        Family::Ipv4 => (Domain::IPV4, SocketAddr::from((Ipv4Addr::LOCALHOST, 0))),
    };
    let socket = Socket::new(domain, Type::STREAM, None).unwrap();
    socket.bind(&address.into()).unwrap();
    let address = socket.local_addr().unwrap().as_socket().unwrap();
    (socket, address)
}
