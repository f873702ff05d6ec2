//! The headers between the beginning of a frame and the IP packet in it.

use std::fmt;

use super::{Skipped, Unread};

/// The maximum number of layers before a packet. A packet behind more of them is not read, so that
/// the work on a packet is limited.
const MOST_LAYERS: usize = 8;

/// A header, or a stack of labels, that precedes an IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Layer {
    /// A VLAN tag and the number of the VLAN (IEEE 802.1Q, 802.1ad).
    Vlan(u16),
    /// The tag of a virtual interface (VN-Tag).
    VnTag,
    /// Labels of MPLS (RFC 3032). Their values are not kept, because they differ by direction.
    Mpls,
    /// PPP over Ethernet (RFC 2516) and the number of the session.
    Pppoe(u16),
    /// IPv6 in IPv4 (RFC 4213).
    Ipv6InIpv4,
    /// IPv4 in IPv4 (RFC 2003).
    Ipv4InIpv4,
    /// IPv6 in IPv6 (RFC 2473).
    Ipv6InIpv6,
    /// IPv4 in IPv6 (RFC 2473).
    Ipv4InIpv6,
    /// GRE (RFC 2784) and its key, if it has one (RFC 2890).
    Gre(Option<u32>),
    /// VXLAN and the number of the network (RFC 7348).
    Vxlan(u32),
    /// Geneve and the number of the network (RFC 8926).
    Geneve(u32),
    /// GTP-U (3GPP TS 29.281). The number of the tunnel is not kept, because it differs by
    /// direction.
    Gtp,
}

impl Layer {
    /// Returns whether packets with and without this layer are in different networks. Labels and
    /// tags of interfaces may be present in one direction only.
    fn is_of_network(self) -> bool {
        !matches!(self, Layer::Mpls | Layer::VnTag)
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Layer::Vlan(number) => write!(to, "vlan {number}"),
            Layer::VnTag => to.write_str("vntag"),
            Layer::Mpls => to.write_str("mpls"),
            Layer::Pppoe(number) => write!(to, "pppoe {number}"),
            Layer::Ipv6InIpv4 => to.write_str("6in4"),
            Layer::Ipv4InIpv4 => to.write_str("4in4"),
            Layer::Ipv6InIpv6 => to.write_str("6in6"),
            Layer::Ipv4InIpv6 => to.write_str("4in6"),
            Layer::Gre(None) => to.write_str("gre"),
            Layer::Gre(Some(key)) => write!(to, "gre {key}"),
            Layer::Vxlan(number) => write!(to, "vxlan {number}"),
            Layer::Geneve(number) => write!(to, "geneve {number}"),
            Layer::Gtp => to.write_str("gtp"),
        }
    }
}

/// The layers before an IP packet, outermost first. Ordinary packets have none. The text is like
/// `vlan 5 / mpls / 6in4`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Via(Vec<Layer>);

impl Via {
    /// Returns whether there are no layers.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the next layer.
    pub(crate) fn push(&mut self, layer: Layer) -> Result<(), Skipped> {
        if self.0.len() == MOST_LAYERS {
            return Err(Skipped::Other(Unread::Nested));
        }
        self.0.push(layer);
        Ok(())
    }

    /// Removes all layers.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the layers that distinguish networks: packets with equal addresses are of one
    /// connection only if these layers are equal too.
    pub(crate) fn network(&self) -> Via {
        Via(self.0.iter().copied().filter(|layer| layer.is_of_network()).collect())
    }
}

impl fmt::Display for Via {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, layer) in self.0.iter().enumerate() {
            let between = if number == 0 { "" } else { " / " };
            write!(to, "{between}{layer}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_named_outermost_first_and_their_number_is_limited() {
        let mut via = Via::default();
        assert_eq!((via.to_string().as_str(), via.is_empty()), ("", true));
        for layer in [Layer::Vlan(5), Layer::Mpls, Layer::Ipv6InIpv4, Layer::Gre(Some(7))] {
            via.push(layer).unwrap();
        }
        assert_eq!(via.to_string(), "vlan 5 / mpls / 6in4 / gre 7");
        assert_eq!(via.network().to_string(), "vlan 5 / 6in4 / gre 7");
        (4..MOST_LAYERS).for_each(|_| via.push(Layer::Gtp).unwrap());
        assert_eq!(via.push(Layer::Gtp), Err(Skipped::Other(Unread::Nested)));
    }
}
