//! Files generated for a study.

use std::collections::BTreeMap;

use sixmark_design::spec::PlannedCell;
use sixmark_design::spec::Study;
use sixmark_document::braces::fill;
use sixmark_lab::plan::generated::bytes;

use super::work::Work;
use sixmark_lab::service::generated;
use sixmark_sys::command_error::CommandError;

/// Creates every file that a cell names.
pub(super) fn make(
    study: &Study,
    cells: &[PlannedCell<'_>],
    work: &Work,
) -> Result<(), CommandError> {
    for (name, (size, random)) in wanted(study, cells)? {
        generated::make(&work.www(), &name, size, random)?;
    }
    Ok(())
}

/// Returns each file's size, and whether it is filled with random data.
pub(super) fn wanted(
    study: &Study,
    cells: &[PlannedCell<'_>],
) -> Result<BTreeMap<String, (u64, bool)>, CommandError> {
    let mut wanted = BTreeMap::new();
    for file in &study.files {
        for cell in cells {
            let value = |name: &str| cell.value(name);
            let name = fill(&file.path, value);
            let size = bytes(&fill(&file.size, value))
                .map_err(|why| CommandError::Usage(format!("files: '{name}': size {why}")))?;
            let before = wanted.insert(name.clone(), (size, file.random));
            if before.is_some_and(|before| before != (size, file.random)) {
                return Err(CommandError::Usage(format!(
                    "files: '{name}' has two different sizes"
                )));
            }
        }
    }
    Ok(wanted)
}
