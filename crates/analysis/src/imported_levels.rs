//! The levels that imports add to a factor of a study.

use std::borrow::Cow;

use sixmark_design::spec::{Level, Study};
use sixmark_design::study_result::CellResult;

/// Returns the study with the levels of imported cells after its own. Outputs are computed from
/// this study, while the cells to measure are those of the study without them.
pub fn with_imported_levels<'a>(study: &'a Study, cells: &[CellResult]) -> Cow<'a, Study> {
    let mut whole = Cow::Borrowed(study);
    for at in cells.iter().filter(|cell| cell.is_imported()).flat_map(|cell| &cell.levels) {
        let Some(place) = whole.factors.iter().position(|factor| factor.name == at.factor) else {
            continue;
        };
        if whole.factors[place].levels.iter().any(|level| level.name == at.level) {
            continue;
        }
        let level = Level { name: at.level.clone(), settings: Vec::new() };
        whole.to_mut().factors[place].levels.push(level);
    }
    whole
}
