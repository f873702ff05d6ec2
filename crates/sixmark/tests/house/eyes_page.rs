//! The tables of docs/eyes.md are those of the source.

use std::fs;

use sixmark_eyes::clause::CLAUSES;
use sixmark_eyes::eyes_case::CASES;
use sixmark_eyes::eyes_gate::{EYES_FIGURES, EyesFigureOf};
use sixmark_result::expression::GivenKind;

/// Writes the page anew where it is set, instead of comparing.
const UPDATE: &str = "SIXMARK_UPDATE_DOCS";

/// Returns the page with these rows below the head of a table, in the place of those that it has.
fn with_rows(page: &str, head: &str, rows: &[String]) -> String {
    let begin = page.find(head).expect("the page has the head of the table");
    let ruled = page[begin + head.len() + 1..].find('\n').unwrap();
    let first = begin + head.len() + 1 + ruled + 1;
    let old: usize = page[first..]
        .split_inclusive('\n')
        .take_while(|line| line.starts_with('|'))
        .map(str::len)
        .sum();
    format!("{}{}{}", &page[..first], rows.concat(), &page[first + old..])
}

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
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/eyes.md");
    let kept = fs::read_to_string(path).unwrap();
    let page = with_rows(&kept, "| case | network |", &case_rows());
    let head = "| clause | level | what it asks for | source | shown by |";
    let page = with_rows(&page, head, &clause_rows());
    let page = with_rows(&page, "| figure | type | what it is |", &figure_rows());
    if std::env::var_os(UPDATE).is_some() {
        fs::write(path, &page).unwrap();
        return;
    }
    assert!(
        kept == page,
        "docs/eyes.md differs from the source: {UPDATE}=1 cargo test -p sixmark --test house"
    );
}
