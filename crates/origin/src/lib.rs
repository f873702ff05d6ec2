//! The origin: a dual-stack server to measure against, with paths for sizes, delays, failures,
//! dynamic pages and uploads. `GET /` lists them. It supports HTTP/1.1 and HTTP/2 in plain text or
//! over TLS, and HTTP/3.
//!
//! It is meant to be a fast and predictable target: TCP_NODELAY, keep-alive, bodies streamed from
//! a static block, nothing logged. It runs on threads of its own, so that synchronous code can
//! start and stop it.
//!
//! This crate contains servers only, no client. Begin with [`Origin`], which starts one with its
//! [`Options`]; `turbo` and `bare` are two other servers with fewer features.

mod answer;
mod bare;
mod body;
mod dynamic;
mod host;
mod http3;
mod launch;
mod listen;
mod pause;
mod place;
mod preface;
mod queue;
mod route;
mod serve;
mod tls;
mod turbo;
mod wire;

#[cfg(test)]
mod tests;

pub use bare::{Bare, BareOptions, Congestion, LossRecovery, Prefix, Statistics};
pub use pause::Pause;
pub use tls::Identity;
pub use turbo::Turbo;

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use launch::{Running, Sockets};
use serde_json::{Value, json};
use sixmark_units::family::Family;
use tokio::sync::oneshot;

use sixmark_sys::threads::no_thread;

/// The configuration of an origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The addresses to listen on, at least one; port 0 lets the kernel choose. An IPv6 wildcard
    /// takes IPv6 only, so that `[::]:80` and `0.0.0.0:80` can stand side by side.
    pub listen: Vec<SocketAddr>,
    /// The number of worker threads; 0 means one per core.
    pub threads: usize,
    /// Periodic pauses. A response that is due during a pause is held until the pause ends.
    pub pause: Option<Pause>,
    /// The certificate for TLS; without one, the origin uses plain text.
    pub identity: Option<Identity>,
    /// Whether to serve HTTP/3 too, over UDP at the same addresses and ports. This requires an
    /// identity.
    pub http3: bool,
    /// The limits of a connection.
    pub limits: Limits,
}

/// The limits of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of concurrent streams of a client, over HTTP/2 and HTTP/3.
    pub streams: u32,
    /// The number of requests after which a connection is to end; no limit if absent. HTTP/1.1
    /// sends `Connection: close` with the last response. HTTP/2 and HTTP/3 send GOAWAY and answer
    /// the requests that have arrived by then.
    pub goaway_after: Option<u64>,
    /// Whether every QUIC client must first validate its address by answering a Retry packet.
    pub retry: bool,
}

impl Default for Limits {
    /// Returns 256 streams, no limit on requests, no Retry.
    fn default() -> Self {
        Limits { streams: 256, goaway_after: None, retry: false }
    }
}

impl Options {
    /// Returns the ALPN names of the protocols offered, the preferred one first.
    fn protocols(&self) -> &'static [&'static str] {
        if self.http3 { &["h3", "h2", "http/1.1"] } else { &["h2", "http/1.1"] }
    }

    fn describe(&self, addresses: &[SocketAddr]) -> Value {
        let scheme = if self.identity.is_some() { "https" } else { "http" };
        describe_all(addresses, scheme, self.protocols())
    }
}

impl Default for Options {
    /// Returns options for the loopback addresses of both families, ports chosen by the kernel, and
    /// one thread per core.
    fn default() -> Self {
        let listen = vec![(Ipv6Addr::LOCALHOST, 0).into(), (Ipv4Addr::LOCALHOST, 0).into()];
        let limits = Limits::default();
        Options { listen, threads: 0, pause: None, identity: None, http3: false, limits }
    }
}

/// A running origin. It stops when dropped.
#[derive(Debug)]
pub struct Origin {
    addresses: Vec<SocketAddr>,
    description: Value,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Origin {
    /// Binds all addresses and serves in the background. Clients can connect as soon as this
    /// returns.
    ///
    /// # Errors
    /// Fails if no address is given, if an address cannot be bound (the message names the address,
    /// the reason and a remedy), or if threads cannot be started. Nothing remains bound after an
    /// error.
    pub fn start(options: Options) -> io::Result<Origin> {
        let sockets = launch::bind_sockets(&options)?;
        let addresses =
            sockets.tcp.iter().map(TcpListener::local_addr).collect::<io::Result<Vec<_>>>()?;
        let description = options.describe(&addresses);
        let (stop, stopped) = oneshot::channel();
        let (ready, outcome) = mpsc::channel();
        // The runtime has its own thread. Dropping a runtime inside another one panics, and the
        // owner of an `Origin` may be asynchronous code.
        let thread = thread::Builder::new()
            .name("origin".into())
            .spawn(move || run_servers(sockets, &options, &ready, stopped))
            .map_err(|error| no_thread(&error))?;
        outcome.recv().unwrap_or_else(|_| Err(io::Error::other("the origin's thread ended")))?;
        Ok(Origin { addresses, description, stop: Some(stop), thread: Some(thread) })
    }

    /// Returns the bound addresses in the order of [`Options::listen`], with their actual ports.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Returns a JSON description by which a program can find the origin:
    /// `{"addresses":[{"family":"ipv6","address":"::1",
    /// "port":1,"url":"http://[::1]:1/","protocols":["h2","http/1.1"]}]}`, in the order of
    /// [`Options::listen`].
    pub fn describe(&self) -> Value {
        self.description.clone()
    }

    /// Closes the listening sockets and all connections. The ports are free when this returns.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // An error means that the thread panicked; it has ended then as well.
            let _ = thread.join();
        }
    }
}

fn run_servers(
    sockets: Sockets,
    options: &Options,
    ready: &mpsc::Sender<io::Result<()>>,
    stopped: oneshot::Receiver<()>,
) {
    let (running, outcome) = match Running::start(sockets, options) {
        Ok(running) => (Some(running), Ok(())),
        Err(error) => (None, Err(error)),
    };
    let _ = ready.send(outcome);
    if let Some(running) = running {
        running.until(stopped);
    }
}

fn describe_all(addresses: &[SocketAddr], scheme: &str, protocols: &[&str]) -> Value {
    let describe = |address| describe(address, scheme, protocols);
    json!({ "addresses": addresses.iter().map(describe).collect::<Vec<_>>() })
}

fn describe(address: &SocketAddr, scheme: &str, protocols: &[&str]) -> Value {
    let host = match address {
        SocketAddr::V6(v6) => format!("[{}]", v6.ip()),
        SocketAddr::V4(v4) => v4.ip().to_string(),
    };
    json!({
        "family": Family::of(address.ip()),
        "address": address.ip().to_string(),
        "port": address.port(),
        "url": format!("{scheme}://{host}:{}/", address.port()),
        "protocols": protocols,
    })
}
