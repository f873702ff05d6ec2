//! Messages about a run without any usable response.

use sixmark_document::provenance::{Ended, Warning};
use sixmark_result::result::RunResult;
use sixmark_units::quantity::write_count;

/// Returns the warnings to print after the first `shown`, without those that repeat what
/// [`nothing_normal`] and the lines about failed look-ups and a search that was stopped say.
pub(super) fn new_doubts(result: &RunResult, shown: usize) -> impl Iterator<Item = &Warning> {
    let answered = result.total.accepted() > 0;
    let new = result.warnings.iter().skip(shown);
    let repeated = ["family_fell_away", "lookup_failed", "search_stopped"];
    new.filter(move |warning| answered && !repeated.contains(&warning.code.as_str()))
}

/// Returns one line about the families without any response of an accepted status: what happened
/// most often over each, and what to do. `None` if there is no such family.
pub(super) fn nothing_normal(result: &RunResult) -> Option<String> {
    if let Some(line) = interrupted_before(result) {
        return Some(line);
    }
    result.describe_no_answers()
}

/// Returns a message if the run was interrupted before all connections of `--preopen` were open.
fn interrupted_before(result: &RunResult) -> Option<String> {
    let plan = Some(&result.plan).filter(|plan| plan.connection.preopen)?;
    let nothing = result.ended == Ended::Interrupted && result.total.requests.sent == 0;
    // If all of them were open, the interruption came during the warm-up.
    let missing = result.total.connections.opened < u64::from(plan.load.connections.get());
    (nothing && missing).then(|| {
        format!(
            "interrupted before the load began, with {} of {} connections open; if no more could \
             be opened, the server has reached its limit on open files or connections: lower -c, \
             or raise that limit",
            write_count(result.total.connections.opened),
            write_count(plan.load.connections.get().into()),
        )
    })
}
