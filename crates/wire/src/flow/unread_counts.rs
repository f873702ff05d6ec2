//! The packets that belong to no followed connection, by their kinds.

use crate::Unread;

/// The maximum number of kinds that are counted apart. Whoever sends packets chooses the numbers of
/// kinds with numbers; further ones are counted together.
const MOST_KINDS: usize = 64;

/// Packets by their kinds, in the order of the kinds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnreadCounts(Vec<(Unread, u64)>);

impl UnreadCounts {
    /// Returns the number of packets of a kind.
    pub fn of(&self, kind: Unread) -> u64 {
        self.iter().find(|(known, _)| *known == kind).map_or(0, |(_, packets)| packets)
    }

    /// Returns the number of packets of all kinds.
    pub fn total(&self) -> u64 {
        self.iter().map(|(_, packets)| packets).sum()
    }

    /// Iterates over the kinds and the numbers of their packets, which are not 0.
    pub fn iter(&self) -> impl Iterator<Item = (Unread, u64)> + '_ {
        self.0.iter().copied()
    }

    /// Adds packets of a kind.
    pub(super) fn add(&mut self, kind: Unread, packets: u64) {
        match self.0.binary_search_by_key(&kind, |(known, _)| *known) {
            _ if packets == 0 => {}
            Ok(at) => self.0[at].1 += packets,
            Err(_) if kind.is_numbered() && self.0.len() >= MOST_KINDS => {
                self.add(Unread::Others, packets);
            }
            Err(at) => self.0.insert(at, (kind, packets)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_every_packet_and_limits_the_number_of_kinds() {
        let mut counts = UnreadCounts::default();
        (0..=u16::MAX).for_each(|number| counts.add(Unread::EtherType(number), 2));
        let kinds = [Unread::Cut, Unread::Udp, Unread::EtherType(5)];
        kinds.into_iter().for_each(|kind| counts.add(kind, 3));
        counts.add(Unread::Malformed, 0);
        assert_eq!(counts.total(), 2 * 65_536 + 9);
        assert_eq!((counts.of(Unread::EtherType(5)), counts.of(Unread::Udp)), (5, 3));
        assert_eq!(counts.of(Unread::Others), 2 * (65_536 - MOST_KINDS as u64));
        assert_eq!(counts.iter().count(), MOST_KINDS + 3);
    }
}
