//! What the origin says and does over TLS, HTTP/2 and HTTP/3. Over HTTP/1.1 in plain text its own
//! tests look at the bytes.

mod ends;
mod limits;
mod routes;

use std::net::SocketAddr;

use sixmark_origin::{Identity, Limits, Options, Origin};
use sixmark_testkit::client::{Answer, Protocol, Wish, ask};

/// An origin and what is needed to talk with it.
struct Stage {
    origin: Origin,
    /// None where it speaks plain text.
    authority: Option<String>,
    protocols: &'static [Protocol],
}

impl Stage {
    /// One that speaks plain text and one that speaks everything else.
    fn both(limits: Limits) -> [Stage; 2] {
        [Stage::plain(limits), Stage::secure(limits)]
    }

    fn plain(limits: Limits) -> Stage {
        let options = Options { threads: 2, limits, ..Options::default() };
        let protocols = &[Protocol::Http1, Protocol::Http2];
        Stage { origin: Origin::start(options).unwrap(), authority: None, protocols }
    }

    fn secure(limits: Limits) -> Stage {
        let identity = Identity::made(&[]).unwrap();
        let authority = identity.authority().map(str::to_owned);
        let identity = Some(identity);
        let options = Options { threads: 2, limits, identity, http3: true, ..Options::default() };
        Stage { origin: Origin::start(options).unwrap(), authority, protocols: &Protocol::ALL }
    }

    fn addresses(&self) -> &[SocketAddr] {
        self.origin.addresses()
    }

    fn pem(&self) -> &str {
        self.authority.as_deref().unwrap()
    }

    fn ask(
        &self,
        protocol: Protocol,
        address: SocketAddr,
        wish: Wish<'_>,
    ) -> Result<Answer, String> {
        ask(protocol, address, self.authority.as_deref(), wish)
    }
}

/// Every protocol over every family, in plain text where there is such a thing and over TLS.
fn everywhere(test: impl Fn(Protocol, &dyn Fn(Wish<'_>) -> Result<Answer, String>)) {
    for stage in Stage::both(Limits::default()) {
        for &address in stage.addresses() {
            for &protocol in stage.protocols {
                test(protocol, &|wish| stage.ask(protocol, address, wish));
            }
        }
    }
}

fn get(path: &str) -> Wish<'_> {
    Wish("GET", path, b"")
}
