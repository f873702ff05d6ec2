//! A block of a comparison that begins, and how long the comparison takes.

use sixmark_plan::plan::Plan;
use sixmark_tally::metric::Metric;
use sixmark_units::quantity::{counted, duration_us, write_about, write_count};

use crate::comparison_result::{BlockSchedule, ComparedSides};
use crate::schedule::BlockTurn;
use crate::until::UntilDecided;

/// A block that begins, for displays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockBegin {
    /// The side that it measures, and its pair.
    pub turn: BlockTurn,
    /// The number of blocks before it.
    pub done: usize,
    /// The number of blocks in all.
    pub of: usize,
    /// The number of pairs that are compared.
    pub pairs: u32,
    /// Whether it belongs to the comparison of A with itself.
    pub noise: bool,
    /// How long the rest of the comparison takes, in seconds; `None` if that is not yet known.
    pub left_s: Option<f64>,
    /// Whether it may end before, since it ends when it is decided.
    pub may_end: bool,
}

impl BlockBegin {
    /// Returns its place, counted in pairs: `pair 3 of 12`, `warm-up`, `A against itself, pair 3 of
    /// 12`.
    pub fn place(&self) -> String {
        let before = if self.noise { "A against itself, " } else { "" };
        match self.turn.pair {
            Some(pair) => format!("{before}pair {} of {}", pair + 1, self.pairs),
            None => format!("{before}warm-up"),
        }
    }
}

/// Formats the time that is left: `about 20 minutes left`, or `at most 20 minutes left` if the
/// comparison may end before.
pub fn left_text(left_s: f64, may_end: bool) -> String {
    let bound = if may_end { "at most" } else { "about" };
    format!("{bound} {} left", write_about(left_s.max(1.0)))
}

/// Returns how long a block of each side takes at least, with its warm-up, in seconds: the mean of
/// both. `None` if the blocks end after a number of requests.
pub(crate) fn planned_block_s(plans: &ComparedSides<Plan>) -> Option<f64> {
    let of = |plan: &Plan| Some((plan.load.duration? + plan.load.warmup).as_secs_f64());
    Some(f64::midpoint(of(&plans.a)?, of(&plans.b)?))
}

/// Describes what a comparison is going to do, and how long that takes if `block_s` is how long a
/// block takes: `12 pairs of blocks of 1.00 s after a warm-up: about 29 s`.
pub(crate) fn describe_schedule(
    schedule: &BlockSchedule,
    calibrates: bool,
    block_s: Option<f64>,
) -> String {
    let pairs = counted(u64::from(schedule.pairs), "pair", "pairs");
    let each = match (schedule.block_requests, schedule.block_s) {
        (Some(requests), _) => format!(" of {} requests", write_count(requests)),
        (None, Some(s)) => format!(" of {}", duration_us(s * 1e6)),
        (None, None) => String::new(),
    };
    let warm_up = match schedule.warm_up_blocks {
        0 => String::new(),
        1 => " after a warm-up block of each side".to_owned(),
        n => format!(" after {n} warm-up blocks of each side"),
    };
    let twice = if calibrates { ", and as many of A against itself before" } else { "" };
    let blocks = 2.0 * f64::from(schedule.pairs + schedule.warm_up_blocks);
    let blocks = if calibrates { 2.0 * blocks } else { blocks };
    let time = block_s.map(|block_s| format!(": about {}", write_about(blocks * block_s)));
    format!("{pairs} of blocks{each}{warm_up}{twice}{}", time.unwrap_or_default())
}

/// Describes a comparison that ends when it is decided, of which `most` is the most that it does:
/// `until response.p50 is decided, for 30 minutes at most: at most 400 pairs of blocks…`.
pub(crate) fn describe_until(until: &UntilDecided, most: &str) -> String {
    let names: Vec<String> = until.metrics.iter().map(Metric::to_string).collect();
    let are = if names.len() == 1 { "is" } else { "are" };
    let time = write_about(until.at_most_s);
    format!("until {} {are} decided, for {time} at most: at most {most}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison_result::{BlockOrder, SideName};

    #[test]
    fn describes_the_schedule_with_its_duration() {
        let schedule = BlockSchedule {
            pairs: 12,
            order: BlockOrder::Random,
            block_s: Some(1.0),
            requested_block_s: None,
            block_requests: None,
            warm_up_blocks: 1,
        };
        let said = describe_schedule(&schedule, false, Some(1.1));
        let wanted = "12 pairs of blocks of 1.00 s after a warm-up block of each side: about 29 s";
        assert_eq!(said, wanted);
        let said = describe_schedule(&schedule, true, Some(1.1));
        assert!(said.ends_with("of A against itself before: about 57 s"), "{said}");
        let of_requests = BlockSchedule { block_requests: Some(1_000), ..schedule };
        let said = describe_schedule(&of_requests, false, None);
        assert!(said.starts_with("12 pairs of blocks of 1,000 requests after"), "{said}");
    }

    #[test]
    fn describes_the_place_of_a_block_among_the_pairs() {
        let turn = BlockTurn { side: SideName::B, pair: Some(2) };
        let begin = BlockBegin {
            turn,
            done: 6,
            of: 26,
            pairs: 12,
            noise: false,
            left_s: Some(20.0),
            may_end: false,
        };
        assert_eq!(begin.place(), "pair 3 of 12");
        assert_eq!(left_text(20.0, false), "about 20 s left");
        assert_eq!(left_text(20.0, true), "at most 20 s left");
        let warm_up = BlockBegin { turn: BlockTurn { pair: None, ..turn }, noise: true, ..begin };
        assert_eq!(warm_up.place(), "A against itself, warm-up");
    }
}
