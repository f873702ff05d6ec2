//! The bare origin: a server without the kernel's TCP, in which one loop serves both families.
//!
//! It stands for a server without an operating system: HTTP, TCP and IP in one piece (smoltcp's) on
//! an Ethernet of its own, a TAP device. A loss is mended by a timeout alone: there is no fast
//! retransmit, no selective acknowledgement and, unless asked for, no congestion control.

mod flows;
mod neighbours;
mod prefix;
mod segment;
mod slot;
mod stack;
mod wire;

#[cfg(test)]
mod tests;

pub use prefix::Prefix;

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, PipeReader, PipeWriter};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd as _;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use serde::Serialize;
use serde_json::Value;
use sixmark_sys::readable;
use sixmark_sys::tap::Tap;

use sixmark_sys::rtnetlink::Netlink;
use sixmark_sys::threads::no_thread;
use stack::Stack;

/// Addresses that it can have, beside a link-local one.
const MOST_ADDRESSES: usize = 7;

/// Where it is on its Ethernet, and how its TCP behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BareOptions {
    /// The name of the TAP device, made in the calling thread's network namespace; 1 to 15 bytes.
    pub tap: String,
    /// The bridge that the kernel's end of the device becomes a port of, and is up then; without one
    /// it stays down, and whoever starts this sees to it.
    pub bridge: Option<String>,
    /// Its addresses, 1 to 7.
    pub addresses: Vec<Prefix>,
    /// The routers to everywhere else, one a family at the most, each in one of its networks.
    pub gateways: Vec<IpAddr>,
    /// Its hardware address, a host's; without one it is made from the others.
    pub mac: Option<[u8; 6]>,
    /// Where it listens, 1 to 65535.
    pub port: u16,
    /// Connections that it can have at once, at least 1; who comes then gets a reset.
    pub sockets: usize,
    /// Bytes that a connection may have sent and not acknowledged, and as many that it may have
    /// received; at least 1.
    pub buffer_bytes: usize,
    /// What keeps it from sending all of that at once.
    pub congestion: Congestion,
}

/// A way to find out how much may be on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Congestion {
    /// Whatever the client's window takes.
    #[default]
    None,
    /// RFC 5681, of which only slow start and congestion avoidance can happen here.
    Reno,
}

impl Default for BareOptions {
    /// No device and no address, which have to be given; port 80, 64 connections with 64 KiB each,
    /// no congestion control.
    fn default() -> Self {
        BareOptions {
            tap: String::new(),
            bridge: None,
            addresses: Vec::new(),
            gateways: Vec::new(),
            mac: None,
            port: 80,
            sockets: 64,
            buffer_bytes: 64 * 1024,
            congestion: Congestion::None,
        }
    }
}

impl BareOptions {
    /// Its hardware address: the one given, or a locally administered one that is always the same
    /// for the same addresses.
    pub fn hardware_address(&self) -> [u8; 6] {
        self.mac.unwrap_or_else(|| {
            let mut hasher = DefaultHasher::new();
            self.addresses.iter().for_each(|one| one.address.hash(&mut hasher));
            let [a, b, c, d, e, ..] = hasher.finish().to_be_bytes();
            [0x02, a, b, c, d, e]
        })
    }

    /// # Errors
    /// Says what can't be.
    fn check(&self) -> Result<(), String> {
        if self.addresses.is_empty() || self.addresses.len() > MOST_ADDRESSES {
            return Err(format!(
                "expected 1 to {MOST_ADDRESSES} addresses, not {}",
                self.addresses.len()
            ));
        }
        for (place, gateway) in self.gateways.iter().enumerate() {
            if !self.addresses.iter().any(|own| own.holds(*gateway) && own.address != *gateway) {
                return Err(format!(
                    "the gateway {gateway} is in none of the networks of its \
                     addresses"
                ));
            }
            if self.gateways[..place].iter().any(|other| other.is_ipv6() == gateway.is_ipv6()) {
                return Err(format!("the gateway {gateway} is a second one of its family"));
            }
        }
        match self.hardware_address()[0] & 1 {
            1 => Err("the MAC address is a group address".into()),
            _ => Ok(()),
        }
    }
}

/// What happened in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Statistics {
    /// Connections that were established.
    pub connections: u64,
    /// Requests that were answered.
    pub requests: u64,
    /// Times that TCP's timer ended and what had been sent was sent again.
    pub timeouts: u64,
    /// Segments that held something for the second time or more.
    pub segments_sent_again: u64,
    /// Duplicate acknowledgements that TCP was not shown.
    pub duplicate_acks_hidden: u64,
}

/// A running bare origin. It stops when dropped.
#[derive(Debug)]
pub struct Bare {
    addresses: Vec<SocketAddr>,
    stop: Option<PipeWriter>,
    thread: Option<JoinHandle<io::Result<Statistics>>>,
}

/// Makes a device a port of a bridge, and up.
fn join_bridge(tap: &str, bridge: &str) -> io::Result<()> {
    let cannot = |error: io::Error| {
        io::Error::new(error.kind(), format!("can't make {tap} a port of {bridge}: {error}"))
    };
    let mut netlink = Netlink::open().map_err(cannot)?;
    netlink.enslave(tap, bridge).and_then(|()| netlink.up(tap)).map_err(cannot)
}

impl Bare {
    /// Makes the TAP device, then serves in the background.
    ///
    /// # Errors
    /// When the options can't be (`InvalidInput`), when the device can't be made, or when a thread
    /// can't be started.
    pub fn start(options: &BareOptions) -> io::Result<Bare> {
        options.check().map_err(|line| io::Error::new(io::ErrorKind::InvalidInput, line))?;
        let tap = Tap::create(&options.tap).map_err(|error| explain(&options.tap, &error))?;
        if let Some(bridge) = &options.bridge {
            join_bridge(&options.tap, bridge)?;
        }
        let stack = Stack::new(options, tap)?;
        let (reader, writer) = io::pipe()?;
        let run = move || run_stack(stack, &reader);
        let thread = thread::Builder::new().name("origin-bare".into()).spawn(run);
        let thread = thread.map_err(|error| no_thread(&error))?;
        let address = |one: &Prefix| SocketAddr::new(one.address, options.port);
        let addresses = options.addresses.iter().map(address).collect();
        Ok(Bare { addresses, stop: Some(writer), thread: Some(thread) })
    }

    /// What a program needs to find it, as [`super::Origin::describe`] tells.
    pub fn describe(&self) -> Value {
        super::describe_all(&self.addresses, "http", &["http/1.1"])
    }

    /// True where it has ended by itself, as it does when its device is taken away.
    pub fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Resets every connection and removes the device; tells what happened.
    ///
    /// # Errors
    /// Why it had ended by itself.
    pub fn stop(mut self) -> io::Result<Statistics> {
        self.finish()
    }

    fn finish(&mut self) -> io::Result<Statistics> {
        drop(self.stop.take());
        let lost = || Err(io::Error::other("the origin's thread panicked"));
        let thread = self.thread.take();
        thread.map_or_else(lost, |thread| thread.join().unwrap_or_else(|_| lost()))
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        if self.thread.is_some() {
            // There is nobody to tell.
            let _ = self.finish();
        }
    }
}

fn run_stack(mut stack: Stack<Tap>, stop: &PipeReader) -> io::Result<Statistics> {
    let start = Instant::now();
    loop {
        let wait = stack.turn(start.elapsed());
        if let Some(error) = stack.end() {
            return Err(io::Error::new(error.kind(), format!("its TAP device is gone: {error}")));
        }
        let [_, stopped] =
            readable::wait_until_readable([stack.port().as_fd(), stop.as_fd()], wait)?;
        if stopped {
            stack.stop(start.elapsed());
            return Ok(stack.statistics());
        }
    }
}

fn explain(name: &str, error: &io::Error) -> io::Error {
    let advice = match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "; run as root, or in a network namespace of your own (unshare -rn)"
        }
        io::ErrorKind::ResourceBusy => "; another program has it: choose another name",
        io::ErrorKind::NotFound => "; this kernel has no TUN/TAP (modprobe tun)",
        _ => "",
    };
    io::Error::new(error.kind(), format!("can't create the TAP device {name}: {error}{advice}"))
}
