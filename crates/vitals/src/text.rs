//! The kernel's counters as text for a terminal.

use std::fmt::Write as _;

use crate::VitalsSample;
use crate::host::{CpuTimes, MachineVitals};
use crate::sheet::{IP_COUNTERS, group_name};
use crate::vitals_result::VitalsResult;
use sixmark_document::provenance::Ended;
use sixmark_sheet::terminal::width;
use sixmark_units::family::{Family, PerFamily};
use sixmark_units::quantity::{bytes, write_count};

/// Returns the whole report, at most 80 columns wide. It ends with a line feed.
pub fn vitals_text(result: &VitalsResult) -> String {
    let mut text = String::new();
    let change = &result.change;
    let ended = if result.ended == Ended::Interrupted { ", interrupted" } else { "" };
    let at = result.head.host.as_ref().map_or(String::new(), |host| format!(", network of {host}"));
    let _ = writeln!(
        text,
        "{} samples in {:.1} s{ended}{at}; sampling took {:.2} % of a core",
        write_count(result.taken),
        result.elapsed_s,
        result.own_cpu_share * 1e2
    );
    text.push('\n');
    processors(&mut text, result);
    machine(&mut text, change);
    groups(&mut text, change);
    write_families(&mut text, change);
    shared(&mut text, change);
    interfaces(&mut text, change);
    text
}

/// Returns what is shown while samples are taken, after the time: the change in the last interval.
pub fn live(change: &VitalsSample) -> String {
    let seconds = change.seconds().max(1e-3);
    let cpu = change.host.cpu.busy_share().unwrap_or(0.0) * 1e2;
    let family = |family: Family| {
        let ip = &change.network.families[family];
        let rate = |number: u64| number as f64 / seconds;
        format!(
            "   {family} in {}/s {}/s out {}/s {}/s",
            write_count(rate(ip.in_packets.0) as u64),
            bytes(rate(ip.in_octets.0)),
            write_count(rate(ip.out_packets.0) as u64),
            bytes(rate(ip.out_octets.0))
        )
    };
    let families: String = Family::BOTH.into_iter().map(family).collect();
    let groups: String = change
        .groups
        .iter()
        .map(|group| format!("   {} {:.0} %", group.name, group.cpu_us() as f64 / seconds / 1e4))
        .collect();
    format!("   cpu {cpu:.0} %{groups}{families}")
}

fn processors(text: &mut String, result: &VitalsResult) {
    let cpu = &result.change.host.cpu;
    write_row(text, "cpu", &[("busy", cpu_percent(cpu.busy_us(), cpu))]);
    let parts = [
        ("user", cpu.user_us),
        ("nice", cpu.nice_us),
        ("system", cpu.system_us),
        ("irq", cpu.irq_us),
        ("softirq", cpu.softirq_us),
        ("steal", cpu.steal_us),
        ("iowait", cpu.iowait_us),
        ("idle", cpu.idle_us),
    ];
    let used = parts.into_iter().filter(|(_, us)| us.0 > 0);
    let parts: Vec<_> = used.map(|(name, us)| (name, cpu_percent(us.0, cpu))).collect();
    write_row(text, "", &parts);
    let busiest = format!("{:.0} %", result.busiest * 1e2);
    let core = format!("{:.0} %", result.busiest_core * 1e2);
    write_row(text, "", &[("at most", busiest), ("one core at most", core)]);
}

fn cpu_percent(us: u64, of: &CpuTimes) -> String {
    format!("{:.1} %", us as f64 / of.all_us().max(1) as f64 * 1e2)
}

fn machine(text: &mut String, change: &VitalsSample) {
    let (host, seconds) = (&change.host, change.seconds().max(1e-3));
    let rate = |number: u64| per_s(number, seconds);
    let events = &host.events;
    write_row(
        text,
        "kernel",
        &[
            ("switches", rate(events.context_switches.0)),
            ("interrupts", rate(events.interrupts.0)),
            ("net rx", rate(events.softirq_net_rx.0)),
            ("net tx", rate(events.softirq_net_tx.0)),
        ],
    );
    let memory = &host.memory;
    let available = memory.usable_bytes();
    write_row(
        text,
        "memory",
        &[
            ("available", bytes(available as f64)),
            ("of", bytes(memory.total_bytes as f64)),
            ("major faults", rate(host.paging.major_faults.0)),
            (
                "swapped",
                write_count(host.paging.swapped_in_pages.0 + host.paging.swapped_out_pages.0),
            ),
        ],
    );
    disks(text, host, seconds);
    calls(text, host, seconds);
    let softnet = &host.softnet;
    write_row(
        text,
        "softnet",
        &[
            ("processed", rate(softnet.processed.0)),
            ("dropped", write_count(softnet.dropped.0)),
            ("squeezed", write_count(softnet.squeezed.0)),
        ],
    );
}

fn per_s(number: u64, seconds: f64) -> String {
    format!("{}/s", write_count((number as f64 / seconds).round() as u64))
}

/// Writes a line for each disk.
fn disks(text: &mut String, host: &MachineVitals, seconds: f64) {
    for disk in &host.disks {
        let of = &disk.counters;
        let per_s = |number: u64| format!("{}/s", bytes(number as f64 / seconds));
        let busy = of.busy_us.0 as f64 / seconds / 1e4;
        write_row(
            text,
            &disk.name,
            &[
                ("read", per_s(of.read_bytes.0)),
                ("written", per_s(of.written_bytes.0)),
                ("busy", format!("{busy:.0} %")),
            ],
        );
    }
}

fn calls(text: &mut String, host: &MachineVitals, seconds: f64) {
    let rate = |number: u64| per_s(number, seconds);
    for (name, nfs) in [("nfs", host.nfs_client), ("nfsd", host.nfs_server)] {
        if let Some(nfs) = nfs {
            write_row(
                text,
                name,
                &[("calls", rate(nfs.calls.0)), ("bad", write_count(nfs.repeated_or_bad.0))],
            );
        }
    }
}

fn groups(text: &mut String, change: &VitalsSample) {
    let seconds = change.seconds().max(1e-3);
    for group in &change.groups {
        let name = group_name(group);
        let cpu = |us: u64| format!("{:.1} %", us as f64 / seconds / 1e4);
        write_row(
            text,
            &name,
            &[
                ("cpu", cpu(group.cpu_us())),
                ("user", cpu(group.counters.user_us.0)),
                ("system", cpu(group.counters.system_us.0)),
                ("processes", write_count(group.processes)),
                ("memory", bytes(group.memory_bytes as f64)),
            ],
        );
    }
}

/// Writes a name and its figures, on as many lines as the terminal's width requires. A figure stays
/// on the line of its label.
fn write_row(text: &mut String, name: &str, cells: &[(&str, String)]) {
    let mut line = format!("{name:<9}");
    for (what, value) in cells {
        let cell = format!(" {what} {value}");
        if line.chars().count() + cell.chars().count() > width() {
            let _ = writeln!(text, "{line}");
            line = " ".repeat(9);
        }
        line += &cell;
    }
    let _ = writeln!(text, "{line}");
}

fn write_families(text: &mut String, change: &VitalsSample) {
    let line = |text: &mut String, name: &str, of: [String; 2]| {
        let [six, four] = of;
        let column = (width().saturating_sub(18) / 2).min(18);
        let _ = writeln!(text, "{name:<18}{six:>column$}{four:>column$}");
    };
    text.push('\n');
    line(text, "", ["IPv6".to_owned(), "IPv4".to_owned()]);
    let network = &change.network;
    for (name, number, if_any) in IP_COUNTERS {
        let both = [Family::Ipv6, Family::Ipv4].map(|family| number(&network.families[family]));
        if !if_any || both != [0, 0] {
            line(text, name, both.map(write_count));
        }
    }
    let Some(sockets) = &network.sockets else { return };
    let both = |of: &dyn Fn(Family) -> u64| [Family::Ipv6, Family::Ipv4].map(of);
    for (at, (state, _)) in sockets.ipv6.states().iter().enumerate() {
        let both = both(&|family| sockets[family].states()[at].1);
        if both != [0, 0] {
            line(text, &format!("{} now", state.replace('_', "-")), both.map(write_count));
        }
    }
    let PerFamily { ipv6, ipv4 } = sockets;
    let again = [ipv6, ipv4].map(|of| write_count(of.counters.retransmitted.0));
    line(text, "retransmits (live)", again);
}

fn shared(text: &mut String, change: &VitalsSample) {
    let tcp = &change.network.tcp;
    text.push('\n');
    write_row(text, "TCP of both families together:", &[]);
    write_row(
        text,
        "",
        &[
            ("opened", write_count(tcp.active_opens.0)),
            ("accepted", write_count(tcp.passive_opens.0)),
            ("segments in", write_count(tcp.in_segments.0)),
            ("out", write_count(tcp.out_segments.0)),
            ("retransmissions", write_count(tcp.retransmitted.0)),
        ],
    );
    write_row(
        text,
        "",
        &[
            ("timeouts", write_count(tcp.timeouts.0)),
            ("resets out", write_count(tcp.out_resets.0)),
            ("overflows", write_count(tcp.listen_overflows.0)),
            ("out of order", write_count(tcp.out_of_order.0)),
        ],
    );
    if let Some(conntrack) = &change.network.conntrack {
        write_row(
            text,
            "conntrack",
            &[
                ("entries", write_count(conntrack.entries)),
                ("of", write_count(conntrack.limit)),
                ("dropped", write_count(conntrack.counters.dropped.0)),
            ],
        );
    }
}

fn interfaces(text: &mut String, change: &VitalsSample) {
    let seconds = change.seconds().max(1e-3);
    for interface in &change.network.interfaces {
        let of = &interface.counters;
        if of.in_packets.0 + of.out_packets.0 == 0 {
            continue;
        }
        let rate = |number: u64| format!("{}/s", bytes(number as f64 / seconds));
        let dropped = of.in_dropped.0 + of.out_dropped.0 + of.in_missed.0;
        write_row(
            text,
            &interface.name,
            &[
                ("in", write_count(of.in_packets.0)),
                ("out", write_count(of.out_packets.0)),
                ("packets, in", rate(of.in_bytes.0)),
                ("out", rate(of.out_bytes.0)),
                ("dropped", write_count(dropped)),
                ("errors", write_count(of.in_errors.0 + of.out_errors.0)),
            ],
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counter::Counter;

    #[test]
    fn the_live_line_shows_the_rates_of_each_family() {
        let mut change = VitalsSample { since_us: 500_000, ..VitalsSample::default() };
        change.host.cpu.user_us = Counter(30);
        change.host.cpu.idle_us = Counter(70);
        change.network.families.ipv6.in_packets = Counter(1_000);
        change.network.families.ipv4.out_octets = Counter(4_000);
        let line = live(&change);
        assert!(line.starts_with("   cpu 30 %   IPv6 in 2,000/s"), "{line}");
        assert!(line.ends_with("out 0/s 8.00 kB/s"), "{line}");
    }
}
