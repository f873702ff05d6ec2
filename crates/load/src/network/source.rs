//! Local addresses, used in turn.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

use sixmark_plan::plan::SourceAddresses;
use sixmark_sys::driver::LocalAddress;
use sixmark_units::family::{Family, PerFamily};

/// Assigns the local addresses of each family round robin. The order can be fixed: connections of a
/// family start in the random order of the families, so no correlation arises.
#[derive(Debug)]
pub(crate) struct Sources {
    pools: PerFamily<Vec<SourceAddresses>>,
    turn: PerFamily<u64>,
    step: u64,
}

impl Sources {
    /// Creates the assignment for worker number `worker` of `workers`, which takes every
    /// `workers`-th address.
    pub(crate) fn new(
        pools: &PerFamily<Vec<SourceAddresses>>,
        worker: u32,
        workers: u32,
    ) -> Sources {
        let turn = PerFamily { ipv6: worker.into(), ipv4: worker.into() };
        Sources { pools: pools.clone(), turn, step: workers.into() }
    }

    /// Returns the next local address. `None` if the kernel chooses.
    pub(crate) fn next(&mut self, family: Family) -> Option<LocalAddress> {
        let pool = &self.pools[family];
        let count = pool.len() as u64;
        let turn = self.turn[family];
        let source = pool.get(turn.checked_rem(count)? as usize)?;
        self.turn[family] = turn.wrapping_add(self.step);
        Some(local_address(source, turn / count))
    }
}

/// Returns address number `turn` of a source, counted from its first address and wrapping around at
/// the end of its prefix.
fn local_address(source: &SourceAddresses, turn: u64) -> LocalAddress {
    match source.address {
        IpAddr::V4(first) => {
            let last_bits = low_bits(32 - u32::from(source.prefix)) as u32;
            let first = u32::from(first);
            let number = (first & !last_bits) | (first.wrapping_add(turn as u32) & last_bits);
            let address = SocketAddr::new(Ipv4Addr::from(number).into(), 0);
            LocalAddress { address, foreign: source.prefix < 32 }
        }
        IpAddr::V6(first) => {
            let last_bits = low_bits(128 - u32::from(source.prefix));
            let first = u128::from(first);
            let number = (first & !last_bits) | (first.wrapping_add(turn.into()) & last_bits);
            let address = SocketAddrV6::new(Ipv6Addr::from(number), 0, 0, source.scope).into();
            LocalAddress { address, foreign: source.prefix < 128 }
        }
    }
}

/// Returns a number whose last `count` bits (at most 128) are ones.
fn low_bits(count: u32) -> u128 {
    u128::MAX.checked_shr(128 - count).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dealt(sources: &[(&str, u8)], family: Family, count: usize) -> Vec<String> {
        let mut pools = PerFamily::<Vec<SourceAddresses>>::default();
        pools[family] = sources
            .iter()
            .map(|&(address, prefix)| SourceAddresses {
                address: address.parse().unwrap(),
                prefix,
                scope: 0,
            })
            .collect();
        let mut sources = Sources::new(&pools, 0, 1);
        (0..count).map(|_| sources.next(family).unwrap().address.ip().to_string()).collect()
    }

    #[test]
    fn cycles_through_the_addresses_of_a_pool() {
        let v4 = dealt(&[("127.0.0.254", 24)], Family::Ipv4, 4);
        assert_eq!(v4, ["127.0.0.254", "127.0.0.255", "127.0.0.0", "127.0.0.1"]);
        let v6 = dealt(&[("fd00::", 64), ("fd01::1", 128)], Family::Ipv6, 4);
        assert_eq!(v6, ["fd00::", "fd01::1", "fd00::1", "fd01::1"]);
        let whole = dealt(&[("::", 0), ("fd01::1", 128)], Family::Ipv6, 3);
        assert_eq!(whole, ["::", "fd01::1", "::1"]);
    }

    #[test]
    fn workers_do_not_share_addresses() {
        let source =
            SourceAddresses { address: "127.1.0.0".parse().unwrap(), prefix: 16, scope: 0 };
        let pools = PerFamily { ipv6: vec![], ipv4: vec![source] };
        let mut dealt: Vec<_> = (0..2)
            .flat_map(|worker| {
                let mut sources = Sources::new(&pools, worker, 2);
                (0..3).map(move |_| sources.next(Family::Ipv4).unwrap().address).collect::<Vec<_>>()
            })
            .collect();
        dealt.sort();
        dealt.dedup();
        assert_eq!(dealt.len(), 6);
        assert_eq!(Sources::new(&pools, 0, 1).next(Family::Ipv6), None);
    }
}
