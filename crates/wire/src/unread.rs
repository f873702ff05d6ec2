//! The kinds of packets that belong to no followed connection.

use std::fmt;

/// The kind of a packet that belongs to no followed connection. Its text is its name in documents,
/// and no two kinds have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unread {
    /// A TCP segment to and from ports that are not followed.
    TcpPorts,
    /// A UDP datagram to and from ports that are not followed.
    UdpPorts,
    /// A UDP datagram that is not QUIC.
    Udp,
    /// An ICMP message over IPv4.
    Icmp,
    /// An ICMPv6 message.
    Icmpv6,
    /// Another protocol over IP, by its number.
    Protocol(u8),
    /// Another protocol than IP, by its EtherType.
    EtherType(u16),
    /// A frame of IEEE 802.2 without IP, by its destination service access point.
    Llc(u8),
    /// Another protocol than IP over PPP, by its number.
    Ppp(u16),
    /// Another protocol than IP behind the loopback header of BSD, by its address family.
    AddressFamily(u32),
    /// Something else than IP behind labels of MPLS, such as Ethernet.
    Mpls,
    /// A packet behind more tags, labels or outer headers than are read.
    Nested,
    /// A fragment of a packet that was not reassembled.
    Fragment,
    /// A packet that the capture cut before the end of its headers.
    Cut,
    /// A packet whose headers are invalid or contradict each other.
    Malformed,
    /// A packet of an unsupported link type.
    Link,
    /// A packet of a kind beyond the number of kinds that are counted.
    Others,
}

/// The names of EtherTypes.
const ETHERTYPES: &[(u32, &str)] = &[
    (0x0806, "ARP"),
    (0x8035, "RARP"),
    (0x809b, "AppleTalk"),
    (0x8137, "IPX"),
    (0x8809, "LACP"),
    (0x8863, "PPPoE discovery"),
    (0x888e, "EAPOL"),
    (0x8892, "PROFINET"),
    (0x88a4, "EtherCAT"),
    (0x88be, "ERSPAN"),
    (0x88cc, "LLDP"),
    (0x88e5, "MACsec"),
    (0x88e7, "PBB"),
    (0x88f7, "PTP"),
    (0x8902, "CFM"),
    (0x8906, "FCoE"),
    (0x8915, "RoCE"),
    (0x893f, "E-Tag"),
    (0x9000, "loop test"),
];

/// The names of protocols over IP.
const PROTOCOLS: &[(u32, &str)] = &[
    (2, "IGMP"),
    (33, "DCCP"),
    (46, "RSVP"),
    (47, "GRE without IP"),
    (50, "ESP"),
    (51, "AH"),
    (59, "no next header"),
    (88, "EIGRP"),
    (89, "OSPF"),
    (103, "PIM"),
    (108, "IPComp"),
    (112, "VRRP"),
    (115, "L2TP"),
    (132, "SCTP"),
    (136, "UDP-Lite"),
];

/// The names of protocols over IEEE 802.2.
const ACCESS_POINTS: &[(u32, &str)] =
    &[(0x42, "STP"), (0xaa, "SNAP without IP"), (0xe0, "IPX over LLC"), (0xfe, "IS-IS")];

/// The names of protocols over PPP.
const PPP: &[(u32, &str)] = &[
    (0x8021, "PPP IPCP"),
    (0x8057, "PPP IPV6CP"),
    (0xc021, "PPP LCP"),
    (0xc023, "PPP PAP"),
    (0xc223, "PPP CHAP"),
];

impl Unread {
    /// Returns whether there are as many such kinds as there are numbers.
    pub(crate) fn is_numbered(self) -> bool {
        matches!(
            self,
            Unread::Protocol(_)
                | Unread::EtherType(_)
                | Unread::Llc(_)
                | Unread::Ppp(_)
                | Unread::AddressFamily(_)
        )
    }
}

impl fmt::Display for Unread {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (names, number): (&[(u32, &str)], u32) = match *self {
            Unread::TcpPorts => return to.write_str("TCP to other ports"),
            Unread::UdpPorts => return to.write_str("UDP to other ports"),
            Unread::Udp => return to.write_str("other UDP"),
            Unread::Icmp => return to.write_str("ICMP"),
            Unread::Icmpv6 => return to.write_str("ICMPv6"),
            Unread::Mpls => return to.write_str("MPLS without IP"),
            Unread::Nested => return to.write_str("nested too deep"),
            Unread::Fragment => return to.write_str("fragments"),
            Unread::Cut => return to.write_str("cut"),
            Unread::Malformed => return to.write_str("malformed"),
            Unread::Link => return to.write_str("unsupported link type"),
            Unread::Others => return to.write_str("other kinds"),
            Unread::Protocol(number) => (PROTOCOLS, number.into()),
            Unread::EtherType(number) => (ETHERTYPES, number.into()),
            Unread::Llc(number) => (ACCESS_POINTS, number.into()),
            Unread::Ppp(number) => (PPP, number.into()),
            Unread::AddressFamily(number) => (&[], number),
        };
        match (names.iter().find(|(known, _)| *known == number), self) {
            (Some((_, name)), _) => to.write_str(name),
            (None, Unread::EtherType(_)) => write!(to, "EtherType {number:#06x}"),
            (None, Unread::Llc(_)) => write!(to, "LLC {number:#04x}"),
            (None, Unread::Ppp(_)) => write!(to, "PPP {number:#06x}"),
            (None, Unread::AddressFamily(_)) => write!(to, "address family {number}"),
            (None, _) => write!(to, "IP protocol {number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_kind_has_a_name_of_its_own() {
        let fixed = [
            Unread::TcpPorts,
            Unread::UdpPorts,
            Unread::Udp,
            Unread::Icmp,
            Unread::Icmpv6,
            Unread::Mpls,
            Unread::Nested,
            Unread::Fragment,
            Unread::Cut,
            Unread::Malformed,
            Unread::Link,
            Unread::Others,
        ];
        let numbered = (0..=u8::MAX).flat_map(|n| [Unread::Protocol(n), Unread::Llc(n)]);
        let longer = (0..=u16::MAX)
            .flat_map(|n| [Unread::EtherType(n), Unread::Ppp(n), Unread::AddressFamily(n.into())]);
        let all: Vec<Unread> = fixed.into_iter().chain(numbered).chain(longer).collect();
        let names: BTreeSet<String> = all.iter().map(Unread::to_string).collect();
        assert_eq!(names.len(), all.len());
        assert_eq!(Unread::EtherType(0x0806).to_string(), "ARP");
        assert_eq!(Unread::EtherType(0x88b5).to_string(), "EtherType 0x88b5");
        assert_eq!(Unread::Protocol(253).to_string(), "IP protocol 253");
    }
}
