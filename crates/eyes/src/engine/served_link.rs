//! A client that can't be started from here: it is beyond an interface of the machine, on which the lab's
//! router has an address of its own.

use std::io;
use std::sync::atomic::Ordering;
use std::time::{Instant, SystemTime};

use sixmark_lab::Host;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::netns::NetNs;
use sixmark_sys::packets::PacketRing;
use sixmark_sys::rtnetlink::Netlink;
use sixmark_units::family::Family;
use sixmark_units::net::Net;

use crate::case_lab::{CLIENT, client_address, gateway, names_address};
use crate::packet_reader::PacketReader;

use super::{AFTERWARDS, EyesOptions, LOOK, take_frames, time_afterwards};

/// The router's MAC address on the link: it is the same in each case, so that the client's cache of
/// neighbours stays true. It is locally administered.
const ROUTER_MAC: [u8; 6] = [0x02, 0x53, 0x49, 0x58, 0x00, 0x01];

/// The interface of the machine beyond which a client is.
#[derive(Debug)]
pub struct ServedLink {
    interface: String,
    machine: NetNs,
}

impl ServedLink {
    /// Notes an interface of the machine. Call this outside of the lab's enclosure.
    ///
    /// # Errors
    /// Returns an error if there is no such interface.
    pub fn of(interface: &str) -> Result<ServedLink, CommandError> {
        let wrong = |error: io::Error| {
            CommandError::Usage(format!("can't serve on the interface '{interface}': {error}"))
        };
        let links = Netlink::open().and_then(|mut netlink| netlink.links()).map_err(wrong)?;
        if !links.iter().any(|link| link.name == interface) {
            let names: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
            return Err(CommandError::Usage(format!(
                "there is no interface '{interface}' to serve on; there are: {}",
                names.join(", ")
            )));
        }
        let machine = NetNs::current().map_err(wrong)?;
        Ok(ServedLink { interface: interface.to_owned(), machine })
    }

    /// Returns its name.
    pub fn interface(&self) -> &str {
        &self.interface
    }

    /// Connects the lab's router to the link. The interface itself stays where it is; what is added ends
    /// with the lab.
    ///
    /// # Errors
    /// Returns an error if the kernel refuses: this needs root.
    pub(super) fn connect(&self, router: &Host) -> Result<(), CommandError> {
        let added = self
            .machine
            .within(|| Netlink::open()?.macvlan(&self.interface, CLIENT, ROUTER_MAC, router.net()));
        added.map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => CommandError::Usage(
                "--serve needs root: it adds an interface to the machine's".into(),
            ),
            _ => CommandError::Measure(format!(
                "the lab can't be connected to the interface '{}': {error}",
                self.interface
            )),
        })?;
        let set_up = || {
            let mut netlink = Netlink::open()?;
            netlink.up(CLIENT)?;
            for family in Family::BOTH {
                let (address, length) = gateway(family);
                netlink.address(CLIENT, Net { address, length })?;
            }
            Ok(())
        };
        router.net().within(set_up).map_err(|error| {
            CommandError::Measure(format!("the lab's end of the link can't be set up: {error}"))
        })
    }
}

/// Watches a client that somebody else starts: from its first packet on, until some time after its content
/// arrived, or until its time is over. Returns true if it was stopped.
pub(super) fn watch_served(
    ring: &mut PacketRing,
    reader: &mut PacketReader,
    options: &EyesOptions<'_>,
) -> io::Result<bool> {
    let mut until: Option<Instant> = None;
    let mut is_over = false;
    while until.is_none_or(|until| Instant::now() < until) {
        if options.stop.load(Ordering::Relaxed) {
            return Ok(true);
        }
        ring.wait(None, LOOK)?;
        take_frames(ring, reader);
        let trace = reader.trace();
        if until.is_none() && !(trace.queries.is_empty() && trace.attempts.is_empty()) {
            until = Some(Instant::now() + options.patience + AFTERWARDS);
        }
        if !is_over && trace.content_ms().is_some() {
            is_over = true;
            let afterwards = time_afterwards(reader.trace());
            until = until.map(|until| until.min(Instant::now() + afterwards));
        }
    }
    reader.end_watch(SystemTime::now());
    Ok(false)
}

/// Returns the lines that a person needs to connect a client: addresses, router, name server.
pub fn describe_served_link(link: &ServedLink) -> String {
    let of = |family: Family| {
        let (address, length) = gateway(family);
        format!("{}/{length}, router {address}", client_address(family))
    };
    let [ipv6, ipv4] = Family::BOTH.map(of);
    format!(
        "Connect the client to the interface {} and give it:\n  IPv6         {ipv6}\n  IPv4         \
         {ipv4}\n  name server  {}\n",
        link.interface,
        names_address()
    )
}
