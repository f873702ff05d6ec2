//! Router Advertisements and Solicitations as bytes (RFC 4861, 4.1 and 4.2).

use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use crate::plan::{AdvertisementPlan, PREF64_LENGTHS, Pref64};
use sixmark_units::net::Net;

/// The types of both messages (RFC 4861, 4.1 and 4.2).
const SOLICITATION: u8 = 133;
const ADVERTISEMENT: u8 = 134;
/// The types of options: link-layer address of the sender, prefix (RFC 4861, 4.6), PREF64 (RFC 8781, 4).
const SOURCE_LINK_LAYER: u8 = 1;
const PREFIX_INFORMATION: u8 = 3;
const PREF64: u8 = 38;
/// The flag of a prefix whose addresses are on the link. That from which hosts would form addresses, 0x40, is not
/// set: hosts have those of the lab.
const ON_LINK: u8 = 0x80;
/// The default lifetimes of a prefix in seconds (RFC 4861, 6.2.1).
const VALID_S: u32 = 2_592_000;
const PREFERRED_S: u32 = 604_800;
/// The hop limit that hosts should use, that of the kernel.
const HOP_LIMIT: u8 = 64;

/// Returns the message that a router sends on an interface with addresses in these networks. The checksum is left to
/// the kernel.
pub(crate) fn advertisement_bytes(plan: &AdvertisementPlan, networks: &[Net]) -> Vec<u8> {
    let mut bytes = vec![ADVERTISEMENT, 0, 0, 0, HOP_LIMIT, 0];
    bytes.extend(plan.router_lifetime_s.to_be_bytes());
    // Neither a reachable time nor a retransmission timer.
    bytes.extend([0; 8]);
    networks.iter().for_each(|net| add_prefix(&mut bytes, net));
    plan.pref64.iter().for_each(|pref64| add_pref64(&mut bytes, pref64));
    bytes
}

fn add_prefix(bytes: &mut Vec<u8>, net: &Net) {
    let Some(prefix) = ipv6_octets(net) else { return };
    bytes.extend([PREFIX_INFORMATION, 4, net.length, ON_LINK]);
    bytes.extend(VALID_S.to_be_bytes());
    bytes.extend(PREFERRED_S.to_be_bytes());
    bytes.extend([0; 4]);
    bytes.extend(prefix);
}

fn add_pref64(bytes: &mut Vec<u8>, of: &Pref64) {
    let Some(prefix) = ipv6_octets(&of.prefix) else { return };
    let code = PREF64_LENGTHS.iter().position(|&length| length == of.prefix.length).unwrap_or(0);
    bytes.extend([PREF64, 2]);
    bytes.extend((scaled_lifetime(of.lifetime_s) << 3 | code as u16).to_be_bytes());
    bytes.extend(&prefix[..12]);
}

/// Returns a lifetime in units of 8 s, rounded up (RFC 8781, 4.1).
fn scaled_lifetime(seconds: u16) -> u16 {
    seconds.div_ceil(8).min(8_191)
}

fn ipv6_octets(net: &Net) -> Option<[u8; 16]> {
    match net.prefix().address {
        IpAddr::V6(address) => Some(address.octets()),
        IpAddr::V4(_) => None,
    }
}

/// Returns whether a message is a Router Solicitation that a router must not ignore (RFC 4861, 6.1.1). `hop_limit` is
/// that of its packet, which the kernel may not have reported. The kernel has checked the checksum.
pub(crate) fn is_valid_solicitation(bytes: &[u8], from: Ipv6Addr, hop_limit: Option<u8>) -> bool {
    let [SOLICITATION, 0, _, _, _, _, _, _, options @ ..] = bytes else { return false };
    let mut rest = options;
    while !rest.is_empty() {
        let [kind, length, ..] = *rest else { return false };
        // The unspecified address can have no link-layer address.
        if length == 0 || (kind == SOURCE_LINK_LAYER && from.is_unspecified()) {
            return false;
        }
        let Some(next) = rest.get(usize::from(length) * 8..) else { return false };
        rest = next;
    }
    hop_limit == Some(255) && !from.is_multicast()
}

/// The longest and the shortest interval that advertisements may have (RFC 4861, 6.2.1); the default is 600 s.
const MAX_INTERVAL: Duration = Duration::from_secs(600);
const MIN_MAX_INTERVAL: Duration = Duration::from_secs(4);
const MIN_INTERVAL: Duration = Duration::from_secs(3);

/// Returns the shortest and the longest time between two advertisements (RFC 4861, 6.2.1): so that each lifetime is
/// three times the longest at least, if that is possible.
pub(crate) fn advertisement_intervals(plan: &AdvertisementPlan) -> [Duration; 2] {
    let lifetimes = [plan.router_lifetime_s, plan.pref64.map_or(0, |of| of.lifetime_s)];
    let least = lifetimes.into_iter().filter(|&seconds| seconds > 0).min();
    let most = least.map_or(MAX_INTERVAL, |seconds| Duration::from_secs(seconds.into()) / 3);
    let most = most.clamp(MIN_MAX_INTERVAL, MAX_INTERVAL);
    let share = if most >= Duration::from_secs(9) { 0.33 } else { 0.75 };
    [most.mul_f64(share).max(MIN_INTERVAL), most]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(prefix: &str, lifetime_s: u16) -> AdvertisementPlan {
        let pref64 = Pref64 { prefix: prefix.parse().unwrap(), lifetime_s };
        AdvertisementPlan { pref64: Some(pref64), router_lifetime_s: 0x0102 }
    }

    #[test]
    fn an_advertisement_has_the_layout_of_rfc_4861_and_rfc_8781() {
        let networks = ["fd00:0:0:1::2/64".parse().unwrap(), "10.0.1.2/24".parse().unwrap()];
        let bytes = advertisement_bytes(&plan("fd64::/96", 1_800), &networks);
        #[rustfmt::skip]
        let expected = [
            // Type, code, checksum, hop limit, flags, lifetime, reachable time, retransmission timer.
            134, 0, 0, 0, 64, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0,
            // Type, length, prefix length, flags, valid and preferred lifetime, reserved, prefix.
            3, 4, 64, 0x80, 0x00, 0x27, 0x8d, 0x00, 0x00, 0x09, 0x3a, 0x80, 0, 0, 0, 0,
            0xfd, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0,
            // Type, length, 225 units of 8 s and code 0, the upper 96 bits of the prefix.
            38, 2, 0x07, 0x08, 0xfd, 0x64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        ];
        assert_eq!(bytes, expected);
    }

    #[test]
    fn each_length_of_a_prefix_has_the_code_of_rfc_8781() {
        for (length, code) in [(96, 0), (64, 1), (56, 2), (48, 3), (40, 4), (32, 5)] {
            let bytes = advertisement_bytes(&plan(&format!("2001:db8::/{length}"), 8), &[]);
            assert_eq!(bytes[16..20], [38, 2, 0, 8 | code], "/{length}");
            assert_eq!(bytes[20..], [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0], "/{length}");
        }
        let without = AdvertisementPlan { pref64: None, router_lifetime_s: 0 };
        assert_eq!(advertisement_bytes(&without, &[]).len(), 16);
    }

    #[test]
    fn lifetimes_are_rounded_up_to_units_of_8_seconds() {
        let cases =
            [(0, 0), (1, 1), (8, 1), (9, 2), (1_800, 225), (65_521, 8_191), (65_528, 8_191)];
        for (seconds, units) in cases {
            assert_eq!(scaled_lifetime(seconds), units, "{seconds}");
        }
        assert_eq!(scaled_lifetime(u16::MAX), 8_191);
    }

    #[test]
    fn solicitations_are_checked_as_rfc_4861_says() {
        let (host, none) = ("fe80::1".parse().unwrap(), Ipv6Addr::UNSPECIFIED);
        let plain = [133, 0, 0, 0, 0, 0, 0, 0];
        let with = |options: &[u8]| [&plain, options].concat();
        let link_layer = with(&[1, 1, 2, 0, 0, 0, 0, 1]);
        for (bytes, from) in [(&plain[..], host), (&plain[..], none), (&link_layer[..], host)] {
            assert!(is_valid_solicitation(bytes, from, Some(255)));
            for hop_limit in [Some(254), Some(64), None] {
                assert!(!is_valid_solicitation(bytes, from, hop_limit));
            }
        }
        let endless = with(&[1, 0, 0, 0, 0, 0, 0, 0]);
        let short = with(&[1, 2, 0, 0, 0, 0, 0, 0]);
        let cut = with(&[1]);
        let code = [133, 1, 0, 0, 0, 0, 0, 0];
        let other = [134, 0, 0, 0, 0, 0, 0, 0];
        for bytes in [&endless[..], &short, &cut, &code, &other, &plain[..7], &[]] {
            assert!(!is_valid_solicitation(bytes, host, Some(255)), "{bytes:?}");
        }
        assert!(!is_valid_solicitation(&link_layer, none, Some(255)));
        assert!(!is_valid_solicitation(&plain, "ff02::1".parse().unwrap(), Some(255)));
    }

    #[test]
    fn advertisements_come_three_times_in_a_lifetime_but_not_more_often_than_allowed() {
        let seconds =
            |plan: &AdvertisementPlan| advertisement_intervals(plan).map(|of| of.as_secs());
        let only =
            |lifetime| AdvertisementPlan { router_lifetime_s: 0, ..plan("fd64::/96", lifetime) };
        assert_eq!(seconds(&only(1_800)), [198, 600]);
        assert_eq!(seconds(&only(65_528)), [198, 600]);
        assert_eq!(seconds(&only(0)), [198, 600]);
        assert_eq!(seconds(&only(60)), [6, 20]);
        assert_eq!(seconds(&only(8)), [3, 4]);
        assert_eq!(seconds(&plan("fd64::/96", 1_800)), [28, 86]);
    }
}
