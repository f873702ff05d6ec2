//! The controller's side of the records of a load: duplicates fall out, gaps are found, and the
//! counts of each agent are summed.

use std::collections::BTreeMap;

use sixmark_record::tally::Tally;

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
    /// Records that belong to no agent of this load, or can't be read.
    pub foreign: u64,
}

/// The records of one agent, in the order of their numbers.
#[derive(Debug, Default)]
pub struct RecordSeries {
    incarnation: u64,
    /// The number of the next record.
    next: u64,
    /// Records that arrived before an earlier one.
    waiting: BTreeMap<u64, AgentRecord>,
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
        RecordCollector { load, series, duplicates: 0, foreign: 0 }
    }

    /// Adds a record as it arrived. Returns the seconds that are counted by that, with their
    /// agent: none for a duplicate, several if it filled a gap.
    pub fn add(&mut self, content: &[u8]) -> Vec<(AgentName, SecondRecord)> {
        let record = crate::messages::read_json::<AgentRecord>(content).ok();
        let record = record.filter(|record| record.load == self.load);
        let series = record.as_ref().and_then(|record| {
            let series = self.series.get_mut(&record.agent)?;
            (series.incarnation == record.incarnation).then_some(series)
        });
        let (Some(record), Some(series)) = (record, series) else {
            self.foreign += 1;
            return Vec::new();
        };
        if record.number < series.next || series.waiting.contains_key(&record.number) {
            self.duplicates += 1;
            return Vec::new();
        }
        if series.waiting.len() < MOST_WAITING {
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

    fn record(agent: &str, incarnation: u64, number: u64, sent: u64) -> Vec<u8> {
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
        serde_json::to_vec(&record).unwrap()
    }

    fn collector() -> RecordCollector {
        let agents = [("a", 3), ("b", 0)].map(|(name, number)| (name.parse().unwrap(), number));
        RecordCollector::new("l".parse().unwrap(), agents)
    }

    #[test]
    fn a_record_counts_once_in_whatever_order_it_comes() {
        let mut collector = collector();
        let order = [0, 2, 2, 1, 0, 4, 3, 1];
        let seen: usize =
            order.iter().map(|n| collector.add(&record("a", 3, *n, 1 << n)).len()).sum();
        let series = collector.of(&"a".parse().unwrap()).unwrap();
        assert_eq!((seen, series.sum.ipv6.sent, series.last_second), (5, 31, Some(4)));
        assert_eq!((collector.duplicates, collector.foreign), (3, 0));
    }

    #[test]
    fn a_gap_is_named_until_it_is_filled() {
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
    fn records_of_others_are_counted_apart() {
        let mut collector = collector();
        for content in [record("c", 0, 0, 1), record("a", 2, 0, 1), b"{".to_vec(), Vec::new()] {
            assert!(collector.add(&content).is_empty());
        }
        assert_eq!((collector.foreign, collector.is_complete()), (4, false));
    }
}
