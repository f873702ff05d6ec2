//! How a claim about a client is decided by its starts.

use sixmark_design::study_result::ClaimAnswer;
use sixmark_stats::{StudentEstimate, wilson};

use crate::inspection::traits::TraitCount;

/// The confidence of intervals.
const CONFIDENCE: f64 = 0.95;
/// How far a delay may be from the claimed one, as a share of that.
const TOLERANCE: f64 = 0.1;
/// The least tolerance, in milliseconds: a client on a busy machine needs some for a timer.
const LEAST_TOLERANCE_MS: f64 = 10.0;

/// How counts are decided, in words.
pub(super) const BY_COUNT: &str =
    "what it does in most starts: Wilson's interval of 95 % of the share is above one half";
/// How delays are decided, in words.
pub(super) const BY_DELAY: &str =
    "Student's interval of 95 % of the mean is within 10 % of the claimed delay, at least 10 ms";

/// An answer, and what it rests on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Decision {
    pub(super) answer: ClaimAnswer,
    /// The figures in words; empty without any.
    pub(super) figures: String,
    /// The starts that it rests on.
    pub(super) starts: u32,
    /// Why it is not decided or not tested.
    pub(super) why: Option<String>,
}

impl Decision {
    /// Returns the decision about something of which nothing was seen.
    pub(super) fn not_tested(why: impl Into<String>) -> Decision {
        Decision {
            answer: ClaimAnswer::NotTested,
            figures: String::new(),
            starts: 0,
            why: Some(why.into()),
        }
    }
}

/// Returns how far a delay may be from a claimed one, in milliseconds.
pub(super) fn tolerance_ms(claimed_ms: f64) -> f64 {
    (claimed_ms * TOLERANCE).max(LEAST_TOLERANCE_MS)
}

/// Decides whether a client does something, or does not if `claimed` is false, by the starts that show it.
pub(super) fn decide_count(count: TraitCount, claimed: bool) -> Decision {
    if count.of == 0 {
        return Decision::not_tested("no start could show it");
    }
    let figures = format!("{} of {} starts", count.shown, count.of);
    let share = f64::from(count.shown) / f64::from(count.of);
    let interval = wilson(share, count.of.into(), CONFIDENCE).ok();
    let shown = interval.and_then(|of| match () {
        () if of.low > 0.5 => Some(true),
        () if of.high < 0.5 => Some(false),
        () => None,
    });
    let answer = match shown {
        Some(shown) if shown == claimed => ClaimAnswer::Holds,
        Some(_) => ClaimAnswer::DoesNotHold,
        None => ClaimAnswer::Undecided,
    };
    let why = shown.is_none().then(|| "too few starts, or too unlike".to_owned());
    Decision { answer, figures, starts: count.of, why }
}

/// Decides whether delays are the claimed one.
pub(super) fn decide_delay(delays_ms: &[f64], claimed_ms: f64) -> Decision {
    let starts = delays_ms.len() as u32;
    let estimate = StudentEstimate::of_mean(delays_ms);
    let interval = estimate.and_then(|of| of.interval(CONFIDENCE));
    let (Ok(estimate), Ok(interval)) = (estimate, interval) else {
        let figures = delays_ms.first().map_or(String::new(), |ms| write_ms(*ms));
        let why = Some("an interval needs two starts".to_owned());
        return Decision { answer: ClaimAnswer::Undecided, figures, starts, why };
    };
    let tolerance = tolerance_ms(claimed_ms);
    let (low, high) = (claimed_ms - tolerance, claimed_ms + tolerance);
    let answer = match () {
        () if interval.within(low, high) => ClaimAnswer::Holds,
        () if interval.low > high || interval.high < low => ClaimAnswer::DoesNotHold,
        () => ClaimAnswer::Undecided,
    };
    let figures = format!(
        "{} ({:.1} to {:.1})",
        write_ms(estimate.value),
        interval.low.max(0.0),
        interval.high
    );
    let why = (answer == ClaimAnswer::Undecided)
        .then(|| "the interval is partly within the tolerance".to_owned());
    Decision { answer, figures, starts, why }
}

/// Decides whether a statement that is made of several clients holds: of each of them.
pub(super) fn decide_all(each: &[(&str, Decision)]) -> Decision {
    let tested: Vec<_> =
        each.iter().filter(|(_, of)| of.answer != ClaimAnswer::NotTested).collect();
    if tested.is_empty() {
        return Decision::not_tested("none of these clients is here");
    }
    let with = |answer: ClaimAnswer| -> Vec<&str> {
        tested.iter().filter(|(_, of)| of.answer == answer).map(|(name, _)| *name).collect()
    };
    let (held, denied) = (with(ClaimAnswer::Holds), with(ClaimAnswer::DoesNotHold));
    let undecided = with(ClaimAnswer::Undecided);
    let answer = match (denied.is_empty(), undecided.is_empty()) {
        (false, _) => ClaimAnswer::DoesNotHold,
        (true, false) => ClaimAnswer::Undecided,
        (true, true) => ClaimAnswer::Holds,
    };
    let part = |words: &str, names: &[&str]| {
        (!names.is_empty()).then(|| format!("{words} {}", names.join(", ")))
    };
    let parts = [part("shown of", &held), part("not so", &denied), part("undecided", &undecided)];
    let figures = parts.into_iter().flatten().collect::<Vec<_>>().join("; ");
    let starts = tested.iter().map(|(_, of)| of.starts).min().unwrap_or(0);
    let why = (answer == ClaimAnswer::Undecided)
        .then(|| "it is undecided of some of these clients".to_owned());
    Decision { answer, figures, starts, why }
}

fn write_ms(ms: f64) -> String {
    format!("{ms:.1} ms")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(shown: u32, of: u32) -> ClaimAnswer {
        decide_count(TraitCount { shown, of }, true).answer
    }

    #[test]
    fn four_alike_starts_decide_a_count_and_fewer_do_not() {
        assert_eq!(count(4, 4), ClaimAnswer::Holds);
        assert_eq!(count(0, 4), ClaimAnswer::DoesNotHold);
        assert_eq!(count(3, 3), ClaimAnswer::Undecided);
        assert_eq!(count(0, 3), ClaimAnswer::Undecided);
        assert_eq!(count(3, 4), ClaimAnswer::Undecided);
        assert_eq!(count(20, 22), ClaimAnswer::Holds);
        assert_eq!(count(0, 0), ClaimAnswer::NotTested);
        let denied = decide_count(TraitCount { shown: 0, of: 4 }, false);
        assert_eq!((denied.answer, denied.figures.as_str()), (ClaimAnswer::Holds, "0 of 4 starts"));
    }

    #[test]
    fn a_delay_holds_within_the_tolerance_and_not_beyond_it() {
        let answer = |delays: &[f64], claimed| decide_delay(delays, claimed).answer;
        assert_eq!(answer(&[300.2, 301.0, 300.6, 300.9], 300.0), ClaimAnswer::Holds);
        assert_eq!(answer(&[250.2, 251.0, 250.6, 250.9], 300.0), ClaimAnswer::DoesNotHold);
        assert_eq!(answer(&[300.0, 420.0, 300.0, 300.0], 300.0), ClaimAnswer::Undecided);
        assert_eq!(answer(&[329.0, 331.0], 300.0), ClaimAnswer::Undecided);
        assert_eq!(answer(&[300.0], 300.0), ClaimAnswer::Undecided);
        assert_eq!(answer(&[], 300.0), ClaimAnswer::Undecided);
        // 10 % of 50 ms are less than 10 ms.
        assert_eq!(answer(&[57.0, 57.5, 57.2], 50.0), ClaimAnswer::Holds);
    }

    #[test]
    fn a_statement_about_several_clients_falls_with_one_of_them() {
        let of = |answer| Decision { answer, ..Decision::not_tested("") };
        let (yes, no) = (of(ClaimAnswer::Holds), of(ClaimAnswer::DoesNotHold));
        let (open, absent) = (of(ClaimAnswer::Undecided), of(ClaimAnswer::NotTested));
        let answer = |all: &[(&str, Decision)]| decide_all(all).answer;
        assert_eq!(answer(&[("a", yes.clone()), ("b", absent.clone())]), ClaimAnswer::Holds);
        assert_eq!(answer(&[("a", yes.clone()), ("b", open.clone())]), ClaimAnswer::Undecided);
        assert_eq!(answer(&[("a", open), ("b", no)]), ClaimAnswer::DoesNotHold);
        assert_eq!(answer(&[("a", absent)]), ClaimAnswer::NotTested);
    }
}
