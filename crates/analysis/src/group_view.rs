//! What outputs see of a study: all of it, or one group of its cells.

use std::borrow::Cow;

use crate::observation::StudyObservations;
use sixmark_design::spec::{CellGroup, Study};
use sixmark_design::study_result::CellResult;

/// A study and its observations, restricted to a group.
pub(super) struct GroupView<'a> {
    /// The name of the group; `None` for a study without groups.
    name: Option<&'a str>,
    /// The study, whose factors have only the group's levels.
    pub(super) study: Cow<'a, Study>,
    /// The observations of the group's cells.
    pub(super) seen: StudyObservations<'a>,
}

/// The views of all groups of a study.
pub(super) struct GroupViews<'a>(Vec<GroupView<'a>>);

impl<'a> GroupViews<'a> {
    /// Restricts a study and its cells to each group.
    pub(super) fn new(study: &'a Study, cells: &'a [CellResult]) -> GroupViews<'a> {
        GroupViews::up_to(study, cells, u32::MAX)
    }

    /// Does the same with the cells of the first `repetitions` alone.
    pub(super) fn up_to(
        study: &'a Study,
        cells: &'a [CellResult],
        repetitions: u32,
    ) -> GroupViews<'a> {
        let seen = || {
            let mut seen = StudyObservations::new(study.imports.as_deref(), cells);
            seen.retain(|one| one.repetition <= repetitions);
            seen
        };
        if study.groups.is_empty() {
            let view = GroupView { name: None, study: Cow::Borrowed(study), seen: seen() };
            return GroupViews(vec![view]);
        }
        let view = |group: &'a CellGroup| {
            // Levels that were imported belong to every group.
            let is_of = |factor: &str, level: &str| {
                study.imports.as_deref() == Some(factor) || group.includes(factor, level)
            };
            let mut seen = seen();
            seen.retain(|one| one.at.iter().all(|at| is_of(&at.factor, &at.level)));
            let mut study = study.clone();
            for factor in &mut study.factors {
                factor.levels.retain(|level| is_of(&factor.name, &level.name));
            }
            GroupView { name: Some(&group.name), study: Cow::Owned(study), seen }
        };
        GroupViews(study.groups.iter().map(view).collect())
    }

    /// Returns the view of a group; `None` if there is no such group, or if it has no cells in the
    /// form of the study.
    pub(super) fn of(&self, group: Option<&str>) -> Option<&GroupView<'a>> {
        let view = self.0.iter().find(|view| view.name == group);
        view.filter(|view| view.study.factors.iter().all(|factor| !factor.levels.is_empty()))
    }
}
