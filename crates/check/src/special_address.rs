//! Addresses that are not of the public internet, by the registries of special-purpose addresses
//! (RFC 6890, RFC 8190).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A block of addresses, and what it is for.
struct SpecialBlock<A> {
    prefix: A,
    bits: u32,
    what: &'static str,
}

const fn v6(segments: [u16; 8], bits: u32, what: &'static str) -> SpecialBlock<Ipv6Addr> {
    let [a, b, c, d, e, f, g, h] = segments;
    SpecialBlock { prefix: Ipv6Addr::new(a, b, c, d, e, f, g, h), bits, what }
}

const fn v4(octets: [u8; 4], bits: u32, what: &'static str) -> SpecialBlock<Ipv4Addr> {
    let [a, b, c, d] = octets;
    SpecialBlock { prefix: Ipv4Addr::new(a, b, c, d), bits, what }
}

/// The prefix of addresses that DNS64 synthesises unless a network has its own (RFC 6052, 2.1).
pub const WELL_KNOWN_NAT64: Ipv6Addr = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0);

const IPV6: [SpecialBlock<Ipv6Addr>; 14] = [
    v6([0, 0, 0, 0, 0, 0, 0, 0], 128, "the unspecified address"),
    v6([0, 0, 0, 0, 0, 0, 0, 1], 128, "a loopback address"),
    v6([0, 0, 0, 0, 0, 0xffff, 0, 0], 96, "an IPv4-mapped address"),
    v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96, "an address of the well-known NAT64 prefix"),
    v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48, "an address of local NAT64 (RFC 8215)"),
    v6([0x100, 0, 0, 0, 0, 0, 0, 0], 64, "an address of the discard prefix (RFC 6666)"),
    v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32, "a Teredo address"),
    v6([0x2001, 2, 0, 0, 0, 0, 0, 0], 48, "a benchmarking address (RFC 5180)"),
    v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, "a documentation address (RFC 3849)"),
    v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, "a documentation address (RFC 9637)"),
    v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, "a 6to4 address"),
    v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, "a unique local address (RFC 4193)"),
    v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, "a link-local address"),
    v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, "a multicast address"),
];

const IPV4: [SpecialBlock<Ipv4Addr>; 11] = [
    v4([0, 0, 0, 0], 8, "an address of this network"),
    v4([10, 0, 0, 0], 8, "a private address (RFC 1918)"),
    v4([100, 64, 0, 0], 10, "a shared address (RFC 6598)"),
    v4([127, 0, 0, 0], 8, "a loopback address"),
    v4([169, 254, 0, 0], 16, "a link-local address"),
    v4([172, 16, 0, 0], 12, "a private address (RFC 1918)"),
    v4([192, 0, 2, 0], 24, "a documentation address (RFC 5737)"),
    v4([192, 168, 0, 0], 16, "a private address (RFC 1918)"),
    v4([198, 18, 0, 0], 15, "a benchmarking address (RFC 2544)"),
    v4([198, 51, 100, 0], 24, "a documentation address (RFC 5737)"),
    v4([203, 0, 113, 0], 24, "a documentation address (RFC 5737)"),
];

/// Returns what an address is for; `None` if it is one of the public internet.
pub fn describe_special(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V6(address) => {
            let is_in = |block: &&SpecialBlock<Ipv6Addr>| {
                let apart = u128::from(address) ^ u128::from(block.prefix);
                apart.leading_zeros() >= block.bits
            };
            IPV6.iter().find(is_in).map(|block| block.what)
        }
        IpAddr::V4(address) => {
            let is_in = |block: &&SpecialBlock<Ipv4Addr>| {
                let apart = u32::from(address) ^ u32::from(block.prefix);
                apart.leading_zeros() >= block.bits
            };
            IPV4.iter().find(is_in).map(|block| block.what)
        }
    }
}

/// Returns true if an IPv6 address contains the IPv4 address after the 96 bits of a NAT64 prefix
/// (RFC 6052, 2.2).
pub fn embeds(prefix: Ipv6Addr, address: Ipv6Addr, inner: Ipv4Addr) -> bool {
    let [.., a, b, c, d] = address.octets();
    let same_prefix = prefix.octets()[..12] == address.octets()[..12];
    same_prefix && [a, b, c, d] == inner.octets()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_each_kind_of_special_address() {
        for (address, kind) in [
            ("::ffff:192.0.2.1", "IPv4-mapped"),
            ("64:ff9b::c000:201", "NAT64"),
            ("100::1", "discard"),
            ("2001:0:4136:e378::1", "Teredo"),
            ("2001:db8::1", "documentation"),
            ("2002:c000:201::1", "6to4"),
            ("fd12:3456::1", "unique local"),
            ("fe80::1", "link-local"),
            ("192.168.1.1", "private"),
            ("100.127.0.1", "shared"),
            ("169.254.1.1", "link-local"),
        ] {
            let found = describe_special(address.parse().unwrap());
            assert!(found.is_some_and(|what| what.contains(kind)), "{address}: {found:?}");
        }
        for address in ["2001:4860::1", "2600::1", "9.9.9.9", "172.32.0.1", "2001:db9::1"] {
            assert_eq!(describe_special(address.parse().unwrap()), None, "{address}");
        }
    }

    #[test]
    fn finds_the_address_within_a_synthesised_one() {
        let inner = Ipv4Addr::new(192, 0, 2, 1);
        let embedded = |address: &str| embeds(WELL_KNOWN_NAT64, address.parse().unwrap(), inner);
        assert!(embedded("64:ff9b::c000:201"));
        assert!(!embedded("64:ff9b::c000:202"));
        assert!(!embedded("2001:db8::c000:201"));
    }
}
