//! The findings as a sheet.

use sixmark_sheet::table::{Column, Row, Table};
use sixmark_sheet::write::{capitalised, write_sentence};
use sixmark_sheet::{Block, Part, Sheet, SheetHeadline, setting, terminal};
use sixmark_units::quantity::counted;

use crate::doctor_result::{DoctorResult, of_state};
use crate::finding::{CheckState, Finding, Mend, MendPlace};

/// How much a terminal shows of what is in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoctorDetail {
    /// What was found.
    Short,
    /// What was found, and what it means.
    Full,
}

/// Returns the findings as text for a terminal: what works, then what is missing, limited or unknown
/// with the commands that mend it, then what is in order. It ends with a line feed. Commands, which
/// begin with `$`, are not wrapped.
pub fn doctor_text(result: &DoctorResult, detail: DoctorDetail) -> String {
    terminal::sheet_text(&sheet_of("", result, detail))
}

/// Returns the document as a sheet.
pub fn doctor_sheet(name: &str, result: &DoctorResult) -> Sheet {
    sheet_of(name, result, DoctorDetail::Full)
}

fn sheet_of(name: &str, result: &DoctorResult, detail: DoctorDetail) -> Sheet {
    let parts = [
        Part::new("What works", vec![Block::Table(purposes(result))]).map(Part::open),
        findings(result, "Missing", CheckState::Missing).map(Part::open),
        findings(result, "Limited", CheckState::Limited).map(Part::open),
        findings(result, "Unknown", CheckState::Unknown),
        fine(result, detail),
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
    let [name, state, what, because] =
        ["Use", "State", "What it is", "Because of"].map(Column::words);
    let columns = vec![name, state, what.off_terminal(), because];
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
    finding.mend.iter().for_each(|mend| all.extend(mend_blocks(result, mend)));
    all
}

/// Returns what mends something: a command and where it is run, or advice.
fn mend_blocks(result: &DoctorResult, mend: &Mend) -> Vec<Block> {
    let place = describe_place(result, mend.place);
    let advice = mend.advice.as_deref().unwrap_or_default();
    let Some(command) = &mend.command else {
        let place = if place.is_empty() { String::new() } else { format!(", {place}") };
        let stop = if advice.ends_with('.') { "" } else { "." };
        return vec![Block::Text(format!("To mend{place}: {advice}{stop}"))];
    };
    let phrases: Vec<&str> =
        [place, advice].into_iter().filter(|words| !words.is_empty()).collect();
    let said = if phrases.is_empty() {
        "To mend:".to_owned()
    } else {
        format!("To mend ({}):", phrases.join("; "))
    };
    vec![Block::Text(said), Block::Command(command.clone())]
}

fn fine(result: &DoctorResult, detail: DoctorDetail) -> Option<Part> {
    let rows = of_state(&result.checks, CheckState::Ok).map(|finding| {
        let cells = vec![finding.found.clone().into(), finding.means.replace('`', "").into()];
        Row::new(finding.name.as_str(), cells)
    });
    let [name, found, means] = ["Check", "Found", "What it means"].map(Column::words);
    let columns = match detail {
        DoctorDetail::Short => vec![name, found, means.off_terminal()],
        DoctorDetail::Full => vec![name, found, means],
    };
    let rows: Vec<Row> = rows.collect();
    let table = Table::new("In order", columns, rows);
    Part::new("In order", vec![Block::Table(table)])
        .filter(|_| of_state(&result.checks, CheckState::Ok).next().is_some())
}

/// Returns the machine in a sentence.
fn describe_machine(result: &DoctorResult) -> String {
    let environment = &result.environment;
    let user = match result.user {
        Some(0) => "as root".to_owned(),
        Some(user) => format!("as user {user}"),
        None => "as an unknown user".to_owned(),
    };
    let cpu = Some(&environment.cpu).filter(|cpu| !cpu.is_empty());
    let cores = counted(environment.cores as u64, "core", "cores");
    let place = result.container.as_ref().map(|kind| format!("in a container ({kind})"));
    let all = [Some(environment.kernel.clone()), cpu.cloned(), Some(cores), place, Some(user)];
    all.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Returns the names of the purposes of a state; those that don't work with the checks that prevent
/// them.
fn purposes_of(result: &DoctorResult, state: CheckState) -> Vec<String> {
    let of = result.purposes.iter().filter(|purpose| purpose.state == state);
    let name = |of: &crate::doctor_result::PurposeResult| {
        if of.because.is_empty() {
            of.name.name().to_owned()
        } else {
            format!("{} ({})", of.name.name(), of.because.join(", "))
        }
    };
    of.map(name).collect()
}

/// Returns where a command mends something, in a few words; empty if that is here and by this user.
fn describe_place(result: &DoctorResult, place: MendPlace) -> &'static str {
    match place {
        MendPlace::Here => "",
        MendPlace::Root if result.user == Some(0) => "",
        MendPlace::Root => "as root",
        MendPlace::Host => "as root of the machine that runs the container",
        MendPlace::Start => "where the container is started",
    }
}

/// Returns the answer in a sentence.
fn headline(result: &DoctorResult) -> String {
    let missing = purposes_of(result, CheckState::Missing);
    if missing.is_empty() {
        "Every use of sixmark works on this machine.".to_owned()
    } else {
        write_sentence(&capitalised(&format!("does not work: {}", missing.join(", "))))
    }
}
