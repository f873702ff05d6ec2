//! An address with the length of its network prefix, and its text form.

use std::net::IpAddr;
use std::str::FromStr;

/// An address with the length of its network prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// The address of the host itself.
    pub address: IpAddr,
    /// The prefix length in bits: 0 to 32 for IPv4, 0 to 128 for IPv6.
    pub length: u8,
}

impl Prefix {
    /// Returns true if the address is in the same network.
    pub fn holds(&self, other: IpAddr) -> bool {
        let (own, other, bits) = match (self.address, other) {
            (IpAddr::V6(own), IpAddr::V6(other)) => (own.to_bits(), other.to_bits(), 128),
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                (own.to_bits().into(), other.to_bits().into(), 32)
            }
            _ => return false,
        };
        let host = bits - u32::from(self.length).min(bits);
        own.checked_shr(host).unwrap_or(0) == other.checked_shr(host).unwrap_or(0)
    }
}

impl FromStr for Prefix {
    type Err = String;

    fn from_str(text: &str) -> Result<Prefix, String> {
        const FORM: &str =
            "expected an address with a prefix length, such as fd00::2/64 or 10.0.0.2/24";
        let (address, length) = text.split_once('/').ok_or(FORM)?;
        let address: IpAddr = address.parse().map_err(|_| FORM)?;
        let most = if address.is_ipv6() { 128 } else { 32 };
        let length = length.parse().ok().filter(|&length| length <= most);
        let length = length.ok_or_else(|| format!("the prefix length is 0 to {most}"))?;
        if address.is_unspecified() || address.is_multicast() || address.is_loopback() {
            return Err(format!("{address} can't be the address of a host on an Ethernet"));
        }
        Ok(Prefix { address, length })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contains_only_addresses_of_its_own_network() {
        for (own, inside, outside) in [
            ("fd00::2/64", "fd00::ffff", "fd00:0:0:1::1"),
            ("fd00::2/128", "fd00::2", "fd00::3"),
            ("10.0.0.2/24", "10.0.0.255", "10.0.1.0"),
            ("10.0.0.2/32", "10.0.0.2", "::ffff:10.0.0.2"),
            ("10.0.0.2/0", "192.0.2.1", "fd00::2"),
        ] {
            let own: Prefix = own.parse().unwrap();
            assert!(own.holds(inside.parse().unwrap()) && !own.holds(outside.parse().unwrap()));
        }
    }

    #[test]
    fn rejects_invalid_prefixes_and_non_host_addresses() {
        for text in
            ["", "10.0.0.2", "fd00::2", "host/24", "10.0.0.2/33", "fd00::2/129", "10.0.0.2/x"]
        {
            assert!(text.parse::<Prefix>().is_err(), "{text}");
        }
        for text in ["127.0.0.1/8", "::1/128", "0.0.0.0/0", "ff02::1/16", "224.0.0.1/4"] {
            assert!(
                text.parse::<Prefix>().unwrap_err().contains("can't be the address of a host"),
                "{text}"
            );
        }
    }
}
