//! Finds differences between the responses of two sides that exceed chance, and decides which are
//! large enough to matter.

use std::collections::BTreeSet;

use super::{Answers, LEVEL, Sameness, TargetAnswers, Trait, Unlike, say};
use sixmark_stats::{Count, fisher, paired_t, welch};
use sixmark_tally::outcome::Outcome;
use sixmark_tally::sizes::Sizes;

/// The number of pairs from which on the variation between blocks decides, instead of that between
/// single responses.
const ENOUGH_PAIRS: usize = 6;
/// With fewer pairs, a share must differ by at least this much, in the same direction in each pair.
const PLAIN: f64 = 0.1;
/// The number of responses that each side needs for its sizes to be compared.
const ENOUGH_SIZES: u64 = 10;
/// The part of the margin by which shares must differ to affect a comparison of speeds: half a
/// percent of all exchanges for a margin of 5 %. The margin for failures has the same size.
const OF_MARGIN: f64 = 0.1;
/// The difference in bytes that sizes must exceed to matter: more than a printed address or date.
const FEW_BYTES: f64 = 32.0;

/// Compares two sides by pairs of blocks, in the order in which they were measured. Sizes that
/// differ by less than `margin` of the larger one do not matter. Returns `None` if nothing is known
/// about either side.
pub fn look(names: (&str, &str), pairs: &[(&Answers, &Answers)], margin: f64) -> Option<Sameness> {
    look_at(names, pairs, margin, LEVEL)
}

/// Compares two sides like [`look`], as one of `places` comparisons that share the level.
pub fn look_among(
    names: (&str, &str),
    pairs: &[(&Answers, &Answers)],
    margin: f64,
    places: usize,
) -> Option<Sameness> {
    look_at(names, pairs, margin, LEVEL / places.max(1) as f64)
}

/// Compares two sides like [`look`]. `level` is the probability with which sides that return the same
/// responses may be called different.
pub fn look_at(
    names: (&str, &str),
    pairs: &[(&Answers, &Answers)],
    margin: f64,
    level: f64,
) -> Option<Sameness> {
    let (mut a, mut b) = (Answers::default(), Answers::default());
    pairs.iter().for_each(|(of_a, of_b)| {
        a += of_a;
        b += of_b;
    });
    if a.is_empty() && b.is_empty() {
        return None;
    }
    let views = views(&a, &b, pairs);
    let silence = views.iter().filter_map(|view| view.silence(margin));
    let shares: Vec<_> = views.iter().flat_map(|view| view.shares(margin)).chain(silence).collect();
    let sizes: Vec<_> = views.iter().filter_map(|view| view.size(margin)).collect();
    let tests = shares.len() + sizes.len();
    let mut differences = [significant(shares, level), significant(sizes, level)].concat();
    differences.sort_by(|one, two| weight(two).total_cmp(&weight(one)));
    let all = (&a.given(None), &b.given(None));
    let said = say::silent(names, all).or_else(|| {
        let first = differences.iter().find(|unlike| unlike.matters)?;
        let of = |answers: &Answers| answers.given(first.target.as_deref());
        Some(say::difference(names, first, &differences, (&of(&a), &of(&b))))
    });
    let said = said.or_else(|| say::errors(names, all));
    let (same, pairs) = (said.is_none(), pairs.len());
    Some(Sameness { same, said, level, pairs, tests, differences })
}

/// Returns the weight by which differences are sorted: those that matter before others, statuses
/// and failures before sizes, then by the difference.
fn weight(of: &Unlike) -> f64 {
    let apart = (of.a - of.b).abs();
    match of.what {
        _ if !of.matters => 0.0,
        Trait::Size => apart / (1.0 + of.a.max(of.b)),
        // If all targets differ in the same way, the difference of all together comes first.
        _ => 2.0 + apart + if of.target.is_none() { 1e-3 } else { 0.0 },
    }
}

/// Returns the differences whose p-value is at most half the level divided by their number
/// (Bonferroni).
fn significant(found: Vec<Unlike>, level: f64) -> Vec<Unlike> {
    let bound = level / 2.0 / found.len().max(1) as f64;
    found.into_iter().filter(|unlike| unlike.p.is_some_and(|p| p <= bound)).collect()
}

/// The responses of one target, or of all targets together, from both sides.
struct View {
    target: Option<String>,
    pairs: Vec<(TargetAnswers, TargetAnswers)>,
    a: TargetAnswers,
    b: TargetAnswers,
}

/// Returns one view of each target that both sides have, and one of all targets together unless
/// there is only one target.
fn views(a: &Answers, b: &Answers, pairs: &[(&Answers, &Answers)]) -> Vec<View> {
    let targets: BTreeSet<&str> = a.targets().chain(b.targets()).collect();
    let common =
        |path: &&str| a.targets().any(|of| of == *path) && b.targets().any(|of| of == *path);
    let each: Vec<Option<&str>> = targets.iter().copied().filter(common).map(Some).collect();
    let alone = targets.len() == 1 && each.len() == 1;
    let all = if alone { Vec::new() } else { vec![None] };
    let view = |target: Option<&str>| View {
        target: target.map(str::to_owned),
        pairs: pairs.iter().map(|(a, b)| (a.given(target), b.given(target))).collect(),
        a: a.given(target),
        b: b.given(target),
    };
    all.into_iter().chain(each).map(view).collect()
}

impl View {
    /// Compares the share of each status and each failure that occurs on either side.
    fn shares(&self, margin: f64) -> Vec<Unlike> {
        let of = |given: &TargetAnswers| {
            let statuses = given.status.iter().map(|(status, _)| Trait::Status(status));
            let failures = given.failures.iter().map(|(of, _)| of.outcome);
            let failures = failures.filter(|of| *of != Outcome::Abandoned).map(Trait::Outcome);
            statuses.chain(failures).collect::<Vec<_>>()
        };
        let there: BTreeSet<Trait> = of(&self.a).into_iter().chain(of(&self.b)).collect();
        there.into_iter().filter_map(|what| self.share(what, margin)).collect()
    }

    fn share(&self, what: Trait, margin: f64) -> Option<Unlike> {
        let (all_a, all_b) = (count_of_trait(&self.a, what), count_of_trait(&self.b, what));
        let (a, b) = (all_a.share()?, all_b.share()?);
        let counted =
            self.pairs.iter().map(|(a, b)| (count_of_trait(a, what), count_of_trait(b, what)));
        let apart: Vec<f64> = counted.filter_map(|(a, b)| Some(a.share()? - b.share()?)).collect();
        // Exchanges are not independent of each other, so both tests must be significant.
        let p = fisher(all_a, all_b).unwrap_or(1.0).max(by_blocks(&apart, a - b));
        let matters = (a - b).abs() > margin * OF_MARGIN;
        Some(Unlike { what, target: self.target.clone(), a, b, p: Some(p), matters })
    }

    /// Compares the share of the time in flight in which no response arrived. Only blocks are
    /// independent.
    fn silence(&self, margin: f64) -> Option<Unlike> {
        let share = |given: &TargetAnswers| given.waiting.silent_share();
        let (a, b) = (share(&self.a)?, share(&self.b)?);
        if a == 0.0 && b == 0.0 {
            return None;
        }
        let pairs = self.pairs.iter();
        let apart: Vec<f64> = pairs.filter_map(|(a, b)| Some(share(a)? - share(b)?)).collect();
        let p = Some(by_blocks(&apart, a - b));
        let matters = (a - b).abs() > margin * OF_MARGIN;
        Some(Unlike { what: Trait::Silence, target: self.target.clone(), a, b, p, matters })
    }

    /// Compares the mean sizes of contents. This is omitted for all targets together, where the
    /// mean depends on which targets were requested.
    fn size(&self, margin: f64) -> Option<Unlike> {
        self.target.as_ref()?;
        let (a, b) = (self.a.sizes.mean()?, self.b.sizes.mean()?);
        let mean = |sizes: &Sizes| sizes.mean();
        let means = self.pairs.iter().map(|(a, b)| Some(mean(&a.sizes)? - mean(&b.sizes)?));
        let apart: Vec<f64> = means.flatten().collect();
        let p = match apart.len() < ENOUGH_PAIRS {
            true if one_way(&apart) => self.by_responses()?,
            true => 1.0,
            false => paired_t(&apart).unwrap_or(1.0),
        };
        let matters = sizes_matter(a, b, margin);
        Some(Unlike { what: Trait::Size, target: self.target.clone(), a, b, p: Some(p), matters })
    }

    fn by_responses(&self) -> Option<f64> {
        let of = |sizes: &Sizes| sizes.moments().filter(|found| found.count >= ENOUGH_SIZES);
        welch(of(&self.a.sizes)?, of(&self.b.sizes)?).ok()
    }
}

/// Returns true if mean sizes of contents, in bytes, differ by so much that it affects a comparison
/// of speeds: by more than `margin` of the larger one, and more than a printed address or date.
pub fn sizes_matter(a: f64, b: f64, margin: f64) -> bool {
    let by = (a - b).abs();
    by > margin * a.max(b) && by > FEW_BYTES
}

/// Returns the p-value of shares that differ by `all` in total and by `apart` within the pairs.
fn by_blocks(apart: &[f64], all: f64) -> f64 {
    match apart.len() < ENOUGH_PAIRS {
        true if one_way(apart) && all.abs() >= PLAIN => 0.0,
        true => 1.0,
        false => paired_t(apart).unwrap_or(1.0),
    }
}

/// Returns true if all pairs differ in the same direction.
fn one_way(apart: &[f64]) -> bool {
    apart.iter().all(|by| *by > 0.0) || apart.iter().all(|by| *by < 0.0)
}

fn count_of_trait(given: &TargetAnswers, what: Trait) -> Count {
    let part = match what {
        Trait::Status(wanted) => {
            given.status.iter().filter(|(status, _)| *status == wanted).map(|(_, n)| n).sum()
        }
        Trait::Outcome(outcome) => {
            given.failures.iter().filter(|(of, _)| of.outcome == outcome).map(|(_, n)| n).sum()
        }
        Trait::Silence | Trait::Size => 0,
    };
    Count { part, whole: given.ended() }
}
