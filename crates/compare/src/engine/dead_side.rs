//! A side that gives no usable response, which ends a comparison: it can only say so again and again.
//!
//! This looks at the figures after each pair, which a comparison otherwise never does before its
//! end. It makes no verdict on speed more likely: with a side that gives nothing there is none.

use sixmark_tally::outcome::{Failure, FailurePhase, Outcome};
use sixmark_tally::tally::FamilyTally;

/// A side that fails now and then fails this often in succession only if nearly all of its exchanges
/// fail.
const ENOUGH_FAILURES: u64 = 16;
/// So many failures are enough if all are timeouts. Each is several attempts: within the usual
/// timeout of 5 s, TCP sends its SYN three times (RFC 6298, 2.1 and 5.5).
const ENOUGH_TIMEOUTS: u64 = 2;

/// Returns true if a side gave no usable response in these blocks, warm-ups included, and its
/// exchanges failed, rather than that they were still waiting for a response: a side that is slower
/// than a block is measured all the same.
pub(super) fn gives_nothing<'a>(blocks: impl Iterator<Item = &'a FamilyTally>) -> bool {
    let (mut failed, mut timeouts) = (0, 0);
    for tally in blocks {
        let accepted = tally.completed().saturating_sub(tally.unaccepted);
        if accepted + tally.warm_up.accepted > 0 {
            return false;
        }
        let warm_up = tally.failed_warm_up.iter().flat_map(|tally| tally.failures.iter());
        for (failure, count) in tally.failures.iter().chain(warm_up) {
            match failure.outcome {
                Outcome::Abandoned => {}
                Outcome::Unanswered if is_connected(failure) => return false,
                Outcome::Unanswered | Outcome::Timeout => timeouts += count,
                _ => failed += count,
            }
        }
        failed += tally.unaccepted;
    }
    failed + timeouts >= ENOUGH_FAILURES || (failed == 0 && timeouts >= ENOUGH_TIMEOUTS)
}

/// Returns true if the exchange failed on an established connection.
fn is_connected(failure: Failure) -> bool {
    !matches!(failure.phase, FailurePhase::Connect | FailurePhase::Tls)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failing(outcome: Outcome, phase: FailurePhase, count: u64) -> FamilyTally {
        let mut tally = FamilyTally { sent: count, ..FamilyTally::default() };
        tally.failures.add(Failure::new(outcome, phase), count);
        tally
    }

    fn errors(count: u64) -> FamilyTally {
        let mut tally = FamilyTally { sent: count, unaccepted: count, ..FamilyTally::default() };
        tally.status.add(503, count);
        tally
    }

    fn refused_in_warm_up(count: u64) -> FamilyTally {
        let mut tally = FamilyTally::default();
        let failure = Failure::new(Outcome::Refused, FailurePhase::Connect);
        (0..count).for_each(|_| tally.add_failed_warm_up(failure, 0, None));
        tally
    }

    #[test]
    fn treats_a_side_with_only_failures_as_dead() {
        use FailurePhase::{Connect, Tls, Wait};
        for blocks in [
            vec![failing(Outcome::Refused, Connect, 8); 2],
            vec![failing(Outcome::Reset, Wait, 300)],
            vec![failing(Outcome::Tls, Tls, 16)],
            vec![failing(Outcome::Timeout, Connect, 1); 2],
            vec![failing(Outcome::Unanswered, Connect, 2)],
            vec![errors(2_000)],
            vec![refused_in_warm_up(50), failing(Outcome::Abandoned, Connect, 3)],
        ] {
            assert!(gives_nothing(blocks.iter()), "{blocks:?}");
        }
    }

    #[test]
    fn does_not_treat_a_slow_or_partly_answering_side_as_dead() {
        let answered = FamilyTally { sent: 1, ..FamilyTally::default() };
        let mut warm = refused_in_warm_up(50);
        (warm.warm_up.completed, warm.warm_up.accepted) = (1, 1);
        let mut one = errors(2_000);
        one.status.add(200, 1);
        let refused = failing(Outcome::Refused, FailurePhase::Connect, 15);
        let slow = failing(Outcome::Unanswered, FailurePhase::Wait, 50);
        let resets = failing(Outcome::Reset, FailurePhase::Wait, 900);
        for blocks in [
            vec![answered, slow.clone()],
            vec![warm],
            vec![one],
            vec![refused],
            vec![failing(Outcome::Timeout, FailurePhase::Connect, 1)],
            vec![resets, slow],
            vec![failing(Outcome::Abandoned, FailurePhase::Wait, 50)],
            Vec::new(),
        ] {
            assert!(!gives_nothing(blocks.iter()), "{blocks:?}");
        }
    }
}
