//! The turbo origin. It does as little work per request as possible, so that a benchmark measures
//! the client. It supports a few responses, prepares each one once and sends them with io_uring.

mod reply;
pub(super) mod request_handler;

#[cfg(test)]
mod tests;

use std::io::{self, PipeReader, PipeWriter};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

use serde_json::Value;
use sixmark_sys::turbo::Server;

use super::{Options, listen};
use request_handler::RequestHandler;
use sixmark_sys::threads::no_thread;

/// A running turbo origin. It stops when dropped.
#[derive(Debug)]
pub struct Turbo {
    addresses: Vec<SocketAddr>,
    stop: Option<PipeWriter>,
    threads: Vec<JoinHandle<()>>,
}

impl Turbo {
    /// Binds all addresses and serves in the background. Clients can connect as soon as this
    /// returns. Each thread serves up to `room` connections at once; the limit on open files must
    /// permit this.
    ///
    /// # Errors
    /// Fails if an address cannot be bound, if io_uring is unavailable or forbidden, or if threads
    /// cannot be started.
    pub fn start(options: &Options, room: u32) -> io::Result<Turbo> {
        let threads = match options.threads {
            0 => thread::available_parallelism()?.get(),
            count => count,
        };
        let listeners = listen::bind_all_shared(&options.listen, threads)?;
        let addresses =
            listeners[0].iter().map(TcpListener::local_addr).collect::<io::Result<_>>()?;
        let (reader, writer) = io::pipe()?;
        let mut turbo = Turbo { addresses, stop: Some(writer), threads: Vec::new() };
        let (ready, outcomes) = channel();
        for listeners in listeners {
            turbo.threads.push(spawn(listeners, room, reader.try_clone()?, ready.clone())?);
        }
        drop(ready);
        for _ in 0..threads {
            outcomes.recv().map_err(io::Error::other)??;
        }
        Ok(turbo)
    }

    /// Returns the bound addresses in the order of [`Options::listen`], with their actual ports.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Returns a description by which a program can find the server, as [`super::Origin::describe`]
    /// does.
    pub fn describe(&self) -> Value {
        super::describe_all(&self.addresses, "http", &["http/1.1"])
    }

    /// Closes the listening sockets and all connections. The ports are free when this returns.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Turbo {
    fn drop(&mut self) {
        drop(self.stop.take());
        for thread in self.threads.drain(..) {
            // An error means that the thread panicked; it has ended then as well.
            let _ = thread.join();
        }
    }
}

fn spawn(
    listeners: Vec<TcpListener>,
    room: u32,
    stop: PipeReader,
    ready: Sender<io::Result<()>>,
) -> io::Result<JoinHandle<()>> {
    let serve = move || match Server::new(RequestHandler::default(), listeners, room) {
        Ok(mut server) => {
            let _ = ready.send(Ok(()));
            drop(ready);
            // If the ring fails, its connections are closed, which clients notice. The error is not
            // reported otherwise.
            let _ = server.run(&stop);
        }
        Err(error) => drop(ready.send(Err(explain(&error)))),
    };
    let thread = thread::Builder::new().name("origin-turbo".into()).spawn(serve);
    thread.map_err(|error| no_thread(&error))
}

fn explain(error: &io::Error) -> io::Error {
    let line = match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => {
            "; it is forbidden here (kernel.io_uring_disabled or a sandbox); omit --turbo"
        }
        Some(libc::ENOSYS | libc::EINVAL) => "; omit --turbo",
        Some(libc::ENOMEM) => "; raise the limit of locked memory (ulimit -l)",
        Some(libc::EMFILE) => "; raise the limit of open files (ulimit -n)",
        _ => "; omit --turbo",
    };
    io::Error::new(error.kind(), format!("can't use io_uring: {error}{line}"))
}
