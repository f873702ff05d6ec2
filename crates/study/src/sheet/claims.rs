//! The table of findings, in the report of a study.

use crate::study_result::{ExchangeCount, FindingResult, FindingVerdict};

use super::interval;
use sixmark_sheet::Block;
use sixmark_sheet::table::{Column, Row, SheetCell, Table};
use sixmark_sheet::write;
use sixmark_sheet::write::{figure, write_count};

const CAPTION: &str = "Confirmed where the whole 95 % interval of the ratio agrees with the claim, \
                       or every exchange that was counted does";

/// Returns a table with a row for each finding, and a note for each that is not comparable.
pub(super) fn claims_table(findings: &[FindingResult]) -> Vec<Block> {
    if findings.is_empty() {
        return Vec::new();
    }
    let columns = vec![
        Column::words("Claim"),
        Column::words("Result"),
        Column::number("Measured"),
        Column::number("Interval"),
        Column::number("p").off_terminal(),
        Column::number("Repetitions"),
    ];
    let rows = findings.iter().map(row).collect();
    let table = Block::Table(Table::new(CAPTION, columns, rows));
    let unlike = findings.iter().filter_map(|found| {
        let why = found.unlike.as_ref()?;
        Some(Block::Text(format!("{}: not comparable: {why}.", found.text)))
    });
    std::iter::once(table).chain(unlike).collect()
}

fn row(found: &FindingResult) -> Row {
    let measured = match (found.count, found.ratio) {
        (Some(ExchangeCount { counted, sent }), _) => SheetCell::Number(
            format!("{} of {}", write_count(counted), write_count(sent)),
            counted as f64,
        ),
        (None, Some(ratio)) => {
            SheetCell::Number(format!("× {}", interval::write_ratio(ratio.value)), ratio.value)
        }
        (None, None) => SheetCell::none(),
    };
    let interval = found.ratio.and_then(|ratio| interval::of_ratio(ratio, "too few repetitions"));
    let p = |p: f64| SheetCell::Number(figure(p), p);
    let blocks = f64::from(found.blocks);
    let text = match found.published {
        true => format!("{} (published)", found.text),
        false => found.text.clone(),
    };
    let cells = vec![
        result(found.verdict).into(),
        measured,
        interval.unwrap_or_default().into(),
        found.p.map_or_else(SheetCell::none, p),
        SheetCell::Number(write::write_count(found.blocks.into()), blocks),
    ];
    Row::new(text, cells)
}

/// Formats the verdict with a symbol, so that it does not depend on the word alone.
fn result(verdict: FindingVerdict) -> String {
    let sign = match verdict {
        FindingVerdict::BorneOut => "✓",
        FindingVerdict::NotBorneOut => "✗",
        FindingVerdict::CannotTell => "?",
        FindingVerdict::NotComparable => "≠",
    };
    format!("{sign} {}", verdict.words())
}
