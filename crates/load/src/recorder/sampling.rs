//! The choice of connections for which the kernel is asked about the path, or for timestamps of what
//! they receive. Both cost time, so not all are.

use sixmark_units::family::{Family, PerFamily};

/// Of connections that come late, one in this many is chosen. Even if each request has a connection of
/// its own, what is asked of it takes less than a hundredth of the time.
const ONE_IN: u64 = 8;
/// Of connections that come early, which may carry many requests each.
const SELDOM: u64 = 32;
/// 2^64 divided by the golden ratio. Its multiples are spread evenly and have no period; every
/// eighth connection would always hit the same one of eight targets used in turn.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Chooses by the number of the connection alone, independently of its outcome.
#[derive(Debug)]
pub(crate) struct Sampling {
    /// On each worker, the first connections of each family, up to this number, are all chosen.
    all: u64,
    /// Up to this number of connections, one in [`SELDOM`] is chosen.
    seldom: u64,
    seen: PerFamily<u64>,
}

impl Sampling {
    /// Creates a choice of the first `all` connections, of one in [`SELDOM`] of the others among the
    /// first `seldom`, and of one in [`ONE_IN`] of those that come later.
    pub(crate) fn of_first(all: u64, seldom: u64) -> Sampling {
        Sampling { all, seldom, seen: PerFamily::default() }
    }

    /// Returns true if the family's next connection is chosen.
    pub(crate) fn takes(&mut self, family: Family) -> bool {
        let number = self.seen[family];
        self.seen[family] += 1;
        let one_in = if number < self.seldom { SELDOM } else { ONE_IN };
        number < self.all || number.wrapping_mul(GOLDEN) < u64::MAX / one_in
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: u64 = 256;

    #[test]
    fn samples_all_first_connections_and_an_eighth_of_the_others() {
        let mut sampling = Sampling::of_first(ALL, 0);
        for family in Family::BOTH {
            assert!((0..ALL).all(|_| sampling.takes(family)));
            let taken = (0..80_000).filter(|_| sampling.takes(family)).count();
            assert!((9_990..=10_010).contains(&taken), "{taken}");
        }
    }

    #[test]
    fn samples_few_of_the_early_connections() {
        let mut sampling = Sampling::of_first(2, 64);
        let early = (0..64).filter(|_| sampling.takes(Family::Ipv4)).count();
        assert!((3..=5).contains(&early), "{early}");
        let late = (0..8_000).filter(|_| sampling.takes(Family::Ipv4)).count();
        assert!((990..=1_010).contains(&late), "{late}");
    }

    #[test]
    fn samples_targets_in_rotation_equally() {
        for targets in [2, 3, 4, 8, 16, 100] {
            let mut sampling = Sampling::of_first(ALL, 0);
            let mut asked = vec![0_i64; targets];
            for number in 0..targets * 8_000 {
                asked[number % targets] += i64::from(sampling.takes(Family::Ipv6));
            }
            let (least, most) = (asked.iter().min(), asked.iter().max());
            let (least, most) = (least.copied().unwrap(), most.copied().unwrap());
            assert!(most - least <= 150, "{asked:?}");
        }
    }
}
