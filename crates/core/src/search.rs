//! The highest rate that holds: a bracket that closes from both sides.
//!
//! A rate is tried until two trials of it agree, so that one bad moment of the machine does not
//! decide. While every rate holds, the next one is twice as high; then each next one is the
//! geometric mean of the highest that held and the lowest that did not.

/// How close the two sides of the bracket have to come: 5 %.
const CLOSE: f64 = 1.05;
/// The lowest rate worth trying, a second.
const LOWEST: f64 = 1.0;
/// Trials of one rate that must agree.
const AGREE: u32 = 2;

/// A search under way. Rates are in exchanges a second.
#[derive(Clone, Debug)]
pub struct Search {
    /// The highest rate that held.
    low: Option<f64>,
    /// The lowest rate that did not.
    high: Option<f64>,
    highest: f64,
    rate: f64,
    held: u32,
    failed: u32,
}

/// Where the highest rate lies that holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bracket {
    /// The highest rate that held, if any did.
    pub holds: Option<f64>,
    /// The lowest rate that did not, if any.
    pub fails: Option<f64>,
}

impl Search {
    /// Begins at `first`, never goes beyond `highest`, exchanges a second.
    pub fn new(first: f64, highest: f64) -> Search {
        let rate = first.clamp(LOWEST, highest.max(LOWEST));
        Search { low: None, high: None, highest, rate, held: 0, failed: 0 }
    }

    /// The rate to try next; none when the bracket is closed.
    pub fn next(&self) -> Option<f64> {
        (!self.is_closed()).then_some(self.rate)
    }

    /// Says whether the rate just tried held.
    pub fn tried(&mut self, held: bool) {
        *(if held { &mut self.held } else { &mut self.failed }) += 1;
        if self.held >= AGREE {
            self.low = Some(self.rate);
        } else if self.failed >= AGREE {
            self.high = Some(self.rate);
        } else {
            return;
        }
        (self.held, self.failed) = (0, 0);
        self.rate = self.after();
    }

    /// What is known so far.
    pub fn bracket(&self) -> Bracket {
        Bracket { holds: self.low, fails: self.high }
    }

    fn after(&self) -> f64 {
        match (self.low, self.high) {
            (Some(low), Some(high)) => (low * high).sqrt(),
            (Some(low), None) => (low * 2.0).min(self.highest),
            (None, Some(high)) => (high / 4.0).max(LOWEST),
            (None, None) => self.rate,
        }
    }

    fn is_closed(&self) -> bool {
        match (self.low, self.high) {
            (Some(low), Some(high)) => high <= low * CLOSE,
            (Some(low), None) => low >= self.highest,
            (None, Some(high)) => high <= LOWEST,
            (None, None) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches where rates up to `limit` hold: the bracket and how many trials it took.
    fn search(first: f64, highest: f64, limit: f64) -> (Bracket, u32) {
        let (mut search, mut trials) = (Search::new(first, highest), 0);
        while let Some(rate) = search.next() {
            search.tried(rate <= limit);
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
        let mut search = Search::new(100.0, 1e6);
        let rate = search.next().unwrap();
        search.tried(true);
        search.tried(false);
        assert_eq!(search.next(), Some(rate));
        search.tried(true);
        assert_eq!(search.bracket().holds, Some(rate));
    }
}
