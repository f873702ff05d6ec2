//! Ethernet frames within tags, labels and tunnels, as trunks and links of providers carry them.

/// The addresses of outer headers; IPv4 first.
pub const OUTER: [&str; 4] =
    ["198.51.100.1", "198.51.100.2", "2001:db8:ffff::1", "2001:db8:ffff::2"];

const IPV4: [u8; 2] = [0x08, 0x00];
const IPV6: [u8; 2] = [0x86, 0xdd];
const TCP_AT: [usize; 2] = [40, 20];

/// A way to wrap a frame.
#[derive(Clone, Copy, Debug)]
pub struct Wrap {
    /// The name for messages of tests.
    pub name: &'static str,
    /// The layers before a packet of IPv6 and of IPv4, as a watch writes them.
    pub via: [&'static str; 2],
    /// Whether tshark 4.0 reads it without being told how.
    pub is_shown: bool,
    make: fn(&Inner<'_>) -> Vec<u8>,
}

/// An IP packet in a frame.
struct Inner<'a> {
    frame: &'a [u8],
    addresses: &'a [u8],
    kind: [u8; 2],
    packet: &'a [u8],
    /// Whether the source is the lower one of both addresses: each direction has outer addresses
    /// and labels of its own.
    straight: bool,
}

/// All ways. `mpls` and `priority` are read as if they were absent; all others distinguish networks.
pub const WRAPS: [Wrap; 17] = [
    of("vlan", "vlan 46", |inner| inner.tagged(&[0x81, 0, 0, 46])),
    of("QinQ", "vlan 5 / vlan 46", |inner| inner.tagged(&[0x88, 0xa8, 0, 5, 0x81, 0, 0, 46])),
    Wrap {
        is_shown: false,
        ..of("old QinQ", "vlan 6 / vlan 46", |inner| inner.tagged(&[0x92, 0, 0, 6, 0x91, 0, 0, 46]))
    },
    of("priority", "", |inner| inner.tagged(&[0x81, 0, 0x60, 0])),
    of("VN-Tag", "vntag / vlan 7", |inner| inner.tagged(&[0x89, 0x26, 0, 1, 0, 2, 0x81, 0, 0, 7])),
    of("MPLS", "mpls", |inner| [inner.addresses, &inner.labelled()].concat()),
    of("PPPoE", "pppoe 9", |inner| inner.in_session()),
    Wrap {
        name: "IP in IPv4",
        via: ["6in4", "4in4"],
        is_shown: true,
        make: |inner| inner.in_ipv4(),
    },
    Wrap {
        name: "IP in IPv6",
        via: ["6in6", "4in6"],
        is_shown: true,
        make: |inner| inner.in_ipv6(),
    },
    of("GRE", "gre", |inner| inner.over4(47, &[&[0, 0][..], &inner.kind, inner.packet].concat())),
    of("GRE with all fields", "gre 7", |inner| {
        let fields = [0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 1];
        inner.over6(47, &[&[0xb0, 0][..], &inner.kind, &fields, inner.packet].concat())
    }),
    of("NVGRE", "gre 2304", |inner| {
        inner.over4(47, &[&[0x20, 0, 0x65, 0x58, 0, 0, 9, 0][..], inner.frame].concat())
    }),
    of("VXLAN", "vxlan 42", |inner| {
        inner.over4(17, &datagram(4_789, &[&[8, 0, 0, 0, 0, 0, 42, 0][..], inner.frame].concat()))
    }),
    Wrap {
        is_shown: false,
        ..of("VXLAN of Linux", "vxlan 43", |inner| {
            let inside = [&[8, 0, 0, 0, 0, 0, 43, 0][..], inner.frame].concat();
            inner.over6(17, &datagram(8_472, &inside))
        })
    },
    of("Geneve", "geneve 42", |inner| {
        let header = [1, 0, 0x65, 0x58, 0, 0, 42, 0, 1, 2, 3, 0];
        inner.over6(17, &datagram(6_081, &[&header[..], inner.frame].concat()))
    }),
    of("GTP", "gtp", |inner| inner.in_gtp()),
    of("stack", "vlan 46 / mpls / vxlan 42 / vlan 5", |inner| {
        let tagged = inner.tagged(&[0x81, 0, 0, 5]);
        let inside = [&[8, 0, 0, 0, 0, 0, 42, 0][..], &tagged].concat();
        let outer = inner.over4(17, &datagram(4_789, &inside));
        let labelled = Inner::of(&outer).map(|outer| outer.labelled()).unwrap_or_default();
        [&outer[..12], &[0x81, 0, 0, 46], &labelled].concat()
    }),
];

const fn of(name: &'static str, via: &'static str, make: fn(&Inner<'_>) -> Vec<u8>) -> Wrap {
    Wrap { name, via: [via; 2], is_shown: true, make }
}

impl Wrap {
    /// Wraps a frame. A frame without an IP packet stays as it is.
    pub fn frame(&self, frame: &[u8]) -> Vec<u8> {
        Inner::of(frame).map_or_else(|| frame.to_vec(), |inner| (self.make)(&inner))
    }
}

impl<'a> Inner<'a> {
    fn of(frame: &'a [u8]) -> Option<Inner<'a>> {
        let (addresses, rest) = frame.split_at_checked(12)?;
        let (kind, packet) = rest.split_first_chunk::<2>()?;
        let length = match *kind {
            IPV4 => 4,
            IPV6 => 16,
            _ => return None,
        };
        let end = TCP_AT[usize::from(*kind == IPV4)];
        let addressed = packet.get(end - 2 * length..end)?;
        let straight = addressed[..length] < addressed[length..];
        Some(Inner { frame, addresses, kind: *kind, packet, straight })
    }

    fn tagged(&self, tags: &[u8]) -> Vec<u8> {
        [self.addresses, tags, &self.kind, self.packet].concat()
    }

    /// Returns the packet behind an EtherType and two labels.
    fn labelled(&self) -> Vec<u8> {
        let label = if self.straight { 1 } else { 2 };
        [&[0x88, 0x47, 0, label, 0, 64, 0, 9, 0x01, 64][..], self.packet].concat()
    }

    fn in_session(&self) -> Vec<u8> {
        let kind = if self.kind == IPV6 { [0, 0x57] } else { [0, 0x21] };
        let length = half(self.packet.len() + 2);
        let header = [0x88, 0x64, 0x11, 0, 0, 9, length[0], length[1]];
        [self.addresses, &header, &kind, self.packet].concat()
    }

    fn in_ipv4(&self) -> Vec<u8> {
        self.over4(if self.kind == IPV6 { 41 } else { 4 }, self.packet)
    }

    fn in_ipv6(&self) -> Vec<u8> {
        self.over6(if self.kind == IPV6 { 41 } else { 4 }, self.packet)
    }

    /// A sequence number, or an extension header (of a PDU session, 3GPP TS 38.415), by direction.
    fn in_gtp(&self) -> Vec<u8> {
        let fields: &[u8] =
            if self.straight { &[0, 1, 0, 0] } else { &[0, 0, 0, 0x85, 1, 0, 9, 0] };
        let (flags, tunnel) = if self.straight { (0x32, 1) } else { (0x34, 2) };
        let length = half(self.packet.len() + fields.len());
        let header = [flags, 255, length[0], length[1], 0, 0, 0, tunnel];
        self.over4(17, &datagram(2_152, &[&header[..], fields, self.packet].concat()))
    }

    /// Returns a frame of IPv4 between the outer addresses.
    fn over4(&self, protocol: u8, payload: &[u8]) -> Vec<u8> {
        let length = half(payload.len() + 20);
        let header = [0x45, 0, length[0], length[1], 0, 0, 0x40, 0, 64, protocol, 0, 0];
        let [from, to] = self.ends().map(|end| [198, 51, 100, end]);
        [self.addresses, &IPV4, &header, &from, &to, payload].concat()
    }

    /// Returns a frame of IPv6 between the outer addresses.
    fn over6(&self, protocol: u8, payload: &[u8]) -> Vec<u8> {
        let length = half(payload.len());
        let header = [0x60, 0, 0, 0, length[0], length[1], protocol, 64];
        let address = |end| [0x20, 1, 0xd, 0xb8, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, end];
        let [from, to] = self.ends().map(address);
        [self.addresses, &IPV6, &header, &from, &to, payload].concat()
    }

    fn ends(&self) -> [u8; 2] {
        if self.straight { [1, 2] } else { [2, 1] }
    }
}

/// Returns a UDP datagram without a checksum.
fn datagram(port: u16, payload: &[u8]) -> Vec<u8> {
    let ports = [50_000_u16.to_be_bytes(), port.to_be_bytes()].concat();
    [&ports[..], &half(payload.len() + 8), &[0, 0], payload].concat()
}

/// Returns a length, or 0 if it exceeds its field, as Linux writes it.
fn half(length: usize) -> [u8; 2] {
    u16::try_from(length).unwrap_or(0).to_be_bytes()
}
