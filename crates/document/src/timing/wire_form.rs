//! Durations as data, for another process that adds them to its own. Nothing is lost.
//!
//! The process that reads them trusts no peer: what is read is bounded, and its parts must agree.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Timing;
use crate::buckets::LogLinearBuckets;
use crate::hdr;

/// The longest encoded histogram that is accepted, in characters. A histogram of all buckets whose
/// counts can't be compressed has 760,000.
const LONGEST: usize = 1 << 20;
/// The largest number of buckets above the values that HdrHistogram can store.
const MOST_BEYOND: usize = 2_048 + 2;

/// Durations in the form in which they are sent. A part without a value is absent.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct WireTiming {
    #[serde(skip_serializing_if = "is_zero")]
    count: u64,
    #[serde(skip_serializing_if = "is_zero")]
    min: u64,
    #[serde(skip_serializing_if = "is_zero")]
    max: u64,
    /// Decimal digits: JSON's numbers end at 64 bits. The same holds for `squares`.
    #[serde(skip_serializing_if = "String::is_empty")]
    sum: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    squares: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_least: Option<u64>,
    /// The buckets below [`hdr::MOST`].
    #[serde(skip_serializing_if = "String::is_empty")]
    hdr: String,
    /// The largest value and the count of each of the other buckets, which the format of `hdr` has
    /// no room for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    beyond: Vec<(u64, u64)>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl WireTiming {
    fn of(timing: &Timing) -> WireTiming {
        if timing.count() == 0 {
            return WireTiming::default();
        }
        let fits = |&(value, _): &(u64, u64)| value < hdr::MOST;
        let recorded = || timing.buckets.recorded();
        let some = recorded().next().is_some_and(|first| fits(&first));
        WireTiming {
            count: timing.count(),
            min: timing.min,
            max: timing.max,
            sum: timing.sum.to_string(),
            squares: timing.squares.to_string(),
            at_least: (timing.at_least < u64::MAX).then_some(timing.at_least),
            hdr: if some { hdr::encode(recorded().take_while(fits)) } else { String::new() },
            beyond: recorded().skip_while(fits).collect(),
        }
    }

    /// Returns the buckets, and the sum of their counts.
    fn buckets(&self) -> Result<(LogLinearBuckets, Option<u64>), String> {
        if self.hdr.len() > LONGEST || self.beyond.len() > MOST_BEYOND {
            return Err(format!("a histogram has more than {LONGEST} characters"));
        }
        let (mut buckets, mut sum) = (LogLinearBuckets::default(), Some(0_u64));
        let mut add = |value, count| {
            buckets.record_many(value, count);
            sum = sum.and_then(|sum| sum.checked_add(count));
        };
        if !self.hdr.is_empty() {
            let histogram = hdr::decode(&self.hdr)?;
            if histogram.low() != 1 || histogram.sigfig() != hdr::DIGITS {
                return Err("a histogram has other buckets than those of sixmark".into());
            }
            histogram
                .iter_recorded()
                .for_each(|at| add(at.value_iterated_to(), at.count_at_value()));
        }
        self.beyond.iter().for_each(|&(value, count)| add(value, count));
        Ok((buckets, sum))
    }
}

impl TryFrom<WireTiming> for Timing {
    type Error = String;

    fn try_from(wire: WireTiming) -> Result<Timing, String> {
        let apart = |what: &str| format!("{what} of durations does not match their histogram");
        let (buckets, sum) = wire.buckets()?;
        if sum != Some(wire.count) {
            return Err(apart("the number"));
        }
        let Some([first, last]) = buckets.ends() else { return Ok(Timing::default()) };
        let (min, max) = (wire.min, wire.max);
        if min > max || !first.contains(&min) || !last.contains(&max) {
            return Err(apart("the minimum or maximum"));
        }
        let at_least = wire.at_least.unwrap_or(u64::MAX);
        if wire.at_least.is_some() && !(min..=max).contains(&at_least) {
            return Err(apart("the lower bound"));
        }
        let number = |text: &str| text.parse::<u128>().map_err(|_| apart("a sum"));
        let (sum, squares) = (number(&wire.sum)?, number(&wire.squares)?);
        let [least, most, count] = [min, max, wire.count].map(u128::from);
        let most_squares = (most * most).saturating_mul(count);
        if !(least * count..=most * count).contains(&sum) || squares > most_squares {
            return Err(apart("a sum"));
        }
        Ok(Timing { buckets, min, max, sum, squares, at_least })
    }
}

impl Serialize for Timing {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        WireTiming::of(self).serialize(to)
    }
}

impl<'de> Deserialize<'de> for Timing {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Timing, D::Error> {
        Timing::try_from(WireTiming::deserialize(from)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use sixmark_units::random::Random;

    use super::*;

    fn read(value: Value) -> Result<Timing, String> {
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    /// Returns a value of any magnitude.
    fn value(random: &mut Random) -> u64 {
        random.bits() >> random.below(64)
    }

    #[test]
    fn every_bucket_survives_serialization() {
        // The edges of all buckets: at most 11 bits that are not 0, at any place.
        let edges = (0..54).flat_map(|cut| (0..2_048_u64).map(move |top| top << cut));
        let last = (0..2_048).map(|below| u64::MAX - (below << 53));
        let mut all = Timing::default();
        for (nth, value) in edges.chain(last).enumerate() {
            all.record_many(value, nth as u64 % 5 + 1);
        }
        assert!(all.buckets.recorded().count() > 50_000);
        assert!(all.buckets.recorded().any(|(value, _)| value == u64::MAX));
        let written = serde_json::to_value(&all).unwrap();
        assert_eq!(written["sum"], all.sum.to_string());
        assert_eq!(read(written).unwrap(), all);
    }

    #[test]
    fn random_and_empty_timings_survive_serialization() {
        let mut random = Random::new(4, 0);
        for _ in 0..200 {
            let mut timing = Timing::default();
            for _ in 0..random.below(40) {
                match random.below(3) {
                    0 => timing.record_at_least(value(&mut random)),
                    1 => timing.record_many(value(&mut random), 1 + random.below(1 << 40)),
                    _ => timing.record(random.below(5_000)),
                }
            }
            let text = serde_json::to_string(&timing).unwrap();
            assert_eq!(serde_json::from_str::<Timing>(&text).unwrap(), timing, "{text}");
        }
        assert_eq!(serde_json::to_value(Timing::default()).unwrap(), json!({}));
        assert_eq!(read(json!({})).unwrap(), Timing::default());
    }

    #[test]
    fn rejects_inconsistent_fields_with_one_line() {
        let mut timing = Timing::default();
        [5_000, 6_000, 7_000].iter().for_each(|&value| timing.record(value));
        timing.record_at_least(6_500);
        let good = serde_json::to_value(&timing).unwrap();
        let other = serde_json::to_value({
            let mut other = timing.clone();
            other.record(9);
            other
        });
        let long = "A".repeat(LONGEST + 1);
        let many: Vec<_> = (0..MOST_BEYOND as u64 + 1).map(|_| (u64::MAX, 1)).collect();
        for (field, wrong) in [
            ("count", json!(5)),
            ("count", json!(0)),
            ("min", json!(0)),
            ("max", json!(7_100)),
            ("max", json!(u64::MAX)),
            ("at_least", json!(4_999)),
            ("sum", json!("")),
            ("sum", json!("19999")),
            ("sum", json!("340282366920938463463374607431768211456")),
            ("squares", json!("340282366920938463463374607431768211455")),
            ("squares", json!(12)),
            ("hdr", json!("HISTFAAAA")),
            ("hdr", json!(long)),
            ("hdr", other.unwrap()["hdr"].clone()),
            ("beyond", json!([[u64::MAX, 1]])),
            ("beyond", json!([[6_000, u64::MAX]])),
            ("beyond", json!(many)),
        ] {
            let mut bad = good.clone();
            bad[field] = wrong;
            let error = read(bad).unwrap_err();
            assert!(!error.contains('\n') && error.len() < 200, "{field}: {error}");
        }
        assert_eq!(read(good).unwrap(), timing);
    }

    #[test]
    fn an_earlier_timing_plus_the_difference_equals_the_later_one() {
        let mut random = Random::new(5, 0);
        for _ in 0..100 {
            let (mut earlier, mut sum) = (Timing::default(), Timing::default());
            let mut all = Timing::default();
            for _ in 0..5 {
                for _ in 0..random.below(6) {
                    let value = value(&mut random);
                    match random.below(4) {
                        0 => all.record_at_least(value),
                        _ => all.record(value),
                    }
                }
                let since = all.since(&earlier);
                // A difference is as consistent as what was counted.
                assert_eq!(read(serde_json::to_value(&since).unwrap()).unwrap(), since);
                let mut whole = earlier.clone();
                whole += &since;
                assert_eq!(whole, all);
                sum += &since;
                earlier = all.clone();
            }
            assert_eq!(sum, all);
        }
    }

    #[test]
    fn extremes_of_a_difference_are_accurate_to_one_bucket() {
        let mut earlier = Timing::default();
        [1_000, 9_000_000].iter().for_each(|&value| earlier.record(value));
        let mut all = earlier.clone();
        [5_001, 6_001, 9_000_000].iter().for_each(|&value| all.record(value));
        let since = all.since(&earlier);
        assert_eq!((since.count(), since.min(), since.max()), (3, Some(5_000), Some(9_000_000)));
        assert_eq!(since.mean(), Some((5_001 + 6_001 + 9_000_000) as f64 / 3.0));
        all.record(10);
        assert_eq!(all.since(&earlier).min(), Some(10));
    }

    #[test]
    fn the_largest_sums_saturate() {
        let mut timing = Timing::default();
        timing.record_many(u64::MAX, i64::MAX as u64);
        let read = read(serde_json::to_value(&timing).unwrap()).unwrap();
        (0..4).for_each(|_| timing += &read);
        timing.record_at_least(u64::MAX);
        assert_eq!((timing.count(), timing.summary().count), (u64::MAX, u64::MAX));
    }
}
