//! Matches the client's records with the packets.

use std::ops::Range;

use super::packets::{Established, Exchanged};
use super::{Beside, Brief, Differences, FamilyTruth, Packets, TruthCounts};
use sixmark_document::timing::Timing;
use sixmark_tally::client_records::{ClientRecords, Opened, RecordedExchange};
use sixmark_tally::family_result::Families;
use sixmark_units::family::{Family, PerFamily};

/// The tolerance, in nanoseconds, for reading both clocks one after the other.
const SLACK_NS: u64 = 1_000_000;

/// The offset between the client's clock and that of the packets: two readings at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// The reading of the client's clock.
    pub client_ns: u64,
    /// The reading of the packets' clock.
    pub packets_ns: u64,
}

impl Clock {
    fn of_packets(self, client_ns: u64) -> u64 {
        let shift = self.packets_ns.wrapping_sub(self.client_ns);
        client_ns.wrapping_add(shift)
    }
}

/// The data to compare.
#[derive(Debug)]
pub struct Views {
    /// The client's records.
    pub client_records: ClientRecords,
    /// The connections and exchanges that the packets show.
    pub packets: Packets,
    /// The offset between the clocks.
    pub clock: Clock,
}

/// The durations of one phase, while they are collected.
#[derive(Debug, Default)]
struct PhaseBeside {
    client: Timing,
    packets: Timing,
    differences: Vec<i64>,
}

/// The durations of one family, while they are collected.
#[derive(Debug, Default)]
struct FilledFamily {
    connections: TruthCounts,
    exchanges: TruthCounts,
    connect: PhaseBeside,
    wait: PhaseBeside,
    transfer: PhaseBeside,
    service: PhaseBeside,
}

impl Views {
    /// Compares both views and returns the result for each family in use.
    pub fn beside(mut self, used: PerFamily<bool>) -> Families<FamilyTruth> {
        self.packets.sort();
        let mut filled: PerFamily<FilledFamily> = PerFamily::default();
        self.connections(&mut filled);
        self.exchanges(&mut filled);
        for family in Family::BOTH {
            let [connections, exchanges] = self.client_records.unrecorded(family);
            filled[family].connections.untold = connections;
            filled[family].exchanges.untold = exchanges;
        }
        let PerFamily { ipv6, ipv4 } = filled;
        Families { ipv6: used.ipv6.then(|| ipv6.finish()), ipv4: used.ipv4.then(|| ipv4.finish()) }
    }

    fn connections(&self, filled: &mut PerFamily<FilledFamily>) {
        let mut seen = SeenPackets::new(self.packets.connections.len());
        for opened in self.client_records.connections() {
            let found = self.find_connection(opened);
            let filled = &mut filled[Family::of(opened.ends.server.ip())];
            let found = found.filter(|at| seen.take(*at));
            if !opened.counted {
                continue;
            }
            let took = opened.took;
            filled.connections.client += 1;
            filled.connect.client.record(took);
            let Some(found) = found else { continue };
            let answered_ns = self.packets.connections[found].answered_ns;
            filled.connections.matched += 1;
            filled.connections.packets += 1;
            filled.connect.both(took, answered_ns);
        }
        // Connections that only the packets show.
        let family = self.packets.families();
        for at in seen.left() {
            let Established { ends, began_ns, answered_ns } = self.packets.connections[at];
            if self.is_measured(began_ns) {
                let filled = &mut filled[family[ends as usize]];
                filled.connections.packets += 1;
                filled.connect.packets.record(answered_ns);
            }
        }
    }

    fn exchanges(&self, filled: &mut PerFamily<FilledFamily>) {
        let mut seen = SeenPackets::new(self.packets.exchanges.len());
        for (recorded, opened) in self.client_records.exchanges() {
            let filled = &mut filled[Family::of(opened.ends.server.ip())];
            filled.exchanges.client += 1;
            let found = self.find_exchange(recorded, opened).filter(|at| seen.take(*at));
            let found = found.map(|at| self.packets.exchanges[at]);
            filled.exchanges.matched += u64::from(found.is_some());
            filled.exchanges.packets += u64::from(found.is_some());
            self.exchange(recorded, opened, found, filled);
        }
        let family = self.packets.families();
        for at in seen.left() {
            let exchanged = self.packets.exchanges[at];
            if self.is_measured(exchanged.began_ns) {
                let filled = &mut filled[family[exchanged.ends as usize]];
                filled.exchanges.packets += 1;
                filled.wait.packets.record(exchanged.wait_ns);
                filled.transfer.packets.record(exchanged.transfer_ns);
            }
        }
    }

    fn exchange(
        &self,
        recorded: &RecordedExchange,
        opened: &Opened,
        found: Option<Exchanged>,
        filled: &mut FilledFamily,
    ) {
        let wait = recorded.first.saturating_sub(recorded.sent);
        let transfer = recorded.end.saturating_sub(recorded.first);
        let service = recorded.end.saturating_sub(recorded.start);
        filled.wait.client.record(wait);
        filled.transfer.client.record(transfer);
        filled.service.client.record(service);
        let Some(found) = found else { return };
        filled.wait.both(wait, found.wait_ns);
        filled.transfer.both(transfer, found.transfer_ns);
        // An exchange that opened its connection began before the SYN.
        let before = if recorded.start <= opened.called {
            match self.find_connection(opened) {
                Some(at) => found.began_ns.saturating_sub(self.packets.connections[at].began_ns),
                None => return,
            }
        } else {
            0
        };
        filled.service.both(service, before + found.last_ns);
    }

    /// Returns the index of the connection with these endpoints whose SYN is closest to the connect
    /// call.
    fn find_connection(&self, opened: &Opened) -> Option<usize> {
        let ends = self.packets.number_of(&opened.ends)?;
        let called = self.clock.of_packets(opened.called);
        let all = &self.packets.connections;
        let behind = all.partition_point(|c| (c.ends, c.began_ns) < (ends, called));
        let near = nearest(behind, called, |at| {
            all.get(at).filter(|c| c.ends == ends).map(|c| c.began_ns)
        })?;
        let until = self.clock.of_packets(opened.connected) + SLACK_NS;
        let began_ns = all[near].began_ns;
        (began_ns + SLACK_NS >= called && began_ns <= until).then_some(near)
    }

    /// Returns the index of the exchange with this number and these endpoints that is closest in
    /// time.
    fn find_exchange(&self, recorded: &RecordedExchange, opened: &Opened) -> Option<usize> {
        let ends = self.packets.number_of(&opened.ends)?;
        let sent = self.clock.of_packets(recorded.sent);
        let all = &self.packets.exchanges;
        let key = (ends, recorded.number, sent);
        let behind = all.partition_point(|e| (e.ends, e.number, e.began_ns) < key);
        let near = nearest(behind, sent, |at| {
            let same = |e: &&Exchanged| (e.ends, e.number) == (ends, recorded.number);
            all.get(at).filter(same).map(|e| e.began_ns)
        })?;
        let within = self.clock.of_packets(recorded.start).saturating_sub(SLACK_NS)
            ..=self.clock.of_packets(recorded.end) + SLACK_NS;
        within.contains(&all[near].began_ns).then_some(near)
    }

    fn is_measured(&self, at_ns: u64) -> bool {
        let Range { start, end } = self.client_records.measured;
        (self.clock.of_packets(start)..self.clock.of_packets(end)).contains(&at_ns)
    }
}

/// The connections or exchanges among the packets that were already matched.
struct SeenPackets(Vec<bool>);

impl SeenPackets {
    fn new(count: usize) -> SeenPackets {
        SeenPackets(vec![false; count])
    }

    /// Marks an entry as matched. Returns false if it was matched before: no entry is matched
    /// twice.
    fn take(&mut self, at: usize) -> bool {
        !std::mem::replace(&mut self.0[at], true)
    }

    fn left(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().filter(|(_, taken)| !**taken).map(|(at, _)| at)
    }
}

/// Returns the index of the entry closest to time `to`: `behind` or the one before it.
fn nearest(behind: usize, to: u64, at: impl Fn(usize) -> Option<u64>) -> Option<usize> {
    let both = [behind.checked_sub(1), Some(behind)].into_iter().flatten();
    let timed = both.filter_map(|index| Some((at(index)?.abs_diff(to), index)));
    timed.min().map(|(_, index)| index)
}

impl PhaseBeside {
    /// Records a duration by the packets and the difference to the client's, which is already
    /// recorded.
    fn both(&mut self, client_ns: u64, packets_ns: u64) {
        self.packets.record(packets_ns);
        self.differences.push(client_ns as i64 - packets_ns as i64);
    }

    fn finish(mut self) -> Beside {
        let (client_us, packets_us) = (brief(&self.client), brief(&self.packets));
        let apart = client_us.p50.zip(packets_us.p50).map(|(client, packets)| client - packets);
        self.differences.sort_unstable();
        let difference_us = differences(&self.differences);
        Beside { client_us, packets_us, medians_apart_us: apart, difference_us }
    }
}

impl FilledFamily {
    fn finish(self) -> FamilyTruth {
        FamilyTruth {
            connections: self.connections,
            exchanges: self.exchanges,
            connect: self.connect.finish(),
            wait: self.wait.finish(),
            transfer: self.transfer.finish(),
            service: self.service.finish(),
        }
    }
}

fn brief(timing: &Timing) -> Brief {
    let quantile = |q| timing.quantile(q).map(|ns| ns as f64 / 1e3);
    Brief { count: timing.count(), p50: quantile(0.5), p99: quantile(0.99) }
}

/// Returns the quantiles of differences in nanoseconds, which must be in ascending order.
fn differences(sorted: &[i64]) -> Differences {
    let quantile = |q: f64| {
        let last = sorted.len().checked_sub(1)?;
        sorted.get((last as f64 * q).round() as usize).map(|ns| *ns as f64 / 1e3)
    };
    let count = sorted.len() as u64;
    Differences { count, p1: quantile(0.01), p50: quantile(0.5), p99: quantile(0.99) }
}
