//! The tables of docs/eyes.md are those of the source.

use sixmark_eyes::clause::CLAUSES;
use sixmark_eyes::eyes_case::CASES;
use sixmark_eyes::eyes_gate::{EYES_FIGURES, EyesFigureOf};
use sixmark_result::expression::GivenKind;

use crate::page_tables::check_tables;

fn case_rows() -> Vec<String> {
    CASES.iter().map(|case| format!("| `{}` | {} |\n", case.name, case.about)).collect()
}

fn clause_rows() -> Vec<String> {
    let row = |of: &sixmark_eyes::clause::Clause| {
        let cases: Vec<String> = of.cases.iter().map(|case| format!("`{case}`")).collect();
        let (name, level, asks) = (of.name, of.level.word(), of.asks.trim_end_matches('.'));
        format!("| `{name}` | {level} | {asks} | {} | {} |\n", of.source, cases.join(", "))
    };
    CLAUSES.iter().map(row).collect()
}

fn figure_rows() -> Vec<String> {
    let row = |of: &sixmark_eyes::eyes_gate::EyesFigure| {
        let written = match of.of {
            EyesFigureOf::Case => format!("`{}(CASE)`", of.name),
            EyesFigureOf::CaseOrAll => format!("`{0}(CASE)`, `{0}`", of.name),
            EyesFigureOf::Clause => format!("`{}(CLAUSE)`", of.name),
        };
        let kind = match of.kind {
            GivenKind::Condition => "a condition",
            GivenKind::Value(dimension) => dimension.noun(),
        };
        format!("| {written} | {kind} | {} |\n", of.about)
    };
    EYES_FIGURES.iter().map(row).collect()
}

#[test]
fn the_tables_of_docs_eyes_match_the_source() {
    let clauses = "| clause | level | what it asks for | source | shown by |";
    check_tables(
        "docs/eyes.md",
        &[
            ("| case | network |", case_rows()),
            (clauses, clause_rows()),
            ("| figure | type | what it is |", figure_rows()),
        ],
    );
}
