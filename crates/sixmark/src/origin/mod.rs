//! The origin: a dual-stack HTTP/1.1 server to measure against, with paths for sizes, delays,
//! failures, dynamic pages and uploads. `GET /` lists them.
//!
//! It is meant to be a fast and predictable target: TCP_NODELAY, keep-alive, bodies streamed from
//! a static block, nothing logged. It runs on threads of its own, so that synchronous code can
//! start and stop it.

mod answer;
mod body;
mod dynamic;
mod listen;
mod pause;
mod queue;
mod route;
mod serve;
mod turbo;
mod wire;

#[cfg(test)]
mod tests;

pub use pause::Pause;
pub use turbo::Turbo;

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use pause::Pauses;
use serde_json::{Value, json};
use sixmark_core::family::Family;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

/// Where the origin listens and how much of the machine it may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The addresses to listen on, at least one; port 0 lets the kernel choose. An IPv6 wildcard
    /// takes IPv6 only, so that `[::]:80` and `0.0.0.0:80` can stand side by side.
    pub listen: Vec<SocketAddr>,
    /// Worker threads; 0 means one for each core.
    pub threads: usize,
    /// Stands still now and then: every answer that is due in a pause is held until its end.
    pub pause: Option<Pause>,
}

impl Default for Options {
    /// Loopback of both families, ports chosen by the kernel, a thread for each core.
    fn default() -> Self {
        let listen = vec![(Ipv6Addr::LOCALHOST, 0).into(), (Ipv4Addr::LOCALHOST, 0).into()];
        Options { listen, threads: 0, pause: None }
    }
}

/// A running origin. It stops when dropped.
#[derive(Debug)]
pub struct Origin {
    addresses: Vec<SocketAddr>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Origin {
    /// Binds every address, then serves in the background; clients can connect on return.
    ///
    /// # Errors
    /// When an address cannot be bound (the message names it, the reason and the way out), when
    /// there is none, or when threads cannot be started. Nothing is left bound after an error.
    pub fn start(options: Options) -> io::Result<Origin> {
        let listeners = listen::bind_all(&options.listen)?;
        let addresses =
            listeners.iter().map(TcpListener::local_addr).collect::<io::Result<Vec<_>>>()?;
        let (stop, stopped) = oneshot::channel();
        let (ready, outcome) = mpsc::channel();
        // The runtime lives on its own thread: dropping one inside another runtime panics, and
        // the owner of an Origin may well be asynchronous code.
        let thread = thread::Builder::new()
            .name("origin".into())
            .spawn(move || run(listeners, &options, &ready, stopped))?;
        outcome.recv().unwrap_or_else(|_| Err(io::Error::other("the origin's thread ended")))?;
        Ok(Origin { addresses, stop: Some(stop), thread: Some(thread) })
    }

    /// The bound addresses in the order of [`Options::listen`], with their real ports.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// What a program needs to find the origin: `{"addresses":[{"family":"ipv6","address":"::1",
    /// "port":1,"url":"http://[::1]:1/"}]}`, in the order of [`Options::listen`].
    pub fn describe(&self) -> Value {
        describe_all(&self.addresses)
    }

    /// Closes the listening sockets and every connection; the ports are free on return.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // An Err is a panic of that thread, which has then ended as well.
            let _ = thread.join();
        }
    }
}

fn run(
    listeners: Vec<TcpListener>,
    options: &Options,
    ready: &mpsc::Sender<io::Result<()>>,
    stopped: oneshot::Receiver<()>,
) {
    let (runtime, outcome) = match launch(listeners, options) {
        Ok(runtime) => (Some(runtime), Ok(())),
        Err(error) => (None, Err(error)),
    };
    let _ = ready.send(outcome);
    if let Some(runtime) = runtime {
        let _ = runtime.block_on(stopped);
    }
}

fn launch(listeners: Vec<TcpListener>, options: &Options) -> io::Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    if options.threads > 0 {
        builder.worker_threads(options.threads);
    }
    let runtime = builder.thread_name("origin-worker").enable_all().build()?;
    {
        let _context = runtime.enter();
        let pauses = Pauses::start(options.pause);
        for listener in listeners {
            runtime.spawn(serve::accept(tokio::net::TcpListener::from_std(listener)?, pauses));
        }
    }
    Ok(runtime)
}

fn describe_all(addresses: &[SocketAddr]) -> Value {
    json!({ "addresses": addresses.iter().map(describe).collect::<Vec<_>>() })
}

fn describe(address: &SocketAddr) -> Value {
    let host = match address {
        SocketAddr::V6(v6) => format!("[{}]", v6.ip()),
        SocketAddr::V4(v4) => v4.ip().to_string(),
    };
    json!({
        "family": Family::of(address.ip()),
        "address": address.ip().to_string(),
        "port": address.port(),
        "url": format!("http://{host}:{}/", address.port()),
    })
}
