//! The tables that are written into the page.

use std::fmt::Write as _;

use crate::design::Design;
use crate::intervals::held;
use crate::looks::{Looked, MOST, any_of_several, quantile_of, reached_by};
use crate::noise::{ALL, Noise};
use crate::trials::{Outcome, Trial};
use crate::whole::Whole;

/// The spread of blocks unless stated otherwise.
const SPREAD: f64 = 0.03;
/// The margin of `Settings::usual`, as a logarithm.
fn margin() -> f64 {
    0.05_f64.ln_1p()
}

/// The columns of the tables over noises: order of blocks and number of pairs.
const DESIGNS: [(Design, usize); 6] = [
    (Design::Abba, 6),
    (Design::Abba, 12),
    (Design::Abba, 24),
    (Design::Random, 6),
    (Design::Random, 12),
    (Design::Random, 24),
];

/// Returns three tables for a single metric under each noise: how often equal sides are called
/// different, how often the interval includes the true value, and how often sides that differ by
/// the margin are called equivalent.
pub(crate) fn one_metric(trials: u64) -> [String; 3] {
    let mut tables =
        [(); 3].map(|()| head("noise", &DESIGNS.map(|(design, n)| format!("{design:?} {n}"))));
    for (name, noise) in ALL {
        let cells = DESIGNS.map(|(design, pairs)| {
            let equal = Trial { noise, spread: SPREAD, design, pairs, effect: 0.0 };
            (equal.repeated(trials), Trial { effect: margin(), ..equal }.repeated(trials))
        });
        row(&mut tables[0], name, cells.map(|(equal, _)| share(equal.different, equal.trials)));
        row(&mut tables[1], name, cells.map(|(equal, _)| share(equal.covered, equal.answered)));
        row(&mut tables[2], name, cells.map(|(_, apart)| share(apart.equivalent, apart.trials)));
    }
    tables
}

/// Returns a table of how often a true difference is found, and how often equal sides are called
/// equivalent.
pub(crate) fn power(trials: u64) -> String {
    let columns = ["2 %", "5 %", "10 %", "equal: equivalent"].map(str::to_owned);
    let mut table = head("spread of blocks, pairs", &columns);
    for spread in [0.01, 0.03, 0.1] {
        for pairs in [6, 12, 24] {
            let (noise, design) = (Noise::Normal, Design::Random);
            let of = |effect: f64| {
                Trial { noise, spread, design, pairs, effect: effect.ln_1p() }.repeated(trials)
            };
            let found = [0.02, 0.05, 0.1].map(|effect| of(effect).different);
            let cells = [found[0], found[1], found[2], of(0.0).equivalent];
            let name = format!("{:.0} %, {pairs}", spread * 100.0);
            row(&mut table, &name, cells.map(|count| share(count, trials)));
        }
    }
    table
}

/// Returns a table of how often comparisons that are judged after each of 400 pairs are ever wrong,
/// under each noise.
pub(crate) fn looks(trials: u64) -> String {
    let columns = [
        "equal, ever called different",
        "one of 6 metrics",
        "true value ever outside the interval",
        "at the margin, ever called equivalent",
    ];
    let mut table = head("noise", &columns.map(str::to_owned));
    for (name, noise) in ALL {
        let equal = Looked { noise, spread: SPREAD, effect: 0.0, most: MOST };
        let apart = Looked { effect: margin(), ..equal }.repeated(trials);
        let equal = equal.repeated(trials);
        let wrong = [
            equal.different.len() as u64,
            any_of_several(noise, 6, trials),
            equal.missed.max(apart.missed),
            apart.equivalent.len() as u64,
        ];
        row(&mut table, name, wrong.map(|count| share(count, trials)));
    }
    table
}

/// Returns a table of the pairs that comparisons judged after each pair need, beside those with 12
/// and 24 pairs.
pub(crate) fn pairs(trials: u64) -> String {
    let columns = [
        "answer",
        "fixed 12",
        "fixed 24",
        "by 12 pairs",
        "by 24",
        "by 60",
        "by 400",
        "half by",
        "nine of ten by",
    ];
    let mut table = head("spread of blocks, difference", &columns.map(str::to_owned));
    for spread in [0.01, 0.03, 0.1] {
        for effect in [0.0, 0.02, 0.05, 0.1, 0.3] {
            let (noise, design) = (Noise::Normal, Design::Random);
            let found =
                Looked { noise, spread, effect: f64::ln_1p(effect), most: MOST }.repeated(trials);
            let fixed = [12, 24].map(|pairs| {
                let effect = f64::ln_1p(effect);
                let of = Trial { noise, spread, design, pairs, effect }.repeated(trials);
                if effect == 0.0 { of.equivalent } else { of.different }
            });
            let (answer, reached) = if effect == 0.0 {
                ("equivalent", &found.equivalent)
            } else {
                ("different", &found.different)
            };
            let mut cells = vec![answer.to_owned()];
            cells.extend(fixed.map(|count| share(count, trials)));
            cells.extend([12, 24, 60, MOST].map(|n| share(reached_by(reached, n), trials)));
            cells.extend([0.5, 0.9].map(|part| {
                let at = quantile_of(reached, part, trials);
                at.map_or("-".to_owned(), |at| at.to_string())
            }));
            row(&mut table, &format!("{:.0} %, {:.0} %", spread * 100.0, effect * 100.0), cells);
        }
    }
    table
}

/// Returns a table for comparisons of all metrics together.
pub(crate) fn whole(trials: u64) -> String {
    let columns = [
        "any different",
        "failures p <= 5 %",
        "held: p50",
        "p90",
        "p99",
        "5 % worse, found: p50",
        "p90",
        "p99",
        "at the margin, equivalent: p50",
        "p90",
        "p99",
    ];
    let mut table = head("noise, order, pairs", &columns.map(str::to_owned));
    for (noise, design, pairs) in [
        ("independent, normal", Design::Random, 12),
        ("independent, normal", Design::Random, 8),
        ("independent, normal", Design::Abba, 12),
        ("AR(1), 0.9", Design::Abba, 12),
        ("lognormal", Design::Random, 24),
        ("bursts", Design::Random, 12),
    ] {
        row(
            &mut table,
            &format!("{noise}, {design:?}, {pairs}"),
            whole_cells(noise, design, pairs, trials),
        );
    }
    table
}

fn whole_cells(name: &str, design: Design, pairs: usize, trials: u64) -> Vec<String> {
    let noise =
        ALL.iter().find(|(known, _)| *known == name).map_or(Noise::Normal, |(_, noise)| *noise);
    let equal = Whole { noise, spread: SPREAD, design, pairs, effect: 0.0 };
    let apart = Whole { effect: margin(), ..equal }.repeated(trials);
    let equal = equal.repeated(trials);
    let mut cells = vec![share(equal.any, trials), share(equal.failures.different, trials)];
    let points = |of: [Outcome; 3], cell: fn(Outcome) -> String| of.map(cell);
    cells.extend(points(equal.points, |of| share(of.covered, of.answered)));
    cells.extend(apart.worse.map(|worse| share(worse, trials)));
    cells.extend(points(apart.points, |of| share(of.equivalent, of.trials)));
    cells
}

/// Returns a table of four intervals for the same estimate.
pub(crate) fn intervals(trials: u64) -> String {
    let columns = ["Wilcoxon's", "percentile", "BCa", "expanded percentile"].map(str::to_owned);
    let mut table = head("noise, pairs", &columns);
    for (name, noise) in [ALL[0], ALL[4], ALL[5]] {
        for pairs in [6, 12, 24] {
            let held = held(noise, pairs, trials).0;
            row(&mut table, &format!("{name}, {pairs}"), held.map(|count| share(count, trials)));
        }
    }
    table
}

fn head(first: &str, columns: &[String]) -> String {
    format!("| {first} | {} |\n|---|{}\n", columns.join(" | "), "---|".repeat(columns.len()))
}

fn row(table: &mut String, name: &str, cells: impl IntoIterator<Item = String>) {
    let cells: Vec<String> = cells.into_iter().collect();
    let _ = writeln!(table, "| {name} | {} |", cells.join(" | "));
}

fn share(part: u64, whole: u64) -> String {
    if whole == 0 { "-".to_owned() } else { format!("{:.1}", 100.0 * part as f64 / whole as f64) }
}
