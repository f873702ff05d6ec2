//! The search for the highest rate that holds, by tested trials.
//!
//! It follows the MLRsearch of RFC 9971 in its plan: short trials find out roughly where the limit
//! is, longer ones decide at which rates near it the conditions hold and do not hold. A rate whose
//! long trials decide neither is left undecided, and the search looks farther away from it. At the
//! end both sides are tried once more, since a server may have changed during the search.

use crate::rate_decision::RateDecision;

/// The largest ratio of neighbouring rates between the two sides of a finished search: 5 % apart.
const CLOSE: f64 = 1.05;
/// The largest ratio of the sides that short trials find before longer ones begin.
const NEAR: f64 = 1.10;
/// The number of spoiled trials in a row that end a search, and of trials without an answer.
pub const AGREE: u32 = 3;
/// The first step away from a rate that was to hold and does not, or the reverse. It doubles.
const STEP: f64 = 0.04;
/// The most rates beyond the first that are tried for a side.
const STEPS: u32 = 7;
/// The most rates that are tried between the sides.
const SPLITS: u32 = 4;
/// The most times that a search looks for the limit by short trials again, because a long one held
/// where a short one did not.
const RETURNS: u32 = 2;
/// The most times that a search goes on after a side did not hold what it was.
const CHANGES: u32 = 2;

/// How long a trial is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialLength {
    /// As long as the plan says.
    Short,
    /// Four times as long, as the trials of both sides are.
    Long,
    /// Eight times as long.
    Longest,
}

impl TrialLength {
    /// Returns how many times as long as a short trial it is.
    pub fn factor(self) -> u32 {
        match self {
            TrialLength::Short => 1,
            TrialLength::Long => 4,
            TrialLength::Longest => 8,
        }
    }
}

/// What a trial to make is for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NextTrial {
    /// Exchanges per second.
    pub rate: f64,
    /// How long it is.
    pub length: TrialLength,
}

/// The result of a trial, or of all long trials of a rate together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialVerdict {
    /// The rate holds.
    Held,
    /// The rate does not hold.
    Failed,
    /// Neither is shown. True if the figures lie rather beyond a limit.
    Undecided(bool),
    /// It could have been another but for the generator's lateness.
    Spoiled,
}

/// The range that contains the highest rate that holds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bracket {
    /// The highest rate that was shown to hold, below all that were shown not to; `None` if there is
    /// none.
    pub holds: Option<f64>,
    /// The lowest rate that was shown not to hold, above all that were shown to hold; `None` if
    /// there is none.
    pub fails: Option<f64>,
}

/// Why a search has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchStop {
    /// Both sides are confirmed.
    Bracketed,
    /// A side was not found: rates far apart were all undecided, or all held.
    Open,
    /// The generator spoiled every trial of a rate.
    Spoiled,
    /// It was given up, as nothing answered.
    GivenUp,
}

/// The state of a search. Rates are in exchanges per second.
#[derive(Clone, Debug)]
pub struct Search {
    lowest: f64,
    highest: f64,
    /// The highest rate that short trials did not show to fail, and the lowest that they did.
    rough: Bracket,
    /// The rates decided by long trials, and by the last short ones of each side.
    held: Vec<f64>,
    failed: Vec<f64>,
    undecided: Vec<f64>,
    /// What short trials that look for the limit show, which counts until long ones have decided.
    briefly: Vec<(f64, TrialVerdict)>,
    /// The sides that were tried again at the end.
    checked: [bool; 2],
    next: Option<NextTrial>,
    /// The number of spoiled trials in a row.
    spoiled: u32,
    /// The rate at which the generator spoiled all trials.
    ceiling: Option<f64>,
    /// How many rates were tried for a side, between the sides, and after a change.
    tries: [u32; 2],
    splits: u32,
    returns: u32,
    changes: u32,
    is_rough: bool,
    stop: Option<SearchStop>,
}

impl Search {
    /// Creates a search that begins at `first` and stays between `lowest` and `highest` exchanges
    /// per second.
    pub fn new(first: f64, lowest: f64, highest: f64) -> Search {
        let rate = first.clamp(lowest, highest.max(lowest));
        Search {
            lowest,
            highest,
            rough: Bracket::default(),
            held: Vec::new(),
            failed: Vec::new(),
            undecided: Vec::new(),
            briefly: Vec::new(),
            checked: [false; 2],
            next: Some(NextTrial { rate, length: TrialLength::Short }),
            spoiled: 0,
            ceiling: None,
            tries: [0; 2],
            splits: 0,
            returns: 0,
            changes: 0,
            is_rough: true,
            stop: None,
        }
    }

    /// Returns the trial to make next, or `None` if the search is finished.
    pub fn next(&self) -> Option<NextTrial> {
        self.next
    }

    /// Returns why the search has ended; `None` if it has not.
    pub fn stop(&self) -> Option<SearchStop> {
        self.stop
    }

    /// Returns true if both sides are decided by long trials.
    pub fn is_confirmed(&self) -> bool {
        let Bracket { holds, fails } = bracket_of(&self.held, &self.failed);
        holds.is_some() && fails.is_some()
    }

    /// Returns true unless a rate was shown to hold that is not below all that were shown not to:
    /// the server has changed, or it varies.
    pub fn is_steady(&self) -> bool {
        !matches!((greatest(&self.held), least(&self.failed)), (Some(held), Some(failed)) if held >= failed)
    }

    /// Ends the search, because nothing answers.
    pub fn give_up(&mut self) {
        self.finish(SearchStop::GivenUp);
    }

    /// Returns what is known so far: what long trials show, and where they show nothing yet, short
    /// ones.
    pub fn bracket(&self) -> Bracket {
        let found = bracket_of(&self.held, &self.failed);
        let [held, failed] = self.decided_in_brief();
        let roughly = bracket_of(&held, &failed);
        Bracket { holds: found.holds.or(roughly.holds), fails: found.fails.or(roughly.fails) }
    }

    /// Returns the rates that short trials showed to hold, and those that they showed not to, without
    /// those of which long trials show otherwise.
    fn decided_in_brief(&self) -> [Vec<f64>; 2] {
        let rates = |wanted: TrialVerdict| {
            let those = self.briefly.iter().filter(move |(_, verdict)| *verdict == wanted);
            // What long trials left undecided is known not to be known.
            those.map(|&(rate, _)| rate).filter(|rate| !self.undecided.contains(rate))
        };
        let below = |rate: &f64| least(&self.failed).is_none_or(|failed| *rate < failed);
        let above = |rate: &f64| greatest(&self.held).is_none_or(|held| *rate > held);
        let held = rates(TrialVerdict::Held).filter(below).collect();
        [held, rates(TrialVerdict::Failed).filter(above).collect()]
    }

    /// Returns what all trials of a rate show together: its long ones, and until these have decided
    /// its short ones. `None` if it had none but spoiled ones.
    pub fn decision(&self, rate: f64) -> Option<RateDecision> {
        let [held, failed] = [&self.held, &self.failed].map(|rates| rates.contains(&rate));
        let by_long = RateDecision::of(held, failed);
        let left_open = self.undecided.contains(&rate).then_some(RateDecision::Undecided);
        by_long.or(left_open).or_else(|| self.decision_in_brief(rate))
    }

    /// Returns what the short trials of a rate without long ones show.
    fn decision_in_brief(&self, rate: f64) -> Option<RateDecision> {
        let mut verdicts = self.briefly.iter().filter(|(of, _)| *of == rate).peekable();
        verdicts.peek()?;
        let [held, failed] = self.decided_in_brief();
        // Rates that hold are below all that do not, or else the server varies.
        let (lower, higher) = (least(&failed), greatest(&held));
        let is_decided =
            verdicts.any(|(_, verdict)| !matches!(verdict, TrialVerdict::Undecided(_)));
        Some(match (held.contains(&rate), failed.contains(&rate)) {
            (true, _) if lower.is_some_and(|lower| lower <= rate) => RateDecision::Varies,
            (_, true) if higher.is_some_and(|higher| higher >= rate) => RateDecision::Varies,
            (true, _) => RateDecision::Held,
            (_, true) => RateDecision::DidNotHold,
            _ if is_decided => RateDecision::Overruled,
            _ => RateDecision::Undecided,
        })
    }

    /// Records the result of the trial that was to be made next: of a long one together with the
    /// other long ones of its rate.
    pub fn tried(&mut self, verdict: TrialVerdict) {
        let Some(trial) = self.next else { return };
        if verdict == TrialVerdict::Spoiled {
            self.spoil(trial);
            return;
        }
        self.spoiled = 0;
        match trial.length {
            TrialLength::Short if self.is_rough => self.look(trial.rate, verdict),
            TrialLength::Short => self.check(trial.rate, verdict),
            length => self.decide(trial.rate, length, verdict),
        }
    }

    /// Tries again what the generator has spoiled, a few times.
    fn spoil(&mut self, trial: NextTrial) {
        self.spoiled += 1;
        if self.spoiled < AGREE {
            return;
        }
        let is_check = !self.is_rough && trial.length == TrialLength::Short;
        let (low, tested) =
            (self.rough.holds.filter(|low| *low < trial.rate), self.held.is_empty());
        self.spoiled = 0;
        self.ceiling = Some(self.ceiling.map_or(trial.rate, |of| of.min(trial.rate)));
        // What short trials found to hold is still worth a long one: it is what is known.
        match low.filter(|_| tested && !is_check) {
            Some(rate) => {
                self.is_rough = false;
                self.rough.holds = None;
                self.next = Some(NextTrial { rate, length: TrialLength::Long });
            }
            None => self.finish(SearchStop::Spoiled),
        }
    }

    /// Processes a short trial that looks for the limit.
    fn look(&mut self, rate: f64, verdict: TrialVerdict) {
        let fails = matches!(verdict, TrialVerdict::Failed | TrialVerdict::Undecided(true));
        self.briefly.push((rate, verdict));
        *(if fails { &mut self.rough.fails } else { &mut self.rough.holds }) = Some(rate);
        let (low, high) = (self.rough.holds, self.rough.fails);
        let rate = match (low, high) {
            (Some(low), Some(high)) if high <= low * NEAR => None,
            (Some(low), Some(high)) => Some(round((low * high).sqrt())),
            (Some(low), None) if low < self.highest => Some((low * 2.0).min(self.highest)),
            (None, Some(high)) if high > self.lowest => Some((high / 4.0).max(self.lowest)),
            _ => None,
        };
        match rate {
            Some(rate) => self.next = Some(NextTrial { rate, length: TrialLength::Short }),
            None => {
                self.is_rough = false;
                self.go_on();
            }
        }
    }

    /// Processes the long trials of a rate.
    fn decide(&mut self, rate: f64, length: TrialLength, verdict: TrialVerdict) {
        // Undecided until a longer trial decides, if one is made.
        self.undecided.retain(|of| *of != rate);
        match (verdict, length) {
            (TrialVerdict::Held, _) => {
                self.held.push(rate);
                if self.look_again(rate) {
                    return;
                }
            }
            (TrialVerdict::Failed, _) => self.failed.push(rate),
            (_, TrialLength::Long) => {
                self.undecided.push(rate);
                self.next = Some(NextTrial { rate, length: TrialLength::Longest });
                return;
            }
            _ => self.undecided.push(rate),
        }
        self.go_on();
    }

    /// Looks for the limit by short trials again, if `rate` held where a short trial did not: that
    /// one was disturbed, and the limit may be far above.
    fn look_again(&mut self, rate: f64) -> bool {
        let wrong = self.rough.fails.is_some_and(|fails| fails <= rate) && rate < self.highest;
        if !wrong || self.returns >= RETURNS || !self.failed.is_empty() {
            return false;
        }
        self.returns += 1;
        self.is_rough = true;
        self.rough = Bracket { holds: Some(rate), fails: None };
        let rate = (rate * 2.0).min(self.highest);
        self.next = Some(NextTrial { rate, length: TrialLength::Short });
        true
    }

    /// Processes the last, short trial of a side. What it shows to be otherwise has changed.
    fn check(&mut self, rate: f64, verdict: TrialVerdict) {
        let Bracket { holds, .. } = bracket_of(&self.held, &self.failed);
        let is_low = holds == Some(rate);
        self.checked[usize::from(!is_low)] = true;
        match (verdict, is_low) {
            (TrialVerdict::Failed, true) => self.failed.push(rate),
            (TrialVerdict::Held, false) => self.held.push(rate),
            _ => return self.go_on(),
        }
        self.changes += 1;
        (self.checked, self.tries, self.splits) = ([false; 2], [0; 2], 0);
        self.go_on();
    }

    /// Chooses the next long trial, or the last ones.
    fn go_on(&mut self) {
        if self.ceiling.is_some() {
            return self.finish(SearchStop::Spoiled);
        }
        let Bracket { holds, fails } = bracket_of(&self.held, &self.failed);
        let rate = match (holds, fails) {
            (None, _) => self.farther(0),
            (_, None) => self.farther(1),
            (Some(holds), Some(fails)) => match self.gap(holds, fails) {
                Some(rate) => Some(rate),
                None => return self.check_sides(holds, fails),
            },
        };
        match rate {
            Some(rate) => self.next = Some(NextTrial { rate, length: TrialLength::Long }),
            None => self.finish(SearchStop::Open),
        }
    }

    /// Returns the next rate to try for the lower side (0) or the upper one (1); `None` if it was
    /// looked for far enough.
    fn farther(&mut self, side: usize) -> Option<f64> {
        let number = self.tries[side];
        if number > STEPS {
            return None;
        }
        self.tries[side] += 1;
        let tried = [&self.held[..], &self.failed, &self.undecided].concat();
        let step = 1.0 + STEP * f64::from(1_u32 << number.min(8)) / 2.0;
        let rate = match (side, least(&tried), greatest(&tried)) {
            (0, None, _) => self.rough.holds.or(self.rough.fails)?,
            (0, Some(least), _) => {
                self.rough.holds.filter(|rough| *rough < least).unwrap_or(least / step)
            }
            (_, _, greatest) => {
                let from = greatest.unwrap_or(0.0);
                self.rough.fails.filter(|rough| *rough > from).unwrap_or(from * step)
            }
        };
        let rate = round(rate).clamp(self.lowest, self.highest.max(self.lowest));
        (!tried.contains(&rate)).then_some(rate)
    }

    /// Returns a rate in the largest gap between the sides and what is undecided between them.
    fn gap(&mut self, holds: f64, fails: f64) -> Option<f64> {
        let mut rates: Vec<f64> = self.undecided.clone();
        rates.retain(|rate| holds < *rate && *rate < fails);
        rates.extend([holds, fails]);
        rates.sort_by(f64::total_cmp);
        let widest = rates.windows(2).max_by(|a, b| (a[1] / a[0]).total_cmp(&(b[1] / b[0])))?;
        let (low, high) = (widest[0], widest[1]);
        // A server that changed has no limit to come near to.
        if high <= low * CLOSE || self.splits >= SPLITS || !self.is_steady() {
            return None;
        }
        self.splits += 1;
        Some(round((low * high).sqrt()))
    }

    /// Tries both sides again, or ends the search.
    fn check_sides(&mut self, holds: f64, fails: f64) {
        let rate = match self.checked {
            _ if self.changes > CHANGES => None,
            [false, _] => Some(holds),
            [_, false] => Some(fails),
            _ => None,
        };
        match rate {
            Some(rate) => self.next = Some(NextTrial { rate, length: TrialLength::Short }),
            None => self.finish(SearchStop::Bracketed),
        }
    }

    fn finish(&mut self, stop: SearchStop) {
        self.next = None;
        self.stop.get_or_insert(stop);
    }
}

/// Returns the highest rate that held below all that failed, and the lowest that failed above all
/// that held.
fn bracket_of(held: &[f64], failed: &[f64]) -> Bracket {
    let (most, lowest) = (greatest(held), least(failed));
    let holds = held.iter().copied().filter(|rate| lowest.is_none_or(|lowest| *rate < lowest));
    let fails = failed.iter().copied().filter(|rate| most.is_none_or(|most| *rate > most));
    Bracket { holds: holds.reduce(f64::max), fails: fails.reduce(f64::min) }
}

fn greatest(rates: &[f64]) -> Option<f64> {
    rates.iter().copied().reduce(f64::max)
}

fn least(rates: &[f64]) -> Option<f64> {
    rates.iter().copied().reduce(f64::min)
}

/// Rounds a rate to three digits. Rates of a search are more than 3 % apart, so the rounded rate
/// stays between its neighbours.
fn round(rate: f64) -> f64 {
    let digits = 2 - rate.log10().floor() as i32;
    let scale = 10f64.powi(digits.abs());
    if digits > 0 { (rate * scale).round() / scale } else { (rate / scale).round() * scale }
}

#[cfg(test)]
mod tests {
    use super::*;
    use TrialVerdict::{Failed, Held, Spoiled, Undecided};

    /// Makes the trials of a search. Returns it, and how many short trials they are as long as.
    fn search(
        first: f64,
        highest: f64,
        mut verdict: impl FnMut(NextTrial, u32) -> TrialVerdict,
    ) -> (Search, u32) {
        let (mut search, mut trials, mut length) = (Search::new(first, 1.0, highest), 0, 0);
        while let Some(trial) = search.next() {
            length += trial.length.factor();
            search.tried(verdict(trial, trials));
            trials += 1;
            assert!(trials < 200, "{search:?}");
        }
        (search, length)
    }

    fn of_limit(limit: f64) -> impl FnMut(NextTrial, u32) -> TrialVerdict {
        move |trial, _| if trial.rate <= limit { Held } else { Failed }
    }

    #[test]
    fn brackets_the_limit_of_the_server_closely() {
        for limit in [1.5, 42.0, 9_999.0, 123_456.0, 3e6] {
            for first in [1.0, 1_000.0, 1e6] {
                let (search, length) = search(first, 1e7, of_limit(limit));
                let bracket = search.bracket();
                let (low, high) = (bracket.holds.unwrap(), bracket.fails.unwrap());
                assert!(low <= limit && limit < high, "{bracket:?} around {limit}");
                assert!(high / low <= CLOSE, "{bracket:?}");
                assert!(length <= 60, "{length} trials from {first} to {limit}");
                assert_eq!(search.stop(), Some(SearchStop::Bracketed));
                assert!(search.is_confirmed() && search.is_steady());
            }
        }
    }

    #[test]
    fn leaves_the_bracket_open_if_every_rate_or_no_rate_holds() {
        let (always, _) = search(100.0, 5_000.0, of_limit(1e9));
        assert_eq!(always.bracket(), Bracket { holds: Some(5_000.0), fails: None });
        let (never, _) = search(100.0, 5_000.0, of_limit(0.0));
        assert_eq!(never.bracket(), Bracket { holds: None, fails: Some(1.0) });
        assert_eq!([always.stop(), never.stop()], [Some(SearchStop::Open); 2]);
    }

    /// Between 900 and 1,100 nothing is decided: the range is told, and not narrower than it is.
    #[test]
    fn bracket_encloses_the_undecided_rates() {
        let (search, _) = search(100.0, 1e7, |trial, _| match trial.rate {
            rate if rate < 900.0 => Held,
            rate if rate > 1_100.0 => Failed,
            _ => Undecided(false),
        });
        let Bracket { holds, fails } = search.bracket();
        let (low, high) = (holds.unwrap(), fails.unwrap());
        assert!((750.0..900.0).contains(&low) && (1_100.0..1_300.0).contains(&high), "{search:?}");
        assert_eq!(search.stop(), Some(SearchStop::Bracketed));
    }

    #[test]
    fn bracket_is_empty_if_no_rate_is_decided() {
        let (search, _) = search(100.0, 1e6, |_, trial| Undecided(trial % 3 == 0));
        assert_eq!(search.bracket(), Bracket::default());
        assert_eq!(search.stop(), Some(SearchStop::Open));
    }

    /// On a busy machine a short trial may hold, and all longer ones at its rate show neither.
    #[test]
    fn longer_trials_overrule_short_ones() {
        let (search, _) = search(100.0, 1e6, |trial, _| match (trial.length, trial.rate) {
            (TrialLength::Short, rate) => {
                if rate <= 300.0 {
                    Held
                } else {
                    Failed
                }
            }
            (_, rate) if rate > 350.0 => Failed,
            _ => Undecided(false),
        });
        assert_eq!(search.stop(), Some(SearchStop::Open));
        let brief = search.briefly.iter().filter(|(_, verdict)| *verdict == Held);
        let highest = brief.map(|(rate, _)| *rate).reduce(f64::max).unwrap();
        assert_eq!(search.decision(highest), Some(RateDecision::Undecided), "{search:?}");
        assert!(search.bracket().holds < Some(highest), "{search:?}");
        assert_eq!(search.decision(1e5), None);
    }

    /// A search that ends between the two long trials of a rate knows what the first showed.
    #[test]
    fn a_rate_is_undecided_after_an_undecided_first_long_trial() {
        let mut search = Search::new(100.0, 1.0, 1e6);
        while let Some(trial) = search.next().filter(|next| next.length != TrialLength::Longest) {
            search.tried(match (trial.length, trial.rate <= 300.0) {
                (TrialLength::Short, true) => Held,
                (TrialLength::Short, false) => Failed,
                _ => Undecided(false),
            });
        }
        let rate = search.next().unwrap().rate;
        assert_eq!(search.decision(rate), Some(RateDecision::Undecided));
        assert!(search.bracket().holds < Some(rate), "{search:?}");
        search.tried(Held);
        assert_eq!(search.decision(rate), Some(RateDecision::Held));
        assert_eq!(search.bracket().holds, Some(rate));
    }

    #[test]
    fn decides_about_a_rate_from_differing_short_and_long_trials() {
        let mut search = Search::new(100.0, 1.0, 1e6);
        search.briefly = vec![(100.0, Held), (200.0, Held), (200.0, Failed), (50.0, Failed)];
        search.briefly.push((80.0, Undecided(true)));
        let decisions = |search: &Search| [50.0, 80.0, 100.0, 200.0].map(|at| search.decision(at));
        use RateDecision::{DidNotHold, Overruled, Varies};
        let undecided = RateDecision::Undecided;
        assert_eq!(decisions(&search), [Varies, undecided, Varies, Varies].map(Some));
        search.briefly.retain(|(rate, _)| *rate != 50.0);
        search.briefly.push((50.0, Held));
        let brief = [RateDecision::Held, undecided, RateDecision::Held, Varies].map(Some);
        assert_eq!(decisions(&search), brief);
        (search.held, search.failed) = (vec![60.0, 70.0], vec![70.0, 90.0]);
        let long = [RateDecision::Held, undecided, Overruled, DidNotHold].map(Some);
        assert_eq!(decisions(&search), long);
        assert_eq!(search.decision(70.0), Some(Varies));
    }

    #[test]
    fn one_odd_short_trial_does_not_decide() {
        for odd in 0..12 {
            let limit = 3_000.0;
            let (search, _) = search(100.0, 1e7, |trial, number| match trial.length {
                TrialLength::Short if number == odd => Failed,
                _ => of_limit(limit)(trial, number),
            });
            let Bracket { holds, fails } = search.bracket();
            assert!(holds <= Some(limit) && Some(limit) < fails, "{odd}: {search:?}");
            assert!(search.is_confirmed(), "{odd}: {search:?}");
        }
    }

    #[test]
    fn stops_at_a_rate_spoiled_three_times_and_keeps_what_held() {
        let (search, length) = search(100.0, 1e7, |trial, _| match trial.rate {
            rate if rate > 1_000.0 => Spoiled,
            _ => Held,
        });
        assert_eq!(search.bracket(), Bracket { holds: Some(800.0), fails: None });
        assert_eq!(search.stop(), Some(SearchStop::Spoiled));
        assert!(length < 15, "{length}");
    }

    #[test]
    fn stops_after_three_trials_if_the_generator_spoils_them_all() {
        let (search, length) = search(100.0, 1e7, |_, _| Spoiled);
        assert_eq!((search.stop(), length), (Some(SearchStop::Spoiled), 3));
        assert_eq!(search.bracket(), Bracket::default());
    }

    /// The limit falls by 2 % with each trial: what held does not, and both are told.
    #[test]
    fn reports_an_unsteady_search_if_the_limit_of_the_server_falls() {
        let mut limit = 10_000.0;
        let (search, length) = search(100.0, 1e7, |trial, _| {
            limit *= 0.98_f64.powf(f64::from(trial.length.factor()));
            if trial.rate <= limit { Held } else { Failed }
        });
        assert!(!search.is_steady(), "{search:?}");
        let Bracket { holds, fails } = search.bracket();
        assert!(
            holds.is_none_or(|holds| holds < limit * 1.03) && fails > Some(limit),
            "{search:?}"
        );
        assert!(length < 150, "{length}");
    }

    #[test]
    fn ends_the_search_of_an_inconsistent_server() {
        search(100.0, 1e9, |_, trials| match trials.wrapping_mul(2_654_435_761) >> 30 {
            0 => Failed,
            1 => Undecided(false),
            _ => Held,
        });
    }

    #[test]
    fn a_search_that_was_given_up_has_no_next_rate() {
        let mut search = Search::new(100.0, 1.0, 1e6);
        search.give_up();
        assert_eq!((search.next(), search.bracket().holds), (None, None));
    }

    #[test]
    fn rounds_rates_to_three_significant_digits() {
        assert_eq!([1.7321, 173.21, 12_345.6, 1e9].map(round), [1.73, 173.0, 12_300.0, 1e9]);
    }
}
