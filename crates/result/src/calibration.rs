//! What the generator itself adds to the times, measured by a short load over loopback before the
//! run.

use serde::{Deserialize, Serialize};

use sixmark_document::timing::{Summary, Timing};
use sixmark_tally::family_result::FamilyResult;
use sixmark_tally::tally::FamilyTally;
use sixmark_units::family::{Family, PerFamily};

/// The noise floor: times over loopback, where only the generator, the kernel and the server
/// contribute.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Calibration {
    /// One leg with a single exchange in flight, and one with as many as the run has.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub legs: Vec<Leg>,
}

impl Calibration {
    /// Returns the leg with `connections` exchanges in flight.
    pub fn at(&self, connections: u32) -> Option<&Leg> {
        self.legs.iter().find(|leg| leg.connections == connections)
    }
}

/// The noise floor with a given number of exchanges in flight.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Leg {
    /// Exchanges in flight.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub connections: u32,
    /// The families of the plan, each loaded alone.
    pub families: Floors,
    /// The difference between the families' medians in the half of the leg where it was larger, in
    /// microseconds; null if only one family was loaded.
    pub difference_us: Difference,
}

/// The times of each family in use.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("minProperties" = 1)))]
pub struct Floors {
    /// IPv6, if it is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipv6: Option<Floor>,
    /// IPv4, if it is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipv4: Option<Floor>,
}

impl Floors {
    /// Returns the times of one family.
    pub fn of(&self, family: Family) -> Option<&Floor> {
        match family {
            Family::Ipv6 => self.ipv6.as_ref(),
            Family::Ipv4 => self.ipv4.as_ref(),
        }
    }
}

/// Times over loopback.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Floor {
    /// As in the family's result.
    pub connect_us: Summary,
    /// As in the family's result.
    pub wait_us: Summary,
    /// As in the family's result.
    pub response_us: Summary,
}

/// The difference between the medians of both families, in microseconds: the larger of the values
/// for the two halves of a leg. Absent if only one family was loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// In connect; null if only one family was loaded.
    pub connect: Option<f64>,
    /// In wait; null if only one family was loaded.
    pub wait: Option<f64>,
    /// In response; null if only one family was loaded.
    pub response: Option<f64>,
}

impl Leg {
    /// Creates a leg from the tallies of its halves.
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

/// A phase in which a run's families differ by less than its noise floor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Below {
    /// The phase's name.
    pub phase: &'static str,
    /// The difference between the medians in the run, in microseconds.
    pub run_us: f64,
    /// The difference between the medians over loopback, in microseconds.
    pub floor_us: f64,
}

impl Leg {
    /// Returns the phases in which the families' medians differ by less than they did over
    /// loopback.
    pub fn below(&self, v6: &FamilyResult, v4: &FamilyResult) -> Vec<Below> {
        let floor = self.difference_us;
        let phases = [
            ("connect", &v6.connect_us, &v4.connect_us, floor.connect),
            ("wait", &v6.wait_us, &v4.wait_us, floor.wait),
            ("response", &v6.response_us, &v4.response_us, floor.response),
        ];
        let below = phases.into_iter().filter_map(|(phase, v6, v4, floor)| {
            let (run_us, floor_us) = ((v6.p50? - v4.p50?).abs(), floor?);
            (run_us < floor_us).then_some(Below { phase, run_us, floor_us })
        });
        below.collect()
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
    use sixmark_tally::counted::family_result;

    fn tally(waits: &[u64]) -> Option<FamilyTally> {
        let mut tally = FamilyTally::default();
        waits.iter().for_each(|&wait| tally.phases.wait.record(wait));
        Some(tally)
    }

    #[test]
    fn takes_the_difference_from_the_half_in_which_it_is_larger() {
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
    fn reports_phases_whose_difference_is_below_the_loopback_floor() {
        let halves = [PerFamily { ipv6: tally(&[1_000; 9]), ipv4: tally(&[1_200; 9]) }];
        let leg = Leg::new(7, &halves);
        let of = |wait| family_result(&tally(&[wait; 9]).unwrap(), Vec::new(), 1.0, false);
        assert_eq!(leg.below(&of(5_000), &of(5_300)), []);
        let below = leg.below(&of(5_100), &of(5_000));
        assert_eq!(below.iter().map(|below| below.phase).collect::<Vec<_>>(), ["wait"]);
        assert!((below[0].run_us - 0.1).abs() < 0.01 && below[0].floor_us == 0.2, "{below:?}");
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
