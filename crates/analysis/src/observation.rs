//! Observations: the figures of one family in one cell.

use sixmark_tally::metric::Metric;
use sixmark_units::family::Family;

use sixmark_design::spec::FAMILY;
use sixmark_design::spec::published::at_family;
use sixmark_design::study_result::{At, CellResult};

/// The figures of one cell over one family.
pub(super) struct Observation<'a> {
    /// Its level of each factor, including the family.
    pub(super) at: Vec<At>,
    pub(super) repetition: u32,
    pub(super) family: Family,
    pub(super) cell: &'a CellResult,
}

impl Observation<'_> {
    /// Returns a figure that the client measured, or that the packets showed; `None` if there is no
    /// such figure.
    pub(super) fn figure(&self, measure: Metric, by_packets: bool) -> Option<f64> {
        if !by_packets {
            return self.cell.figure(self.family, measure);
        }
        let packets = self.cell.instruments.as_ref()?.packets.as_ref()?;
        packets.families.of(self.family)?.figure(measure)
    }

    pub(super) fn is_at(&self, at: &[At]) -> bool {
        at.iter().all(|at| self.at.contains(at))
    }
}

/// The observations of a study: all, and those that the study measured itself.
pub(super) struct StudyObservations<'a> {
    /// The factor to which imports add levels.
    imports: Option<&'a str>,
    all: Vec<Observation<'a>>,
    /// Absent if nothing was imported.
    own: Option<Vec<Observation<'a>>>,
}

impl<'a> StudyObservations<'a> {
    pub(super) fn new(imports: Option<&'a str>, cells: &'a [CellResult]) -> StudyObservations<'a> {
        let own = || observations(cells.iter().filter(|cell| !cell.is_imported()));
        let own = cells.iter().any(CellResult::is_imported).then(own);
        StudyObservations { imports, all: observations(cells), own }
    }

    /// Returns the observations for an output that names these factors. One that does not name the
    /// factor of imports is about the study's own machine.
    pub(super) fn of_output<'f>(
        &self,
        named: impl IntoIterator<Item = &'f String>,
    ) -> &[Observation<'a>] {
        match &self.own {
            Some(own) if !named.into_iter().any(|name| Some(name.as_str()) == self.imports) => own,
            _ => &self.all,
        }
    }

    /// Keeps only those observations that `is_wanted` accepts.
    pub(super) fn retain(&mut self, is_wanted: impl Fn(&Observation<'a>) -> bool) {
        self.all.retain(&is_wanted);
        if let Some(own) = &mut self.own {
            own.retain(&is_wanted);
        }
    }

    /// Returns all observations.
    pub(super) fn all(&self) -> &[Observation<'a>] {
        &self.all
    }
}

/// Returns an observation for each cell and each family that it loaded.
pub(super) fn observations<'a>(
    cells: impl IntoIterator<Item = &'a CellResult>,
) -> Vec<Observation<'a>> {
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
