//! What nobody set, where a study was carried out without its lab.

use sixmark_design::levels::LevelLabels;
use sixmark_design::study_result::{StudyResult, UncontrolledSetting};
use sixmark_sheet::Block;
use sixmark_sheet::table::{Column, Row, Table};

/// Returns the servers that the study loaded, and a table of what its lab would have set; no block if
/// the study started its servers itself.
pub(super) fn blocks(result: &StudyResult, labels: &LevelLabels) -> Vec<Block> {
    let servers = result.targets.iter().map(|(service, urls)| match service.as_str() {
        "" => urls.join(", "),
        service => format!("{service}: {}", urls.join(", ")),
    });
    let servers: Vec<String> = servers.collect();
    if servers.is_empty() {
        return Vec::new();
    }
    let line = format!("The study did not start its servers. It loaded {}.", servers.join("; "));
    let rows: Vec<Row> = result.uncontrolled.iter().map(|of| row(of, labels)).collect();
    let columns = ["", "Setting", "For", "The lab's value", "Found"].map(Column::words).into();
    let caption = "What the study's lab would have set, and what was found instead";
    let table = (!rows.is_empty()).then(|| Block::Table(Table::new(caption, columns, rows)));
    std::iter::once(Block::Text(line)).chain(table).collect()
}

fn row(of: &UncontrolledSetting, labels: &LevelLabels) -> Row {
    let found = of.found.as_deref().unwrap_or("not known");
    let found = if of.is_otherwise() { format!("≠ {found}") } else { found.to_owned() };
    let levels = labels.levels(&of.levels);
    let levels = if levels.is_empty() { "all cells".to_owned() } else { levels };
    let cells = vec![
        of.name.as_str().into(),
        levels.as_str().into(),
        of.wanted.as_str().into(),
        found.as_str().into(),
    ];
    Row::new(of.place.word(), cells)
}
