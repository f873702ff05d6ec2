//! Both ends of a tunnel: TCP connections of an agent reach a server beside the controller through
//! the standard streams of the agent's process.
//!
//! The agent's end writes its preface first. The controller's end sends what the agent needs, which
//! may be secret, only to a process that did so.

use std::io::{BufReader, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::thread::Builder;
use std::time::Duration;
use std::{fmt, io};

use sixmark_sys::poll::readable;
use sixmark_sys::threads::no_thread;

use super::frames::{
    Frame, LONGEST_DATA, LONGEST_MESSAGE, TunnelError, read_preface_after_noise, read_preface_only,
    write_preface,
};
use super::streams::Streams;

/// How often a controller shows that it is alive.
const ALIVE: Duration = Duration::from_secs(5);
/// How long an agent waits for a sign of life. A connection that is lost without a word, as when a
/// cable is pulled, is not the end of any pipe.
const SILENCE: Duration = Duration::from_secs(30);
/// How often an agent's end looks whether the tunnel has ended while it waits for connections.
const LOOK: Duration = Duration::from_secs(1);

/// The controller's end of a tunnel. The tunnel ends when this value is dropped.
pub struct ControllerTunnel {
    streams: Arc<Streams>,
}

/// The agent's end of a tunnel before it is open: the controller has sent what the agent needs.
pub struct GreetedTunnel {
    input: Box<dyn Read + Send>,
    output: Box<dyn Write + Send>,
    listener: TcpListener,
    address: SocketAddr,
}

/// The agent's end of a tunnel. The tunnel ends when this value is dropped.
pub struct AgentTunnel {
    streams: Arc<Streams>,
    address: SocketAddr,
}

impl ControllerTunnel {
    /// Establishes a tunnel over the output and the input of an agent's process, to `server`.
    /// Returns the agent's answer to `hello`, which has at most [`LONGEST_MESSAGE`] bytes. It waits
    /// without a limit: ending the process ends the wait.
    ///
    /// # Errors
    /// The process ended, is no agent, or does not answer as one does.
    pub fn establish(
        from_agent: impl Read + Send + 'static,
        mut to_agent: impl Write + Send + 'static,
        hello: &[u8],
        server: SocketAddr,
    ) -> Result<(ControllerTunnel, Vec<u8>), TunnelError> {
        check_length(hello)?;
        let mut from_agent = BufReader::with_capacity(LONGEST_DATA, from_agent);
        read_preface_after_noise(&mut from_agent)?;
        write_preface(&mut to_agent)?;
        to_agent.write_all(&Frame::Hello(hello.to_vec()).to_bytes())?;
        to_agent.flush()?;
        let answer = match Frame::read(&mut from_agent)? {
            Some(Frame::Answer(answer)) => answer,
            Some(_) => return Err(TunnelError::Protocol("a frame before its answer".into())),
            None => return Err(TunnelError::Gone),
        };
        let streams = Streams::new(Box::new(to_agent), Box::new(|_| {}));
        start_thread(&streams, |streams| streams.send_alive(ALIVE))?;
        start_thread(&streams, move |streams| streams.read_frames(from_agent, Some(server)))?;
        Ok((ControllerTunnel { streams }, answer))
    }

    /// Returns false once the tunnel has ended.
    pub fn is_open(&self) -> bool {
        self.streams.is_open()
    }

    /// Returns why the tunnel has ended.
    pub fn reason(&self) -> Option<String> {
        self.streams.reason()
    }

    /// Ends the tunnel, and with it the input of the agent's process.
    pub fn close(&self) {
        self.streams.end("it was closed");
    }
}

impl Drop for ControllerTunnel {
    fn drop(&mut self) {
        self.close();
    }
}

impl GreetedTunnel {
    /// Waits for the controller's message over the input and the output of this process, and begins
    /// to listen. Returns that message too.
    ///
    /// # Errors
    /// The controller is gone, or is none of this version; or this host has no loopback.
    pub fn greet(
        input: impl Read + Send + 'static,
        mut output: impl Write + Send + 'static,
    ) -> Result<(GreetedTunnel, Vec<u8>), TunnelError> {
        let (listener, address) = listen()?;
        write_preface(&mut output)?;
        let mut input = BufReader::with_capacity(LONGEST_DATA, input);
        read_preface_only(&mut input)?;
        let hello = match Frame::read(&mut input)? {
            Some(Frame::Hello(hello)) => hello,
            Some(_) => return Err(TunnelError::Protocol("a frame before its hello".into())),
            None => return Err(TunnelError::Gone),
        };
        let (input, output) = (Box::new(input), Box::new(output));
        Ok((GreetedTunnel { input, output, listener, address }, hello))
    }

    /// Answers and opens the tunnel: each connection to [`AgentTunnel::address`] then leads to the
    /// server beside the controller. Any process of this host can connect there, so that the
    /// server must ask for credentials. `answer` has at most [`LONGEST_MESSAGE`] bytes.
    ///
    /// `at_end` is called once, from another thread and with the reason, when the tunnel has ended.
    /// The agent must end then.
    ///
    /// # Errors
    /// The controller is gone, or no thread can be created.
    pub fn open(
        mut self,
        answer: &[u8],
        at_end: impl FnOnce(&str) + Send + 'static,
    ) -> Result<AgentTunnel, TunnelError> {
        check_length(answer)?;
        self.output.write_all(&Frame::Answer(answer.to_vec()).to_bytes())?;
        self.output.flush()?;
        let (input, listener) = (self.input, self.listener);
        let streams = Streams::new(self.output, Box::new(at_end));
        start_thread(&streams, |streams| streams.expect_alive(SILENCE))?;
        start_thread(&streams, move |streams| streams.read_frames(input, None))?;
        start_thread(&streams, move |streams| accept(&streams, &listener))?;
        Ok(AgentTunnel { streams, address: self.address })
    }
}

impl AgentTunnel {
    /// Returns the address whose connections lead to the server beside the controller.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns false once the tunnel has ended.
    pub fn is_open(&self) -> bool {
        self.streams.is_open()
    }
}

impl Drop for AgentTunnel {
    fn drop(&mut self) {
        self.streams.end("it was closed");
    }
}

fn check_length(message: &[u8]) -> Result<(), TunnelError> {
    if message.len() <= LONGEST_MESSAGE {
        return Ok(());
    }
    let line = format!("a message of {} bytes can't be sent", message.len());
    Err(TunnelError::Io(io::Error::other(line)))
}

/// Starts a thread, or ends the tunnel.
fn start_thread(
    streams: &Arc<Streams>,
    run: impl FnOnce(Arc<Streams>) + Send + 'static,
) -> Result<(), TunnelError> {
    let its = Arc::clone(streams);
    let started = Builder::new().name("tunnel".into()).spawn(move || run(its));
    started.map(drop).map_err(|error| {
        streams.end("can't create a thread");
        TunnelError::Io(no_thread(&error))
    })
}

/// Listens on loopback, in whichever family works.
fn listen() -> Result<(TcpListener, SocketAddr), TunnelError> {
    let addresses = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    let mut first = None;
    for address in addresses {
        match listen_at(SocketAddr::new(address, 0)) {
            Ok(found) => return Ok(found),
            Err(error) => first = first.or(Some(error)),
        }
    }
    let error = first.map_or_else(String::new, |error| format!(" ({error})"));
    let line = format!(
        "neither 127.0.0.1 nor ::1 can be used on this host{error}; run 'ip link set lo up' there"
    );
    Err(TunnelError::Io(io::Error::other(line)))
}

/// Listens there, and checks that a connection arrives: where the interface is down, an address can
/// be bound but not reached.
fn listen_at(address: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(address)?;
    let address = listener.local_addr()?;
    listener.set_nonblocking(true)?;
    let attempt = TcpStream::connect_timeout(&address, LOOK)?;
    let own = attempt.local_addr()?;
    while readable([listener.as_fd()], Some(LOOK))? == [true] {
        if listener.accept()?.1 == own {
            return Ok((listener, address));
        }
    }
    Err(io::ErrorKind::TimedOut.into())
}

/// Makes a stream of each connection, until the tunnel ends.
fn accept(streams: &Arc<Streams>, listener: &TcpListener) {
    while streams.is_open() {
        match readable([listener.as_fd()], Some(LOOK)) {
            Ok([false]) => continue,
            Ok([true]) => {}
            Err(error) => return streams.end(&format!("can't wait for connections: {error}")),
        }
        match listener.accept() {
            // It does not inherit O_NONBLOCK from the listener on Linux.
            Ok((socket, _)) => streams.open(socket),
            // The client has gone already, or descriptors are short: a load may need all of them.
            Err(error) if is_passing(&error) => {}
            Err(error) if is_shortage(&error) => drop(streams.wait_for_end(LOOK)),
            Err(error) => return streams.end(&format!("can't accept a connection: {error}")),
        }
    }
}

fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, Interrupted, WouldBlock};
    matches!(error.kind(), WouldBlock | ConnectionAborted | Interrupted)
}

/// EMFILE, ENFILE, ENOBUFS and ENOMEM (accept(2)).
fn is_shortage(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(24 | 23 | 105 | 12))
}

impl fmt::Debug for ControllerTunnel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControllerTunnel").field("is_open", &self.is_open()).finish()
    }
}

impl fmt::Debug for GreetedTunnel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GreetedTunnel").field("address", &self.address).finish_non_exhaustive()
    }
}

impl fmt::Debug for AgentTunnel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentTunnel").field("address", &self.address).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
