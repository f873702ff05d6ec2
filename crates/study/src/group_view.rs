//! What outputs see of a study: all of it, or one group of its cells.

use std::borrow::Cow;

use crate::observation::{Observation, observations};
use crate::spec::{CellGroup, Study};
use crate::study_result::CellResult;

/// A study and its observations, restricted to a group.
pub(super) struct GroupView<'a> {
    /// The name of the group; `None` for a study without groups.
    name: Option<&'a str>,
    /// The study, whose factors have only the group's levels.
    pub(super) study: Cow<'a, Study>,
    /// The observations of the group's cells.
    pub(super) seen: Vec<Observation<'a>>,
}

/// The views of all groups of a study.
pub(super) struct GroupViews<'a>(Vec<GroupView<'a>>);

impl<'a> GroupViews<'a> {
    /// Restricts a study and its cells to each group.
    pub(super) fn new(study: &'a Study, cells: &'a [CellResult]) -> GroupViews<'a> {
        if study.groups.is_empty() {
            let seen = observations(cells);
            return GroupViews(vec![GroupView { name: None, study: Cow::Borrowed(study), seen }]);
        }
        let view = |group: &'a CellGroup| GroupView {
            name: Some(&group.name),
            study: Cow::Owned(restrict(study, group)),
            seen: seen_in(group, cells),
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

/// Returns the study with only those levels that a group has.
fn restrict(study: &Study, group: &CellGroup) -> Study {
    let mut study = study.clone();
    for factor in &mut study.factors {
        factor.levels.retain(|level| group.includes(&factor.name, &level.name));
    }
    study
}

fn seen_in<'a>(group: &CellGroup, cells: &'a [CellResult]) -> Vec<Observation<'a>> {
    let mut seen = observations(cells);
    seen.retain(|one| one.at.iter().all(|at| group.includes(&at.factor, &at.level)));
    seen
}
