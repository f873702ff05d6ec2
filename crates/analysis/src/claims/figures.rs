//! The figures that claims are tested on: measured or published ones, in blocks.

use std::collections::{BTreeMap, BTreeSet};

use super::sample::ClaimSample;
use super::trimmed::trimmed_mean;
use crate::analyse::published_figures;
use crate::observation::Observation;
use sixmark_design::spec::published::at_family;
use sixmark_design::spec::{ClaimSpec, OrderedLevels, PublishedFigures, PublishedOf, SideLevels};
use sixmark_design::study_result::At;
use sixmark_tally::metric::{Metric, MetricKind};

/// The figures of one measure.
pub(super) struct FigureSet {
    figures: Vec<ClaimFigure>,
    /// True for published figures. They have no repetitions, and lack some factors of the study.
    published: bool,
}

/// A figure with its levels, in the measure's base unit.
struct ClaimFigure {
    /// The repetition; 0 for published figures.
    block: u32,
    at: Vec<At>,
    value: f64,
}

/// The levels by which figures of several sides are matched.
type Key<'a> = Vec<(&'a str, &'a str)>;

/// A function that is applied to figures before they are averaged, or `None` if it has no value.
type Transform = fn(f64) -> Option<f64>;

impl FigureSet {
    /// Collects the measured figures at the levels of a claim, by the instrument that answers it.
    pub(super) fn of_observations(
        seen: &[Observation<'_>],
        measure: Metric,
        spec: &ClaimSpec,
    ) -> FigureSet {
        let figure = |one: &Observation<'_>| {
            let value = one.figure(measure, spec.by_packets)?;
            Some(ClaimFigure { block: one.repetition, at: one.at.clone(), value })
        };
        FigureSet { figures: seen.iter().filter_map(figure).collect(), published: false }
            .only(&spec.only)
    }

    /// Collects the figures of a published table at these levels. Ranges are omitted.
    pub(super) fn of_published(
        published: &PublishedFigures,
        of: &PublishedOf,
        measure: Metric,
        only: &SideLevels,
    ) -> FigureSet {
        let table = published.tables.iter().find(|table| table.name == of.table);
        let all = table.map_or(Vec::new(), published_figures).into_iter();
        let here = all.filter(|figure| {
            of.measure_here(figure.measure) == measure
                && of.at.iter().all(|at| figure.at.contains(at))
        });
        let figure = |figure: crate::analyse::PublishedFigure| {
            let mut at = figure.at;
            at.extend(figure.family.map(at_family));
            at.sort_by(|a, b| a.factor.cmp(&b.factor));
            at.dedup();
            Some(ClaimFigure { block: 0, at, value: figure.value? })
        };
        FigureSet { figures: here.filter_map(figure).collect(), published: true }.only(only)
    }

    fn only(mut self, only: &SideLevels) -> FigureSet {
        let published = self.published;
        self.figures.retain(|figure| is_of(figure, only, published));
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        self.figures.is_empty()
    }

    pub(super) fn is_published(&self) -> bool {
        self.published
    }

    /// Returns true if figures have a level of this factor.
    pub(super) fn has_factor(&self, factor: &str) -> bool {
        self.figures.iter().any(|figure| figure.at.iter().any(|at| at.factor == factor))
    }

    /// Returns the figures of a side, and nothing else.
    fn of_side<'a, 'b>(
        &'a self,
        side: &'b SideLevels,
    ) -> impl Iterator<Item = &'a ClaimFigure> + use<'a, 'b> {
        self.figures.iter().filter(|figure| is_of(figure, side, self.published))
    }

    /// Returns the sides' means in each block, after `transform`. A figure of one side counts only
    /// if each other side has one at the same levels of the factors that are not in `apart`. A
    /// block in which a side lacks levels that it has in other blocks is omitted.
    ///
    /// Published figures have no repetitions: there, each combination of levels is a block.
    pub(super) fn sides(
        &self,
        sides: &[&SideLevels],
        apart: &[&str],
        transform: Transform,
    ) -> Vec<Vec<f64>> {
        let of_sides: Vec<_> =
            sides.iter().map(|side| self.means_of_side(side, apart, transform)).collect();
        let mut blocks: BTreeMap<(u32, Key<'_>), Vec<Vec<f64>>> = BTreeMap::new();
        let Some(first) = of_sides.first() else { return Vec::new() };
        for (block, key) in first.keys() {
            let values = of_sides.iter().map(|of| of.get(&(*block, key.clone())).copied());
            let Some(values) = values.collect::<Option<Vec<f64>>>() else { continue };
            let group = if self.published { key.clone() } else { Vec::new() };
            blocks.entry((*block, group)).or_default().push(values);
        }
        self.complete(&blocks)
    }

    /// Averages the combinations of levels of each block, and omits blocks that lack some.
    fn complete(&self, blocks: &BTreeMap<(u32, Key<'_>), Vec<Vec<f64>>>) -> Vec<Vec<f64>> {
        let most = blocks.values().map(Vec::len).max().unwrap_or(0);
        let whole = blocks.values().filter(|rows| rows.len() == most);
        let mean_of = |rows: &Vec<Vec<f64>>| {
            let sides = rows.first().map_or(0, Vec::len);
            let mean = |side: usize| rows.iter().map(|row| row[side]).sum::<f64>();
            (0..sides).map(|side| mean(side) / rows.len() as f64).collect()
        };
        whole.map(mean_of).collect()
    }

    /// Returns the mean of a side's transformed figures for each block and combination of the
    /// levels of other factors than `apart`. Means that lack a level which others have are omitted.
    fn means_of_side<'a>(
        &'a self,
        side: &SideLevels,
        apart: &[&str],
        transform: Transform,
    ) -> BTreeMap<(u32, Key<'a>), f64> {
        let mut found: BTreeMap<(u32, Key<'_>), Vec<f64>> = BTreeMap::new();
        for figure in self.of_side(side) {
            let Some(value) = transform(figure.value) else { continue };
            let others = figure.at.iter().filter(|at| !apart.contains(&at.factor.as_str()));
            let mut key: Key<'_> =
                others.map(|at| (at.factor.as_str(), at.level.as_str())).collect();
            key.sort_unstable();
            found.entry((figure.block, key)).or_default().push(value);
        }
        let most = found.values().map(Vec::len).max().unwrap_or(0);
        let whole = found.into_iter().filter(|(_, values)| values.len() == most);
        whole.map(|(key, values)| (key, values.iter().sum::<f64>() / values.len() as f64)).collect()
    }

    /// Returns the figures of a measure along a factor; see [`FigureSet::sides`].
    pub(super) fn along(
        &self,
        sides: &[&SideLevels],
        over: &OrderedLevels,
        measure: Metric,
    ) -> FiguresAlong {
        let scale = match (sides.len(), measure.kind()) {
            (2, _) => AlongScale::Differences,
            (_, MetricKind::Count) => AlongScale::Counts,
            _ => AlongScale::Logarithms,
        };
        let transform = if scale == AlongScale::Logarithms { logarithm } else { itself };
        let there: BTreeSet<&str> = self.levels_of(&over.factor);
        let known = |level: &&String| there.contains(level.as_str());
        let levels: Vec<String> = over.levels.iter().filter(known).cloned().collect();
        let missing = over.levels.iter().filter(|level| !known(level)).cloned().collect();
        let at = |side: &SideLevels, level: &String| -> SideLevels {
            let level = (over.factor.clone(), vec![level.clone()]);
            side.iter().cloned().chain([level]).collect()
        };
        let each: Vec<SideLevels> =
            levels.iter().flat_map(|level| sides.iter().map(move |side| at(side, level))).collect();
        let mut apart: Vec<&str> = vec![&over.factor];
        apart.extend(sides.iter().flat_map(|side| side.iter().map(|(factor, _)| factor.as_str())));
        let rows = self.sides(&each.iter().collect::<Vec<_>>(), &apart, transform);
        let width = sides.len();
        let blocks = rows.into_iter().map(|row| match width {
            2 => row.chunks(2).map(|pair| pair[0] - pair[1]).collect(),
            _ => row,
        });
        let blocks: Vec<Vec<f64>> = blocks.collect();
        // Several published rows are no repetitions of each other.
        let blocks = if self.published { mean_row(&blocks).into_iter().collect() } else { blocks };
        FiguresAlong { levels, missing, blocks, scale }
    }

    fn levels_of(&self, factor: &str) -> BTreeSet<&str> {
        let at = self.figures.iter().flat_map(|figure| &figure.at);
        at.filter(|at| at.factor == factor).map(|at| at.level.as_str()).collect()
    }

    /// Returns all figures of a side.
    pub(super) fn values(&self, side: &SideLevels) -> Vec<f64> {
        self.of_side(side).map(|figure| figure.value).collect()
    }

    /// Returns the counts of a side by block; of published figures, by row.
    pub(super) fn counts<'a>(&'a self, side: &SideLevels) -> BTreeMap<(u32, Key<'a>), f64> {
        let mut counts = BTreeMap::new();
        for figure in self.of_side(side) {
            let key = if self.published {
                figure.at.iter().map(|at| (&*at.factor, &*at.level)).collect()
            } else {
                Vec::new()
            };
            *counts.entry((figure.block, key)).or_default() += figure.value;
        }
        counts
    }

    /// Returns the counts of a side and of both families in each cell at a level.
    pub(super) fn counts_in_cells(&self, side: &SideLevels, at: &At) -> Vec<(f64, f64)> {
        let level = vec![(at.factor.clone(), vec![at.level.clone()])];
        let mut cells: BTreeMap<(u32, Key<'_>), (f64, f64)> = BTreeMap::new();
        for figure in self.of_side(&level) {
            let others = figure.at.iter().filter(|at| at.factor != sixmark_design::spec::FAMILY);
            let key = others.map(|at| (&*at.factor, &*at.level)).collect();
            let cell = cells.entry((figure.block, key)).or_default();
            cell.1 += figure.value;
            if is_of(figure, side, self.published) {
                cell.0 += figure.value;
            }
        }
        cells.into_values().collect()
    }

    /// Returns the number of repetitions of which there are figures.
    pub(super) fn repetitions(&self) -> u32 {
        self.figures.iter().map(|figure| figure.block).collect::<BTreeSet<u32>>().len() as u32
    }
}

/// Figures along a factor.
pub(super) struct FiguresAlong {
    /// The levels that have figures, in their order.
    pub(super) levels: Vec<String>,
    /// The levels without any.
    pub(super) missing: Vec<String>,
    /// A figure for each of the levels in each block.
    pub(super) blocks: Vec<Vec<f64>>,
    /// How a level is compared with another.
    pub(super) scale: AlongScale,
}

/// How figures along a factor are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AlongScale {
    /// They are logarithms, whose differences are ratios.
    Logarithms,
    /// They are counts, which may be 0.
    Counts,
    /// They are differences of two sides.
    Differences,
}

impl FiguresAlong {
    /// Returns the mean over the blocks at each level; `None` without blocks.
    pub(super) fn means(&self) -> Option<Vec<f64>> {
        mean_row(&self.blocks)
    }

    /// Returns a level against another, by their places; `None` if there are too few blocks.
    pub(super) fn compare(&self, a: usize, b: usize) -> Option<ClaimSample> {
        let pairs = self.blocks.iter().map(|row| (row[a], row[b]));
        match self.scale {
            AlongScale::Counts => ClaimSample::of_counts(pairs.collect()),
            AlongScale::Logarithms | AlongScale::Differences => {
                trimmed_mean(&pairs.map(|(a, b)| a - b).collect::<Vec<f64>>())
                    .map(ClaimSample::Student)
            }
        }
    }

    /// Returns a figure without its logarithm, if it is one.
    pub(super) fn figure_of(&self, value: f64) -> f64 {
        if self.scale == AlongScale::Logarithms { value.exp() } else { value }
    }
}

/// Returns the mean of each place of the rows.
fn mean_row(rows: &[Vec<f64>]) -> Option<Vec<f64>> {
    let first = rows.first()?;
    let n = rows.len() as f64;
    Some((0..first.len()).map(|at| rows.iter().map(|row| row[at]).sum::<f64>() / n).collect())
}

/// Returns the logarithm of a figure above 0.
pub(super) fn logarithm(value: f64) -> Option<f64> {
    (value > 0.0).then(|| value.ln())
}

/// Returns the figure itself.
pub(super) fn itself(value: f64) -> Option<f64> {
    Some(value)
}

/// Returns true if a figure has one of the selected levels in each factor. A published figure
/// belongs to all levels of a factor that the published study did not vary.
fn is_of(figure: &ClaimFigure, side: &SideLevels, published: bool) -> bool {
    side.iter().all(|(factor, levels)| match figure.at.iter().find(|at| at.factor == *factor) {
        Some(at) => levels.contains(&at.level),
        None => published,
    })
}
