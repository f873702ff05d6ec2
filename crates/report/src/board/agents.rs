//! What a live view shows of each agent of a fleet.

use std::collections::BTreeMap;
use std::sync::Arc;

use sixmark_sheet::board::{BoardColumn, BoardPage, BoardRow};
use sixmark_units::quantity::write_count;

use sixmark_tally::tally::Slice;

/// The counts of each agent by its name. Without a fleet there are none.
#[derive(Debug, Default)]
pub(super) struct AgentRows(BTreeMap<Arc<str>, AgentCounts>);

/// Exchanges of an agent.
#[derive(Debug, Default)]
struct AgentCounts {
    second: u64,
    /// Complete responses in the second.
    latest: u64,
    sent: u64,
    completed: u64,
    ended: u64,
    failed: u64,
}

impl AgentRows {
    /// Adds the counts of a worker of an agent.
    pub(super) fn see(&mut self, slice: &Slice) {
        let Some(agent) = &slice.agent else { return };
        let counts = self.0.entry(Arc::clone(agent)).or_default();
        if counts.second != slice.second {
            (counts.second, counts.latest) = (slice.second, 0);
        }
        for (_, of) in slice.families.iter() {
            counts.latest += of.completed;
            counts.sent += of.sent;
            counts.completed += of.completed;
            counts.ended += of.ended();
            counts.failed += of.failed;
        }
    }

    /// Returns the page. Agents with failures are first.
    pub(super) fn page(&self) -> Option<BoardPage> {
        let column = |name: &str| BoardColumn { name: name.to_owned(), traces: Vec::new() };
        let row = |(agent, of): (&Arc<str>, &AgentCounts)| {
            let in_flight = of.sent.saturating_sub(of.ended);
            BoardRow {
                label: agent.to_string(),
                figures: [of.latest, of.completed, of.failed, in_flight].map(write_count).into(),
                bad: of.failed > 0,
            }
        };
        let mut rows: Vec<BoardRow> = self.0.iter().map(row).collect();
        rows.sort_by_key(|row| !row.bad);
        (!rows.is_empty()).then(|| BoardPage {
            name: "agents",
            columns: ["last second", "NORMAL", "failed", "in flight"].map(column).into(),
            rows,
            ..BoardPage::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixmark_tally::tally::SliceTally;

    fn slice(agent: &str, second: u64, completed: u64, failed: u64) -> Slice {
        let mut slice = Slice { second, agent: Some(agent.into()), ..Slice::default() };
        slice.families.ipv6 = SliceTally { sent: 10, completed, failed, ..SliceTally::default() };
        slice
    }

    #[test]
    fn lists_agents_with_failures_first() {
        let mut agents = AgentRows::default();
        agents.see(&Slice::default());
        assert_eq!(agents.page(), None);
        for second in 0..2 {
            agents.see(&slice("a", second, 10, 0));
            agents.see(&slice("b", second, 4, 5));
        }
        let rows = agents.page().unwrap().rows;
        assert_eq!((&*rows[0].label, rows[0].bad), ("b", true));
        assert_eq!(rows[0].figures, ["4", "8", "10", "2"]);
        assert_eq!(rows[1].figures, ["10", "20", "0", "0"]);
    }
}
