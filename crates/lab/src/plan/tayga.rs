//! The configuration of translators between IPv6 and IPv4, for tayga.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::host::{CLAT_INTERFACE, own_address};
use super::{AddressMap, Clat, Nat64};
use sixmark_units::family::Family;
use sixmark_units::net::Net;

/// The interface that leads packets to tayga. It exists while tayga runs.
pub const INTERFACE: &str = "nat64";

/// The address that a host with a CLAT has, and that of the translator itself (RFC 7335).
pub const CLAT_IPV4: Ipv4Addr = Ipv4Addr::new(192, 0, 0, 1);
const CLAT_OWN: Ipv4Addr = Ipv4Addr::new(192, 0, 0, 2);

/// Returns the configuration file of a NAT64. The addresses of hosts are those that names in braces stand
/// for.
pub(super) fn configuration(nat: &Nat64) -> String {
    let map = |of: &AddressMap| format!("map {} {{{}.ipv6}}\n", of.ipv4, of.to);
    let maps: String = nat.maps.iter().map(map).collect();
    format!(
        "tun-device {INTERFACE}\nipv4-addr {}\nprefix {}\ndynamic-pool {}\n{maps}data-dir {{dir}}\n",
        own_address(nat.pool),
        nat.prefix,
        nat.pool
    )
}

/// Returns the configuration file of a CLAT.
pub(super) fn clat_configuration(clat: &Clat) -> String {
    format!(
        "tun-device {CLAT_INTERFACE}\nipv4-addr {CLAT_OWN}\nprefix {}\nmap {CLAT_IPV4} {}\n\
         data-dir {{dir}}\n",
        clat.prefix,
        embedded(clat.own, CLAT_IPV4)
    )
}

/// Returns the IPv6 address that represents an IPv4 address in a prefix of 96 bits (RFC 6052, 2.2).
fn embedded(prefix: Net, address: Ipv4Addr) -> Ipv6Addr {
    match prefix.prefix().address {
        IpAddr::V6(first) => Ipv6Addr::from(u128::from(first) | u128::from(u32::from(address))),
        IpAddr::V4(other) => other.to_ipv6_mapped(),
    }
}

/// Returns the command that starts tayga in the foreground.
pub(super) fn tayga_command(file: &str) -> Vec<String> {
    ["tayga", "-d", "-c", &format!("{{dir}}/{file}")].map(str::to_owned).to_vec()
}

/// Returns the networks to be routed to [`INTERFACE`].
pub fn networks(nat: &Nat64) -> [Net; 2] {
    Family::BOTH.map(|family| if family == Family::Ipv6 { nat.prefix } else { nat.pool })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_its_own_ipv4_address_from_the_pool() {
        let nat = Nat64 {
            prefix: "fd64::/96".parse().unwrap(),
            pool: "192.168.255.0/24".parse().unwrap(),
            maps: vec![AddressMap {
                ipv4: Ipv4Addr::new(192, 168, 255, 10),
                to: "server".to_owned(),
            }],
        };
        assert_eq!(
            configuration(&nat),
            "tun-device nat64\nipv4-addr 192.168.255.1\nprefix fd64::/96\n\
             dynamic-pool 192.168.255.0/24\nmap 192.168.255.10 {server.ipv6}\ndata-dir {dir}\n"
        );
    }

    #[test]
    fn a_clat_maps_the_hosts_address_to_one_of_its_own_prefix() {
        let clat = Clat { prefix: "fd64::/96".parse().unwrap(), own: "fd46::/96".parse().unwrap() };
        assert_eq!(
            clat_configuration(&clat),
            "tun-device clat\nipv4-addr 192.0.0.2\nprefix fd64::/96\nmap 192.0.0.1 fd46::c000:1\n\
             data-dir {dir}\n"
        );
    }
}
