//! The bare origin: a server that does not use the kernel's TCP, with one loop for both families.
//!
//! It models a server without an operating system: HTTP, TCP and IP (smoltcp) in one program, on
//! its own Ethernet interface, a TAP device. By default it recovers from losses by timeouts only:
//! there is no fast retransmit, no selective acknowledgement and no congestion control.

mod flows;
mod neighbours;
mod prefix;
mod recovery;
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

/// The maximum number of addresses, without the link-local one.
const MOST_ADDRESSES: usize = 7;

/// The configuration of a bare origin: its network and its TCP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BareOptions {
    /// The name of the TAP device, 1 to 15 bytes. It is created in the calling thread's network
    /// namespace.
    pub tap: String,
    /// The bridge to which the device is added. The device is then set up (brought into the UP
    /// state). Without a bridge, the device stays down, and the caller must configure it.
    pub bridge: Option<String>,
    /// The addresses, 1 to 7.
    pub addresses: Vec<Prefix>,
    /// The default gateways: at most one per family, each in one of the networks of `addresses`.
    pub gateways: Vec<IpAddr>,
    /// The MAC address, which must not be a group address. If absent, it is derived from the
    /// addresses.
    pub mac: Option<[u8; 6]>,
    /// The TCP port, 1 to 65535.
    pub port: u16,
    /// The maximum number of concurrent connections, at least 1. Further connections are reset.
    pub sockets: usize,
    /// The size of the send buffer and of the receive buffer of a connection in bytes; at least 1.
    pub buffer_bytes: usize,
    /// The congestion control.
    pub congestion: Congestion,
    /// What repairs a loss besides the timer.
    pub loss_recovery: LossRecovery,
}

/// The congestion control algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Congestion {
    /// None: the server sends as much as the client's window allows.
    #[default]
    None,
    /// Reno (RFC 5681). Fast recovery occurs only with [`LossRecovery::FastRetransmit`] or
    /// [`LossRecovery::Sack`].
    Reno,
    /// CUBIC (RFC 9438), with the same condition.
    Cubic,
}

/// What repairs a loss besides the retransmission timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossRecovery {
    /// Nothing: when the timer expires, everything from the loss on is sent again.
    #[default]
    Timeout,
    /// Fast retransmit at the third duplicate acknowledgement, then one segment at each partial
    /// acknowledgement (RFC 5681, RFC 6582).
    FastRetransmit,
    /// Fast retransmit, then the segments that selective acknowledgements show to be lost (RFC
    /// 6675).
    Sack,
}

impl Default for BareOptions {
    /// Returns options without device and addresses, which the caller must set: port 80, 64
    /// connections with 64 KiB each, no congestion control, losses repaired by the timer.
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
            loss_recovery: LossRecovery::Timeout,
        }
    }
}

impl BareOptions {
    /// Returns the MAC address: the configured one, or a locally administered one derived from the
    /// addresses.
    pub fn hardware_address(&self) -> [u8; 6] {
        self.mac.unwrap_or_else(|| {
            let mut hasher = DefaultHasher::new();
            self.addresses.iter().for_each(|one| one.address.hash(&mut hasher));
            let [a, b, c, d, e, ..] = hasher.finish().to_be_bytes();
            [0x02, a, b, c, d, e]
        })
    }

    /// Checks the addresses, the gateways and the MAC address.
    ///
    /// # Errors
    /// Returns one line that names the invalid option.
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

/// The statistics of a bare origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Statistics {
    /// The number of connections that were established.
    pub connections: u64,
    /// The number of requests that were answered.
    pub requests: u64,
    /// The number of retransmission timeouts.
    pub timeouts: u64,
    /// The number of fast retransmits: one for each recovery, whatever it retransmitted.
    pub fast_retransmits: u64,
    /// The number of segments that repeated data.
    pub segments_sent_again: u64,
    /// The number of duplicate acknowledgements that were hidden from TCP.
    pub duplicate_acks_hidden: u64,
}

/// A running bare origin. It stops when dropped.
#[derive(Debug)]
pub struct Bare {
    addresses: Vec<SocketAddr>,
    stop: Option<PipeWriter>,
    thread: Option<JoinHandle<io::Result<Statistics>>>,
}

/// Adds a device to a bridge and brings it up.
fn join_bridge(tap: &str, bridge: &str) -> io::Result<()> {
    let cannot = |error: io::Error| {
        io::Error::new(error.kind(), format!("can't make {tap} a port of {bridge}: {error}"))
    };
    let mut netlink = Netlink::open().map_err(cannot)?;
    netlink.enslave(tap, bridge).and_then(|()| netlink.up(tap)).map_err(cannot)
}

impl Bare {
    /// Creates the TAP device and serves in the background.
    ///
    /// # Errors
    /// Fails with `InvalidInput` if the options are invalid, and with other errors if the device or
    /// a thread cannot be created.
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

    /// Returns a description by which a program can find the server, as [`super::Origin::describe`]
    /// does.
    pub fn describe(&self) -> Value {
        super::describe_all(&self.addresses, "http", &["http/1.1"])
    }

    /// Returns true if the server has ended by itself, as when its device was removed.
    pub fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Resets all connections, removes the device and returns the statistics.
    ///
    /// # Errors
    /// Returns the reason if the server had ended by itself.
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
            // The result cannot be reported.
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
