//! The findings as a sheet, for pages and Markdown.

use sixmark_sheet::table::{Column, Row, Table};
use sixmark_sheet::{Block, Part, Sheet, SheetHeadline, setting};

use crate::doctor_result::{DoctorResult, of_state};
use crate::finding::{CheckState, Finding, Mend};
use crate::text::{describe_machine, describe_place, headline};

/// Returns the document as a sheet.
pub fn doctor_sheet(name: &str, result: &DoctorResult) -> Sheet {
    let parts = [
        Part::new("What works", vec![Block::Table(purposes(result))]).map(Part::open),
        findings(result, "Missing", CheckState::Missing).map(Part::open),
        findings(result, "Limited", CheckState::Limited).map(Part::open),
        findings(result, "Unknown", CheckState::Unknown),
        fine(result),
        setting::setting_part(setting::machine(&result.environment, Vec::new(), &result.tool)),
    ];
    let unmet = result.unmet.iter().map(|name| format!("required and not met: {name}"));
    Sheet {
        name: name.to_owned(),
        kind: "Doctor",
        title: "what this machine allows".to_owned(),
        when: setting::when(&result.started),
        about: vec![describe_machine(result)],
        headline: SheetHeadline {
            failed: unmet.collect(),
            sentence: headline(result),
            ..SheetHeadline::default()
        },
        parts: parts.into_iter().flatten().collect(),
        ..Sheet::default()
    }
}

fn purposes(result: &DoctorResult) -> Table {
    let row = |of: &crate::doctor_result::PurposeResult| {
        let state = match of.state {
            CheckState::Ok => "works",
            CheckState::Limited => "limited",
            CheckState::Unknown => "unknown",
            CheckState::Missing => "does not work",
        };
        let what = of.name.describe().replace('`', "");
        let because = of.because.join(", ");
        Row::new(of.name.name(), vec![state.into(), what.into(), because.into()])
    };
    let columns = ["Use", "State", "What it is", "Because of"].map(Column::words).into();
    Table::new("Uses", columns, result.purposes.iter().map(row).collect())
}

/// Returns the findings of a state, each with what mends it.
fn findings(result: &DoctorResult, heading: &'static str, state: CheckState) -> Option<Part> {
    let of = of_state(&result.checks, state);
    Part::new(heading, of.flat_map(|finding| blocks(result, finding)).collect())
}

fn blocks(result: &DoctorResult, finding: &Finding) -> Vec<Block> {
    let found = format!("{}: {}", finding.name, finding.found);
    let mut all = vec![Block::Heading(found), Block::Text(finding.means.clone())];
    all.extend(finding.mend.iter().map(|mend| Block::Text(describe_mend(result, mend))));
    all
}

fn describe_mend(result: &DoctorResult, mend: &Mend) -> String {
    let place = describe_place(result, mend.place);
    let place = if place.is_empty() { String::new() } else { format!(", {place}") };
    let advice = mend.advice.as_deref();
    match (&mend.command, advice) {
        (Some(command), Some(advice)) => format!("To mend{place}: `{command}` ({advice})"),
        (Some(command), None) => format!("To mend{place}: `{command}`"),
        (None, advice) => format!("To mend{place}: {}.", advice.unwrap_or_default()),
    }
}

fn fine(result: &DoctorResult) -> Option<Part> {
    let rows = of_state(&result.checks, CheckState::Ok).map(|finding| {
        let cells = vec![finding.found.clone().into(), finding.means.replace('`', "").into()];
        Row::new(finding.name.as_str(), cells)
    });
    let columns = ["Check", "Found", "What it means"].map(Column::words).into();
    let rows: Vec<Row> = rows.collect();
    let table = Table::new("In order", columns, rows);
    Part::new("In order", vec![Block::Table(table)])
        .filter(|_| of_state(&result.checks, CheckState::Ok).next().is_some())
}
