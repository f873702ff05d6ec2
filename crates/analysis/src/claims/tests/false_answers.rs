//! How often is an answer wrong? Studies of made-up figures whose truth is known, again and again.

use super::{claim, claims};
use crate::claims::cells_of_claim;
use crate::outputs::claims_at_looks;
use crate::outputs::tests::{SIX_LEVELS, measured, size, study};
use ClaimAnswer::{DoesNotHold, Holds, HoldsInDirection, HoldsInPart, NoDifference, Opposite};
use sixmark_design::looks::StudyUntil;
use sixmark_design::spec::Study;
use sixmark_design::spec::cells::cells as planned_cells;
use sixmark_design::study_result::{At, CellResult, ClaimAnswer, ClaimResult};
use sixmark_units::family::Family;

/// The number of studies drawn for each truth.
const STUDIES: u32 = 400;

/// The largest number of studies with a wrong answer that a true rate of 5 % exceeds in one of a
/// thousand tests of this size: 20 are expected, with a standard deviation of 4.4.
const MOST_WRONG: u32 = 34;

/// Standard normal numbers from a linear congruential generator (Knuth: The art of computer
/// programming, volume 2, 3.3.4) and the sum of twelve.
struct Normals(u64);

impl Normals {
    fn draw(&mut self) -> f64 {
        let mut uniform = || {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1_u64 << 53) as f64
        };
        (0..12).map(|_| uniform()).sum::<f64>() - 6.0
    }

    /// Draws a count with a Poisson distribution: by the times between events, which have an
    /// exponential one, from the sum of two squared normal numbers.
    fn poisson(&mut self, mean: f64) -> f64 {
        let (mut at, mut count) = (0.0, 0.0);
        loop {
            at += self.draw().powi(2).midpoint(self.draw().powi(2));
            if at > mean {
                return count;
            }
            count += 1.0;
        }
    }
}

/// The true logarithm of a figure.
type Truth = fn(Family, f64) -> f64;

/// Claims, each with the answers that are right.
type Claims = &'static [(&'static str, &'static str, &'static [ClaimAnswer])];

fn study_of(all: Claims) -> Study {
    let text = all.iter().enumerate().map(|(id, (kind, more, _))| claim(id, kind, more));
    study(&format!("{SIX_LEVELS}{}", text.collect::<String>()))
}

const HOLDS: &[ClaimAnswer] = &[Holds];
const FAILS: &[ClaimAnswer] = &[DoesNotHold, Opposite, NoDifference];
const NONE: &[ClaimAnswer] = &[NoDifference];
const OPPOSITE: &[ClaimAnswer] = &[Opposite];
const EITHER: &[ClaimAnswer] = &[Holds, NoDifference];

/// How the figures of made-up studies scatter.
#[derive(Clone, Copy)]
struct Noise {
    /// The standard deviation of a figure's logarithm.
    spread: f64,
    /// Whether one figure in fifty is four times as high.
    outliers: bool,
    /// Whether figures are rounded, so that many are equal.
    ties: bool,
}

/// Returns the number of studies in which any answer is wrong, and the number of right answers. They
/// have ten repetitions.
fn wrong_studies(all: Claims, truth: Truth, noise: Noise) -> (u32, u32) {
    draw_studies(all, truth, noise, (10, STUDIES), &|study, cells| claims(study, &cells))
}

/// Returns the same of studies of so many repetitions, whose cells `answer` makes into answers.
fn draw_studies(
    all: Claims,
    truth: Truth,
    noise: Noise,
    (repetitions, studies): (u32, u32),
    answer: &dyn Fn(&Study, Vec<CellResult>) -> Vec<ClaimResult>,
) -> (u32, u32) {
    let mut study = study_of(all);
    study.repetitions = std::num::NonZeroU32::new(repetitions).unwrap();
    let normals = std::cell::RefCell::new(Normals(seed_of(noise, truth)));
    let (mut wrong, mut right) = (0, 0);
    for _ in 0..studies {
        let figure = |family: Family, at: &[At], _: u32| {
            let mut normals = normals.borrow_mut();
            let is_far = noise.outliers && normals.draw() > 2.05;
            let far = if is_far { 4.0_f64.ln() } else { 0.0 };
            let log = truth(family, size(at)) + noise.spread * normals.draw() + far;
            let log = if noise.ties { (log / 0.02).round() * 0.02 } else { log };
            Some(log.exp() * 1e6)
        };
        let found = answer(&study, measured(&study, figure));
        let answers = found.iter().zip(all).filter_map(|(found, (.., right))| {
            let answer = found.measured.answer;
            is_given(answer).then(|| is_right(answer, right))
        });
        let answers: Vec<bool> = answers.collect();
        wrong += u32::from(answers.contains(&false));
        right += answers.iter().filter(|right| **right).count() as u32;
    }
    (wrong, right)
}

/// Each case has numbers of its own.
fn seed_of(noise: Noise, truth: Truth) -> u64 {
    let at =
        truth(Family::Ipv6, 6.0).to_bits() ^ truth(Family::Ipv6, 4.0).to_bits().rotate_left(17);
    at ^ noise.spread.to_bits() ^ u64::from(noise.outliers) ^ u64::from(noise.ties) << 1
}

fn is_given(answer: ClaimAnswer) -> bool {
    answer.is_decided()
}

fn is_right(answer: ClaimAnswer, right: &[ClaimAnswer]) -> bool {
    right.contains(&answer)
}

fn quiet(spread: f64) -> Noise {
    Noise { spread, outliers: false, ties: false }
}

#[test]
fn equal_sides_and_levels_are_seldom_called_different() {
    const ALL: Claims = &[
        ("higher", "a = { family = 'ipv6' }\nb = { family = 'ipv4' }\nmargin = 0.1", NONE),
        ("lower", "a = { family = 'ipv6' }\nb = { family = 'ipv4' }\nmargin = 0.1", NONE),
        ("equal", "a = { family = 'ipv6' }\nb = { family = 'ipv4' }", HOLDS),
        ("ratio", "a = { family = 'ipv6' }\nb = { family = 'ipv4' }\nat_least = 1.000001", NONE),
        ("rises", "a = {}\nover = 'size'\nmargin = 0.1", NONE),
        ("falls", "a = {}\nover = 'size'\nmargin = 0.1", NONE),
        ("u-shaped", "a = {}\nover = 'size'\nturn = 3", FAILS),
        ("highest", "a = {}\nover = 'size'\nat = 3", FAILS),
        ("lowest", "a = {}\nover = 'size'\nat = 4", FAILS),
        (
            "largest-difference",
            "a = { family = 'ipv6' }\nb = { family = 'ipv4' }\nover = 'size'\nat = 3",
            FAILS,
        ),
        ("independent", "a = {}\nover = 'size'\nmargin = 10", HOLDS),
        (
            "higher",
            "a = { size = 1 }\nb = { size = 2 }\nmargin = 0.1\n\
             contrast = { factor = 'family', of = 'ipv6', over = 'ipv4' }",
            FAILS,
        ),
    ];
    for spread in [0.02, 0.2] {
        let (wrong, _) = wrong_studies(ALL, |_, _| 0.0, quiet(spread));
        assert!(wrong <= MOST_WRONG, "{wrong} of {STUDIES} at a spread of {spread}");
    }
}

#[test]
fn equal_sides_are_seldom_called_different_in_a_papers_claims() {
    const ALL: Claims = &[
        (
            "higher",
            "a = { family = 'ipv6' }\nb = { family = 'ipv4' }\nmargin = 0.1\nsource = 'S'\nmain = true",
            NONE,
        ),
        ("rises", "a = {}\nover = 'size'\nmargin = 0.1\nsource = 'S'\nmain = true", NONE),
        ("highest", "a = {}\nover = 'size'\nat = 3\nmargin = 0.1\nsource = 'S'", FAILS),
        ("lowest", "a = {}\nover = 'size'\nat = 4\nmargin = 0.1\nsource = 'S'", FAILS),
        ("lower", "a = { size = 1 }\nb = { size = 2 }\nmargin = 0.1\nsource = 'S'", NONE),
        ("higher", "a = { size = 5 }\nb = { size = 6 }\nmargin = 0.1\nsource = 'S'", NONE),
    ];
    let (wrong, _) = wrong_studies(ALL, |_, _| 0.0, quiet(0.02));
    assert!(wrong <= MOST_WRONG, "{wrong} of {STUDIES}");
}

#[test]
fn known_trends_and_differences_are_seldom_denied_and_are_found() {
    const ALL: Claims = &[
        ("higher", "a = { family = 'ipv6' }\nb = { family = 'ipv4' }", HOLDS),
        ("lower", "a = { family = 'ipv6' }\nb = { family = 'ipv4' }", FAILS),
        ("equal", "a = { family = 'ipv6' }\nb = { family = 'ipv4' }", FAILS),
        ("ratio", "a = { family = 'ipv6' }\nb = { family = 'ipv4' }\nat_least = 1.05", HOLDS),
        ("rises", "a = {}\nover = 'size'", HOLDS),
        ("falls", "a = {}\nover = 'size'", FAILS),
        // Sizes 5 and 6 are 1.8 % apart.
        ("highest", "a = {}\nover = 'size'\nat = 6", EITHER),
        ("lowest", "a = {}\nover = 'size'\nat = 2", FAILS),
        ("independent", "a = {}\nover = 'size'", FAILS),
    ];
    let truth: Truth =
        |family, size| 0.1 * size.ln() + if family == Family::Ipv6 { 0.1 } else { 0.0 };
    let (wrong, right) = wrong_studies(ALL, truth, quiet(0.01));
    assert!(wrong <= MOST_WRONG, "{wrong} of {STUDIES}");
    let all = STUDIES * ALL.len() as u32;
    assert!(right * 10 > all * 7, "{right} of {all} are decided");
    let (wrong, _) = wrong_studies(ALL, truth, quiet(0.1));
    assert!(wrong <= MOST_WRONG, "{wrong} of {STUDIES} with much noise");
}

const FAMILIES: &str = "a = { family = 'ipv6' }\nb = { family = 'ipv4' }";
const EACH: &str = "a = { family = 'ipv6' }\nb = { family = 'ipv4' }\neach = 'size'";
const BY_HALF: &str = "a = { family = 'ipv6' }\nb = { family = 'ipv4' }\nat_least = 1.5";
const TREND: &str = "a = {}\nover = 'size'";
const AT_SIX: &str = "a = {}\nover = 'size'\nat = 6";
/// Claims whose text is made for a margin of 5 % over all levels.
type Case = (&'static str, Truth, Claims);

/// The logarithm of a ratio at the margin of 5 %.
const MARGIN: f64 = 0.048_790_164_169_432;

fn over_ipv4(family: Family, by: f64) -> f64 {
    if family == Family::Ipv6 { by } else { 0.0 }
}

/// The truths: the difference of the families and the lead of the largest size, in margins.
const CASES: [Case; 6] = [
    (
        "none",
        |_, _| 0.0,
        &[
            ("higher", FAMILIES, NONE),
            ("lower", FAMILIES, NONE),
            ("ratio", BY_HALF, NOT_BY_HALF),
            ("higher", EACH, FLAT),
            ("rises", TREND, FLAT),
            ("highest", AT_SIX, FAILS),
        ],
    ),
    (
        "half the margin",
        |family, size| over_ipv4(family, 0.5 * MARGIN) + at_six(size, 0.5 * MARGIN),
        &[
            ("higher", FAMILIES, EITHER),
            ("lower", FAMILIES, FAILS),
            ("ratio", BY_HALF, NOT_BY_HALF),
            ("higher", EACH, ANY_OF_EACH),
            ("rises", TREND, EITHER_OR_NOT),
            ("highest", AT_SIX, EITHER_OR_NOT),
        ],
    ),
    (
        "the margin",
        |family, size| over_ipv4(family, MARGIN) + at_six(size, MARGIN),
        &[
            ("higher", FAMILIES, HOLDS),
            ("lower", FAMILIES, OPPOSITE),
            ("ratio", BY_HALF, DIRECTION),
            ("higher", EACH, HOLDS),
            ("highest", AT_SIX, HOLDS),
        ],
    ),
    (
        "twice the margin",
        |family, size| over_ipv4(family, 2.0 * MARGIN) + at_six(size, 2.0 * MARGIN),
        &[
            ("higher", FAMILIES, HOLDS),
            ("lower", FAMILIES, OPPOSITE),
            ("ratio", BY_HALF, DIRECTION),
            ("higher", EACH, HOLDS),
            ("rises", TREND, HOLDS),
            ("highest", AT_SIX, HOLDS),
        ],
    ),
    (
        "the margin along the sizes",
        |_, size| MARGIN * size.ln() / 6.0_f64.ln(),
        &[
            ("rises", TREND, HOLDS),
            ("falls", TREND, FAILS_BY_MARGIN),
            ("higher", "a = { size = 6 }\nb = { size = 1 }", HOLDS),
            ("independent", TREND, FAILS),
        ],
    ),
    (
        "one level against",
        |family, size| {
            over_ipv4(family, if size == 4.0 { -MARGIN } else { 2.0 * MARGIN })
                + 4.0 * MARGIN * if size == 4.0 { 1.0 } else { size }
        },
        &[
            ("higher", EACH, PART),
            ("rises", TREND, PART),
            ("falls", TREND, FAILS),
            ("highest", AT_SIX, HOLDS),
        ],
    ),
];

/// The size is refuted before the direction is shown.
const DIRECTION: &[ClaimAnswer] = &[HoldsInDirection, DoesNotHold];
const NOT_BY_HALF: &[ClaimAnswer] = &[NoDifference, HoldsInDirection, DoesNotHold];
const FLAT: &[ClaimAnswer] = &[NoDifference, DoesNotHold];
/// Within the margin, each level may be shown to be either.
const ANY_OF_EACH: &[ClaimAnswer] = &[Holds, NoDifference, DoesNotHold];
/// Not that there is no difference that matters.
const FAILS_BY_MARGIN: &[ClaimAnswer] = &[Opposite, DoesNotHold];
const PART: &[ClaimAnswer] = &[HoldsInPart, DoesNotHold];
const EITHER_OR_NOT: &[ClaimAnswer] = &[Holds, NoDifference, DoesNotHold];

fn at_six(size: f64, by: f64) -> f64 {
    if size == 6.0 { by } else { 0.0 }
}

/// Prints the table of docs/statistics.md with `--nocapture`.
#[test]
#[allow(clippy::print_stderr, reason = "the table of the documentation")]
fn seldom_answers_wrongly_in_any_simulated_case() {
    let noises = [
        ("2 %", quiet(0.02)),
        ("10 %", quiet(0.1)),
        ("2 %, outliers", Noise { outliers: true, ..quiet(0.02) }),
        ("1 %, ties", Noise { ties: true, ..quiet(0.01) }),
    ];
    let mut bad = Vec::new();
    for (name, truth, all) in CASES {
        for (noise_name, noise) in noises {
            let (wrong, right) = wrong_studies(all, truth, noise);
            let [wrong_share, right_share] =
                [f64::from(wrong), f64::from(right) / all.len() as f64]
                    .map(|count| 100.0 * count / f64::from(STUDIES));
            eprintln!("| {name} | {noise_name} | {wrong_share:.1} % | {right_share:.0} % |");
            if wrong > MOST_WRONG {
                bad.push(format!("{name}, {noise_name}: {wrong}"));
            }
        }
    }
    assert!(bad.is_empty(), "{bad:?}");
}

/// The repetitions of studies that go on until their claims are decided.
const LOOKS: [u32; 3] = [10, 20, 40];
/// The number of such studies, and the largest number of them with a wrong answer that a true rate of
/// 5 % exceeds in one of a thousand tests: 10 are expected, with a standard deviation of 3.1.
const UNTIL_STUDIES: u32 = 200;
const MOST_WRONG_UNTIL: u32 = 20;

/// Answers the claims of a study as `study run --until decided` does: after each look, only the cells that
/// undecided claims need are measured again. `pool` has what would be measured.
fn answer_until_decided(study: &Study, mut pool: Vec<CellResult>) -> Vec<ClaimResult> {
    let planned = planned_cells(study);
    let mut until = StudyUntil { at_most_s: 1.0, looks: Vec::new() };
    let mut needed: Vec<u32> = planned.iter().map(|cell| cell.number).collect();
    let (mut kept, mut answers) = (Vec::new(), Vec::new());
    for look in LOOKS {
        let (now, later): (Vec<_>, Vec<_>) = pool.into_iter().partition(|c| c.repetition <= look);
        kept.extend(now.into_iter().filter(|cell| needed.contains(&cell.cell)));
        pool = later;
        until.looks.push(look);
        answers = claims_at_looks(study, &kept, Some(&until));
        let open = study.outputs.claims.iter().zip(&answers);
        let open = open.filter(|(_, claim)| claim.measured.answer == ClaimAnswer::Undecided);
        let cells = open.flat_map(|(spec, _)| cells_of_claim(study, spec, &planned));
        needed = cells.map(|at| planned[at].number).collect();
    }
    answers
}

/// Prints the table of docs/statistics.md with `--nocapture`.
#[test]
#[allow(clippy::print_stderr, reason = "the table of the documentation")]
fn interim_looks_seldom_add_a_wrong_answer() {
    let noises = [
        ("2 %", quiet(0.02)),
        ("10 %", quiet(0.1)),
        ("2 %, outliers", Noise { outliers: true, ..quiet(0.02) }),
    ];
    let mut bad = Vec::new();
    for (name, truth, all) in CASES {
        for (noise_name, noise) in noises {
            let drawn = (LOOKS[LOOKS.len() - 1], UNTIL_STUDIES);
            let (wrong, right) = draw_studies(all, truth, noise, drawn, &answer_until_decided);
            let [wrong_share, right_share] =
                [f64::from(wrong), f64::from(right) / all.len() as f64]
                    .map(|count| 100.0 * count / f64::from(UNTIL_STUDIES));
            eprintln!("| {name} | {noise_name} | {wrong_share:.1} % | {right_share:.0} % |");
            if wrong > MOST_WRONG_UNTIL {
                bad.push(format!("{name}, {noise_name}: {wrong}"));
            }
        }
    }
    assert!(bad.is_empty(), "{bad:?}");
}

/// Studies of counts that may be 0: both families' have a Poisson distribution.
#[test]
#[allow(clippy::print_stderr, reason = "the table of the documentation")]
fn counts_with_zeros_are_seldom_judged_wrongly() {
    const COUNTED: &str = "measure = 'RESET'\na = { family = 'ipv6' }\nb = { family = 'ipv4' }";
    let cases: [(&str, [f64; 2], Claims); 4] = [
        ("0.2 and 0.2", [0.2, 0.2], &[("higher", COUNTED, NONE), ("lower", COUNTED, NONE)]),
        ("20 and 20", [20.0, 20.0], &[("higher", COUNTED, NONE), ("lower", COUNTED, NONE)]),
        ("0.2 and 2", [0.2, 2.0], &[("higher", COUNTED, OPPOSITE), ("lower", COUNTED, HOLDS)]),
        ("105 and 100", [105.0, 100.0], &[("higher", COUNTED, HOLDS), ("equal", COUNTED, FAILS)]),
    ];
    for (name, means, all) in cases {
        let mut study = study_of(all);
        study.repetitions = std::num::NonZeroU32::new(10).unwrap();
        let mut normals = Normals(means[0].to_bits() ^ means[1].to_bits());
        let (mut wrong, mut right) = (0, 0);
        for _ in 0..STUDIES {
            let mut cells = measured(&study, |_, _, _| Some(1.0));
            for cell in &mut cells {
                let sides = [&mut cell.families.ipv6, &mut cell.families.ipv4];
                for (figures, mean) in sides.into_iter().zip(means) {
                    if let Some(figures) = figures {
                        figures.insert("RESET".to_owned(), normals.poisson(mean));
                    }
                }
            }
            let found = claims(&study, &cells);
            let given = found.iter().zip(all).filter(|(found, _)| is_given(found.measured.answer));
            let answers: Vec<bool> =
                given.map(|(found, (.., right))| is_right(found.measured.answer, right)).collect();
            wrong += u32::from(answers.contains(&false));
            right += answers.iter().filter(|right| **right).count() as u32;
        }
        let shares = [f64::from(wrong), f64::from(right) / all.len() as f64];
        let [wrong_share, right_share] = shares.map(|of| 100.0 * of / f64::from(STUDIES));
        eprintln!("| counts of {name} | {wrong_share:.1} % | {right_share:.0} % |");
        assert!(wrong <= MOST_WRONG, "{name}: {wrong}");
    }
}
