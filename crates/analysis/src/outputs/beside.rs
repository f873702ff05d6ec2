//! Published figures beside measured ones.

use crate::analyse::{self, PublishedFigure};
use sixmark_design::levels::LevelLabels;
use sixmark_design::spec::{Levels, PublishedFigures, PublishedOf, Study};
use sixmark_design::study_result::{At, PrintedFigure};
use sixmark_tally::metric::Metric;

/// The figures of published tables, to be shown beside measured ones.
pub(super) struct Beside {
    figures: Vec<BesideFigure>,
    improvements: Vec<BesideFigure>,
    /// The combinations of levels of factors that the study lacks, in the order of the tables. Each
    /// gives a published figure of its own beside a measured one.
    free: Vec<Vec<At>>,
}

/// A published figure. Its levels are apart: those that a measured figure must have too, and those
/// of factors that the study lacks.
struct BesideFigure {
    figure: PublishedFigure,
    at: Vec<At>,
    free: Vec<At>,
}

impl Beside {
    /// Takes the figures of these tables, each at the levels that the study's file fixes.
    pub(super) fn new(
        study: &Study,
        published: Option<&PublishedFigures>,
        of: &[PublishedOf],
    ) -> Beside {
        let known = published.map_or(&[][..], |published| &published.tables);
        let named = of.iter().filter_map(|of| {
            let table = known.iter().find(|table| table.name == of.table)?;
            Some((of, analyse::published_figures(table), analyse::published_improvements(table)))
        });
        let (mut figures, mut improvements) = (Vec::new(), Vec::new());
        for (of, some, percentages) in named {
            figures.extend(some.into_iter().filter_map(|one| split(study, of, one)));
            improvements.extend(percentages.into_iter().filter_map(|one| split(study, of, one)));
        }
        let mut free: Vec<Vec<At>> = Vec::new();
        for one in figures.iter().chain(&improvements) {
            if !free.contains(&one.free) {
                free.push(one.free.clone());
            }
        }
        Beside { figures, improvements, free }
    }

    /// Returns the label of each published column beside a measured one.
    pub(super) fn columns(&self, labels: &LevelLabels) -> Vec<String> {
        self.free.iter().map(|free| labels.levels(free)).collect()
    }

    /// Returns the combinations of levels of factors that the study lacks.
    pub(super) fn free(&self) -> &[Vec<At>] {
        &self.free
    }

    /// Returns true if a published figure of the measure names a level of the factor.
    pub(super) fn has_factor(&self, factor: &str, measure: Metric) -> bool {
        let mut of_measure = self.figures.iter().filter(|one| one.figure.measure == measure);
        of_measure.any(|one| one.figure.at.iter().any(|at| at.factor == factor))
    }

    /// Returns the figure at these levels. A factor that was not varied in the published study
    /// matches all levels.
    pub(super) fn found(
        &self,
        at: &[At],
        free: &[At],
        measure: Metric,
    ) -> Option<&PublishedFigure> {
        found(&self.figures, at, free, measure)
    }

    /// Returns the figures at these levels in a unit, which is given by its name and its size: one
    /// for each published column, or nothing at all.
    pub(super) fn shown(
        &self,
        at: &[At],
        measure: Metric,
        (unit, scale): (&str, f64),
    ) -> Vec<Option<PrintedFigure>> {
        self.each(|free| Some(self.found(at, free, measure)?.shown_in(unit, scale)))
    }

    /// Returns the shares in percent of one count in another, each computed from two printed figures.
    pub(super) fn shares(
        &self,
        at: &[At],
        [part, whole]: [Metric; 2],
    ) -> Vec<Option<PrintedFigure>> {
        self.each(|free| {
            let figure = |of| self.found(at, free, of)?.value;
            let share = figure(part)? / figure(whole)?;
            share.is_finite().then(|| computed_percent(100.0 * share))
        })
    }

    /// Returns the improvements in percent of the judged level over the other one: as printed, or
    /// computed by `percent` from the ratio of two printed figures. `here` contains the judged level,
    /// `there` the other one.
    pub(super) fn improvements(
        &self,
        levels: &Levels,
        [here, there]: [&[At]; 2],
        measure: Metric,
        percent: impl Fn(f64) -> f64,
    ) -> Vec<Option<PrintedFigure>> {
        let [of, _] = levels.sides();
        let both = At { level: levels.label(), ..of.clone() };
        let compared = |at: &At| if *at == of { both.clone() } else { at.clone() };
        let compared: Vec<At> = here.iter().map(compared).collect();
        self.each(|free| {
            if let Some(one) = found(&self.improvements, &compared, free, measure) {
                return Some(one.printed.clone());
            }
            let figure = |at| self.found(at, free, measure)?.value;
            let ratio = figure(here)? / figure(there)?;
            ratio.is_finite().then(|| computed_percent(percent(ratio)))
        })
    }

    fn each(&self, of: impl Fn(&[At]) -> Option<PrintedFigure>) -> Vec<Option<PrintedFigure>> {
        let all: Vec<_> = self.free.iter().map(|free| of(free)).collect();
        if all.iter().any(Option::is_some) { all } else { Vec::new() }
    }
}

/// Returns a percentage that follows from printed figures.
fn computed_percent(value: f64) -> PrintedFigure {
    let (printed, low, high) = (format!("{value:.2}"), None, None);
    PrintedFigure { printed, value: Some(value), low, high, derived: true }
}

fn found<'a>(
    all: &'a [BesideFigure],
    at: &[At],
    free: &[At],
    measure: Metric,
) -> Option<&'a PublishedFigure> {
    let is = |one: &&BesideFigure| {
        one.figure.measure == measure
            && one.free == free
            && one.at.iter().all(|wanted| at.contains(wanted))
    };
    all.iter().find(is).map(|one| &one.figure)
}

/// Takes a figure at the levels that are fixed; `None` if it is at others.
fn split(study: &Study, of: &PublishedOf, figure: PublishedFigure) -> Option<BesideFigure> {
    let figure = PublishedFigure { measure: of.measure_here(figure.measure), ..figure };
    if !of.at.iter().all(|fixed| figure.at.contains(fixed)) {
        return None;
    }
    let is_free = |at: &&At| {
        let levels = study.level_names(&at.factor);
        let is_open = study.imports.as_ref() == Some(&at.factor);
        levels.is_empty() || is_open && !levels.contains(&at.level.as_str())
    };
    let (free, at): (Vec<&At>, Vec<&At>) = figure.at.iter().partition(is_free);
    let at = at.into_iter().filter(|at| !of.at.contains(at)).chain(&of.only).cloned().collect();
    let free = free.into_iter().cloned().collect();
    Some(BesideFigure { figure, at, free })
}

/// Returns the names of published tables with the levels that are shown of them; `None` if there are
/// none.
pub(super) fn label(of: &[PublishedOf], labels: &LevelLabels) -> Option<String> {
    let one = |of: &PublishedOf| match labels.levels(&of.at) {
        levels if levels.is_empty() => of.table.clone(),
        levels => format!("{}, {levels}", of.table),
    };
    let all: Vec<String> = of.iter().map(one).collect();
    (!all.is_empty()).then(|| all.join("; "))
}
