//! The report on a watch.

use crate::answer::watch_answer;
use crate::describe_unseen;
use crate::secure_sheet::secure_part;
use crate::watch_result::WatchResult;

use crate::watched_sheet as watched;
use sixmark_report::gate_text::write_gates;
use sixmark_report::sheet::failed::failed_altogether;
use sixmark_report::sheet::figures;
use sixmark_report::sheet::measured::measured_parts;
use sixmark_report::sheet::side::Sides;
use sixmark_sheet::{Block, Sheet, SheetHeadline, setting, terminal, write};
use sixmark_units::quantity::counted;

/// Returns the report as text for a terminal, without warnings. It ends with a line feed.
pub fn watch_text(result: &WatchResult) -> String {
    let sheet = Sheet { warnings: Vec::new(), ..watch_sheet("", result) };
    let mut text = terminal::sheet_text(&sheet);
    write_gates(&mut text, &result.gates);
    text
}

/// The note for figures of both families, since neither the clients nor the requests were chosen.
const AS_SEEN: &str = "Clients and requests of the two families may differ: these figures are what \
                       was seen, not a comparison.";

/// Returns the report.
pub fn watch_sheet(name: &str, result: &WatchResult) -> Sheet {
    let measurement = result;
    let sides = Sides::of_families(measurement);
    let hides_all = sides.hides_all();
    // If no exchange can be seen, the packet statistics come first.
    let seen = [secure_part(&result.watched), watched::watched_part(&result.watched)];
    let (before, after) = if hides_all { (seen, [None, None]) } else { ([None, None], seen) };
    let (before, after) = (before.into_iter().flatten(), after.into_iter().flatten());
    let parts = before.chain(measured_parts(measurement, &sides)).chain(after);
    let parts = parts.chain(setting::setting_part(machine(result)));
    Sheet {
        name: name.to_owned(),
        kind: "Watch",
        title: result.watched.names().collect::<Vec<_>>().join(", "),
        when: setting::when(&result.started),
        about: describe_watch(result, hides_all),
        headline: watch_headline(result),
        tiles: if hides_all { watched::tiles(&result.watched) } else { figures::tiles(&sides) },
        warnings: result.warnings.clone(),
        parts: parts.collect(),
    }
}

/// Returns how long the watch took, how much was seen, and how it ended.
fn describe_watch(result: &WatchResult, hides_all: bool) -> Vec<String> {
    let connections = watched::count_connections(&result.watched);
    let seen = if hides_all {
        String::new()
    } else {
        counted(result.total.requests.sent, "request", "requests")
    };
    let ports = result.watched.ports.iter().map(u16::to_string).collect::<Vec<_>>().join(", ");
    let ports = if ports.is_empty() { "any port".to_owned() } else { format!("port {ports}") };
    let said = [
        write::write_time(result.elapsed_s * 1e6),
        format!("{} packets", write::write_count(result.watched.packets)),
        format!("{} to {ports}", counted(connections, "connection", "connections")),
        seen,
        setting::describe_end(result.ended).to_owned(),
    ];
    said.into_iter().filter(|phrase| !phrase.is_empty()).collect()
}

/// Returns the headline: what failed altogether, and what was found in one sentence.
pub(super) fn watch_headline(result: &WatchResult) -> SheetHeadline {
    let sides = Sides::of_families(result);
    let failed = failed_altogether(&sides, &result.gates);
    SheetHeadline { failed, ..conclusion(result, &sides) }
}

fn conclusion(result: &WatchResult, sides: &Sides<'_>) -> SheetHeadline {
    // If some can be read, the sentence says how many can't.
    let hidden = describe_unseen(&result.watched.seen()).filter(|_| sides.hides_all());
    let hidden = hidden.map(|line| write::write_sentence(&line));
    let timed = sides.all.iter().filter(|side| side.figures.response_us.p50.is_some());
    let as_seen = (timed.count() > 1).then(|| AS_SEEN.to_owned());
    SheetHeadline {
        sentence: watch_answer(result),
        notes: hidden.into_iter().chain(as_seen).collect(),
        ..SheetHeadline::default()
    }
}

fn machine(result: &WatchResult) -> Vec<Block> {
    setting::machine(&result.environment, Vec::new(), &result.tool)
}
