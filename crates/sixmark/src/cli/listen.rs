//! The addresses on which a command listens, as typed.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

/// Addresses to listen on: `ADDR:PORT` is one address, a port alone stands for loopback of both
/// families, and `*:PORT` for all addresses of both families.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listen(pub(super) Vec<SocketAddr>);

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Listen, String> {
        let both = |addresses: [IpAddr; 2], port| {
            Listen(addresses.map(|address| SocketAddr::new(address, port)).to_vec())
        };
        if let Ok(port) = text.parse::<u16>() {
            return Ok(both([Ipv6Addr::LOCALHOST.into(), Ipv4Addr::LOCALHOST.into()], port));
        }
        if let Some(Ok(port)) = text.strip_prefix("*:").map(str::parse) {
            return Ok(both([Ipv6Addr::UNSPECIFIED.into(), Ipv4Addr::UNSPECIFIED.into()], port));
        }
        let one = text.parse().map(|address| Listen(vec![address]));
        one.map_err(|_| {
            format!("'{text}' is not a port or ADDR:PORT, as in 5777, [::1]:5777, *:5777")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_means_loopback_in_both_families() {
        for (text, expected) in [
            ("80", &["[::1]:80", "127.0.0.1:80"][..]),
            ("*:80", &["[::]:80", "0.0.0.0:80"]),
            ("[::]:80", &["[::]:80"]),
            ("127.0.0.1:0", &["127.0.0.1:0"]),
        ] {
            let Listen(found) = text.parse().unwrap();
            let found: Vec<String> = found.iter().map(SocketAddr::to_string).collect();
            assert_eq!(found, expected);
        }
        for wrong in ["", "host", "localhost:1", "*", "70000", "::1"] {
            assert!(wrong.parse::<Listen>().is_err(), "{wrong}");
        }
    }
}
