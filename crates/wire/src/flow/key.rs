//! The key that identifies a flow, and its hash.

use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::net::{IpAddr, SocketAddr};

/// The two endpoints of a flow, its protocol and its network. The key is the same for both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Key {
    addresses: [u64; 4],
    ports: u32,
    /// The IP protocol number shifted left by one; the lowest bit is set for IPv6.
    kind: u16,
    /// The number of the network.
    network: u16,
}

impl Key {
    /// Returns the key for packets between these endpoints, and whether `from` is its first
    /// endpoint.
    pub(super) fn new(protocol: u8, network: u16, from: SocketAddr, to: SocketAddr) -> (Key, bool) {
        let (a, b) = (bits(from.ip()), bits(to.ip()));
        let straight = (a, from.port()) <= (b, to.port());
        let (first, second) = if straight { (a, b) } else { (b, a) };
        let (low, high) =
            if straight { (from.port(), to.port()) } else { (to.port(), from.port()) };
        let halves = |bits: u128| [(bits >> 64) as u64, bits as u64];
        let ([a, b], [c, d]) = (halves(first), halves(second));
        let kind = u16::from(protocol) << 1 | u16::from(from.is_ipv6());
        let ports = u32::from(low) << 16 | u32::from(high);
        (Key { addresses: [a, b, c, d], ports, kind, network }, straight)
    }

    /// Returns the key for packets between the same endpoints in another network.
    pub(super) fn in_network(self, network: u16) -> Key {
        Key { network, ..self }
    }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.addresses.iter().for_each(|part| state.write_u64(*part));
        let halves = u32::from(self.network) << 16 | u32::from(self.kind);
        state.write_u64(u64::from(self.ports) << 32 | u64::from(halves));
    }
}

/// The random seed of the hash function. The standard library's hash resists an attacker who knows
/// everything but its key, and costs more than the rest of the work on a packet. Here the sender of
/// packets observes neither hash values nor the time they take, so multiplication by secret random
/// numbers is sufficient.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seed {
    start: u64,
    factor: u64,
}

impl Seed {
    /// Returns a new random seed.
    pub(super) fn random() -> Seed {
        let state = RandomState::new();
        Seed { start: state.hash_one(1), factor: state.hash_one(2) | 1 }
    }
}

impl BuildHasher for Seed {
    type Hasher = Folded;

    fn build_hasher(&self) -> Folded {
        Folded { state: self.start, factor: self.factor }
    }
}

/// The state of a hash: the two halves of each product, combined by XOR.
#[derive(Clone, Copy, Debug)]
pub(super) struct Folded {
    state: u64,
    factor: u64,
}

impl Hasher for Folded {
    fn finish(&self) -> u64 {
        fold(self.state, self.factor.rotate_left(32))
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64((*byte).into()));
    }

    fn write_u64(&mut self, value: u64) {
        // The factor changes with each part, so that the order of the parts matters.
        self.state = fold(self.state ^ value, self.factor).wrapping_add(self.factor);
        self.factor = self.factor.rotate_left(7);
    }
}

fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn gives_both_directions_of_a_flow_the_same_key() {
        for [a, b] in [["[2001:db8::1]:5", "[2001:db8::2]:5"], ["192.0.2.1:9", "192.0.2.1:8"]] {
            let [a, b]: [SocketAddr; 2] = [a.parse().unwrap(), b.parse().unwrap()];
            let ((there, straight), (back, reversed)) =
                (Key::new(6, 0, a, b), Key::new(6, 0, b, a));
            assert_eq!((there, straight), (back, !reversed));
            assert_ne!(Key::new(17, 0, a, b).0, there);
            assert_ne!(Key::new(6, 1, a, b).0, there);
        }
        let six = Key::new(6, 0, "[::1]:5".parse().unwrap(), "[::2]:6".parse().unwrap());
        let four = Key::new(6, 0, "0.0.0.1:5".parse().unwrap(), "0.0.0.2:6".parse().unwrap());
        assert_ne!(six.0, four.0);
    }

    #[test]
    fn spreads_similar_keys_over_the_hash_buckets() {
        let seed = Seed::random();
        let mut buckets = HashSet::new();
        let server: SocketAddr = "192.0.2.1:80".parse().unwrap();
        for port in 0..=u16::MAX {
            let client = SocketAddr::new("192.0.2.9".parse().unwrap(), port);
            buckets.insert(seed.hash_one(Key::new(6, 0, client, server).0) & 0xffff);
        }
        // 1 - 1/e of the buckets, as expected by chance.
        assert!((40_000..43_000).contains(&buckets.len()), "{}", buckets.len());
    }
}
