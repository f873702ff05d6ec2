//! The cells that were imported, in a study's report.

use sixmark_design::levels::LevelLabels;
use sixmark_design::study_result::{At, CellResult, ImportedFrom, StudyResult};
use sixmark_sheet::table::{Column, Row, SheetCell, Table};
use sixmark_sheet::{Block, setting};

/// Returns the number of imported cells in words; empty if there are none.
pub(super) fn describe_imported(result: &StudyResult) -> String {
    match result.imported().count() {
        0 => String::new(),
        1 => "1 imported cell".to_owned(),
        n => format!("{n} imported cells"),
    }
}

/// Imported cells of the same tool at levels that nothing was measured at.
struct ImportedGroup<'a> {
    at: Vec<&'a At>,
    from: &'a ImportedFrom,
    cells: u32,
}

/// Returns the levels that were imported with the tools that measured them, and each file.
pub(super) fn imported_blocks(result: &StudyResult, labels: &LevelLabels) -> Vec<Block> {
    let mut groups: Vec<ImportedGroup<'_>> = Vec::new();
    let mut files: Vec<Row> = Vec::new();
    for cell in result.imported() {
        let Some(from) = &cell.imported else { continue };
        let at = new_levels(result, cell);
        let is_same = |group: &&mut ImportedGroup<'_>| {
            let before = group.from;
            group.at == at && before.tool == from.tool && before.version == from.version
        };
        match groups.iter_mut().find(is_same) {
            Some(group) => group.cells += 1,
            None => groups.push(ImportedGroup { at, from, cells: 1 }),
        }
        files.push(file_row(cell, from));
    }
    if files.is_empty() {
        return Vec::new();
    }
    let columns = ["Level", "Tool", "Version"].map(Column::words).into_iter();
    let columns = columns.chain([Column::number("Cells")]).collect();
    let caption = "Imported levels: other machines measured them";
    let rows = groups.iter().map(|group| group_row(group, labels));
    let levels = Table::new(caption, columns, rows.collect());
    let columns = ["Cell", "File", "SHA-256", "Imported"].map(Column::words).into();
    let folded = format!("All {} files", files.len());
    let files = Table::new("Imported files", columns, files);
    vec![Block::Table(levels), Block::Folded(folded, vec![Block::Table(files)])]
}

/// Returns the levels of a cell at which the study measured nothing.
fn new_levels<'a>(result: &StudyResult, cell: &'a CellResult) -> Vec<&'a At> {
    let is_new = |at: &&At| !result.measured().any(|own| own.levels.contains(at));
    cell.levels.iter().filter(is_new).collect()
}

fn group_row(group: &ImportedGroup<'_>, labels: &LevelLabels) -> Row {
    let at = group.at.iter().map(|at| labels.with_factor(at));
    let version = group.from.version.as_deref().unwrap_or_default();
    let cells = vec![
        group.from.tool.as_str().into(),
        version.into(),
        SheetCell::Number(group.cells.to_string(), group.cells.into()),
    ];
    Row::new(at.collect::<Vec<_>>().join(", ").as_str(), cells)
}

fn file_row(cell: &CellResult, from: &ImportedFrom) -> Row {
    let cells = vec![
        from.file.as_str().into(),
        from.sha256.as_str().into(),
        setting::when(&from.at).as_str().into(),
    ];
    Row::new(cell.id.as_str(), cells)
}
