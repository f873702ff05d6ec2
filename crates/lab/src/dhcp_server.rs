//! A DHCPv4 server on the links of a router (RFC 2131).

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::{Duration, Instant};

use crate::dhcp_leases::{DhcpLease, DhcpLink};
use crate::plan::segment::segments;
use crate::plan::{DhcpPlan, Lab, LabNode, LinkEnd};
use sixmark_sys::interface;
use sixmark_sys::segment_socket::SegmentSocket;
use sixmark_units::family::Family;
use sixmark_units::net::Net;

use super::host::Hosts;
use super::part::error_of_part;
use super::responder::{Responder, ResponderWork};
use sixmark_sys::command_error::CommandError;

/// The ports of servers and of clients (RFC 2131, 4.1).
const SERVER_PORT: u16 = 67;
const CLIENT_PORT: u16 = 68;
/// The longest message that is read; longer ones are cut and thus invalid.
const LONGEST: usize = 1_500;

/// What a thread needs to answer the clients of a router.
struct DhcpServer {
    socket: SegmentSocket,
    links: Vec<DhcpLink>,
}

/// Starts the DHCPv4 server of a host. It ends when the result is dropped.
pub(super) fn serve_dhcp(
    lab: &Lab,
    number: usize,
    plan: &DhcpPlan,
    hosts: &Hosts,
) -> Result<Responder, CommandError> {
    let name = &lab.hosts.get(number).ok_or_else(missing)?.name;
    let host = hosts.get(name)?;
    let mut links = Vec::new();
    for end in lab.ends(number) {
        let Some((server, network)) = ipv4_of(end) else { continue };
        let absent = || io::Error::from_raw_os_error(libc::ENODEV);
        let index = || interface::index(&end.interface).ok_or_else(absent);
        let interface = host.net().within(index).map_err(error_of_part(name))?;
        let leases = leases_of(lab, end, network, hosts)?;
        links.push(DhcpLink { interface, server, v6only_wait_s: plan.v6only_wait_s, leases });
    }
    let open = || SegmentSocket::open_for_datagrams(SERVER_PORT);
    let start = || {
        open().and_then(|socket| {
            Responder::start(&format!("DHCP {name}"), DhcpServer { socket, links })
        })
    };
    host.net().within(start).map_err(error_of_part(name))
}

fn missing() -> CommandError {
    CommandError::Measure("a host of the lab is missing".to_owned())
}

/// Returns the IPv4 address at an end of a link, and its network.
fn ipv4_of(end: &LinkEnd) -> Option<(Ipv4Addr, Net)> {
    end.addresses.iter().find_map(|net| match net.address {
        IpAddr::V4(address) => Some((address, *net)),
        IpAddr::V6(_) => None,
    })
}

/// Returns the addresses of the other hosts that have one in the network of a server's end, in its segment.
fn leases_of(
    lab: &Lab,
    server: &LinkEnd,
    network: Net,
    hosts: &Hosts,
) -> Result<Vec<DhcpLease>, CommandError> {
    let mut found = Vec::new();
    for segment in segments(&lab.links) {
        let ends =
            segment.ends.iter().filter_map(|&(link, end)| Some(&lab.links.get(link)?.ends[end]));
        let ends: Vec<&LinkEnd> = ends.collect();
        if !ends.contains(&server) {
            continue;
        }
        for end in ends.into_iter().filter(|end| end.node != server.node) {
            let own = ipv4_of(end).filter(|(address, _)| network.holds((*address).into()));
            let (Some((address, net)), LabNode::Host(number)) = (own, end.node) else { continue };
            let plan = lab.hosts.get(number).ok_or_else(missing)?;
            let read = || interface::hardware_address(&end.interface);
            let hardware =
                hosts.get(&plan.name)?.net().within(read).map_err(error_of_part(&plan.name))?;
            let resolver = plan.resolver.as_ref().and_then(|name| lab.host(name));
            let name_server = resolver.and_then(|of| match lab.address(of, Family::Ipv4) {
                Some(IpAddr::V4(address)) => Some(address),
                _ => None,
            });
            found.push(DhcpLease { hardware, address, length: net.length, name_server });
        }
    }
    Ok(found)
}

impl ResponderWork for DhcpServer {
    fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn send_due(&mut self, _now: Instant) -> Option<Duration> {
        None
    }

    fn answer(&mut self, _now: Instant) -> io::Result<()> {
        let mut buffer = [0; LONGEST];
        let heard = self.socket.receive(&mut buffer)?;
        let Some(link) = self.links.iter().find(|link| link.interface == heard.interface) else {
            return Ok(());
        };
        if let Some((bytes, to)) = link.answer_to(&buffer[..heard.length]) {
            // Whoever asked may be gone.
            let to = SocketAddr::new(to.into(), CLIENT_PORT);
            let _ = self.socket.send(&bytes, &to, link.interface);
        }
        Ok(())
    }
}
