//! The findings as text for a terminal.

use std::fmt::Write as _;

use sixmark_sheet::terminal::{hanging, plain, width, wrapped};
use sixmark_sheet::write::{capitalised, write_sentence};
use sixmark_units::quantity::counted;

use crate::doctor_result::{DoctorResult, of_state};
use crate::finding::{CheckState, Finding, Mend, MendPlace};

/// The states that need attention, the most serious first, with their headings.
const ATTENTION: [(CheckState, &str); 3] = [
    (CheckState::Missing, "MISSING"),
    (CheckState::Limited, "LIMITED"),
    (CheckState::Unknown, "UNKNOWN"),
];

/// How much is shown of what is in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoctorDetail {
    /// A line for each check.
    Short,
    /// What was found, and what it means.
    Full,
}

/// Returns the findings as text that ends with a line feed: what works, then what is missing,
/// limited or unknown with the commands that mend it, then what is in order. Lines have at most 80
/// characters but for commands, which begin with `$`.
pub fn doctor_text(result: &DoctorResult, detail: DoctorDetail) -> String {
    let mut text = String::new();
    line(&mut text, &describe_machine(result));
    text.push('\n');
    write_purposes(&mut text, result);
    for (state, heading) in ATTENTION {
        let mut found = of_state(&result.checks, state).peekable();
        if found.peek().is_some() {
            let _ = write!(text, "\n{heading}\n");
        }
        for (number, finding) in found.enumerate() {
            if number > 0 {
                text.push('\n');
            }
            write_finding(&mut text, result, finding);
        }
    }
    let mut fine = of_state(&result.checks, CheckState::Ok).peekable();
    if fine.peek().is_some() {
        text.push_str("\nIN ORDER\n");
    }
    match detail {
        DoctorDetail::Full => fine.for_each(|finding| write_finding(&mut text, result, finding)),
        DoctorDetail::Short => write_short(&mut text, &fine.collect::<Vec<_>>()),
    }
    text
}

/// Returns the machine in a sentence.
pub(crate) fn describe_machine(result: &DoctorResult) -> String {
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
pub(crate) fn purposes_of(result: &DoctorResult, state: CheckState) -> Vec<String> {
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

fn write_purposes(text: &mut String, result: &DoctorResult) {
    for (state, begin) in [
        (CheckState::Ok, "works"),
        (CheckState::Limited, "limited"),
        (CheckState::Unknown, "unknown"),
        (CheckState::Missing, "does not work"),
    ] {
        let names = purposes_of(result, state);
        if !names.is_empty() {
            // The width of the longest beginning.
            indented(text, &format!("{begin:<15}"), &names.join(", "));
        }
    }
    if !result.unmet.is_empty() {
        indented(text, &format!("{:<15}", "not met"), &result.unmet.join(", "));
    }
}

fn write_finding(text: &mut String, result: &DoctorResult, finding: &Finding) {
    line(text, &format!("{}: {}", finding.name, finding.found));
    indented(text, "  ", &finding.means.replace('`', ""));
    for mend in &finding.mend {
        write_mend(text, result, mend);
    }
}

fn write_mend(text: &mut String, result: &DoctorResult, mend: &Mend) {
    let place = describe_place(result, mend.place);
    let advice = mend.advice.as_deref().unwrap_or_default().replace('`', "");
    let Some(command) = &mend.command else {
        let place = if place.is_empty() { String::new() } else { format!(", {place}") };
        indented(text, "  ", &format!("To mend{place}: {}", write_advice(&advice)));
        return;
    };
    let phrases: Vec<&str> =
        [place, &advice].into_iter().filter(|words| !words.is_empty()).collect();
    let said = if phrases.is_empty() {
        "To mend:".to_owned()
    } else {
        format!("To mend ({}):", phrases.join("; "))
    };
    indented(text, "  ", &said);
    let _ = writeln!(text, "$ {}", plain(command));
}

fn write_advice(advice: &str) -> String {
    if advice.ends_with('.') { advice.to_owned() } else { format!("{advice}.") }
}

/// Returns where a command mends something, in a few words; empty if that is here and by this user.
pub(crate) fn describe_place(result: &DoctorResult, place: MendPlace) -> &'static str {
    match place {
        MendPlace::Here => "",
        MendPlace::Root if result.user == Some(0) => "",
        MendPlace::Root => "as root",
        MendPlace::Host => "as root of the machine that runs the container",
        MendPlace::Start => "where the container is started",
    }
}

/// Writes a line for each check, cut to the width.
fn write_short(text: &mut String, checks: &[&Finding]) {
    let name_width = checks.iter().map(|check| check.name.len()).max().unwrap_or(0) + 2;
    for check in checks {
        let words = plain(&check.found);
        let room = width().saturating_sub(name_width);
        let shown: String = if words.chars().count() > room {
            words.chars().take(room.saturating_sub(3)).chain("...".chars()).collect()
        } else {
            words
        };
        let _ = writeln!(text, "{:<name_width$}{shown}", check.name);
    }
}

/// Writes a sentence whose continuation lines are indented by two.
fn line(text: &mut String, sentence: &str) {
    let _ = writeln!(text, "{}", plain(&hanging(sentence, width())));
}

/// Writes words behind `begin`, with continuation lines below the first word.
fn indented(text: &mut String, begin: &str, words: &str) {
    let indent = begin.chars().count();
    let lines = plain(&wrapped(words, width().saturating_sub(indent)));
    let space = format!("\n{}", " ".repeat(indent));
    let _ = writeln!(text, "{begin}{}", lines.replace('\n', &space));
}

/// Returns the answer in a sentence.
pub(crate) fn headline(result: &DoctorResult) -> String {
    let missing = purposes_of(result, CheckState::Missing);
    if missing.is_empty() {
        "Every use of sixmark works on this machine.".to_owned()
    } else {
        write_sentence(&capitalised(&format!("does not work: {}", missing.join(", "))))
    }
}
