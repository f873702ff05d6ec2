//! Observations: the figures of one family in one cell.

use sixmark_units::family::Family;

use super::spec::FAMILY;
use super::spec::published::at_family;
use crate::study_result::{At, CellResult};

/// The figures of one cell over one family.
pub(super) struct Observation<'a> {
    /// Its level of each factor, including the family.
    pub(super) at: Vec<At>,
    pub(super) repetition: u32,
    pub(super) family: Family,
    pub(super) cell: &'a CellResult,
}

impl Observation<'_> {
    pub(super) fn is_at(&self, at: &[At]) -> bool {
        at.iter().all(|at| self.at.contains(at))
    }
}

/// Returns an observation for each cell and each family that it loaded.
pub(super) fn observations(cells: &[CellResult]) -> Vec<Observation<'_>> {
    let of_cell = |cell: &'_ CellResult| {
        let of_family = |family: Family| {
            let mut at = cell.levels.clone();
            if cell.level(FAMILY).is_none() {
                at.push(at_family(family));
            }
            (at, family)
        };
        let used = Family::BOTH.into_iter().filter(|&f| cell.families.of(f).is_some());
        used.map(of_family).collect::<Vec<_>>()
    };
    let observation = |cell: &'_ CellResult, (at, family)| (at, family, cell.repetition);
    let mut all = Vec::new();
    for cell in cells {
        for parts in of_cell(cell) {
            let (at, family, repetition) = observation(cell, parts);
            all.push(Observation { at, repetition, family, cell });
        }
    }
    all
}
