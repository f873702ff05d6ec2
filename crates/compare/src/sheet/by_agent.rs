//! What each agent of a fleet measured by itself.

use super::intervals::write_range;
use crate::by_agent::AgentComparison;
use crate::comparison_result::ComparisonResult;
use sixmark_document::verdict::Verdict;
use sixmark_report::sheet::families::change_of;
use sixmark_sheet::table::{Column, Row, SheetCell, Table};
use sixmark_sheet::{Block, Part, write};
use sixmark_tally::metric::Metric;
use sixmark_tally::timed_phase::{TimePoint, TimedPhase};

/// The most agents that a sentence names of each verdict.
const MOST_NAMED: usize = 4;

/// Returns a sentence about which agents saw which difference; `None` without a fleet.
pub(super) fn agents_sentence(result: &ComparisonResult) -> Option<String> {
    let agents = &result.comparison.by_agent;
    let groups = [
        (Verdict::Worse, "worse from"),
        (Verdict::Better, "better from"),
        (Verdict::Equivalent, "equivalent from"),
        (Verdict::Inconclusive, "not decided from"),
        (Verdict::NotComparable, "not comparable from"),
    ];
    let group = |(verdict, begin): (Verdict, &str)| {
        let of: Vec<&AgentComparison> = agents.iter().filter(|of| of.verdict == verdict).collect();
        let named = of.iter().take(MOST_NAMED).map(|of| name_agent(of));
        let more = of.len().saturating_sub(MOST_NAMED);
        let more = (more > 0).then(|| format!("{} more", write::write_count(more as u64)));
        let all: Vec<String> = named.chain(more).collect();
        (!all.is_empty()).then(|| format!("{begin} {}", all.join(", ")))
    };
    let said: Vec<String> = groups.into_iter().filter_map(group).collect();
    (!said.is_empty()).then(|| format!("By agent: {}.", said.join("; ")))
}

fn name_agent(of: &AgentComparison) -> String {
    match of.cause {
        Some(cause) => format!("{} ({})", of.agent, cause.noun()),
        None => of.agent.clone(),
    }
}

/// Returns the table of the agents; `None` without a fleet.
pub(super) fn agents_part(result: &ComparisonResult) -> Option<Part> {
    let comparison = &result.comparison;
    if comparison.by_agent.is_empty() {
        return None;
    }
    let columns = vec![
        Column::words("Agent"),
        Column::words("Verdict"),
        Column::number("Change"),
        Column::number("Interval"),
        Column::words("Largest cause"),
    ];
    let median = Metric::Time(TimedPhase::Response, TimePoint::P50);
    let row = |of: &AgentComparison| {
        let change = of.ratio.map(change_of);
        let shown = |value: f64| SheetCell::Number(write::change(value), value);
        let cells = vec![
            SheetCell::Verdict(of.verdict),
            change.map_or_else(SheetCell::none, |of| shown(of.value)),
            change.map_or_else(SheetCell::none, |of| write_range(median, of).into()),
            of.cause.map_or_else(SheetCell::none, |of| of.noun().into()),
        ];
        Row::new(of.agent.as_str(), cells)
    };
    let rows = comparison.by_agent.iter().map(row).collect();
    let caption = "The median response as each agent measured it, corrected over all agents";
    Part::new("By agent", vec![Block::Table(Table::new(caption, columns, rows))])
}
