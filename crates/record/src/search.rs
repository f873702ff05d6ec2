//! The search for the highest rate that holds: a bracket that is narrowed from both sides.
//!
//! A rate is tried until two trials agree, so that a single disturbance of the machine does not
//! decide. If one of the failed trials is doubtful because of the generator, three failures are
//! needed. As long as every rate holds, the next one is twice as high. After that, the next one is
//! the geometric mean of the highest rate that held and the lowest that did not. At the end the
//! latter is tried again: disturbances come in groups, and one at the start of a search would
//! otherwise limit the result. If that rate now holds, the search continues above it.

/// The largest ratio of the two sides of a finished bracket: 5 % apart.
const CLOSE: f64 = 1.05;
/// The number of trials of one rate that must agree.
pub const AGREE: u32 = 2;
/// The most rates that may hold although they failed before. The limit ends the search for a server
/// that varies all the time.
const REVISIONS: u32 = 8;

/// The state of a search. Rates are in exchanges per second.
#[derive(Clone, Debug)]
pub struct Search {
    /// The highest rate that held.
    low: Option<f64>,
    /// The rates above `low` that failed, the lowest last.
    high: Vec<f64>,
    /// True if the last of these rates failed a second time.
    confirmed: bool,
    revisions: u32,
    lowest: f64,
    highest: f64,
    rate: f64,
    held: u32,
    failed: u32,
    doubtful: u32,
    given_up: bool,
}

/// The result of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialVerdict {
    /// The rate held.
    Held,
    /// The rate did not hold.
    Failed,
    /// The rate did not hold, but perhaps only because of the generator. One more failure is then
    /// needed to decide.
    Doubtful,
}

/// The range that contains the highest rate that holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bracket {
    /// The highest rate that held, or `None` if none did.
    pub holds: Option<f64>,
    /// The lowest rate that did not hold, or `None` if all did.
    pub fails: Option<f64>,
}

impl Search {
    /// Creates a search that begins at `first` and stays between `lowest` and `highest` exchanges
    /// per second.
    pub fn new(first: f64, lowest: f64, highest: f64) -> Search {
        let rate = first.clamp(lowest, highest.max(lowest));
        Search {
            low: None,
            high: Vec::new(),
            confirmed: false,
            revisions: 0,
            lowest,
            highest,
            rate,
            held: 0,
            failed: 0,
            doubtful: 0,
            given_up: false,
        }
    }

    /// Returns the rate to try next, or `None` if the search is finished.
    pub fn next(&self) -> Option<f64> {
        (!self.is_closed()).then_some(self.rate)
    }

    /// Records the result of a trial of the current rate.
    pub fn tried(&mut self, verdict: TrialVerdict) {
        *(match verdict {
            TrialVerdict::Held => &mut self.held,
            TrialVerdict::Failed => &mut self.failed,
            TrialVerdict::Doubtful => &mut self.doubtful,
        }) += 1;
        if self.held >= AGREE {
            self.keeps();
        } else if self.failed >= AGREE || self.failed + self.doubtful > AGREE {
            self.breaks();
        } else {
            return;
        }
        (self.held, self.failed, self.doubtful) = (0, 0, 0);
        self.rate = self.after();
    }

    /// Ends the search, because no rate can be found.
    pub fn give_up(&mut self) {
        self.given_up = true;
    }

    /// Returns what is known so far.
    pub fn bracket(&self) -> Bracket {
        Bracket { holds: self.low, fails: self.high.last().copied() }
    }

    /// Records that the rate held.
    fn keeps(&mut self) {
        self.low = Some(self.rate);
        if self.high.last() == Some(&self.rate) {
            self.high.pop();
            self.revisions += 1;
        }
    }

    /// Records that the rate did not hold.
    fn breaks(&mut self) {
        match self.high.last() == Some(&self.rate) {
            true => self.confirmed = true,
            false => self.high.push(self.rate),
        }
    }

    fn after(&self) -> f64 {
        match (self.low, self.high.last()) {
            (_, Some(&high)) if self.is_narrow() => high,
            (Some(low), Some(high)) => round((low * high).sqrt()),
            (Some(low), None) => (low * 2.0).min(self.highest),
            (None, Some(high)) => (high / 4.0).max(self.lowest),
            (None, None) => self.rate,
        }
    }

    /// Returns true if no rate between those that held and those that failed is worth a trial.
    fn is_narrow(&self) -> bool {
        match (self.low, self.high.last()) {
            (Some(low), Some(&high)) => high <= low * CLOSE,
            (Some(low), None) => low >= self.highest,
            (None, Some(&high)) => high <= self.lowest,
            (None, None) => false,
        }
    }

    fn is_closed(&self) -> bool {
        let settled = self.confirmed || self.high.is_empty() || self.revisions >= REVISIONS;
        self.given_up || (self.is_narrow() && settled)
    }
}

/// Rounds a rate to three digits. Both sides of the bracket are more than 5 % apart, so the rounded
/// rate stays between them.
fn round(rate: f64) -> f64 {
    let digits = 2 - rate.log10().floor() as i32;
    let scale = 10f64.powi(digits.abs());
    if digits > 0 { (rate * scale).round() / scale } else { (rate / scale).round() * scale }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches where rates up to `limit` hold. Returns the bracket and the number of trials.
    fn search(first: f64, highest: f64, limit: f64) -> (Bracket, u32) {
        let (mut search, mut trials) = (Search::new(first, 1.0, highest), 0);
        while let Some(rate) = search.next() {
            search.tried(if rate <= limit { TrialVerdict::Held } else { TrialVerdict::Failed });
            trials += 1;
            assert!(trials < 200, "{search:?}");
        }
        (search.bracket(), trials)
    }

    #[test]
    fn the_limit_is_between_what_held_and_what_did_not_and_these_are_close() {
        for limit in [1.5, 42.0, 9_999.0, 123_456.0, 3e6] {
            for first in [1.0, 1_000.0, 1e6] {
                let (bracket, trials) = search(first, 1e7, limit);
                let (low, high) = (bracket.holds.unwrap(), bracket.fails.unwrap());
                assert!(low <= limit && limit < high, "{bracket:?} around {limit}");
                assert!(high / low <= CLOSE, "{bracket:?}");
                assert!(trials <= 60, "{trials} trials from {first} to {limit}");
            }
        }
    }

    #[test]
    fn a_rate_that_always_holds_ends_at_the_highest_and_one_that_never_does_at_none() {
        assert_eq!(search(100.0, 5_000.0, 1e9).0, Bracket { holds: Some(5_000.0), fails: None });
        assert_eq!(search(100.0, 5_000.0, 0.0).0, Bracket { holds: None, fails: Some(1.0) });
    }

    #[test]
    fn one_odd_trial_does_not_decide() {
        let mut search = Search::new(100.0, 1.0, 1e6);
        let rate = search.next().unwrap();
        search.tried(TrialVerdict::Held);
        search.tried(TrialVerdict::Failed);
        assert_eq!(search.next(), Some(rate));
        search.tried(TrialVerdict::Held);
        assert_eq!(search.bracket().holds, Some(rate));
    }

    #[test]
    fn what_the_generator_spoilt_takes_three_trials_to_decide() {
        use TrialVerdict::{Doubtful, Failed, Held};
        for (trials, holds, fails) in [
            (&[Doubtful, Doubtful][..], None, None),
            (&[Doubtful, Doubtful, Held, Held], Some(100.0), None),
            (&[Doubtful, Doubtful, Doubtful], None, Some(100.0)),
            (&[Doubtful, Held, Failed, Doubtful], None, Some(100.0)),
            (&[Failed, Failed], None, Some(100.0)),
        ] {
            let mut search = Search::new(100.0, 1.0, 1e6);
            trials.iter().for_each(|&verdict| search.tried(verdict));
            assert_eq!(search.bracket(), Bracket { holds, fails }, "{trials:?}");
        }
    }

    #[test]
    fn rates_that_failed_in_a_bad_moment_are_tried_again() {
        for (bad, limit) in [(6, 3_000.0), (10, 60_000.0), (14, 3_000.0)] {
            let (mut search, mut trials) = (Search::new(5_000.0, 1.0, 1e7), 0);
            while let Some(rate) = search.next() {
                trials += 1;
                let held = trials > bad && rate <= limit;
                search.tried(if held { TrialVerdict::Held } else { TrialVerdict::Failed });
            }
            let Bracket { holds, fails } = search.bracket();
            assert!(holds <= Some(limit) && Some(limit) < fails, "{search:?}");
            assert!(fails.unwrap() / holds.unwrap() <= CLOSE, "{search:?}");
        }
    }

    #[test]
    fn a_server_that_never_does_the_same_twice_does_not_keep_a_search_going() {
        let (mut search, mut trials) = (Search::new(100.0, 1.0, 1e9), 0u32);
        while search.next().is_some() {
            trials += 1;
            let good = trials.wrapping_mul(2_654_435_761) >> 30 != 0;
            search.tried(if good { TrialVerdict::Held } else { TrialVerdict::Failed });
            assert!(trials < 500, "{search:?}");
        }
    }

    #[test]
    fn a_search_that_was_given_up_has_no_next_rate() {
        let mut search = Search::new(100.0, 1.0, 1e6);
        search.give_up();
        assert_eq!((search.next(), search.bracket().holds), (None, None));
    }

    #[test]
    fn rates_in_between_have_three_digits() {
        assert_eq!([1.7321, 173.21, 12_345.6, 1e9].map(round), [1.73, 173.0, 12_300.0, 1e9]);
    }
}
