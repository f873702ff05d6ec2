//! The charts of a vitals report.

use super::{group_name, seconds_of};
use crate::VitalsSample;
use crate::group::Group as Processes;
use crate::network::{Ip, Sockets};
use crate::time_chart::{TimeChart, TimeLine, time_chart};
use crate::vitals_result::VitalsResult;
use sixmark_units::family::Family;

use sixmark_sheet::BOTH_PLACE;
use sixmark_sheet::chart::{Chart, Unit};
use sixmark_sheet::{Block, Part, write};

/// The most points of a curve. If there are more samples, only some of them are used.
const MOST: usize = 120;

/// Returns charts of the changes between samples, or `None` if there are too few samples.
pub(super) fn over_time(result: &VitalsResult) -> Option<Part> {
    let each = result.samples.len().div_ceil(MOST).max(1);
    let kept: Vec<&VitalsSample> = result.samples.iter().step_by(each).collect();
    let mut resets = 0;
    let spans: Vec<VitalsSample> =
        kept.windows(2).map(|pair| pair[1].since(pair[0], &mut resets)).collect();
    if spans.len() < 2 {
        return None;
    }
    let begins: Vec<f64> = kept.iter().map(|sample| sample.since_us as f64 / 1e6).collect();
    let over = SampleCharts { spans: &spans, begins: &begins[..spans.len()] };
    let mut charts = vec![
        over.chart("Processors busy", "", Unit::Share, write::write_percent, over.busy(result)),
        over.chart("Memory used", "", Unit::Bytes, write::write_bytes, over.memory(result)),
        over.packets("Packets in", |ip| ip.in_packets.0),
        over.packets("Packets out", |ip| ip.out_packets.0),
        over.bytes("Bytes in", |ip| ip.in_octets.0),
        over.bytes("Bytes out", |ip| ip.out_octets.0),
    ];
    charts.extend(SOCKET_STATES.into_iter().filter_map(|(title, of)| over.sockets(title, of)));
    Part::new("Over time", vec![Block::Charts(charts)]).map(Part::off_terminal)
}

/// A state of sockets: the title of its chart, and the number of sockets in it.
type SocketState = (&'static str, fn(&Sockets) -> u64);

/// The states whose numbers of sockets are drawn if there are any.
const SOCKET_STATES: [SocketState; 6] = [
    ("Sockets established", |of| of.established),
    ("Sockets in SYN-SENT", |of| of.syn_sent),
    ("Sockets in SYN-RECEIVED", |of| of.syn_received),
    ("Sockets in FIN-WAIT or CLOSING", |of| of.fin_wait_1 + of.fin_wait_2 + of.closing),
    ("Sockets in CLOSE-WAIT or LAST-ACK", |of| of.close_wait + of.last_ack),
    ("Sockets in TIME-WAIT", |of| of.time_wait),
];

/// Consecutive changes, and when each began, seconds from the first sample.
struct SampleCharts<'a> {
    spans: &'a [VitalsSample],
    begins: &'a [f64],
}

impl SampleCharts<'_> {
    fn chart(
        &self,
        title: &'static str,
        unit: &'static str,
        kind: Unit,
        write: fn(f64) -> String,
        lines: Vec<TimeLine>,
    ) -> Chart {
        time_chart(&TimeChart { title, unit, kind, write }, self.begins, &lines)
    }

    fn line(
        &self,
        name: impl Into<String>,
        side: usize,
        value: impl Fn(&VitalsSample) -> Option<f64>,
    ) -> TimeLine {
        let values = self.spans.iter().map(value).collect();
        TimeLine { name: name.into(), side, values }
    }

    fn packets(&self, title: &'static str, of: fn(&Ip) -> u64) -> Chart {
        self.chart(title, "packets/s", Unit::PerS, write::per_s, self.rates(of))
    }

    fn bytes(&self, title: &'static str, of: fn(&Ip) -> u64) -> Chart {
        self.chart(title, "", Unit::BytesPerS, write::write_rate, self.rates(of))
    }

    fn rates(&self, of: fn(&Ip) -> u64) -> Vec<TimeLine> {
        let line = |family: Family| {
            let rate =
                |span: &VitalsSample| of(&span.network.families[family]) as f64 / seconds_of(span);
            self.line(family.to_string(), family_place(family), |span| Some(rate(span)))
        };
        Family::BOTH.map(line).into()
    }

    /// Returns the chart of the sockets in a state, where they were read; `None` if there were
    /// none.
    fn sockets(&self, title: &'static str, of: fn(&Sockets) -> u64) -> Option<Chart> {
        let line = |family: Family| {
            self.line(family.to_string(), family_place(family), |span| {
                span.network.sockets.map(|sockets| of(&sockets[family]) as f64)
            })
        };
        let lines: Vec<TimeLine> = Family::BOTH.map(line).into();
        let any = lines.iter().flat_map(|line| &line.values).flatten().any(|value| *value > 0.0);
        let write = |count: f64| write::write_count(count as u64);
        any.then(|| self.chart(title, "", Unit::Count, write, lines))
    }

    /// Returns the busy share of the machine's processors, the share in softirqs, and the share of
    /// their time that each group of processes used.
    fn busy(&self, result: &VitalsResult) -> Vec<TimeLine> {
        let all = |span: &VitalsSample| Some(span.host.cpu.busy_share().unwrap_or(0.0));
        let softirq = |span: &VitalsSample| Some(span.host.cpu.softirq_share().unwrap_or(0.0));
        let group = |(at, group): (usize, &Processes)| {
            self.line(group_name(group), place_of_group(at), |span| {
                let used = span.groups.iter().find(|other| other.is(group));
                let used = used.map_or(0, Processes::cpu_us);
                Some(used as f64 / span.host.cpu.all_us().max(1) as f64)
            })
        };
        let machine = [
            self.line("the machine", BOTH_PLACE, all),
            self.line("its softirqs", SOFTIRQ_PLACE, softirq),
        ];
        machine.into_iter().chain(result.change.groups.iter().enumerate().map(group)).collect()
    }

    fn memory(&self, result: &VitalsResult) -> Vec<TimeLine> {
        let all = |span: &VitalsSample| Some(span.host.memory.used_bytes() as f64);
        let group = |(at, group): (usize, &Processes)| {
            self.line(group_name(group), place_of_group(at), |span| {
                let of = span.groups.iter().find(|other| other.is(group));
                Some(of.map_or(0.0, |of| of.memory_bytes as f64))
            })
        };
        let machine = self.line("the machine", BOTH_PLACE, all);
        std::iter::once(machine).chain(result.change.groups.iter().enumerate().map(group)).collect()
    }
}

fn family_place(family: Family) -> usize {
    usize::from(family == Family::Ipv4)
}

/// The colour of softirqs.
const SOFTIRQ_PLACE: usize = 2;

/// Returns the colour of a group of processes, which is neither a family's nor the machine's.
fn place_of_group(at: usize) -> usize {
    [3, 5, 6, 7][at % 4]
}
