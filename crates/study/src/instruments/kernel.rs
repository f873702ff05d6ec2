//! Figures of a cell from the samples of a kernel's counters.

use std::collections::{BTreeMap, BTreeSet};

use sixmark_design::study_result::{
    CellResult, ConnectionFigures, FamilyOverTime, KernelEnd, KernelOfCell, KernelOfFamily,
    KernelOverTime,
};
use sixmark_tally::family_result::Families;
use sixmark_units::family::{Family, PerFamily};
use sixmark_vitals::VitalsSample;
use sixmark_vitals::group::Group;
use sixmark_vitals::vitals_result::VitalsResult;

/// The most spans of the figures over time.
const MOST: usize = 60;

/// The most ends of combinations whose figures over time are kept in a study's document.
const MOST_OVER_TIME: usize = 24;

/// States of sockets that are not counted: those without a connection.
const WITHOUT_CONNECTION: [&str; 2] = ["listening", "udp"];

/// The end whose kernel was read.
#[derive(Clone, Debug)]
pub(crate) struct KernelEndOfCell {
    pub(crate) end: KernelEnd,
    /// The host of the lab.
    pub(crate) host: Option<String>,
    /// The document's file in the study's folder.
    pub(crate) document: String,
}

/// When a cell's load began and ended, microseconds since 1970 in UTC.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoadTime {
    pub(crate) began_us: u64,
    pub(crate) ended_us: u64,
}

/// Returns what a kernel counted during the load; `None` if it was sampled less than twice.
/// `loaded` are the families that the cell loaded.
pub(crate) fn kernel_of_cell(
    vitals: &VitalsResult,
    at: KernelEndOfCell,
    load: LoadTime,
    loaded: &[Family],
) -> Option<KernelOfCell> {
    let samples = samples_of_load(&vitals.samples, load);
    let (first, last) = (samples.first()?, samples.last()?);
    if samples.len() < 2 {
        return None;
    }
    let change = last.since(first, &mut 0);
    let tcp = &change.network.tcp;
    let connections = match at.end {
        KernelEnd::Server => tcp.passive_opens.0,
        KernelEnd::Client | KernelEnd::Both => tcp.active_opens.0,
    };
    let is_alone = |family: Family| loaded == [family];
    let connections = |family: Family| {
        let connections = is_alone(family).then_some(connections);
        let known = ConnectionFigures { connections, ..ConnectionFigures::default() };
        loaded.contains(&family).then_some(known)
    };
    Some(KernelOfCell {
        end: at.end,
        host: at.host,
        document: at.document,
        cpu_share: own_share(samples),
        covered_s: change.seconds(),
        opened: tcp.active_opens.0,
        accepted: tcp.passive_opens.0,
        connections: Families { ipv6: connections(Family::Ipv6), ipv4: connections(Family::Ipv4) },
        busy_share: change.host.cpu.busy_share().unwrap_or(0.0),
        softirq_share: change.host.cpu.softirq_share().unwrap_or(0.0),
        server_share: server_share(&change),
        server_memory_bytes: samples.iter().filter_map(server_memory).max(),
        memory_bytes: samples.iter().map(|s| s.host.memory.used_bytes()).max().unwrap_or(0),
        families: PerFamily::from_fn(|family| KernelOfFamily {
            packets_in: change.network.families[family].in_packets.0,
            packets_out: change.network.families[family].out_packets.0,
            sockets: most_sockets(samples, family),
        }),
        over_time: Some(over_time(samples)),
    })
}

/// Returns the samples from the last one before the load to the first one after it.
fn samples_of_load(all: &[VitalsSample], load: LoadTime) -> &[VitalsSample] {
    let from = all.partition_point(|sample| sample.at_us <= load.began_us).saturating_sub(1);
    let to = all.partition_point(|sample| sample.at_us < load.ended_us);
    all.get(from..(to + 1).min(all.len())).unwrap_or_default()
}

/// Returns the processor time of the reading itself divided by the time of the samples. The last
/// sample is left out if there are others: it reads everything, but after the load.
fn own_share(samples: &[VitalsSample]) -> f64 {
    let inner = if samples.len() > 2 { &samples[..samples.len() - 1] } else { samples };
    let (Some(first), Some(last)) = (inner.first(), inner.last()) else { return 0.0 };
    let change = last.since(first, &mut 0);
    change.own_cpu_us.0 as f64 / change.since_us.max(1) as f64
}

/// Returns the share of all processors' time that the server's processes used in a change; `None`
/// if they were not read.
fn server_share(change: &VitalsSample) -> Option<f64> {
    let used: u64 = change.groups.first().map(|_| change.groups.iter().map(Group::cpu_us).sum())?;
    Some(used as f64 / change.host.cpu.all_us().max(1) as f64)
}

fn server_memory(sample: &VitalsSample) -> Option<u64> {
    sample.groups.iter().map(|group| group.memory_bytes).reduce(u64::saturating_add)
}

/// Returns the most sockets in each state at any reading.
fn most_sockets(samples: &[VitalsSample], family: Family) -> BTreeMap<String, u64> {
    let mut most: BTreeMap<String, u64> = BTreeMap::new();
    let states = samples.iter().filter_map(|sample| sample.network.sockets);
    for (state, number) in states.flat_map(|sockets| sockets[family].states()) {
        if number > 0 && !WITHOUT_CONNECTION.contains(&state) {
            let known = most.entry(state.to_owned()).or_default();
            *known = number.max(*known);
        }
    }
    most
}

/// Returns the changes between samples, in at most [`MOST`] spans of about equal length.
fn over_time(samples: &[VitalsSample]) -> KernelOverTime {
    let each = (samples.len() - 1).div_ceil(MOST).max(1);
    let mut found = KernelOverTime::default();
    let begin = samples.first().map_or(0, |first| first.since_us);
    let mut from = 0;
    while from + 1 < samples.len() {
        let to = (from + each).min(samples.len() - 1);
        let span = samples[to].since(&samples[from], &mut 0);
        found.begins_s.push(short((samples[from].since_us - begin) as f64 / 1e6));
        found.busy_share.push(short(span.host.cpu.busy_share().unwrap_or(0.0)));
        found.softirq_share.push(short(span.host.cpu.softirq_share().unwrap_or(0.0)));
        found.server_share.push(server_share(&span).map(short));
        found.memory_bytes.push(span.host.memory.used_bytes());
        let readings = &samples[from + 1..=to];
        let [ipv6, ipv4] = [Family::Ipv6, Family::Ipv4];
        add_family(&mut found.families.ipv6, ipv6, &span, readings);
        add_family(&mut found.families.ipv4, ipv4, &span, readings);
        from = to;
    }
    found
}

fn add_family(
    to: &mut FamilyOverTime,
    family: Family,
    span: &VitalsSample,
    readings: &[VitalsSample],
) {
    let seconds = span.seconds().max(1e-6);
    let ip = &span.network.families[family];
    to.packets_in_per_s.push(short(ip.in_packets.0 as f64 / seconds));
    to.packets_out_per_s.push(short(ip.out_packets.0 as f64 / seconds));
    let last = readings.iter().rev().find_map(|sample| sample.network.sockets);
    to.established.push(last.map(|sockets| sockets[family].established));
    to.time_wait.push(last.map(|sockets| sockets[family].time_wait));
}

/// Returns a figure with the digits that a chart can show.
fn short(value: f64) -> f64 {
    let scale = 10_f64.powi(3 - value.abs().max(1e-9).log10().floor() as i32);
    (value * scale).round() / scale
}

/// Removes the figures over time of all cells but the last repetition of each combination, and of
/// all combinations beyond those for which a document has room.
pub(crate) fn keep_last_over_time(cells: &mut [CellResult]) {
    let mut seen: BTreeSet<u32> = BTreeSet::new();
    let mut numbers: Vec<u32> = cells.iter().map(|cell| cell.cell).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let ends = cells.iter().filter_map(|cell| Some(cell.instruments.as_ref()?.kernel.len())).max();
    numbers.truncate(MOST_OVER_TIME / ends.unwrap_or(1).max(1));
    for cell in cells.iter_mut().rev() {
        let is_last = seen.insert(cell.cell);
        let Some(instruments) = &mut cell.instruments else { continue };
        if !is_last || !numbers.contains(&cell.cell) {
            instruments.kernel.iter_mut().for_each(|kernel| kernel.over_time = None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixmark_vitals::Counter;
    use sixmark_vitals::network::Sockets;

    fn sample(at_us: u64) -> VitalsSample {
        let mut sample = VitalsSample { at_us, since_us: at_us, ..VitalsSample::default() };
        sample.network.families.ipv6.in_packets = Counter(at_us);
        sample.host.cpu.idle_us = Counter(at_us);
        sample.host.cpu.softirq_us = Counter(at_us);
        let mut sockets = PerFamily::<Sockets>::default();
        sockets.ipv6.established = at_us % 7;
        sockets.ipv6.listening = 1;
        sample.network.sockets = at_us.is_multiple_of(2).then_some(sockets);
        sample
    }

    fn at(samples: &[VitalsSample]) -> Vec<u64> {
        samples.iter().map(|sample| sample.at_us).collect()
    }

    #[test]
    fn selects_the_samples_that_surround_a_load() {
        let all: Vec<VitalsSample> = [10, 20, 30, 40, 50].map(sample).into();
        let of = |began_us, ended_us| at(samples_of_load(&all, LoadTime { began_us, ended_us }));
        assert_eq!(of(22, 38), [20, 30, 40]);
        assert_eq!(of(20, 40), [20, 30, 40]);
        assert_eq!(of(0, 90), [10, 20, 30, 40, 50]);
        assert_eq!(of(22, 23), [20, 30]);
    }

    #[test]
    fn condenses_many_samples_into_few_spans_with_the_same_rates() {
        let all: Vec<VitalsSample> = (0..1_000).map(|at| sample(at * 10_000)).collect();
        let found = over_time(&all);
        assert!(found.begins_s.len() <= MOST, "{}", found.begins_s.len());
        assert!(found.softirq_share.iter().all(|share| (*share - 0.5).abs() < 1e-9));
        let rates = &found.families.ipv6.packets_in_per_s;
        assert_eq!(rates.len(), found.begins_s.len());
        assert!(rates.iter().all(|rate| (*rate - 1e6).abs() < 1.0), "{rates:?}");
    }

    #[test]
    fn reports_the_peak_number_of_sockets_in_each_state() {
        let all: Vec<VitalsSample> = (0..30).map(sample).collect();
        let most = most_sockets(&all, Family::Ipv6);
        assert_eq!(most, BTreeMap::from([("established".to_owned(), 6)]));
    }

    #[test]
    fn rounds_figures_to_four_significant_digits() {
        assert_eq!([0.0, 0.123_456, 12_345.6, 1.0].map(short), [0.0, 0.1235, 12_350.0, 1.0]);
    }
}
