//! The controller's side of the records of a load: duplicates fall out, gaps are found, and the
//! counts of each agent are summed.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};

use sixmark_tally::tally::Tally;

use crate::messages::FromAgent;
use crate::names::{AgentName, LoadName};
use crate::records::{AgentRecord, EndRecord, RecordContent, SecondRecord};

/// The most records of one agent that may wait for an earlier one that is missing.
const MOST_WAITING: usize = 10_000;

/// Collects the records of one load.
#[derive(Debug)]
pub struct RecordCollector {
    load: LoadName,
    series: BTreeMap<AgentName, RecordSeries>,
    /// Records that arrived more than once.
    pub duplicates: u64,
    /// Records of agents that take no part in this load.
    pub foreign: u64,
    digest: RandomState,
}

/// The records of one agent, in the order of their numbers.
#[derive(Debug, Default)]
pub struct RecordSeries {
    incarnation: u64,
    /// The number of the next record.
    next: u64,
    /// Records that arrived before an earlier one.
    waiting: BTreeMap<u64, AgentRecord>,
    /// The digest of each record that was accepted, by its number. Its key is this process's own, so
    /// that nobody can make two records with the same one.
    digests: BTreeMap<u64, u64>,
    /// Records with the number of one that was accepted, but another content, and records that name
    /// another agent than the one that sent them.
    pub conflicts: u64,
    /// The sum of the seconds.
    pub sum: Tally,
    /// The last second of which there is a record.
    pub last_second: Option<u64>,
    /// The sum of the lengths of all seconds, in nanoseconds.
    pub length_ns: u64,
    /// The largest busy share of a second.
    pub busiest: f64,
    /// The last record.
    pub end: Option<Box<EndRecord>>,
}

impl RecordSeries {
    /// Returns true if every record up to the last has arrived.
    pub fn is_complete(&self) -> bool {
        self.end.is_some()
    }

    /// Returns the number of the first record that is missing although a later one has arrived.
    pub fn missing(&self) -> Option<u64> {
        (!self.waiting.is_empty()).then_some(self.next)
    }

    /// Returns the number of records that have arrived without a gap before them.
    pub fn counted(&self) -> u64 {
        self.next
    }

    /// Returns true if every record has arrived and none disagrees with another: nobody need keep
    /// them.
    pub fn is_beyond_doubt(&self) -> bool {
        self.is_complete() && self.conflicts == 0 && self.adds_up()
    }

    /// Returns true if the sum of the seconds is what the last record says. True without one.
    pub fn adds_up(&self) -> bool {
        self.end.as_ref().is_none_or(|end| end.tally == self.sum)
    }
}

impl RecordCollector {
    /// Creates a collector for a load of these agents, with the incarnation of each.
    pub fn new(
        load: LoadName,
        agents: impl IntoIterator<Item = (AgentName, u64)>,
    ) -> RecordCollector {
        let series =
            |(name, incarnation)| (name, RecordSeries { incarnation, ..RecordSeries::default() });
        let series = agents.into_iter().map(series).collect();
        RecordCollector { load, series, duplicates: 0, foreign: 0, digest: RandomState::new() }
    }

    /// Adds a record as it arrived. Returns the seconds that are counted by that, with their
    /// agent: none for a duplicate, several if it filled a gap. The first of two that disagree
    /// counts, and the second is a conflict.
    pub fn add(&mut self, record: &FromAgent) -> Vec<(AgentName, SecondRecord)> {
        let digest = self.digest.hash_one(&record.content);
        let Some(series) = self.series.get_mut(&record.agent) else {
            self.foreign += 1;
            return Vec::new();
        };
        let sent_by = &record.agent;
        let record = crate::messages::read_json::<AgentRecord>(&record.content).ok();
        let record = record.filter(|record| {
            record.load == self.load
                && record.agent == *sent_by
                && record.incarnation == series.incarnation
        });
        let Some(record) = record else {
            series.conflicts += 1;
            return Vec::new();
        };
        match series.digests.get(&record.number) {
            Some(known) if *known == digest => {
                self.duplicates += 1;
                return Vec::new();
            }
            Some(_) => {
                series.conflicts += 1;
                return Vec::new();
            }
            None => {}
        }
        if series.waiting.len() < MOST_WAITING {
            series.digests.insert(record.number, digest);
            series.waiting.insert(record.number, record);
        }
        let mut seconds = Vec::new();
        while let Some(record) = series.waiting.remove(&series.next) {
            series.next += 1;
            match record.content {
                RecordContent::Second(second) => {
                    series.count(&second);
                    seconds.push((record.agent, *second));
                }
                RecordContent::End(end) => series.end = Some(end),
            }
        }
        seconds
    }

    /// Returns the series of an agent.
    pub fn of(&self, agent: &AgentName) -> Option<&RecordSeries> {
        self.series.get(agent)
    }

    /// Returns all series with the names of their agents.
    pub fn all(&self) -> impl Iterator<Item = (&AgentName, &RecordSeries)> {
        self.series.iter()
    }

    /// Returns true if all records of every agent have arrived, and nothing disagrees with them.
    pub fn is_beyond_doubt(&self) -> bool {
        self.foreign == 0 && self.series.values().all(RecordSeries::is_beyond_doubt)
    }

    /// Returns true if all records of every agent have arrived.
    pub fn is_complete(&self) -> bool {
        self.series.values().all(RecordSeries::is_complete)
    }
}

impl RecordSeries {
    fn count(&mut self, second: &SecondRecord) {
        self.sum += &second.tally;
        self.last_second = self.last_second.max(Some(second.second));
        self.length_ns = self.length_ns.saturating_add(second.length_ns);
        if second.length_ns > 0 {
            let busy = second.busy_ns as f64 / second.length_ns as f64;
            self.busiest = self.busiest.max(busy.min(1.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(agent: &str, incarnation: u64, number: u64, sent: u64) -> FromAgent {
        let mut tally = Tally::default();
        tally.ipv6.sent = sent;
        let second = SecondRecord { second: number, length_ns: 1, busy_ns: 0, tally };
        let record = AgentRecord {
            load: "l".parse().unwrap(),
            agent: agent.parse().unwrap(),
            incarnation,
            number,
            content: RecordContent::Second(Box::new(second)),
        };
        FromAgent { agent: agent.parse().unwrap(), content: serde_json::to_vec(&record).unwrap() }
    }

    fn collector() -> RecordCollector {
        let agents = [("a", 3), ("b", 0)].map(|(name, number)| (name.parse().unwrap(), number));
        RecordCollector::new("l".parse().unwrap(), agents)
    }

    #[test]
    fn counts_each_record_once_in_any_order() {
        let mut collector = collector();
        let order = [0, 2, 2, 1, 0, 4, 3, 1];
        let seen: usize =
            order.iter().map(|n| collector.add(&record("a", 3, *n, 1 << n)).len()).sum();
        let series = collector.of(&"a".parse().unwrap()).unwrap();
        assert_eq!((seen, series.sum.ipv6.sent, series.last_second), (5, 31, Some(4)));
        assert_eq!((collector.duplicates, collector.foreign), (3, 0));
    }

    #[test]
    fn reports_a_missing_record_until_it_arrives() {
        let mut collector = collector();
        collector.add(&record("b", 0, 0, 1));
        collector.add(&record("b", 0, 2, 1));
        let b = "b".parse().unwrap();
        assert_eq!(collector.of(&b).unwrap().missing(), Some(1));
        collector.add(&record("b", 0, 1, 1));
        assert_eq!(
            (collector.of(&b).unwrap().missing(), collector.of(&b).unwrap().counted()),
            (None, 3)
        );
    }

    #[test]
    fn counts_foreign_and_conflicting_records_separately() {
        let mut collector = collector();
        let [a, b] = ["a", "b"].map(|name| name.parse::<AgentName>().unwrap());
        let from = |agent: &AgentName, content| FromAgent { agent: agent.clone(), content };
        for content in [
            record("c", 0, 0, 1),
            record("a", 2, 0, 1),
            from(&a, b"{".to_vec()),
            from(&a, Vec::new()),
            // It names an agent whose key did not send it.
            from(&a, record("b", 0, 0, 1).content),
        ] {
            assert!(collector.add(&content).is_empty());
        }
        assert_eq!((collector.foreign, collector.is_complete()), (1, false));
        let conflicts = |name| collector.of(name).unwrap().conflicts;
        assert_eq!((conflicts(&a), conflicts(&b)), (4, 0));
    }

    #[test]
    fn counts_the_first_of_two_different_records_and_reports_a_conflict() {
        let mut collector = collector();
        // The second one waits for the first.
        for (number, sent) in [(1, 1), (1, 2), (0, 4), (0, 8), (1, 1)] {
            collector.add(&record("a", 3, number, sent));
        }
        let series = collector.of(&"a".parse().unwrap()).unwrap();
        assert_eq!((series.sum.ipv6.sent, series.conflicts), (5, 2));
        assert_eq!(collector.duplicates, 1);
        assert!(!series.is_beyond_doubt());
    }
}
