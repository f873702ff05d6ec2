//! Tests of findings. The verdict is confirmed, refuted, inconclusive, or not comparable.
//!
//! Each repetition is a block. Within it, each side of a finding is averaged: the mean of the
//! logarithms of the figures of its cells. What remains is one difference of logarithms for each
//! repetition, from which Student's t gives the interval and the p-value. A claim about all or none
//! of the exchanges is decided by counts instead ([`counting`]).

mod counting;
mod sentence;

use super::average::geometric;
use super::unlike;
use crate::observation::{Observation, observations};
use crate::spec::{FAMILY, FindingSpec};
use crate::study_result::CellResult;
use crate::study_result::{
    Claim, ExchangeCount, FindingResult, FindingVerdict, MARGIN_PERCENT, MeanRatio,
};
use sixmark_stats::incomplete_beta;
use sixmark_units::family::{Family, spoken};
use sixmark_units::quantity::write_count;

/// Factors, each with the levels that are selected.
type SideLevelSlice = [(String, Vec<String>)];

/// Tests a finding on the cells that have been measured.
pub(super) fn find_claim(spec: &FindingSpec, cells: &[CellResult]) -> FindingResult {
    let seen = observations(cells);
    match spec.claim {
        Claim::AllOf | Claim::NoneOf => counting::find_count(spec, &seen),
        _ => compare_sides(spec, &seen),
    }
}

/// Returns the result of a finding before anything was measured.
fn unknown(spec: &FindingSpec) -> FindingResult {
    FindingResult {
        text: spec.text.clone(),
        measure: spec.measure,
        claim: spec.claim,
        published: spec.published,
        blocks: 0,
        count: None,
        ratio: None,
        p: None,
        unlike: None,
        verdict: FindingVerdict::CannotTell,
        said: None,
    }
}

fn compare_sides(spec: &FindingSpec, seen: &[Observation<'_>]) -> FindingResult {
    let mut repetitions: Vec<u32> = seen.iter().map(|one| one.repetition).collect();
    repetitions.sort_unstable();
    repetitions.dedup();
    let of = |&repetition: &u32| {
        let block: Vec<&Observation<'_>> =
            seen.iter().filter(|one| one.repetition == repetition).collect();
        let (a, b) = (value_of_side(spec, &spec.a, &block)?, value_of_side(spec, &spec.b, &block)?);
        Some((a.exp(), b.exp()))
    };
    let pairs: Vec<(f64, f64)> = repetitions.iter().filter_map(of).collect();
    let found = FindingResult { blocks: pairs.len() as u32, ..unknown(spec) };
    if let unlike @ Some(_) = unlike(spec, seen) {
        return FindingResult { unlike, verdict: FindingVerdict::NotComparable, ..found };
    }
    let ratio = geometric(&pairs);
    let verdict = judge_claim(spec.claim, ratio.and_then(|ratio| Some((ratio.low?, ratio.high?))));
    let said = sentence::say_compared(spec, verdict, &pairs);
    FindingResult { ratio, p: p_value(&pairs), verdict, said, ..found }
}

/// Returns true if the observation has one of the selected levels in each factor of `side`.
fn is_of_side(one: &Observation<'_>, side: &SideLevelSlice) -> bool {
    side.iter().all(|(factor, levels)| {
        one.at.iter().any(|at| at.factor == *factor && levels.contains(&at.level))
    })
}

/// Returns why the speeds of the two sides can't be compared: the families gave different responses
/// at some levels of a side, a family gave only errors, or the sides gave different responses.
/// Returns `None` if they can be compared, or if the measure is not a speed.
fn unlike(spec: &FindingSpec, seen: &[Observation<'_>]) -> Option<String> {
    if !spec.measure.is_of_speed() {
        return None;
    }
    let used = seen.iter().filter(|one| one.is_at(&spec.only));
    let of = |side: &SideLevelSlice| {
        used.clone().filter(|one| is_of_side(one, side)).collect::<Vec<_>>()
    };
    let [a, b] = [of(&spec.a), of(&spec.b)];
    let mut both = a.clone();
    both.extend(&b);
    let margin = match spec.claim {
        Claim::Equal { margin_percent } => margin_percent,
        _ => MARGIN_PERCENT,
    };
    unlike::unlike_families(&both, margin / 100.0).or_else(|| unlike::only_errors(&both)).or_else(
        || unlike::unlike_sides([&a, &b], [&spec.a, &spec.b].map(|side| name_of_side(side))),
    )
}

/// Returns the name of a side: the levels that it selects.
fn name_of_side(side: &SideLevelSlice) -> String {
    let of_factor = |(factor, levels): &(String, Vec<String>)| {
        let levels = levels.iter().map(|level| spoken(level)).collect::<Vec<_>>().join(" or ");
        if factor == FAMILY { levels } else { format!("{factor} {levels}") }
    };
    side.iter().map(of_factor).collect::<Vec<_>>().join(", ")
}

/// Returns the mean logarithm of one side's figures or, if `of_families` is set, that of the ratio
/// of IPv6 to IPv4; `None` if there are no figures.
fn value_of_side(
    spec: &FindingSpec,
    side: &SideLevelSlice,
    block: &[&Observation<'_>],
) -> Option<f64> {
    let of = |family: Family| {
        let here = block.iter().filter(|one| one.family == family && one.is_at(&spec.only));
        let figures = here
            .filter(|one| is_of_side(one, side))
            .filter_map(|one| one.cell.figure(family, spec.measure));
        figures.filter(|figure| *figure > 0.0).map(f64::ln).collect::<Vec<f64>>()
    };
    let mean =
        |logs: &[f64]| (!logs.is_empty()).then(|| logs.iter().sum::<f64>() / logs.len() as f64);
    let [ipv6, ipv4] = [of(Family::Ipv6), of(Family::Ipv4)];
    match spec.of_families {
        true => Some(mean(&ipv6)? - mean(&ipv4)?),
        false => mean(&[ipv6, ipv4].concat()),
    }
}

/// Returns the two-sided p-value of Student's t on the differences of logarithms; `None` with fewer
/// than two pairs, or if all differences are equal.
fn p_value(pairs: &[(f64, f64)]) -> Option<f64> {
    let logs: Vec<f64> = pairs.iter().map(|(a, b)| (a / b).ln()).collect();
    let n = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let squares: f64 = logs.iter().map(|x| (x - mean).powi(2)).sum();
    if logs.len() < 2 || squares == 0.0 {
        return None;
    }
    let freedom = n - 1.0;
    let t = mean / (squares / freedom / n).sqrt();
    Some(incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t)))
}

/// Judges a claim by the interval of the ratio. Equality is confirmed by an interval within the
/// margin.
fn judge_claim(claim: Claim, interval: Option<(f64, f64)>) -> FindingVerdict {
    let Some((low, high)) = interval else { return FindingVerdict::CannotTell };
    let (borne_out, refuted) = match claim {
        Claim::Higher => (low > 1.0, high < 1.0),
        Claim::Lower => (high < 1.0, low > 1.0),
        Claim::Equal { margin_percent: margin } => {
            let ratio = MeanRatio { value: 1.0, low: Some(low), high: Some(high) };
            (ratio.is_within(margin), ratio.is_above(margin) || ratio.is_below(margin))
        }
        // Counts decide these.
        Claim::AllOf | Claim::NoneOf => (false, false),
    };
    match (borne_out, refuted) {
        (true, _) => FindingVerdict::BorneOut,
        (_, true) => FindingVerdict::NotBorneOut,
        _ => FindingVerdict::CannotTell,
    }
}

impl FindingVerdict {
    /// Returns the verdict in words.
    pub fn words(self) -> &'static str {
        match self {
            FindingVerdict::BorneOut => "confirmed",
            FindingVerdict::NotBorneOut => "refuted",
            FindingVerdict::CannotTell => "inconclusive",
            FindingVerdict::NotComparable => "not comparable",
        }
    }
}

impl FindingResult {
    /// Returns the verdict with its figures, for people.
    pub fn sentence(&self) -> String {
        let verdict = self.verdict.words();
        if let Some(said) = &self.unlike {
            return format!("{verdict}: {said}");
        }
        if let Some(ExchangeCount { counted, sent }) = self.count {
            let [counted, sent] = [counted, sent].map(write_count);
            return format!("{verdict}: {counted} of {sent}, {}", self.repetitions());
        }
        let Some(ratio) = self.ratio else { return format!("{verdict}: nothing was measured") };
        let interval = match (ratio.low, ratio.high) {
            (Some(low), Some(high)) => format!(" ({low:.3} to {high:.3})"),
            _ => String::new(),
        };
        let p = match self.p {
            Some(p) if p < 0.001 => ", p < 0.001".to_owned(),
            Some(p) => format!(", p = {p:.3}"),
            None => String::new(),
        };
        format!("{verdict}: ratio {:.3}{interval}{p}, {}", ratio.value, self.repetitions())
    }

    /// Returns the number of repetitions in words: `1 repetition`, `3 repetitions`.
    pub fn repetitions(&self) -> String {
        match self.blocks {
            1 => "1 repetition".to_owned(),
            n => format!("{n} repetitions"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_judged_by_its_interval() {
        let equal = Claim::Equal { margin_percent: 5.0 };
        for (claim, interval, expected) in [
            (Claim::Higher, Some((1.01, 1.2)), FindingVerdict::BorneOut),
            (Claim::Higher, Some((0.99, 1.2)), FindingVerdict::CannotTell),
            (Claim::Higher, Some((0.8, 0.9)), FindingVerdict::NotBorneOut),
            (Claim::Lower, Some((0.8, 0.9)), FindingVerdict::BorneOut),
            (Claim::Lower, None, FindingVerdict::CannotTell),
            (equal, Some((0.98, 1.02)), FindingVerdict::BorneOut),
            (equal, Some((0.90, 1.02)), FindingVerdict::CannotTell),
            (equal, Some((1.06, 1.20)), FindingVerdict::NotBorneOut),
        ] {
            assert_eq!(judge_claim(claim, interval), expected, "{claim:?} {interval:?}");
        }
    }

    #[test]
    fn p_is_student_s() {
        // t = 3 with 4 degrees of freedom: 0.0399 two-sided.
        let (n, t): (f64, f64) = (5.0, 3.0);
        let spread = [-1.0, -1.0, 0.0, 1.0, 1.0];
        let mean = t * (4.0 / (n - 1.0) / n).sqrt();
        let pairs: Vec<(f64, f64)> = spread.iter().map(|x| (f64::exp(x + mean), 1.0)).collect();
        let p = p_value(&pairs).unwrap_or(1.0);
        assert!((p - 0.0399).abs() < 1e-4, "{p}");
        assert_eq!(p_value(&pairs[..1]), None);
    }
}
