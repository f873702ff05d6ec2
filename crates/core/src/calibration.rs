//! What the generator itself adds to the times: a short load over loopback, before the run.

use serde::{Deserialize, Serialize};

use crate::family::{Family, PerFamily};
use crate::tally::FamilyTally;
use crate::timing::{Summary, Timing};

/// The noise floor: times over loopback, where generator, kernel and server alone take any.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Calibration {
    /// One with a single exchange in flight, and one with as many as the run has.
    pub legs: Vec<Leg>,
}

impl Calibration {
    /// The leg with that many exchanges in flight.
    pub fn at(&self, connections: u32) -> Option<&Leg> {
        self.legs.iter().find(|leg| leg.connections == connections)
    }
}

/// The noise floor with so many exchanges in flight.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Leg {
    /// Exchanges in flight.
    pub connections: u32,
    /// The times of each family in use.
    pub families: Floors,
    /// How far the families were apart, though over loopback they should not be.
    pub difference_us: Difference,
}

/// The families in use.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Floors {
    /// IPv6, where it is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipv6: Option<Floor>,
    /// IPv4, where it is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipv4: Option<Floor>,
}

impl Floors {
    /// The times of one family.
    pub fn of(&self, family: Family) -> Option<&Floor> {
        match family {
            Family::Ipv6 => self.ipv6.as_ref(),
            Family::Ipv4 => self.ipv4.as_ref(),
        }
    }
}

/// Times over loopback.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Floor {
    /// As in the family's result.
    pub connect_us: Summary,
    /// As in the family's result.
    pub wait_us: Summary,
    /// As in the family's result.
    pub response_us: Summary,
}

/// The larger of the distances between both families' medians in the two halves of a leg, in
/// microseconds; none where only one family was loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Of connect.
    pub connect: Option<f64>,
    /// Of wait.
    pub wait: Option<f64>,
    /// Of response.
    pub response: Option<f64>,
}

impl Leg {
    /// A leg from what was counted in its halves.
    pub fn new(connections: u32, halves: &[PerFamily<Option<FamilyTally>>]) -> Leg {
        let floor = |family| {
            let mut sum = FamilyTally::default();
            let tallies: Vec<_> = halves.iter().filter_map(|half| half[family].as_ref()).collect();
            tallies.iter().for_each(|tally| sum += tally);
            (!tallies.is_empty()).then(|| Floor {
                connect_us: sum.phases.connect.summary(),
                wait_us: sum.phases.wait.summary(),
                response_us: sum.phases.response.summary(),
            })
        };
        Leg {
            connections,
            families: Floors { ipv6: floor(Family::Ipv6), ipv4: floor(Family::Ipv4) },
            difference_us: Difference {
                connect: apart(halves, |tally| &tally.phases.connect),
                wait: apart(halves, |tally| &tally.phases.wait),
                response: apart(halves, |tally| &tally.phases.response),
            },
        }
    }
}

fn apart(
    halves: &[PerFamily<Option<FamilyTally>>],
    of: impl Fn(&FamilyTally) -> &Timing,
) -> Option<f64> {
    let median = |tally: &Option<FamilyTally>| of(tally.as_ref()?).quantile(0.5);
    let apart = halves.iter().map(|half| {
        let (v6, v4) = (median(&half.ipv6)?, median(&half.ipv4)?);
        Some(v6.abs_diff(v4) as f64 / 1e3)
    });
    apart.collect::<Option<Vec<_>>>()?.into_iter().reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(waits: &[u64]) -> Option<FamilyTally> {
        let mut tally = FamilyTally::default();
        waits.iter().for_each(|&wait| tally.phases.wait.record(wait));
        Some(tally)
    }

    #[test]
    fn the_families_are_as_far_apart_as_in_the_worse_half() {
        let halves = [
            PerFamily { ipv6: tally(&[1_000; 9]), ipv4: tally(&[1_200; 9]) },
            PerFamily { ipv6: tally(&[1_500; 9]), ipv4: tally(&[1_100; 9]) },
        ];
        let leg = Leg::new(7, &halves);
        let Difference { connect, wait, response } = leg.difference_us;
        assert_eq!((connect, wait, response), (None, Some(0.4), None));
        assert_eq!(leg.families.of(Family::Ipv6).unwrap().wait_us.count, 18);
    }

    #[test]
    fn one_family_alone_has_times_and_no_difference() {
        for family in Family::BOTH {
            let only = |other| if other == family { tally(&[5_000]) } else { None };
            let leg = Leg::new(1, &[PerFamily::from_fn(only), PerFamily::from_fn(only)]);
            assert_eq!(leg.difference_us, Difference::default());
            assert_eq!(leg.families.of(family).unwrap().wait_us.count, 2);
            assert!(leg.families.of(family.other()).is_none());
        }
    }
}
