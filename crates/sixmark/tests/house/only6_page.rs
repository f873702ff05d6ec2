//! The tables of docs/only6.md are those of the source.

use sixmark_only6::app_finding::FINDINGS;
use sixmark_only6::app_scenario::SCENARIOS;

use crate::page_tables::check_tables;

fn scenario_rows() -> Vec<String> {
    let row = |of: &sixmark_only6::app_scenario::AppScenario| {
        let (client, server) = (of.client.words(), of.server.words());
        format!("| `{}` | {client} | {server} | {} | {} |\n", of.name, of.class.word(), of.about)
    };
    SCENARIOS.iter().map(row).collect()
}

fn finding_rows() -> Vec<String> {
    let row = |of: &sixmark_only6::app_finding::FindingKind| {
        let weight = of.weight.word();
        format!("| `{}` | {weight} | {} | {} | {} |\n", of.code, of.sentence, of.look, of.source)
    };
    FINDINGS.iter().map(row).collect()
}

#[test]
fn the_tables_of_docs_only6_match_the_source() {
    check_tables(
        "docs/only6.md",
        &[
            ("| scenario | client | server | class | network |", scenario_rows()),
            ("| finding | weight | what it is | where to look | source |", finding_rows()),
        ],
    );
}
