//! How often is an answer wrong? Studies of made-up figures whose truth is known, again and again.

use super::{claim, claims};
use crate::outputs::tests::{SIX_LEVELS, measured, size, study};
use crate::spec::Study;
use crate::study_result::{At, ClaimAnswer};
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
}

/// The true logarithm of a figure.
type Truth = fn(Family, f64) -> f64;

/// Claims, each with whether it is true; `None` if the truth is at a bound, where either answer may
/// be given.
type Claims = &'static [(&'static str, &'static str, Option<bool>)];

fn study_of(all: Claims) -> Study {
    let text = all.iter().enumerate().map(|(id, (kind, more, _))| claim(id, kind, more));
    study(&format!("{SIX_LEVELS}{}", text.collect::<String>()))
}

/// Returns the number of studies in which any answer is wrong, and the number of right answers.
fn wrong_studies(all: Claims, truth: Truth, spread: f64) -> (u32, u32) {
    let mut study = study_of(all);
    study.repetitions = std::num::NonZeroU32::new(10).unwrap();
    let normals = std::cell::RefCell::new(Normals(37));
    let (mut wrong, mut right) = (0, 0);
    for _ in 0..STUDIES {
        let figure = |family: Family, at: &[At], _: u32| {
            let noise = spread * normals.borrow_mut().draw();
            Some((truth(family, size(at)) + noise).exp() * 1e6)
        };
        let found = claims(&study, &measured(&study, figure));
        let answers = found.iter().zip(all).filter_map(|(found, (.., truth))| {
            let holds = match found.measured.answer {
                ClaimAnswer::Holds => true,
                ClaimAnswer::DoesNotHold => false,
                _ => return None,
            };
            Some(Some(holds) == *truth || truth.is_none())
        });
        let answers: Vec<bool> = answers.collect();
        wrong += u32::from(answers.contains(&false));
        right += answers.iter().filter(|right| **right).count() as u32;
    }
    (wrong, right)
}

#[test]
fn equal_sides_and_levels_are_seldom_called_different() {
    const ALL: Claims = &[
        ("higher", "a = { family = 'ipv6' }\nb = { family = 'ipv4' }\nmargin = 0.1", Some(false)),
        ("lower", "a = { family = 'ipv6' }\nb = { family = 'ipv4' }\nmargin = 0.1", Some(false)),
        ("equal", "a = { family = 'ipv6' }\nb = { family = 'ipv4' }", Some(true)),
        (
            "ratio",
            "a = { family = 'ipv6' }\nb = { family = 'ipv4' }\nat_least = 1.000001",
            Some(false),
        ),
        ("rises", "a = {}\nover = 'size'\nmargin = 0.1", Some(false)),
        ("falls", "a = {}\nover = 'size'\nmargin = 0.1", Some(false)),
        ("u-shaped", "a = {}\nover = 'size'\nturn = 3", Some(false)),
        ("highest", "a = {}\nover = 'size'\nat = 3", Some(false)),
        ("lowest", "a = {}\nover = 'size'\nat = 4", Some(false)),
        (
            "largest-difference",
            "a = { family = 'ipv6' }\nb = { family = 'ipv4' }\nover = 'size'\nat = 3",
            Some(false),
        ),
        ("independent", "a = {}\nover = 'size'\nmargin = 10", Some(true)),
        (
            "higher",
            "a = { size = 1 }\nb = { size = 2 }\nmargin = 0.1\n\
             contrast = { factor = 'family', of = 'ipv6', over = 'ipv4' }",
            Some(false),
        ),
    ];
    for spread in [0.02, 0.2] {
        let (wrong, _) = wrong_studies(ALL, |_, _| 0.0, spread);
        assert!(wrong <= MOST_WRONG, "{wrong} of {STUDIES} at a spread of {spread}");
    }
}

#[test]
fn known_trends_and_differences_are_seldom_denied_and_are_found() {
    const ALL: Claims = &[
        ("higher", "a = { family = 'ipv6' }\nb = { family = 'ipv4' }", Some(true)),
        ("lower", "a = { family = 'ipv6' }\nb = { family = 'ipv4' }", Some(false)),
        ("equal", "a = { family = 'ipv6' }\nb = { family = 'ipv4' }", Some(false)),
        ("ratio", "a = { family = 'ipv6' }\nb = { family = 'ipv4' }\nat_least = 1.05", Some(true)),
        ("rises", "a = {}\nover = 'size'", Some(true)),
        ("falls", "a = {}\nover = 'size'", Some(false)),
        ("highest", "a = {}\nover = 'size'\nat = 6", Some(true)),
        ("lowest", "a = {}\nover = 'size'\nat = 2", Some(false)),
        ("independent", "a = {}\nover = 'size'", Some(false)),
    ];
    let truth: Truth =
        |family, size| 0.1 * size.ln() + if family == Family::Ipv6 { 0.1 } else { 0.0 };
    let (wrong, right) = wrong_studies(ALL, truth, 0.01);
    assert!(wrong <= MOST_WRONG, "{wrong} of {STUDIES}");
    let all = STUDIES * ALL.len() as u32;
    assert!(right * 10 > all * 7, "{right} of {all} are decided");
    let (wrong, _) = wrong_studies(ALL, truth, 0.1);
    assert!(wrong <= MOST_WRONG, "{wrong} of {STUDIES} with much noise");
}
