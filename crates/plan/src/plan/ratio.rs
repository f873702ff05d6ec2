//! The ratio of requests sent over IPv6 to requests sent over IPv4.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use sixmark_units::family::Family;

/// A ratio of which at least one side is above zero. Each side is below 2^32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "[u32; 2]", into = "[u32; 2]")]
pub struct PlanRatio {
    v6: u32,
    v4: u32,
}

impl PlanRatio {
    /// Returns the ratio that uses only `family`.
    pub fn only(family: Family) -> PlanRatio {
        match family {
            Family::Ipv6 => PlanRatio { v6: 1, v4: 0 },
            Family::Ipv4 => PlanRatio { v6: 0, v4: 1 },
        }
    }

    /// The ratio 1:1.
    pub const EVEN: PlanRatio = PlanRatio { v6: 1, v4: 1 };

    /// Creates the ratio `v6`:`v4`. The error says that both are 0.
    pub fn new(v6: u32, v4: u32) -> Result<PlanRatio, String> {
        match (v6, v4) {
            (0, 0) => Err("0:0 sends nothing; give at least one side a number above 0".into()),
            _ => Ok(PlanRatio { v6, v4 }),
        }
    }

    /// Returns IPv6's part.
    pub fn v6(self) -> u64 {
        u64::from(self.v6)
    }

    /// Returns IPv4's part.
    pub fn v4(self) -> u64 {
        u64::from(self.v4)
    }

    /// Returns the sum of both parts, above zero.
    pub fn sum(self) -> u64 {
        u64::from(self.v6) + u64::from(self.v4)
    }

    /// Returns IPv6's part and the sum of both parts in lowest terms: 1 and 2 for 50:50.
    pub fn lowest(self) -> (u64, u64) {
        let (mut divisor, mut rest) = (self.v6(), self.v4());
        while rest > 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        (self.v6() / divisor, self.sum() / divisor)
    }

    /// Returns `family`'s part of `total` requests, rounded down.
    pub fn part_of(self, total: u64, family: Family) -> u64 {
        let part = if family == Family::Ipv6 { self.v6() } else { self.v4() };
        (u128::from(total) * u128::from(part) / u128::from(self.sum())) as u64
    }

    /// Returns true if `family`'s part is above zero.
    pub fn uses(self, family: Family) -> bool {
        match family {
            Family::Ipv6 => self.v6 > 0,
            Family::Ipv4 => self.v4 > 0,
        }
    }
}

impl FromStr for PlanRatio {
    type Err = String;

    fn from_str(text: &str) -> Result<PlanRatio, String> {
        let part = |text: &str| text.parse::<u32>().ok();
        text.split_once(':')
            .and_then(|(v6, v4)| Some((part(v6)?, part(v4)?)))
            .ok_or_else(|| format!("'{text}' is not IPv6:IPv4 in whole numbers, as in 4:1"))
            .and_then(|(v6, v4)| PlanRatio::new(v6, v4))
    }
}

impl fmt::Display for PlanRatio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.v6, self.v4)
    }
}

impl TryFrom<[u32; 2]> for PlanRatio {
    type Error = String;

    fn try_from([v6, v4]: [u32; 2]) -> Result<PlanRatio, String> {
        PlanRatio::new(v6, v4)
    }
}

impl From<PlanRatio> for [u32; 2] {
    fn from(ratio: PlanRatio) -> [u32; 2] {
        [ratio.v6, ratio.v4]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reduces_a_ratio_to_lowest_terms() {
        for (v6, v4, lowest) in [
            (50, 50, (1, 2)),
            (8, 2, (4, 5)),
            (3, 0, (1, 1)),
            (0, 7, (0, 1)),
            (9, 4, (9, 13)),
            (u32::MAX, u32::MAX, (1, 2)),
        ] {
            assert_eq!(PlanRatio::new(v6, v4).unwrap().lowest(), lowest, "{v6}:{v4}");
        }
    }

    #[test]
    fn a_ratio_is_two_whole_numbers_not_both_zero() {
        assert_eq!("4:1".parse(), PlanRatio::new(4, 1));
        assert_eq!("0:1".parse(), Ok(PlanRatio::only(Family::Ipv4)));
        for wrong in ["0:0", "", "1", "1:", ":1", "1:2:3", "-1:2", "a:b", "4294967296:1", "1.5:1"] {
            assert!(wrong.parse::<PlanRatio>().is_err(), "{wrong}");
        }
        assert!("0:0".parse::<PlanRatio>().unwrap_err().contains("sends nothing"));
    }
}
