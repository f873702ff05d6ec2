//! How the kernel would send to an address, asked without sending anything.

use std::io;
use std::net::{IpAddr, SocketAddr};

use crate::socket;

/// A way to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// The source address that the kernel chooses.
    pub source: IpAddr,
    /// The path's MTU as far as the kernel knows it, in bytes.
    pub mtu: Option<u32>,
}

/// The way to `address`. Connecting a UDP socket looks up the route and the source address, and
/// sends no packet. The error is the kernel's: ENETUNREACH and EADDRNOTAVAIL mean that this host
/// lacks the family or a route.
pub fn way_to(address: SocketAddr) -> io::Result<Way> {
    let fd = socket::open(&address, libc::SOCK_DGRAM)?;
    socket::connect(&fd, &address)?;
    let (level, name) = match address {
        SocketAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_MTU),
        SocketAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_MTU),
    };
    let mtu = socket::option(&fd, level, name).ok().and_then(|mtu| mtu.try_into().ok());
    Ok(Way { source: socket::local(&fd)?.ip(), mtu })
}

/// Fails where no connection can come from `address`: it is not this host's.
pub fn check_source(address: SocketAddr) -> io::Result<()> {
    let fd = socket::open(&address, libc::SOCK_DGRAM)?;
    socket::bind(&fd, &address)
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
    fn loopback_is_reached_from_itself_over_both_families() {
        for address in ["[::1]:9", "127.0.0.1:9"] {
            let address: SocketAddr = address.parse().unwrap();
            let way = way_to(address).unwrap();
            assert_eq!(way.source, address.ip());
            assert!(way.mtu.unwrap() >= 1_280, "{way:?}");
        }
    }
}
