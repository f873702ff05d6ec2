//! The work that a run caused at its server, for computing the cost of a request.

use sixmark_units::family::PerFamily;

use sixmark_tally::family_result::{Families, FamilyResult};
use sixmark_tally::interval::Interval;
use sixmark_vitals::cost::Work;

/// Returns the work of a run whose measurement began at `from_us` and lasted `elapsed_s` seconds.
pub fn work_of_run(
    families: &Families,
    intervals: &[Interval],
    elapsed_s: f64,
    from_us: u64,
) -> Work {
    let number = |of: fn(&FamilyResult) -> u64| {
        PerFamily::from_fn(|family| families.of(family).map_or(0, of))
    };
    let whole = intervals.iter().filter(|second| second.length_s > 0.999);
    let second = |second: &Interval| PerFamily {
        ipv6: second.families.ipv6.completed,
        ipv4: second.families.ipv4.completed,
    };
    Work {
        from_us,
        to_us: from_us + (elapsed_s * 1e6) as u64,
        requests: number(|of| of.requests.completed),
        bytes: number(|of| of.bytes.received + of.bytes.sent),
        seconds: whole.map(second).collect(),
    }
}
