//! The cells that a claim needs, and the time that they take.

use std::collections::{BTreeMap, BTreeSet};

use super::{needed_levels, with_roles_here};
use sixmark_design::spec::cells::cells as planned_cells;
use sixmark_design::spec::{ClaimSpec, PlannedCell, Study};
use sixmark_design::study_result::{CellResult, ClaimEvidence};

/// Returns the numbers of the cells that a claim needs, of all cells of the study.
pub fn cells_of_claim(study: &Study, spec: &ClaimSpec, cells: &[PlannedCell<'_>]) -> Vec<usize> {
    let mut named: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (factor, levels) in needed_levels(&with_roles_here(study, spec)) {
        named.entry(factor).or_default().extend(levels);
    }
    let group =
        spec.group.as_ref().and_then(|name| study.groups.iter().find(|of| of.name == *name));
    let needs = |cell: &PlannedCell<'_>| {
        cell.at().iter().all(|at| {
            let in_group = group.is_none_or(|group| group.includes(&at.factor, &at.level));
            in_group && named.get(&at.factor).is_none_or(|levels| levels.contains(&at.level))
        })
    };
    (0..cells.len()).filter(|&at| needs(&cells[at])).collect()
}

/// How long cells took on average, in seconds, by their numbers.
pub struct CellTimes(BTreeMap<u32, (f64, f64)>);

impl CellTimes {
    /// Takes the times from measured cells.
    pub fn of<'a>(measured: impl Iterator<Item = &'a CellResult>) -> CellTimes {
        let mut took: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for cell in measured {
            let (sum, count) = took.entry(cell.cell).or_default();
            *sum += cell.took_s;
            *count += 1.0;
        }
        CellTimes(took)
    }

    /// Returns how long one repetition of these cells takes, in seconds.
    pub fn of_repetition<'a>(
        &self,
        planned: &[PlannedCell<'_>],
        cells: impl IntoIterator<Item = &'a usize>,
    ) -> f64 {
        let of = |at: &usize| self.0.get(&planned[*at].number).map_or(0.0, |(sum, n)| sum / n);
        cells.into_iter().map(of).sum()
    }
}

/// Adds the time that the repetitions take which would decide a claim.
pub(super) fn add_times(study: &Study, cells: &[CellResult], answers: &mut [ClaimEvidence]) {
    let planned = planned_cells(study);
    let times = CellTimes::of(cells.iter().filter(|cell| !cell.is_imported()));
    for (spec, answer) in study.outputs.claims.iter().zip(answers) {
        answer.more_s = answer.more_blocks.map(|more| {
            let needed = cells_of_claim(study, spec, &planned);
            f64::from(more) * times.of_repetition(&planned, &needed)
        });
    }
}
