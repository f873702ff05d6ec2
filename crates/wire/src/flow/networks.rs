//! Numbers of the networks that tags and outer headers distinguish. Networks may use the same
//! addresses, and a packet that a router forwards from one to another is seen in both.

use std::collections::HashMap;

use crate::Via;

/// The maximum number of combinations of layers that are remembered. Packets with further ones are
/// taken for packets of one network.
const MOST: usize = 1 << 15;
/// The number of packets without layers.
const PLAIN: u16 = 0;

/// The networks seen so far.
#[derive(Debug, Default)]
pub(super) struct Networks {
    /// The numbers, both by all layers of a packet and by those that distinguish networks.
    numbers: HashMap<Via, u16>,
    /// The number of networks so far, which is the highest number of one.
    count: u16,
    /// The layers that were looked up last, because packets arrive in bursts.
    recent: (Via, u16),
}

impl Networks {
    /// Returns the highest number of a network so far.
    pub(super) fn last(&self) -> u16 {
        self.count
    }

    /// Returns the number of the network of a packet behind these layers.
    #[inline]
    pub(super) fn number(&mut self, via: &Via) -> u16 {
        if via.is_empty() { PLAIN } else { self.look_up(via) }
    }

    fn look_up(&mut self, via: &Via) -> u16 {
        if self.recent.0 == *via {
            return self.recent.1;
        }
        let number = match self.numbers.get(via) {
            Some(number) => *number,
            None => self.add(via),
        };
        self.recent = (via.clone(), number);
        number
    }

    fn add(&mut self, via: &Via) -> u16 {
        if self.numbers.len() >= MOST {
            return u16::MAX;
        }
        let network = via.network();
        let number = match self.numbers.get(&network) {
            Some(number) => *number,
            None if network.is_empty() => PLAIN,
            None => {
                self.count += 1;
                self.numbers.insert(network, self.count);
                self.count
            }
        };
        self.numbers.insert(via.clone(), number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::via::Layer;

    fn via(layers: &[Layer]) -> Via {
        let mut via = Via::default();
        layers.iter().for_each(|layer| via.push(*layer).unwrap());
        via
    }

    #[test]
    fn vlan_tags_and_tunnels_separate_networks_but_mpls_labels_do_not() {
        let mut networks = Networks::default();
        assert_eq!(networks.number(&via(&[])), PLAIN);
        assert_eq!(networks.number(&via(&[Layer::Mpls])), PLAIN);
        let five = networks.number(&via(&[Layer::Vlan(5)]));
        assert_eq!(networks.number(&via(&[Layer::Mpls, Layer::Vlan(5), Layer::VnTag])), five);
        assert_eq!(networks.number(&via(&[Layer::Vlan(5)])), five);
        let others = [
            via(&[Layer::Vlan(6)]),
            via(&[Layer::Vlan(5), Layer::Vlan(5)]),
            via(&[Layer::Ipv6InIpv4]),
            via(&[Layer::Gre(None)]),
            via(&[Layer::Gre(Some(5))]),
            via(&[Layer::Vxlan(5)]),
        ];
        let mut numbers: Vec<u16> = others.iter().map(|via| networks.number(via)).collect();
        numbers.extend([PLAIN, five]);
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), others.len() + 2);
    }

    #[test]
    fn limits_the_number_of_networks() {
        let mut networks = Networks::default();
        (0..100_000).for_each(|number| _ = networks.number(&via(&[Layer::Vxlan(number)])));
        assert!(networks.numbers.len() <= MOST);
        assert_eq!(networks.number(&via(&[Layer::Vxlan(99_999)])), u16::MAX);
        assert_ne!(networks.number(&via(&[Layer::Vxlan(3)])), u16::MAX);
    }
}
