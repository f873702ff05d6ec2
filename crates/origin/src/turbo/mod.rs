//! The turbo origin: as little work a request as possible, so that the client is what a benchmark
//! measures. It knows a few answers, prepares each once and sends them over io_uring.

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
    /// Binds every address, then serves in the background; clients can connect on return. Each
    /// thread serves up to `room` connections at once; the limit of open files must be as high.
    ///
    /// # Errors
    /// When an address can't be bound, when io_uring is missing or not allowed, or when threads
    /// can't be started.
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

    /// The bound addresses in the order of [`Options::listen`], with their real ports.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// What a program needs to find it, as [`super::Origin::describe`] tells.
    pub fn describe(&self) -> Value {
        super::describe_all(&self.addresses, "http", &["http/1.1"])
    }

    /// Closes the listening sockets and every connection; the ports are free on return.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Turbo {
    fn drop(&mut self) {
        drop(self.stop.take());
        for thread in self.threads.drain(..) {
            // An Err is a panic of that thread, which has then ended as well.
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
            // A ring that breaks takes its connections with it, which is all that clients can see.
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
