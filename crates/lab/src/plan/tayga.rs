//! The configuration of a NAT64, for tayga.

use std::net::{IpAddr, Ipv4Addr};

use super::Nat64;
use sixmark_units::family::Family;
use sixmark_units::net::Net;

/// The interface that leads packets to tayga. It exists while tayga runs.
pub const INTERFACE: &str = "nat64";

/// Returns the configuration file.
pub(super) fn configuration(nat: &Nat64) -> String {
    format!(
        "tun-device {INTERFACE}\nipv4-addr {}\nprefix {}\ndynamic-pool {}\ndata-dir {{dir}}\n",
        own(nat),
        nat.prefix,
        nat.pool
    )
}

/// Returns the command that starts tayga in the foreground.
pub(super) fn tayga_command(file: &str) -> Vec<String> {
    ["tayga", "-d", "-c", &format!("{{dir}}/{file}")].map(str::to_owned).to_vec()
}

/// Returns the networks to be routed to [`INTERFACE`].
pub fn networks(nat: &Nat64) -> [Net; 2] {
    Family::BOTH.map(|family| if family == Family::Ipv6 { nat.prefix } else { nat.pool })
}

/// Returns tayga's own address, the first of the pool. It is the source of ICMP errors and is not
/// assigned to any host.
fn own(nat: &Nat64) -> IpAddr {
    match nat.pool.prefix().address {
        IpAddr::V4(first) => IpAddr::V4(Ipv4Addr::from(u32::from(first) + 1)),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_its_own_ipv4_address_from_the_pool() {
        let nat = Nat64 {
            prefix: "fd64::/96".parse().unwrap(),
            pool: "192.168.255.0/24".parse().unwrap(),
        };
        assert_eq!(
            configuration(&nat),
            "tun-device nat64\nipv4-addr 192.168.255.1\nprefix fd64::/96\n\
             dynamic-pool 192.168.255.0/24\ndata-dir {dir}\n"
        );
    }
}
