//! The kernel's routing decisions, queried without sending a packet.

use std::io;
use std::net::{IpAddr, SocketAddr};

use crate::{interface, netlink, socket};

/// A route to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelRoute {
    /// The source address that the kernel chooses.
    pub source: IpAddr,
    /// The path MTU known to the kernel, in bytes.
    pub mtu: Option<u32>,
}

/// Returns the route to `address`. Connecting a UDP socket looks up the route and the source
/// address and sends no packet.
///
/// # Errors
/// Returns the kernel's error: ENETUNREACH and EADDRNOTAVAIL mean that this host lacks the family
/// or a route.
pub fn way_to(address: SocketAddr) -> io::Result<KernelRoute> {
    let fd = socket::open_socket(&address, libc::SOCK_DGRAM)?;
    socket::connect(&fd, &address)?;
    let (level, name) = match address {
        SocketAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_MTU),
        SocketAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_MTU),
    };
    let mtu = socket::option(&fd, level, name).ok().and_then(|mtu| mtu.try_into().ok());
    Ok(KernelRoute { source: socket::local(&fd)?.ip(), mtu })
}

/// Returns an error if `address` is not an address of this host, so that no connection can use it
/// as its source.
pub fn check_source(address: SocketAddr) -> io::Result<()> {
    let fd = socket::open_socket(&address, libc::SOCK_DGRAM)?;
    socket::bind_socket(&fd, &address)
}

/// Returns true if packets for `address` are delivered to this host, because an interface has the
/// address or it is in a prefix with a local route (`ip route add local`).
pub fn is_local(address: IpAddr) -> io::Result<bool> {
    const ROUTE_TYPE: usize = 16 + 7;
    const LOCAL: u8 = 2;
    let answer = netlink::ask(libc::RTM_GETROUTE, &route_to(address))?;
    match answer.get(4..6) {
        // An unreachable address is not local either.
        Some(kind) if kind == (libc::NLMSG_ERROR as u16).to_ne_bytes() => Ok(false),
        _ => Ok(answer.get(ROUTE_TYPE) == Some(&LOCAL)),
    }
}

/// Returns the interface over which packets for `address` leave. For this host's own addresses it
/// is the loopback interface.
///
/// # Errors
/// Returns an error if the kernel has no route, or does not report it.
pub fn interface_to(address: SocketAddr) -> io::Result<String> {
    if let SocketAddr::V6(v6) = address
        && v6.scope_id() != 0
    {
        return interface::name_of_interface(v6.scope_id());
    }
    let answer = netlink::ask(libc::RTM_GETROUTE, &route_to(address.ip()))?;
    let number = attribute(answer.get(HEADERS..).unwrap_or_default(), libc::RTA_OIF);
    let number = number.and_then(<[u8]>::first_chunk).map(|bytes| u32::from_ne_bytes(*bytes));
    interface::name_of_interface(
        number.ok_or_else(|| io::Error::from_raw_os_error(libc::ENETUNREACH))?,
    )
}

/// The size of an nlmsghdr and an rtmsg.
const HEADERS: usize = 16 + 12;

/// Returns the payload of the first attribute of this type.
fn attribute(mut rest: &[u8], kind: u16) -> Option<&[u8]> {
    loop {
        let ([a, b, c, d], _) = rest.split_first_chunk()?;
        let length = usize::from(u16::from_ne_bytes([*a, *b])).max(4);
        if u16::from_ne_bytes([*c, *d]) == kind {
            return rest.get(4..length);
        }
        rest = rest.get(length.next_multiple_of(4)..)?;
    }
}

/// Builds a route query (rtnetlink(7)): an rtmsg with the destination as its only attribute.
fn route_to(address: IpAddr) -> Vec<u8> {
    let (family, bytes) = match address {
        IpAddr::V4(v4) => (libc::AF_INET, v4.octets().to_vec()),
        IpAddr::V6(v6) => (libc::AF_INET6, v6.octets().to_vec()),
    };
    let mut message = vec![family as u8, bytes.len() as u8 * 8];
    message.resize(12, 0);
    message.extend((bytes.len() as u16 + 4).to_ne_bytes());
    message.extend(libc::RTA_DST.to_ne_bytes());
    message.extend(bytes);
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_must_be_an_address_of_this_host() {
        for (address, is_ours) in
            [("[::1]:0", true), ("127.0.0.9:0", true), ("[2001:db8::9]:0", false)]
        {
            assert_eq!(check_source(address.parse().unwrap()).is_ok(), is_ours, "{address}");
        }
    }

    #[test]
    fn routes_local_destinations_over_loopback() {
        for address in ["127.0.0.1:80", "[::1]:80"] {
            assert_eq!(interface_to(address.parse().unwrap()).unwrap(), "lo", "{address}");
        }
    }

    #[test]
    fn loopback_is_local_and_the_documentation_prefix_is_not() {
        for (address, is_ours) in
            [("::1", true), ("127.9.9.9", true), ("2001:db8::9", false), ("192.0.2.1", false)]
        {
            assert_eq!(is_local(address.parse().unwrap()).unwrap(), is_ours, "{address}");
        }
    }

    #[test]
    fn loopback_is_reached_from_itself_over_both_families() {
        for address in ["[::1]:9", "127.0.0.1:9"] {
            let address: SocketAddr = address.parse().unwrap();
            let way = way_to(address).unwrap();
            assert_eq!(way.source, address.ip());
            assert!(way.mtu.unwrap() >= 1_280, "{way:?}");
        }
    }
}
