//! Interfaces, addresses and routes, read and changed over rtnetlink(7) in the network namespace of
//! the calling thread.

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd as _, AsRawFd as _};

use crate::interface;
use crate::netns::NetNs;
use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkHeader,
    NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::address::{AddressAttribute, AddressHeaderFlags, AddressMessage};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage,
};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol,
    RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
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

/// The metric of the IPv6 routes that the kernel adds for an interface's own networks
/// (IP6_RT_PRIO_ADDRCONF).
const CONNECTED: u32 = 256;

const MAKE: u16 = NLM_F_CREATE | NLM_F_EXCL;
const PUT: u16 = NLM_F_CREATE | NLM_F_REPLACE;

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
        let mut other = LinkMessage::default();
        other.attributes = vec![
            LinkAttribute::IfName(peer.to_owned()),
            LinkAttribute::NetNsFd(there.as_fd().as_raw_fd()),
        ];
        let data = InfoData::Veth(InfoVeth::Peer(other));
        self.add_link(name, vec![LinkInfo::Kind(InfoKind::Veth), LinkInfo::Data(data)])
    }

    /// Creates a bridge.
    pub fn bridge(&mut self, name: &str) -> io::Result<()> {
        self.add_link(name, vec![LinkInfo::Kind(InfoKind::Bridge)])
    }

    fn add_link(&mut self, name: &str, info: Vec<LinkInfo>) -> io::Result<()> {
        let mut link = LinkMessage::default();
        link.attributes =
            vec![LinkAttribute::IfName(name.to_owned()), LinkAttribute::LinkInfo(info)];
        self.ask(RouteNetlinkMessage::NewLink(link), MAKE)
    }

    /// Sets the MTU of an interface, in bytes.
    pub fn mtu(&mut self, name: &str, mtu: u32) -> io::Result<()> {
        self.change(name, |link| link.attributes.push(LinkAttribute::Mtu(mtu)))
    }

    /// Makes an interface a port of a bridge.
    pub fn enslave(&mut self, name: &str, bridge: &str) -> io::Result<()> {
        let index = index(bridge)?;
        self.change(name, |link| link.attributes.push(LinkAttribute::Controller(index)))
    }

    /// Brings an interface up.
    pub fn up(&mut self, name: &str) -> io::Result<()> {
        self.change(name, |link| {
            link.header.flags |= LinkFlags::Up;
            link.header.change_mask |= LinkFlags::Up;
        })
    }

    fn change(&mut self, name: &str, change: impl FnOnce(&mut LinkMessage)) -> io::Result<()> {
        let mut link = LinkMessage::default();
        link.header.index = index(name)?;
        change(&mut link);
        self.ask(RouteNetlinkMessage::SetLink(link), 0)
    }

    /// Adds an address to an interface without duplicate address detection.
    pub fn address(&mut self, name: &str, net: Net) -> io::Result<()> {
        let mut address = AddressMessage::default();
        address.header.family = address_family(net.family());
        address.header.prefix_len = net.length;
        address.header.flags = AddressHeaderFlags::Nodad;
        address.header.index = index(name)?;
        address.attributes =
            vec![AddressAttribute::Local(net.address), AddressAttribute::Address(net.address)];
        self.ask(RouteNetlinkMessage::NewAddress(address), PUT)
    }

    /// Adds a route to the main table and replaces an existing route to the same destination.
    pub fn route(&mut self, route: &NewRoute<'_>) -> io::Result<()> {
        let mut message = RouteMessage::default();
        message.header.address_family = address_family(route.to.family());
        message.header.destination_prefix_length = route.to.length;
        message.header.table = RouteHeader::RT_TABLE_MAIN;
        message.header.protocol = RouteProtocol::Static;
        message.header.kind = RouteType::Unicast;
        message.header.scope = match route.via {
            Some(_) => RouteScope::Universe,
            None => RouteScope::Link,
        };
        message.attributes = route.attributes()?;
        self.ask(RouteNetlinkMessage::NewRoute(message), PUT)
    }

    /// Returns the destinations of all routes of a family in the main table.
    pub fn routes(&mut self, of: Family) -> io::Result<Vec<Net>> {
        let mut question = RouteMessage::default();
        question.header.address_family = address_family(of);
        self.send(RouteNetlinkMessage::GetRoute(question), NLM_F_DUMP)?;
        let mut found = Vec::new();
        loop {
            for message in self.receive()? {
                match message.payload {
                    NetlinkPayload::Done(_) => return Ok(found),
                    NetlinkPayload::Error(error) => return Err(error.to_io()),
                    NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewRoute(route)) => {
                        found.extend(destination(&route, of));
                    }
                    _ => {}
                }
            }
        }
    }

    /// Returns all interfaces with their counters.
    pub fn links(&mut self) -> io::Result<Vec<LinkMessage>> {
        self.send(RouteNetlinkMessage::GetLink(LinkMessage::default()), NLM_F_DUMP)?;
        let mut found = Vec::new();
        loop {
            for message in self.receive()? {
                match message.payload {
                    NetlinkPayload::Done(_) => return Ok(found),
                    NetlinkPayload::Error(error) => return Err(error.to_io()),
                    NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewLink(link)) => {
                        found.push(link);
                    }
                    _ => {}
                }
            }
        }
    }

    /// Sends a request and waits for the kernel's acknowledgement.
    fn ask(&mut self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.send(message, flags | NLM_F_ACK)?;
        for message in self.receive()? {
            if let NetlinkPayload::Error(error) = message.payload {
                return if error.code.is_none() { Ok(()) } else { Err(error.to_io()) };
            }
        }
        Err(io::Error::other("the kernel sent no answer"))
    }

    fn send(&mut self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.sequence += 1;
        let mut header = NetlinkHeader::default();
        header.flags = flags | NLM_F_REQUEST;
        header.sequence_number = self.sequence;
        let mut message = NetlinkMessage::new(header, NetlinkPayload::from(message));
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.socket.send(&bytes, 0).map(drop)
    }

    fn receive(&mut self) -> io::Result<Vec<NetlinkMessage<RouteNetlinkMessage>>> {
        let (bytes, _) = self.socket.recv_from_full()?;
        let mut rest = bytes.as_slice();
        let mut found = Vec::new();
        while !rest.is_empty() {
            let message = NetlinkMessage::<RouteNetlinkMessage>::deserialize(rest)
                .map_err(|error| io::Error::other(error.to_string()))?;
            // Messages are aligned to four bytes.
            let length = (message.header.length as usize).next_multiple_of(4);
            rest = rest.get(length.max(4)..).unwrap_or_default();
            found.push(message);
        }
        Ok(found)
    }
}

impl NewRoute<'_> {
    fn attributes(&self) -> io::Result<Vec<RouteAttribute>> {
        let mut found = Vec::new();
        if self.to.length > 0 {
            found.push(RouteAttribute::Destination(route_address(self.to.prefix().address)));
        }
        found.extend(self.via.map(|via| RouteAttribute::Gateway(route_address(via))));
        if let Some(name) = self.interface {
            found.push(RouteAttribute::Oif(index(name)?));
        }
        // The kernel's own route has this metric. With the default of 1024 this route would exist
        // beside the kernel's and never be used.
        if self.via.is_none() && self.to.family() == Family::Ipv6 {
            found.push(RouteAttribute::Priority(CONNECTED));
        }
        let window = self.initial_window.map(RouteMetric::InitCwnd);
        let congestion = self.congestion.map(|name| RouteMetric::CcAlgo(name.to_owned()));
        let metrics: Vec<RouteMetric> = window.into_iter().chain(congestion).collect();
        if !metrics.is_empty() {
            found.push(RouteAttribute::Metrics(metrics));
        }
        Ok(found)
    }
}

fn destination(route: &RouteMessage, family: Family) -> Option<Net> {
    if route.header.table != RouteHeader::RT_TABLE_MAIN {
        return None;
    }
    let to = route.attributes.iter().find_map(|attribute| match attribute {
        RouteAttribute::Destination(RouteAddress::Inet(to)) => Some(IpAddr::V4(*to)),
        RouteAttribute::Destination(RouteAddress::Inet6(to)) => Some(IpAddr::V6(*to)),
        _ => None,
    });
    let length = route.header.destination_prefix_length;
    Some(to.map_or(Net::default_of(family), |address| Net { address, length }))
}

fn route_address(address: IpAddr) -> RouteAddress {
    match address {
        IpAddr::V4(address) => RouteAddress::Inet(address),
        IpAddr::V6(address) => RouteAddress::Inet6(address),
    }
}

fn address_family(family: Family) -> AddressFamily {
    match family {
        Family::Ipv4 => AddressFamily::Inet,
        Family::Ipv6 => AddressFamily::Inet6,
    }
}

/// Returns the index of an interface.
fn index(name: &str) -> io::Result<u32> {
    let absent = || io::Error::new(io::ErrorKind::NotFound, format!("no interface '{name}'"));
    interface::index(name).ok_or_else(absent)
}
