//! The difference between two clocks, from probes: requests that the other side answers with its
//! time.

/// One probe. Both times of this side are nanoseconds of one clock, that of the other side is of
/// another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockProbe {
    /// When the request was sent.
    pub sent_ns: u64,
    /// The time in the answer.
    pub there_ns: u64,
    /// When the answer arrived.
    pub answered_ns: u64,
}

impl ClockProbe {
    /// Returns the round-trip time in nanoseconds.
    pub fn round_trip_ns(&self) -> u64 {
        self.answered_ns.saturating_sub(self.sent_ns)
    }
}

/// Returns how far the other clock is ahead, in nanoseconds, and the most by which that may be
/// wrong. The probe with the shortest round trip decides: the other side read its clock between
/// sending and answering, so the middle is wrong by at most half of the round trip, however the
/// delay is divided between both directions (RFC 5905, 8). `None` without probes.
pub fn offset_of(probes: &[ClockProbe]) -> Option<(i64, u64)> {
    let best = probes.iter().min_by_key(|probe| probe.round_trip_ns())?;
    let half = best.round_trip_ns() / 2;
    let here = best.sent_ns.saturating_add(half);
    let offset = i128::from(best.there_ns) - i128::from(here);
    // The middle may be rounded by a nanosecond.
    Some((offset.clamp(i64::MIN.into(), i64::MAX.into()) as i64, half + 1))
}

#[cfg(test)]
mod tests {
    use sixmark_units::random::Random;

    use super::*;

    #[test]
    fn the_offset_error_stays_within_its_bound_for_asymmetric_delay() {
        let mut random = Random::new(3, 0);
        for offset in [0_i64, 3_000_000_000, -7_000_000_000] {
            let probe = |random: &mut Random| {
                let (there, back) = (random.bits() % 40_000_000, random.bits() % 1_000_000);
                let sent_ns = 10_000_000_000 + random.bits() % 1_000_000_000;
                let there_ns = (sent_ns + there).saturating_add_signed(offset);
                ClockProbe { sent_ns, there_ns, answered_ns: sent_ns + there + back }
            };
            for _ in 0..100 {
                let probes: Vec<ClockProbe> = (0..32).map(|_| probe(&mut random)).collect();
                let (found, bound) = offset_of(&probes).unwrap();
                assert!((found - offset).unsigned_abs() <= bound, "{found} {bound} {offset}");
            }
        }
        assert_eq!(offset_of(&[]), None);
    }
}
