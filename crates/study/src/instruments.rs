//! Figures of a cell from the documents of the instruments beside its client.

mod kernel;

use std::collections::BTreeMap;

use sixmark_design::study_result::{ConnectionFigures, PacketsOfCell};
use sixmark_document::provenance::{Warning, warning};
use sixmark_tally::family_result::Families;
use sixmark_tally::metric::{Metric, Quantity};
use sixmark_tally::timed_phase::{TimePoint, TimedPhase};
use sixmark_units::family::Family;
use sixmark_units::quantity::{counted, write_count};
use sixmark_watch::watch_result::WatchResult;

pub(crate) use kernel::{KernelEndOfCell, LoadTime, keep_last_over_time, kernel_of_cell};

/// The relative difference between two counts of connections above which they disagree.
const APART: f64 = 0.01;

/// Returns what the client measured, from the figures of the cell.
pub(crate) fn client_of_cell(
    figures: &Families<BTreeMap<String, f64>>,
) -> Families<ConnectionFigures> {
    let of = |family: Family| {
        let figures = figures.of(family)?;
        let figure = |metric: Metric| figures.get(&metric.to_string()).copied();
        let mean = |phase| figure(Metric::Time(phase, TimePoint::Mean));
        Some(ConnectionFigures {
            connections: figure(Metric::Quantity(Quantity::Opened)).map(|count| count as u64),
            establishment_us: mean(TimedPhase::Connect),
            continuation_us: mean(TimedPhase::Lifetime),
        })
    };
    Families { ipv6: of(Family::Ipv6), ipv4: of(Family::Ipv4) }
}

/// Returns what the packets showed.
pub(crate) fn packets_of_cell(
    watch: &WatchResult,
    document: String,
    cpu_share: f64,
) -> PacketsOfCell {
    let of = |family: Family| {
        let figures = watch.families.of(family)?;
        let mean = |phase: TimedPhase| TimePoint::Mean.value_us(phase.durations(figures)?);
        Some(ConnectionFigures {
            connections: Some(figures.connections.opened),
            establishment_us: mean(TimedPhase::Connect),
            continuation_us: mean(TimedPhase::Lifetime),
        })
    };
    PacketsOfCell {
        document,
        interfaces: watch.watched.names().collect(),
        packets: watch.watched.packets,
        dropped: watch.watched.dropped.unwrap_or(0),
        cpu_share,
        families: Families { ipv6: of(Family::Ipv6), ipv4: of(Family::Ipv4) },
    }
}

/// Returns a warning that packets were dropped, and one for each family whose connections the
/// client and the packets count differently.
pub(crate) fn doubts_of_packets(
    client: &Families<ConnectionFigures>,
    packets: &PacketsOfCell,
) -> Vec<Warning> {
    let dropped = (packets.dropped > 0).then(|| {
        let line = format!(
            "{} dropped by the capture: the packets' figures lack them",
            counted(packets.dropped, "packet was", "packets were")
        );
        warning("capture_drops", line)
    });
    let apart = |family: Family| {
        let seen = packets.families.of(family).and_then(|of| of.connections).unwrap_or(0);
        let opened = client.of(family).map_or(Some(0), |of| of.connections)?;
        let apart = seen.abs_diff(opened) as f64 > APART * opened.max(seen) as f64;
        apart.then(|| {
            let line = format!(
                "the packets show {} over {family}, the client opened {}",
                counted(seen, "connection", "connections"),
                write_count(opened)
            );
            warning("instruments_disagree", line)
        })
    };
    dropped.into_iter().chain(Family::BOTH.into_iter().filter_map(apart)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(connections: Option<u64>) -> Families<ConnectionFigures> {
        let ipv6 = Some(ConnectionFigures { connections, ..ConnectionFigures::default() });
        Families { ipv6, ipv4: None }
    }

    fn codes(client: Option<u64>, seen: Option<u64>, dropped: u64) -> Vec<String> {
        let packets = PacketsOfCell {
            document: "instruments/c001-r1-packets.json".into(),
            interfaces: vec!["lo".into()],
            packets: 1_000,
            dropped,
            cpu_share: 0.0,
            families: figures(seen),
        };
        let doubts = doubts_of_packets(&figures(client), &packets);
        doubts.into_iter().map(|doubt| doubt.code).collect()
    }

    #[test]
    fn warns_if_client_and_packet_counts_differ_by_more_than_1_percent() {
        assert!(codes(Some(1_000), Some(990), 0).is_empty());
        assert_eq!(codes(Some(1_000), Some(989), 0), ["instruments_disagree"]);
        assert_eq!(codes(Some(1_000), Some(1_011), 0), ["instruments_disagree"]);
        assert!(codes(None, Some(5), 0).is_empty(), "the client does not count them");
        assert_eq!(codes(Some(1), Some(1), 7), ["capture_drops"]);
    }
}
