//! What a client does, as a sheet.

mod profile_table;

use sixmark_sheet::table::{Column, Row, SheetCell, Table};
use sixmark_sheet::timeline::Timeline;
use sixmark_sheet::write::write_time;
use sixmark_sheet::{Block, Part, Sheet, SheetHeadline, setting, terminal};
use sixmark_units::quantity::counted;

use crate::case_timeline::draw_case;
use crate::clause::{CLAUSES, ClauseFinding, ClauseState};
use crate::client_profile::AttemptDelay;
use crate::eyes_case::EyesCase;
use crate::eyes_result::{CaseResult, EyesGateResult, EyesResult};
use crate::figures::TimeSpread;
use profile_table::profile_table;

/// Returns the result as text for a terminal, without warnings.
pub fn eyes_text(result: &EyesResult) -> String {
    terminal::sheet_text(&Sheet { warnings: Vec::new(), ..eyes_sheet("", result) })
}

/// Returns the document as a sheet.
pub fn eyes_sheet(name: &str, result: &EyesResult) -> Sheet {
    let starts: u32 = result.cases.iter().map(|of| of.figures.starts).sum();
    let about =
        vec![counted(starts.into(), "start", "starts"), format!("{:.0} s", result.elapsed_s)];
    let timelines: Vec<Timeline> = result.cases.iter().filter_map(draw_case).collect();
    let timelines = (!timelines.is_empty()).then(|| {
        let blocks = vec![Block::Aside(TIMELINES.to_owned()), Block::Timelines(timelines)];
        Part::new("Timelines", blocks).map(Part::off_terminal)
    });
    let parts = [
        Part::new("Profile", vec![Block::Table(profile_table(&result.profile))]).map(Part::open),
        gate_part(&result.gates),
        Part::new("Cases", vec![Block::Table(case_table(result))]).map(Part::open),
        Part::new("Clauses", vec![Block::Table(clause_table(result))]).map(Part::open),
        timelines.flatten(),
        setting::setting_part(setting::machine(&result.environment, Vec::new(), &result.tool)),
    ];
    Sheet {
        name: name.to_owned(),
        kind: "Eyes",
        title: title(result),
        when: setting::when(&result.started),
        about,
        headline: headline(result),
        warnings: result.warnings.clone(),
        parts: parts.into_iter().flatten().collect(),
        ..Sheet::default()
    }
}

fn title(result: &EyesResult) -> String {
    match &result.served_on {
        Some(interface) => format!("a client beyond {interface}"),
        None => result.command.join(" "),
    }
}

/// What the pictures of cases show.
const TIMELINES: &str = "From the client's first packet on: queries until their answers, then attempts to \
                         connect until the other side answers, each by its address, with the request and \
                         the last of the content. Of each case the start with the median time to the \
                         content is drawn, and where the same began in the others.";

fn gate_part(gates: &[EyesGateResult]) -> Option<Part> {
    let columns = vec![Column::words("Gate"), Column::words("Result"), Column::words("Because")];
    let row = |of: &EyesGateResult| {
        let result = if of.failed { "failed" } else { "passed" };
        Row::new(of.gate.as_str(), vec![result.into(), of.because.as_str().into()])
    };
    let rows: Vec<Row> = gates.iter().map(row).collect();
    let blocks = if rows.is_empty() {
        Vec::new()
    } else {
        vec![Block::Table(Table::new("Gates", columns, rows))]
    };
    Part::new("Gates", blocks).map(Part::open).map(Part::off_terminal)
}

fn headline(result: &EyesResult) -> SheetHeadline {
    let all = result.cases.len();
    let survives = |of: &&CaseResult| of.figures.survived == of.figures.starts;
    let survived = result.cases.iter().filter(survives).count();
    let lost: Vec<&str> =
        result.cases.iter().filter(|of| !survives(of)).map(|of| of.case.as_str()).collect();
    let lost = if lost.is_empty() { String::new() } else { format!("; not {}", lost.join(", ")) };
    let state = |state: ClauseState| result.clauses.iter().filter(|of| of.state == state).count();
    let clauses = format!(
        "Of {} clauses {} are met, {} are not, {} were not shown.",
        result.clauses.len(),
        state(ClauseState::Met),
        state(ClauseState::NotMet),
        state(ClauseState::NotShown)
    );
    let failed = result.gates.iter().filter(|of| of.failed);
    let failed = failed.map(|of| format!("gate `{}`: {}", of.gate, of.because));
    SheetHeadline {
        sentence: format!("It gets the content in {survived} of {all} cases{lost}."),
        failed: failed.collect(),
        notes: describe_delay(result).into_iter().chain([clauses]).collect(),
        ..SheetHeadline::default()
    }
}

/// Says when the next attempt begins, and whether that is one delay.
fn describe_delay(result: &EyesResult) -> Option<String> {
    let AttemptDelay { all, is_fixed } = result.profile.attempt_delay?;
    Some(if is_fixed != Some(false) {
        format!("The next attempt begins after {}.", write_ms(all.median_ms))
    } else {
        let [least, largest] = [all.least_ms, all.largest_ms].map(write_ms);
        format!("The next attempt begins after {least} to {largest}.")
    })
}

fn write_ms(ms: f64) -> String {
    write_time(ms * 1e3)
}

fn case_table(result: &EyesResult) -> Table {
    let columns = vec![
        Column::words("Case"),
        Column::number("Content"),
        Column::number("After"),
        Column::number("Over IPv6"),
        Column::number("Next attempt"),
        Column::number("Addresses"),
        Column::words("Network").off_terminal(),
    ];
    let rows = result.cases.iter().map(case_row).collect();
    Table::new("What the client did, medians", columns, rows)
}

fn case_row(of: &CaseResult) -> Row {
    let figures = &of.figures;
    let time = |spread: Option<TimeSpread>| match spread {
        Some(spread) => SheetCell::Number(write_ms(spread.median_ms), spread.median_ms),
        None => SheetCell::none(),
    };
    let about = EyesCase::named(&of.case).map_or("", |case| case.about);
    Row::new(
        of.case.as_str(),
        vec![
            count_of(figures.survived, figures.starts),
            time(figures.content),
            count_of(figures.over_ipv6, figures.over_ipv6 + figures.over_ipv4),
            time(figures.attempt_delay),
            SheetCell::Number(figures.addresses_tried.to_string(), figures.addresses_tried.into()),
            about.into(),
        ],
    )
}

/// Returns a count of some, which is empty of none.
fn count_of(part: u32, whole: u32) -> SheetCell {
    match whole {
        0 => SheetCell::none(),
        _ => SheetCell::Number(format!("{part} of {whole}"), part.into()),
    }
}

fn clause_table(result: &EyesResult) -> Table {
    let columns = vec![
        Column::words("Clause"),
        Column::words("Level"),
        Column::words("State"),
        Column::number("Starts"),
        Column::words("Asks").off_terminal(),
        Column::words("Source").off_terminal(),
    ];
    let rows = result.clauses.iter().map(clause_row).collect();
    Table::new("What Happy Eyeballs asks for", columns, rows)
}

fn clause_row(of: &ClauseFinding) -> Row {
    let clause = CLAUSES.iter().find(|clause| clause.name == of.clause);
    let level = clause.map_or("", |clause| clause.level.word());
    let row = Row::new(
        of.clause.as_str(),
        vec![
            level.into(),
            of.state.word().into(),
            count_of(of.met, of.shown),
            clause.map_or("", |clause| clause.asks).into(),
            clause.map_or("", |clause| clause.source).into(),
        ],
    );
    // A terminal has no room for what says nothing.
    if of.state == ClauseState::NotShown { row.off_terminal() } else { row }
}
