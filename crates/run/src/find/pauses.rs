//! Pauses of a server that are rarer than a trial lasts, so that most trials meet none.

use sixmark_result::search::{NextTrial, TrialLength, TrialVerdict};
use sixmark_result::trial_test::{Shown, TrialSample};

/// What the trials of a family show of pauses.
#[derive(Debug, Default)]
pub(super) struct Pauses {
    /// The trials that did not fail, with the design effect of a pause for each limit.
    seen: Vec<(NextTrial, Vec<f64>)>,
    /// The counts by which long trials showed that rates hold.
    held: Vec<(f64, TrialSample)>,
}

impl Pauses {
    /// Takes a trial with the effects of its pauses, and its counts, for a long one together with
    /// those of others at its rate.
    pub(super) fn note(
        &mut self,
        trial: NextTrial,
        verdict: Option<TrialVerdict>,
        effects: Vec<f64>,
        sample: TrialSample,
    ) {
        match verdict {
            Some(TrialVerdict::Held) if trial.length != TrialLength::Short => {
                self.held.push((trial.rate, sample));
            }
            Some(TrialVerdict::Held | TrialVerdict::Undecided(_)) => {}
            // What an overloaded server does says nothing of lower rates.
            _ => return,
        }
        self.seen.push((trial, effects));
    }

    /// Returns true if the trials that showed this rate to hold do not show it once exchanges are
    /// expected to come together as in the largest pause: trials that met no pause know nothing of
    /// rare ones. Short trials of higher rates do not count: when a queue is nearly always busy, most
    /// of what is slow in a short time comes at once.
    pub(super) fn may_be_missed_at(&self, rate: f64) -> bool {
        let found = self.held.iter().rev().find(|(held, _)| *held == rate);
        found.is_some_and(|(_, sample)| {
            let mut sample = sample.clone();
            let counts = |of: &NextTrial| of.length != TrialLength::Short || of.rate <= rate;
            let seen = self.seen.iter().filter(|(of, _)| counts(of));
            seen.for_each(|(_, effects)| sample.expect_effects(effects));
            sample.test(false) != Shown::Holds
        })
    }
}
