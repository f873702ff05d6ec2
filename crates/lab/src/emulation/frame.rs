//! Classification of frames by address family.

use sixmark_units::family::Family;

/// The traffic that a frame belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// An IP packet of a family.
    Of(Family),
    /// Address resolution of either family, or a protocol other than IP.
    Other,
}

const ETHERTYPE_AT: usize = 12;
const TAG: usize = 4;
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// The tags of IEEE 802.1Q and 802.1ad.
const TAGS: [u16; 2] = [0x8100, 0x88a8];
const ICMPV6: u8 = 58;
/// The ICMPv6 types of neighbour discovery: router and neighbour solicitations and advertisements,
/// and redirects (RFC 4861, 4).
const DISCOVERY: std::ops::RangeInclusive<u8> = 133..=137;

impl Traffic {
    /// Classifies an Ethernet frame, with any number of VLAN tags.
    pub fn of(frame: &[u8]) -> Traffic {
        let mut at = ETHERTYPE_AT;
        while ethertype(frame, at).is_some_and(|found| TAGS.contains(&found)) {
            at += TAG;
        }
        match ethertype(frame, at) {
            Some(IPV4) => Traffic::Of(Family::Ipv4),
            Some(IPV6) if is_discovery(&frame[at + 2..]) => Traffic::Other,
            Some(IPV6) => Traffic::Of(Family::Ipv6),
            _ => Traffic::Other,
        }
    }
}

fn ethertype(frame: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(frame.get(at..at + 2)?.try_into().ok()?))
}

fn is_discovery(packet: &[u8]) -> bool {
    packet.get(6) == Some(&ICMPV6) && packet.get(40).is_some_and(|kind| DISCOVERY.contains(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(types: &[u16], packet: &[u8]) -> Vec<u8> {
        let mut frame = vec![0; ETHERTYPE_AT];
        for (number, ethertype) in types.iter().enumerate() {
            // The other half of a tag, the VLAN number, precedes the next type.
            if number > 0 {
                frame.extend([0, 7]);
            }
            frame.extend(ethertype.to_be_bytes());
        }
        frame.extend(packet);
        frame
    }

    fn icmpv6(kind: u8) -> Vec<u8> {
        let mut packet = vec![0; 48];
        (packet[6], packet[40]) = (ICMPV6, kind);
        packet
    }

    #[test]
    fn classifies_frames_by_address_family_behind_vlan_tags() {
        for tags in [vec![], vec![0x8100], vec![0x88a8, 0x8100]] {
            for (ethertype, of) in [(IPV4, Family::Ipv4), (IPV6, Family::Ipv6)] {
                let types = [tags.clone(), vec![ethertype]].concat();
                assert_eq!(Traffic::of(&frame(&types, &[0; 60])), Traffic::Of(of));
            }
        }
    }

    #[test]
    fn assigns_arp_and_neighbour_discovery_to_neither_family() {
        assert_eq!(Traffic::of(&frame(&[0x0806], &[0; 28])), Traffic::Other, "ARP");
        for (kind, of) in [
            (135, Traffic::Other),
            (136, Traffic::Other),
            (133, Traffic::Other),
            (128, Traffic::Of(Family::Ipv6)),
            (2, Traffic::Of(Family::Ipv6)),
        ] {
            assert_eq!(Traffic::of(&frame(&[IPV6], &icmpv6(kind))), of, "{kind}");
            assert_eq!(Traffic::of(&frame(&[0x8100, IPV6], &icmpv6(kind))), of, "{kind}");
        }
    }

    #[test]
    fn classifies_truncated_frames_without_panicking() {
        let whole = frame(&[0x8100, IPV6], &icmpv6(135));
        for length in 0..16 {
            assert_eq!(Traffic::of(&whole[..length]), Traffic::Other);
        }
        assert_eq!(Traffic::of(&whole[..30]), Traffic::Of(Family::Ipv6));
    }
}
