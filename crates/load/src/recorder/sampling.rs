//! Which connections are asked about their handshake or path: not all, since asking costs a system call.

use sixmark_units::family::{Family, PerFamily};

/// So many of each family are asked on each worker before some are left out.
const ALL: u64 = 256;
/// Then one in so many. Where each request has a connection of its own, asking takes less than a
/// hundredth of the time.
const ONE_IN: u64 = 8;
/// 2^64 divided by the golden ratio: its multiples fall evenly and keep step with nothing, as every
/// eighth would with eight targets in turn.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Chooses by the connection's number alone, so that what became of it has no say.
#[derive(Debug, Default)]
pub(crate) struct Sampling {
    seen: PerFamily<u64>,
}

impl Sampling {
    /// Whether the family's next connection is asked.
    pub(crate) fn takes(&mut self, family: Family) -> bool {
        let number = self.seen[family];
        self.seen[family] += 1;
        number < ALL || number.wrapping_mul(GOLDEN) < u64::MAX / ONE_IN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_are_all_asked_and_an_eighth_of_the_others() {
        let mut sampling = Sampling::default();
        for family in Family::BOTH {
            assert!((0..ALL).all(|_| sampling.takes(family)));
            let taken = (0..80_000).filter(|_| sampling.takes(family)).count();
            assert!((9_990..=10_010).contains(&taken), "{taken}");
        }
    }

    #[test]
    fn targets_in_turn_are_asked_alike() {
        for targets in [2, 3, 4, 8, 16, 100] {
            let mut sampling = Sampling::default();
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
