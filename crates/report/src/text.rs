//! A run as text for a terminal: every figure, or the conclusion and the few figures that support it.

mod answer;

use sixmark_plan::pace::Pace;
use sixmark_plan::plan::Plan;
use sixmark_result::result::RunResult;
use sixmark_sheet::{Sheet, terminal};
use sixmark_units::quantity::write_count;

use crate::gate_text::write_gates;
use crate::sheet::run::run_sheet;

/// How much of a document is shown on a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The conclusion, and the few figures that support it.
    Answer,
    /// Every figure.
    Full,
}

/// Formats a run for a terminal, without its warnings, at most 80 columns wide except for long URLs.
/// The text ends with a line feed.
pub fn run_text(run: &RunResult, detail: Detail) -> String {
    let mut text = match detail {
        Detail::Answer => answer::run_answer(run),
        Detail::Full => terminal::sheet_text(&Sheet { warnings: Vec::new(), ..run_sheet("", run) }),
    };
    write_gates(&mut text, &run.gates);
    text
}

/// Describes the loop, the concurrency, and the ratio unless the plan is that of a search.
pub(crate) fn pace_text(plan: &Plan, searches: bool) -> String {
    let load = &plan.load;
    let in_flight = write_count(plan.in_flight());
    let ratio = plan.ratio;
    match &load.pace {
        Pace::Open(open) if searches => {
            format!("open loop, {}, at most {in_flight} in flight", open.arrivals)
        }
        Pace::Closed => format!("closed loop, {in_flight} in flight, IPv6:IPv4 {ratio}"),
        Pace::Open(open) => {
            format!("open loop, {open}, at most {in_flight} in flight, IPv6:IPv4 {ratio}")
        }
    }
}
