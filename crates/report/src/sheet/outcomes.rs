//! How exchanges ended, and why those that failed did.

use std::collections::BTreeSet;

use sixmark_tally::family_result::FamilyResult;
use sixmark_tally::outcome::Outcome;

use super::side::Sides;
use sixmark_sheet::table::{Column, Row, SheetCell, Table};
use sixmark_sheet::{Block, Part, write};

/// Returns the outcomes, the failures in detail, results by address, failed checks and status
/// codes; `None` if no exchanges could be observed.
pub fn outcomes_part(sides: &Sides<'_>) -> Option<Part> {
    if sides.hides_all() {
        return None;
    }
    let mut blocks = vec![Block::Table(outcomes(sides))];
    let others = [failures(sides), addresses_block(sides), content(sides), status_block(sides)];
    blocks.extend(others.into_iter().flatten());
    Part::new("Outcomes", blocks)
}

fn outcomes(sides: &Sides<'_>) -> Table {
    let occurred = |outcome: &Outcome| {
        let there = |f: &FamilyResult| f.outcomes.contains_key(outcome.name());
        sides.all.iter().any(|side| there(side.figures))
    };
    let row = |outcome: Outcome| {
        let cell = |f: &FamilyResult| {
            let count = f.outcome(outcome);
            // A part of the share of failures, which is one of the exchanges that ended.
            let share = count as f64 / f.ended().max(1) as f64;
            let share = match outcome {
                Outcome::Normal | Outcome::Abandoned => String::new(),
                _ => format!(" ({})", write::write_percent(share)),
            };
            SheetCell::Number(write::write_count(count) + &share, count as f64)
        };
        let cells = sides
            .all
            .iter()
            .map(|side| if side.hidden { SheetCell::none() } else { cell(side.figures) });
        let meaning = std::iter::once(SheetCell::from(meaning(outcome)));
        Row::new(outcome.name(), cells.chain(meaning).collect())
    };
    let rows = Outcome::ALL.into_iter().filter(occurred).map(row).collect();
    let mut columns = sides.columns("Outcome");
    columns.push(Column::words("Meaning"));
    Table::new("Exchanges by outcome", columns, rows)
}

fn meaning(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Normal => "a complete response",
        Outcome::Reset => "reset by the peer",
        Outcome::Timeout => "took longer than the timeout",
        Outcome::Refused => "nothing listens there",
        Outcome::Unreachable => "network or host unreachable",
        Outcome::Truncated => "connection closed before the end of the response",
        Outcome::Protocol => "violates HTTP",
        Outcome::Tls => "TLS failed",
        Outcome::Content => "failed a check",
        Outcome::NoPort => "no local port left",
        Outcome::Local => "this host refused",
        Outcome::Unanswered => "in flight at the end, older than other exchanges can explain",
        Outcome::Abandoned => "cut off by the end of the run; not a failure",
    }
}

fn failures(sides: &Sides<'_>) -> Option<Block> {
    let mut rows = Vec::new();
    for side in &sides.all {
        for failed in &side.figures.failures {
            let failure = &failed.failure;
            let errno = failure.errno.map(|errno| format!("errno {errno}"));
            let cause = failure.cause.map(|cause| cause.text().to_owned());
            let words = [errno, failure.spoken_code(side.version), cause].into_iter().flatten();
            let cells = vec![
                failure.outcome.name().into(),
                failure.phase.to_string().into(),
                words.collect::<Vec<_>>().join(", ").into(),
                SheetCell::Number(write::write_count(failed.count), failed.count as f64),
            ];
            rows.push(Row::new(side.name.clone(), cells));
        }
    }
    let columns = ["Side", "Outcome", "In", "Because"].map(Column::words);
    let columns = columns.into_iter().chain([Column::number("Exchanges")]).collect();
    some("Failures by phase", columns, rows)
}

/// Returns the results by address, if there are several addresses and any exchange failed.
fn addresses_block(sides: &Sides<'_>) -> Option<Block> {
    let mut rows = Vec::new();
    for side in &sides.all {
        for of in &side.figures.by_address {
            let most = of.usual_failure().unwrap_or_default();
            let number = |count: u64| SheetCell::Number(write::write_count(count), count as f64);
            let cells = vec![
                of.address.to_string().into(),
                number(of.ended),
                number(of.completed),
                number(of.unaccepted),
                most.into(),
            ];
            rows.push(Row::new(side.name.clone(), cells));
        }
    }
    let failed = sides.any(|f| Some(f.failed() as f64));
    let columns = [Column::words("Side"), Column::words("Address")];
    let counted = ["Exchanges", "Complete responses", "Unaccepted"].map(Column::number);
    let columns = columns.into_iter().chain(counted).chain([Column::words("Failed")]).collect();
    some("Results by address", columns, rows).filter(|_| failed)
}

fn content(sides: &Sides<'_>) -> Option<Block> {
    let mut rows = Vec::new();
    for side in &sides.all {
        for failed in &side.figures.content {
            let sample = failed.samples.first();
            let found = sample
                .map_or(String::new(), |first| format!("{} found {}", first.request, first.found));
            let cells = vec![
                failed.check.as_str().into(),
                found.into(),
                SheetCell::Number(write::write_count(failed.count), failed.count as f64),
            ];
            rows.push(Row::new(side.name.clone(), cells));
        }
    }
    let columns = ["Side", "Check", "For example"].map(Column::words);
    let columns = columns.into_iter().chain([Column::number("Responses")]).collect();
    some("Failed checks", columns, rows)
}

/// Returns the status codes, or `None` if they are all 200.
fn status_block(sides: &Sides<'_>) -> Option<Block> {
    let codes: BTreeSet<u16> =
        sides.all.iter().flat_map(|side| side.figures.status.keys().copied()).collect();
    if codes.iter().all(|&code| code == 200) {
        return None;
    }
    let row = |code: &u16| {
        let number = |f: &FamilyResult| f.status.get(code).copied().unwrap_or(0);
        let cell = |figures: &FamilyResult| {
            let count = number(figures);
            let share = count as f64 / figures.requests.completed.max(1) as f64;
            let words = format!("{} ({})", write::write_count(count), write::write_percent(share));
            SheetCell::Number(words, count as f64)
        };
        let cells = sides.all.iter().map(|side| cell(side.figures)).collect();
        Row::new(code.to_string(), cells)
    };
    some("Responses by status", sides.columns("Status"), codes.iter().map(row).collect())
}

fn some(caption: &str, columns: Vec<Column>, rows: Vec<Row>) -> Option<Block> {
    (!rows.is_empty()).then(|| Block::Table(Table::new(caption, columns, rows)))
}

#[cfg(test)]
mod tests;
