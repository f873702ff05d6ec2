//! An address with the length of its prefix.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use crate::family::Family;

/// An address and the length of its prefix in bits: `10.0.1.2/24`, `fd00::2/64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Net {
    /// The address.
    pub address: IpAddr,
    /// The number of leading bits that identify the network.
    pub length: u8,
}

impl Net {
    /// Creates the network of a single host: a prefix of 32 or 128 bits.
    pub fn host(address: IpAddr) -> Net {
        Net { address, length: bits(address) }
    }

    /// Creates the network of all addresses of a family: `::/0` or `0.0.0.0/0`.
    pub fn default_of(family: Family) -> Net {
        let address = match family {
            Family::Ipv6 => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
            Family::Ipv4 => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        };
        Net { address, length: 0 }
    }

    /// Returns the address family.
    pub fn family(&self) -> Family {
        Family::of(self.address)
    }

    /// Returns the network that contains the address: the bits after the prefix are zero.
    #[must_use]
    pub fn prefix(&self) -> Net {
        let address = match self.address {
            IpAddr::V4(v4) => {
                IpAddr::V4(Ipv4Addr::from(u32::from(v4) & mask(32, self.length) as u32))
            }
            IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from(u128::from(v6) & mask(128, self.length))),
        };
        Net { address, length: self.length }
    }

    /// Returns true if `address` is in the same network.
    pub fn holds(&self, address: IpAddr) -> bool {
        Family::of(address) == self.family()
            && Net { address, length: self.length }.prefix() == self.prefix()
    }
}

/// Returns the netmask of a prefix of `length` bits, in the lowest `bits` bits.
fn mask(bits: u32, length: u8) -> u128 {
    let host = bits - u32::from(length).min(bits);
    let all = if bits == 128 { u128::MAX } else { (1 << bits) - 1 };
    all.checked_shr(host).unwrap_or(0).checked_shl(host).unwrap_or(0)
}

fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

impl fmt::Display for Net {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}

impl FromStr for Net {
    type Err = String;

    fn from_str(text: &str) -> Result<Net, String> {
        let wrong = || {
            format!(
                "'{text}' is not an address with a prefix length, as in 10.0.1.2/24 or \
                 fd00::2/64"
            )
        };
        let (address, length) = text.split_once('/').ok_or_else(wrong)?;
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let length = length.parse().ok().filter(|length| *length <= bits(address));
        Ok(Net { address, length: length.ok_or_else(wrong)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_an_address_to_its_prefix() {
        let prefix = |text: &str| text.parse::<Net>().unwrap().prefix().to_string();
        assert_eq!(prefix("10.0.1.2/24"), "10.0.1.0/24");
        assert_eq!(prefix("10.0.1.2/0"), "0.0.0.0/0");
        assert_eq!(prefix("10.0.1.2/32"), "10.0.1.2/32");
        assert_eq!(prefix("fd00:0:0:7::2/64"), "fd00:0:0:7::/64");
        assert_eq!(prefix("fd00::2/128"), "fd00::2/128");
        assert_eq!(prefix("fd00::2/0"), "::/0");
    }

    #[test]
    fn rejects_invalid_addresses_and_prefix_lengths() {
        for text in ["10.0.0.1", "10.0.0.1/33", "fd00::/129", "x/1", "fd00::/"] {
            assert!(text.parse::<Net>().is_err(), "{text}");
        }
    }

    #[test]
    fn contains_only_addresses_of_its_network_and_family() {
        let net: Net = "10.0.1.2/24".parse().unwrap();
        assert!(net.holds("10.0.1.200".parse().unwrap()));
        assert!(!net.holds("10.0.2.2".parse().unwrap()));
        assert!(!net.holds("::1".parse().unwrap()));
    }
}
