//! Exchanges of the warm-up that failed.
//!
//! A warm-up is there to let a working server get into its stride. Where nothing works, everything
//! may fail before the measurement begins, and the load is given up: what happened in the warm-up is
//! then all that is known, and it is the outcome.

use crate::outcome::{Failure, Outcome};

use super::FamilyTally;

impl FamilyTally {
    /// Returns the counts of the failures of the warm-up, which are created if necessary.
    pub fn failing_warm_up(&mut self) -> &mut FamilyTally {
        self.failed_warm_up.get_or_insert_default()
    }

    /// Counts a failure of an exchange of the warm-up with this endpoint and with the number of its
    /// request's name, if requests are counted by name.
    pub fn add_failed_warm_up(&mut self, failure: Failure, endpoint: usize, name: Option<usize>) {
        let of = self.failing_warm_up();
        of.sent += 1;
        of.carried += 1;
        of.failures.add(failure, 1);
        of.endpoint(endpoint).failures.add(failure, 1);
        of.counted_apart(name, None).for_each(|of| of.failures.add(failure, 1));
    }

    /// Adds the failures of the warm-up to those of the measurement, if they are all that is known:
    /// no exchange of the warm-up was answered, and none of the measurement ended before the load
    /// did. To be called after the tallies of all workers were added and the exchanges in flight
    /// were classified. Returns how many were added.
    pub fn count_failed_warm_up(&mut self) -> u64 {
        let ended = self.ended().saturating_sub(self.outcome(Outcome::Abandoned));
        if ended > 0 || self.warm_up.completed > 0 {
            return 0;
        }
        let Some(failed) = self.failed_warm_up.take() else { return 0 };
        *self += &failed;
        self.warm_up.sent = self.warm_up.sent.saturating_sub(failed.sent);
        failed.sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::FailurePhase;

    /// Returns a family of whose warm-up `failed` exchanges were refused.
    fn refused(failed: u64) -> FamilyTally {
        let mut tally = FamilyTally::default();
        tally.warm_up.sent = failed + 1;
        let refused = Failure::new(Outcome::Refused, FailurePhase::Connect);
        (0..failed).for_each(|_| tally.add_failed_warm_up(refused, 1, Some(2)));
        tally
    }

    #[test]
    fn counts_warm_up_failures_if_nothing_was_measured() {
        let mut tally = refused(3);
        let cut_off = Failure::new(Outcome::Abandoned, FailurePhase::Connect);
        tally.sent = 1;
        tally.failures.add(cut_off, 1);
        assert_eq!(tally.count_failed_warm_up(), 3);
        assert_eq!((tally.sent, tally.carried, tally.warm_up.sent), (4, 3, 1));
        assert_eq!((tally.outcome(Outcome::Refused), tally.ended()), (3, 4));
        assert_eq!(tally.endpoints[1].failures.iter().map(|(_, n)| n).sum::<u64>(), 3);
        assert_eq!(tally.requests[2].failures.iter().map(|(_, n)| n).sum::<u64>(), 3);
        assert_eq!(tally.count_failed_warm_up(), 0);
    }

    #[test]
    fn ignores_warm_up_failures_after_any_answer_or_measurement() {
        let mut measured = refused(3);
        (measured.sent, measured.unaccepted) = (1, 1);
        measured.status.add(503, 1);
        let mut answered = refused(3);
        answered.warm_up.completed = 1;
        let mut lost = refused(3);
        lost.sent = 1;
        lost.failures.add(Failure::new(Outcome::Reset, FailurePhase::Wait), 1);
        for mut tally in [measured, answered, lost] {
            let sent = tally.sent;
            assert_eq!((tally.count_failed_warm_up(), tally.sent, tally.carried), (0, sent, 0));
        }
    }
}
