use super::*;
use sixmark_design::study_result::{CellOrder, FactorResult, SCHEMA, StudyFile, StudyResult};
use sixmark_document::provenance::{Environment, Tool};

/// Returns a study without any measured cell.
pub(crate) fn empty_study() -> StudyResult {
    StudyResult {
        schema: SCHEMA.into(),
        tool: Tool { name: "sixmark".into(), version: "0".into(), commit: None },
        name: "none".into(),
        title: "Nothing".into(),
        description: String::new(),
        differences: Vec::new(),
        file: StudyFile { name: "none.toml".into(), sha256: String::new() },
        quick: false,
        full: false,
        in_lab: false,
        lab: None,
        fleet: Vec::new(),
        seed: 1,
        order: CellOrder::Random,
        repetitions: 1,
        until: None,
        started: "2026-01-02T03:04:05.6Z".into(),
        updated: "2026-01-02T03:04:05.6Z".into(),
        ended: None,
        factors: vec![FactorResult {
            name: "size".into(),
            levels: vec!["1".into()],
            label: String::new(),
            unit: String::new(),
            labels: std::collections::BTreeMap::new(),
        }],
        omitted: Vec::new(),
        targets: std::collections::BTreeMap::new(),
        uncontrolled: Vec::new(),
        cells_planned: 2,
        cells: Vec::new(),
        tables: Vec::new(),
        figures: Vec::new(),
        comparisons: Vec::new(),
        claims: Vec::new(),
        published: None,
        environment: Environment::default(),
        programs: std::collections::BTreeMap::new(),
        resumed: Vec::new(),
        warnings: Vec::new(),
    }
}

#[test]
fn a_study_without_cells_reports_them_as_missing() {
    let document = Document::Study(Box::new(empty_study()));
    let sheet = sheet_of(Named { name: "none.json", document: &document });
    assert_eq!(sheet.headline.sentence, "0 cells were measured.");
    assert_eq!(sheet.headline.notes, ["2 of 2 cells are missing."]);
    assert_eq!(sheet.when, "2026-01-02 03:04:05 UTC");
    let headings: Vec<_> = sheet.parts.iter().map(|part| part.heading).collect();
    assert_eq!(headings, ["How it was measured"]);
}
