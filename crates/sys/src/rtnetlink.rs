//! Interfaces, addresses and routes, read and changed over rtnetlink(7) in the network namespace of
//! the calling thread. The few messages that are used are written here: the libraries for all of
//! rtnetlink take as long to compile as the engine.

mod message;

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd as _, AsRawFd as _};

use crate::interface;
use crate::netns::NetNs;
use message::{Answer, NestedAttributes, Request, answers, array, attributes, name_value};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use sixmark_units::family::Family;
use sixmark_units::net::Net;

/// A netlink socket that serves one network namespace.
pub struct Netlink {
    socket: Socket,
    sequence: u32,
}

/// A route to add.
#[derive(Clone, Debug)]
pub struct NewRoute<'a> {
    /// The network that the route leads to.
    pub to: Net,
    /// The next hop; absent for a network that is on the link.
    pub via: Option<IpAddr>,
    /// The interface that packets leave by; if absent, the kernel finds it.
    pub interface: Option<&'a str>,
    /// TCP's congestion control over the route; the host's default if absent.
    pub congestion: Option<&'a str>,
    /// TCP's initial window over the route, in segments (RFC 6928); the kernel's default if absent.
    pub initial_window: Option<u32>,
}

/// An interface, as the kernel describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkState {
    /// Its name.
    pub name: String,
    /// Its MTU, in bytes; 0 if the kernel states none.
    pub mtu: u32,
    /// Its counters (struct rtnl_link_stats64), if the kernel states them.
    pub counters: Option<LinkCounters>,
}

/// The counters of an interface that are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the kernel's")]
pub struct LinkCounters {
    pub rx_packets: u64,
    pub tx_packets: u64,
    pub rx_bytes: u64,
    pub tx_bytes: u64,
    pub rx_errors: u64,
    pub tx_errors: u64,
    pub rx_dropped: u64,
    pub tx_dropped: u64,
    pub rx_fifo_errors: u64,
    pub rx_missed_errors: u64,
}

/// The metric of the IPv6 routes that the kernel adds for an interface's own networks
/// (IP6_RT_PRIO_ADDRCONF).
const CONNECTED: u32 = 256;

const MAKE: i32 = libc::NLM_F_CREATE | libc::NLM_F_EXCL;
const PUT: i32 = libc::NLM_F_CREATE | libc::NLM_F_REPLACE;

/// The attribute of veth's data that describes the other interface (linux/veth.h).
const VETH_INFO_PEER: u16 = 1;
/// The attribute of macvlan's data that is its mode, and the mode (linux/if_link.h).
const IFLA_MACVLAN_MODE: u16 = 1;
const MACVLAN_MODE_BRIDGE: u32 = 4;
/// Attributes of a route's metrics (linux/rtnetlink.h).
const RTAX_INITCWND: u16 = 11;
const RTAX_CC_ALGO: u16 = 16;
/// An address without duplicate address detection (linux/if_addr.h).
const IFA_F_NODAD: u8 = 0x02;

/// The lengths of the fixed parts of messages about links and routes (struct ifinfomsg, rtmsg).
const LINK: usize = 16;
const ROUTE: usize = 12;

impl Netlink {
    /// Opens a socket in the network namespace of the calling thread. The socket stays in that
    /// namespace even if the thread moves to another.
    pub fn open() -> io::Result<Netlink> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Netlink { socket, sequence: 0 })
    }

    /// Creates a pair of connected Ethernet interfaces: `name` in this namespace, `peer` in the
    /// namespace `there`.
    pub fn veth(&mut self, name: &str, peer: &str, there: &NetNs) -> io::Result<()> {
        let other = NestedAttributes::after(&[0; LINK])
            .attribute(libc::IFLA_IFNAME, &name_value(peer))
            .attribute(libc::IFLA_NET_NS_FD, &there.as_fd().as_raw_fd().to_ne_bytes());
        let data = NestedAttributes::default().attribute(VETH_INFO_PEER, other.value());
        let info = NestedAttributes::default()
            .attribute(libc::IFLA_INFO_KIND, &name_value("veth"))
            .attribute(libc::IFLA_INFO_DATA, data.value());
        self.add_link(name, &info)
    }

    /// Creates a bridge.
    pub fn bridge(&mut self, name: &str) -> io::Result<()> {
        let info = NestedAttributes::default();
        self.add_link(name, &info.attribute(libc::IFLA_INFO_KIND, &name_value("bridge")))
    }

    /// Creates an Ethernet interface in the namespace `there` that shares the interface `lower` of this
    /// namespace, under a MAC address of its own (macvlan in bridge mode).
    pub fn macvlan(
        &mut self,
        lower: &str,
        name: &str,
        mac: [u8; 6],
        there: &NetNs,
    ) -> io::Result<()> {
        let data = NestedAttributes::default()
            .attribute(IFLA_MACVLAN_MODE, &MACVLAN_MODE_BRIDGE.to_ne_bytes());
        let info = NestedAttributes::default()
            .attribute(libc::IFLA_INFO_KIND, &name_value("macvlan"))
            .attribute(libc::IFLA_INFO_DATA, data.value());
        let link = Request::new(libc::RTM_NEWLINK, &[0; LINK])
            .attribute(libc::IFLA_IFNAME, &name_value(name))
            .attribute(libc::IFLA_ADDRESS, &mac)
            .attribute(libc::IFLA_LINK, &index(lower)?.to_ne_bytes())
            .attribute(libc::IFLA_NET_NS_FD, &there.as_fd().as_raw_fd().to_ne_bytes())
            .attribute(libc::IFLA_LINKINFO, info.value());
        self.ask(link, MAKE)
    }

    fn add_link(&mut self, name: &str, info: &NestedAttributes) -> io::Result<()> {
        let link = Request::new(libc::RTM_NEWLINK, &[0; LINK])
            .attribute(libc::IFLA_IFNAME, &name_value(name))
            .attribute(libc::IFLA_LINKINFO, info.value());
        self.ask(link, MAKE)
    }

    /// Sets the MTU of an interface, in bytes.
    pub fn mtu(&mut self, name: &str, mtu: u32) -> io::Result<()> {
        let link = change_link(name, 0)?.attribute(libc::IFLA_MTU, &mtu.to_ne_bytes());
        self.ask(link, 0)
    }

    /// Makes an interface a port of a bridge.
    pub fn enslave(&mut self, name: &str, bridge: &str) -> io::Result<()> {
        let index = index(bridge)?;
        let link = change_link(name, 0)?.attribute(libc::IFLA_MASTER, &index.to_ne_bytes());
        self.ask(link, 0)
    }

    /// Brings an interface up.
    pub fn up(&mut self, name: &str) -> io::Result<()> {
        self.ask(change_link(name, libc::IFF_UP as u32)?, 0)
    }

    /// Adds an address to an interface without duplicate address detection.
    pub fn address(&mut self, name: &str, net: Net) -> io::Result<()> {
        self.ask(change_address(libc::RTM_NEWADDR, name, net)?, PUT)
    }

    /// Removes an address of an interface.
    pub fn remove_address(&mut self, name: &str, net: Net) -> io::Result<()> {
        self.ask(change_address(libc::RTM_DELADDR, name, net)?, 0)
    }

    /// Adds a route to the main table and replaces an existing route to the same destination.
    pub fn route(&mut self, route: &NewRoute<'_>) -> io::Result<()> {
        self.ask(route.request()?, PUT)
    }

    /// Returns the destinations of all routes of a family in the main table.
    pub fn routes(&mut self, of: Family) -> io::Result<Vec<Net>> {
        let question = Request::new(libc::RTM_GETROUTE, &route_header(of, 0, [0; 4]));
        let mut found = Vec::new();
        self.dump(question, libc::RTM_NEWROUTE, |route| found.extend(destination(route, of)))?;
        Ok(found)
    }

    /// Returns all interfaces with their counters.
    pub fn links(&mut self) -> io::Result<Vec<LinkState>> {
        let question = Request::new(libc::RTM_GETLINK, &[0; LINK]);
        let mut found = Vec::new();
        self.dump(question, libc::RTM_NEWLINK, |link| found.extend(link_state(link)))?;
        Ok(found)
    }

    /// Asks for all objects of a kind, and passes each message of the type `kind` to `each`.
    fn dump(
        &mut self,
        question: Request,
        kind: u16,
        mut each: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        self.send(question, libc::NLM_F_DUMP)?;
        loop {
            let (bytes, _) = self.socket.recv_from_full()?;
            for answer in answers(&bytes) {
                match answer {
                    Answer::Done => return Ok(()),
                    Answer::Message(of, message) if of == kind => each(message),
                    _ => answer.error().map_or(Ok(()), Err)?,
                }
            }
        }
    }

    /// Sends a request and waits for the kernel's acknowledgement.
    fn ask(&mut self, request: Request, flags: i32) -> io::Result<()> {
        self.send(request, flags | libc::NLM_F_ACK)?;
        let (bytes, _) = self.socket.recv_from_full()?;
        let answer = answers(&bytes).find(|answer| matches!(answer, Answer::Acknowledged(_)));
        let answer = answer.ok_or_else(|| io::Error::other("the kernel sent no answer"))?;
        answer.error().map_or(Ok(()), Err)
    }

    fn send(&mut self, request: Request, flags: i32) -> io::Result<()> {
        self.sequence += 1;
        let bytes = request.finish((flags | libc::NLM_F_REQUEST) as u16, self.sequence);
        self.socket.send(&bytes, 0).map(drop)
    }
}

/// Begins a change of an address of an interface, of this type of message (RTM_*).
fn change_address(kind: u16, name: &str, net: Net) -> io::Result<Request> {
    // struct ifaddrmsg: family, prefix length, flags, scope, index.
    let mut fixed = vec![address_family(net.family()), net.length, IFA_F_NODAD, 0];
    fixed.extend_from_slice(&index(name)?.to_ne_bytes());
    let value = address_value(net.address);
    let request = Request::new(kind, &fixed).attribute(libc::IFA_LOCAL, &value);
    Ok(request.attribute(libc::IFA_ADDRESS, &value))
}

/// Begins a change of an interface, which sets these flags (IFF_*).
fn change_link(name: &str, flags: u32) -> io::Result<Request> {
    // struct ifinfomsg: family and type, index, flags, and which of the flags change.
    let mut fixed = vec![0; 4];
    fixed.extend_from_slice(&index(name)?.to_ne_bytes());
    fixed.extend_from_slice(&flags.to_ne_bytes());
    fixed.extend_from_slice(&flags.to_ne_bytes());
    Ok(Request::new(libc::RTM_SETLINK, &fixed))
}

/// Returns the fixed part of a message about a route to a network with a prefix of `length` bits:
/// struct rtmsg, whose table, protocol, scope and type are `of`.
fn route_header(family: Family, length: u8, of: [u8; 4]) -> [u8; ROUTE] {
    let mut fixed = [0; ROUTE];
    (fixed[0], fixed[1]) = (address_family(family), length);
    fixed[4..8].copy_from_slice(&of);
    fixed
}

impl NewRoute<'_> {
    fn request(&self) -> io::Result<Request> {
        let scope = if self.via.is_some() { libc::RT_SCOPE_UNIVERSE } else { libc::RT_SCOPE_LINK };
        let of = [libc::RT_TABLE_MAIN, libc::RTPROT_STATIC, scope, libc::RTN_UNICAST];
        let header = route_header(self.to.family(), self.to.length, of);
        let mut request = Request::new(libc::RTM_NEWROUTE, &header);
        if self.to.length > 0 {
            let to = address_value(self.to.prefix().address);
            request = request.attribute(libc::RTA_DST, &to);
        }
        if let Some(via) = self.via {
            request = request.attribute(libc::RTA_GATEWAY, &address_value(via));
        }
        if let Some(name) = self.interface {
            request = request.attribute(libc::RTA_OIF, &index(name)?.to_ne_bytes());
        }
        // The kernel's own route has this metric. With the default of 1024 this route would exist
        // beside the kernel's and never be used.
        if self.via.is_none() && self.to.family() == Family::Ipv6 {
            request = request.attribute(libc::RTA_PRIORITY, &CONNECTED.to_ne_bytes());
        }
        let mut metrics = NestedAttributes::default();
        if let Some(window) = self.initial_window {
            metrics = metrics.attribute(RTAX_INITCWND, &window.to_ne_bytes());
        }
        if let Some(name) = self.congestion {
            metrics = metrics.attribute(RTAX_CC_ALGO, &name_value(name));
        }
        if !metrics.value().is_empty() {
            request = request.attribute(libc::RTA_METRICS, metrics.value());
        }
        Ok(request)
    }
}

/// Returns the destination of a route in the main table.
fn destination(route: &[u8], family: Family) -> Option<Net> {
    let [_, length, _, _, table] = array(route, 0)?;
    if table != libc::RT_TABLE_MAIN {
        return None;
    }
    let to = attributes(route, ROUTE).find(|(kind, _)| *kind == libc::RTA_DST);
    let to = to.and_then(|(_, value)| read_address(value));
    Some(to.map_or(Net::default_of(family), |address| Net { address, length }))
}

/// Returns an interface; `None` if it has no name.
fn link_state(link: &[u8]) -> Option<LinkState> {
    let mut found = LinkState { name: String::new(), mtu: 0, counters: None };
    for (kind, value) in attributes(link, LINK) {
        match kind {
            libc::IFLA_IFNAME => {
                let name = value.strip_suffix(&[0]).unwrap_or(value);
                found.name = String::from_utf8_lossy(name).into_owned();
            }
            libc::IFLA_MTU => found.mtu = array(value, 0).map_or(0, u32::from_ne_bytes),
            libc::IFLA_STATS64 => found.counters = read_counters(value),
            _ => {}
        }
    }
    (!found.name.is_empty()).then_some(found)
}

/// Reads struct rtnl_link_stats64 (linux/if_link.h), each of whose counters has 64 bits.
fn read_counters(value: &[u8]) -> Option<LinkCounters> {
    let counter = |number: usize| array(value, number * 8).map(u64::from_ne_bytes);
    Some(LinkCounters {
        rx_packets: counter(0)?,
        tx_packets: counter(1)?,
        rx_bytes: counter(2)?,
        tx_bytes: counter(3)?,
        rx_errors: counter(4)?,
        tx_errors: counter(5)?,
        rx_dropped: counter(6)?,
        tx_dropped: counter(7)?,
        rx_fifo_errors: counter(14)?,
        rx_missed_errors: counter(15)?,
    })
}

fn address_value(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

fn read_address(value: &[u8]) -> Option<IpAddr> {
    match value.len() {
        4 => array::<4>(value, 0).map(IpAddr::from),
        16 => array::<16>(value, 0).map(IpAddr::from),
        _ => None,
    }
}

fn address_family(family: Family) -> u8 {
    match family {
        Family::Ipv4 => libc::AF_INET as u8,
        Family::Ipv6 => libc::AF_INET6 as u8,
    }
}

/// Returns the index of an interface.
fn index(name: &str) -> io::Result<u32> {
    let absent = || io::Error::new(io::ErrorKind::NotFound, format!("no interface '{name}'"));
    interface::index(name).ok_or_else(absent)
}
