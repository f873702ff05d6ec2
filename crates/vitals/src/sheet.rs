//! The report on the kernel's counters: each family's packets, the machine and the groups of
//! processes, in total and over time.

mod over_time;

use crate::VitalsSample;
use crate::group::{Group as Processes, GroupKind};
use crate::host::{CpuTimes, Nfs};
use crate::network::{Interface, Ip, Sockets};
use crate::vitals_result::VitalsResult;
use sixmark_units::family::{Family, PerFamily};

use sixmark_sheet::table::{Column, Group, Row, SheetCell, Table};
use sixmark_sheet::{Block, Part, Sheet, SheetHeadline, Tile, setting, terminal, write};

/// A counter of a family: its name, its value, and whether it is omitted if it is 0 for both
/// families.
pub(crate) type IpCounter = (&'static str, fn(&Ip) -> u64, bool);

/// The IP, ICMP and UDP counters of a family that are shown.
pub(crate) const IP_COUNTERS: [IpCounter; 18] = [
    ("packets in", |ip| ip.in_packets.0, false),
    ("packets out", |ip| ip.out_packets.0, false),
    ("bytes in", |ip| ip.in_octets.0, false),
    ("bytes out", |ip| ip.out_octets.0, false),
    ("forwarded", |ip| ip.forwarded.0, true),
    ("fragments in", |ip| ip.reassembly_needed.0, true),
    ("reassembled", |ip| ip.reassembled.0, true),
    ("not reassembled", |ip| ip.reassembly_failed.0, true),
    ("fragments out", |ip| ip.fragments_made.0, true),
    ("too big in", |ip| ip.packet_too_big_in.0, true),
    ("too big out", |ip| ip.packet_too_big_out.0, true),
    ("unreachable in", |ip| ip.unreachable_in.0, true),
    ("errors in", |ip| ip.in_header_errors.0 + ip.in_address_errors.0, true),
    ("discarded in", |ip| ip.in_discards.0, true),
    ("discarded out", |ip| ip.out_discards.0, true),
    ("no route", |ip| ip.out_no_routes.0, true),
    ("udp in", |ip| ip.udp_in.0, true),
    ("udp no room", |ip| ip.udp_receive_buffer_errors.0 + ip.udp_send_buffer_errors.0, true),
];

/// Returns the report as text for a terminal, without warnings. It ends with a line feed.
pub fn vitals_text(result: &VitalsResult) -> String {
    terminal::sheet_text(&Sheet { warnings: Vec::new(), ..vitals_sheet("", result) })
}

/// Returns the report.
pub fn vitals_sheet(name: &str, result: &VitalsResult) -> Sheet {
    let parts =
        [over_time::over_time(result), families(result), machine(result), processes(result)];
    let parts = parts.into_iter().chain([setting::setting_part(setting(result))]);
    Sheet {
        name: name.to_owned(),
        kind: "Vitals",
        title: match &result.head.host {
            Some(host) => format!("Kernel counters of {host}"),
            None => "Kernel counters of this machine".to_owned(),
        },
        when: setting::when(&result.head.started),
        about: describe_vitals(result),
        headline: vitals_headline(result),
        tiles: tiles(&result.change),
        warnings: result.warnings.clone(),
        parts: parts.flatten().collect(),
    }
}

fn describe_vitals(result: &VitalsResult) -> Vec<String> {
    let said = [
        format!("{:.1} s", result.elapsed_s),
        format!("{} samples", write::write_count(result.taken)),
        format!("sampling took {} of a core", write::write_percent(result.own_cpu_share)),
        setting::describe_end(result.ended).to_owned(),
    ];
    said.into_iter().filter(|phrase| !phrase.is_empty()).collect()
}

/// Says how busy the machine was, and how much each family carried.
fn vitals_headline(result: &VitalsResult) -> SheetHeadline {
    let change = &result.change;
    let seconds = seconds_of(change);
    let busy = change.host.cpu.busy_share().unwrap_or(0.0);
    let family = |family: Family| {
        let ip = &change.network.families[family];
        let rate = |octets: u64| write::write_rate(octets as f64 / seconds);
        format!("{family} {} in and {} out", rate(ip.in_octets.0), rate(ip.out_octets.0))
    };
    let [six, four] = Family::BOTH.map(family);
    let sentence = format!(
        "The processors were busy {} of the time, at most {}; {six}, {four}.",
        write::write_percent(busy),
        write::write_percent(result.busiest)
    );
    SheetHeadline { sentence, ..SheetHeadline::default() }
}

fn tiles(change: &VitalsSample) -> Vec<Tile> {
    let seconds = seconds_of(change);
    let per_s = |value: u64| format!("{}/s", write::per_s(value as f64 / seconds));
    let rate = |value: u64| write::write_rate(value as f64 / seconds);
    let tile = |label, of: fn(&Ip) -> u64, written: &dyn Fn(u64) -> String| {
        let side = |family: Family| {
            let value = written(of(&change.network.families[family]));
            (usize::from(family == Family::Ipv4), family.to_string(), value)
        };
        Tile { label, metric: None, sides: Family::BOTH.map(side).into(), change: String::new() }
    };
    vec![
        tile("Packets in", |ip| ip.in_packets.0, &per_s),
        tile("Packets out", |ip| ip.out_packets.0, &per_s),
        tile("Bytes in", |ip| ip.in_octets.0, &rate),
        tile("Bytes out", |ip| ip.out_octets.0, &rate),
    ]
}

/// Returns the change of each family's IP counters, and its sockets at the end.
fn families(result: &VitalsResult) -> Option<Part> {
    let network = &result.change.network;
    let counted = IP_COUNTERS.into_iter().filter_map(|(name, of, if_any)| {
        let both = Family::BOTH.map(|family| of(&network.families[family]));
        (!if_any || both != [0, 0]).then(|| both_row(name, both))
    });
    let mut groups = vec![Group { name: Some("IP, ICMP, UDP".into()), rows: counted.collect() }];
    groups.extend(network.sockets.as_ref().map(sockets));
    let names = Family::BOTH.map(|family| Column::number(family.to_string()));
    let columns = std::iter::once(Column::words("Counter")).chain(names).collect();
    let caption = "What changed from the first sample to the last".to_owned();
    let table = Table { caption, columns, groups, scale: None };
    Part::new("Each family", vec![Block::Table(table)]).map(Part::open)
}

fn both_row(name: impl Into<SheetCell>, both: [u64; 2]) -> Row {
    let cell = |count: u64| SheetCell::Number(write::write_count(count), count as f64);
    Row::new(name, both.map(cell).into())
}

fn sockets(sockets: &PerFamily<Sockets>) -> Group {
    let both = |of: &dyn Fn(&Sockets) -> u64| Family::BOTH.map(|family| of(&sockets[family]));
    let states = sockets.ipv6.states().into_iter().enumerate().filter_map(|(at, (state, _))| {
        let both = both(&|of| of.states()[at].1);
        (both != [0, 0]).then(|| both_row(format!("{} at the end", state.replace('_', "-")), both))
    });
    let again =
        both_row("retransmissions of live sockets", both(&|of| of.counters.retransmitted.0));
    Group { name: Some("Sockets".into()), rows: states.chain([again]).collect() }
}

/// Returns tables of processors, memory, TCP counters of both families together, interfaces and
/// disks.
fn machine(result: &VitalsResult) -> Option<Part> {
    let change = &result.change;
    let blocks = [
        Some(machine_table(result)),
        tcp_table(change),
        interfaces_table(change),
        disks_table(change),
    ];
    Part::new("The machine", blocks.into_iter().flatten().collect())
}

fn machine_table(result: &VitalsResult) -> Block {
    let host = &result.change.host;
    let seconds = seconds_of(&result.change);
    let memory = &host.memory;
    let available = memory.usable_bytes();
    let rate = |count: u64| format!("{}/s", write::per_s(count as f64 / seconds));
    let any = |count: u64| if count > 0 { write::write_count(count) } else { String::new() };
    let share = |us: u64| match us {
        0 => String::new(),
        us => write::write_percent(us as f64 / host.cpu.all_us().max(1) as f64),
    };
    let calls = |nfs: Option<Nfs>| {
        nfs.map_or(String::new(), |nfs| {
            format!(
                "{}, {} repeated or bad",
                rate(nfs.calls.0),
                write::write_count(nfs.repeated_or_bad.0)
            )
        })
    };
    let facts = vec![
        ("Processors busy", busy_parts(&host.cpu)),
        ("Processors idle, waiting for disks", share(host.cpu.iowait_us.0)),
        ("Busiest between two samples", write::write_percent(result.busiest)),
        ("Busiest core between two samples", write::write_percent(result.busiest_core)),
        (
            "Memory available at the end",
            format!(
                "{} of {}",
                write::write_bytes(available as f64),
                write::write_bytes(memory.total_bytes as f64)
            ),
        ),
        ("Pages swapped", any(host.paging.swapped_in_pages.0 + host.paging.swapped_out_pages.0)),
        ("Major page faults", any(host.paging.major_faults.0)),
        ("Context switches", rate(host.events.context_switches.0)),
        ("Interrupts", rate(host.events.interrupts.0)),
        ("Softirqs for received packets", rate(host.events.softirq_net_rx.0)),
        ("Softirqs for sent packets", rate(host.events.softirq_net_tx.0)),
        ("Packets taken from interfaces", rate(host.softnet.processed.0)),
        ("Packets dropped, queue full", any(host.softnet.dropped.0)),
        ("Times out of budget for packets", any(host.softnet.squeezed.0)),
        ("NFS calls of this machine", calls(host.nfs_client)),
        ("NFS calls to this machine", calls(host.nfs_server)),
    ];
    Block::Table(Table::facts("Processors, memory, kernel", facts))
}

/// Formats processor times like `12 %: user 7 %, system 4 %, softirq 1 %`.
fn busy_parts(cpu: &CpuTimes) -> String {
    let all = cpu.all_us().max(1) as f64;
    let parts = [
        ("user", cpu.user_us),
        ("nice", cpu.nice_us),
        ("system", cpu.system_us),
        ("irq", cpu.irq_us),
        ("softirq", cpu.softirq_us),
    ];
    let parts = parts.into_iter().filter(|(_, us)| us.0 > 0);
    let parts =
        parts.map(|(name, us)| format!("{name} {}", write::write_percent(us.0 as f64 / all)));
    let busy = write::write_percent(cpu.busy_us() as f64 / all);
    let stolen = (cpu.steal_us.0 > 0)
        .then(|| format!("; stolen {}", write::write_percent(cpu.steal_us.0 as f64 / all)));
    format!("{busy}: {}{}", parts.collect::<Vec<_>>().join(", "), stolen.unwrap_or_default())
}

/// Returns a table of TCP counters, which the kernel does not keep per family, and of connection
/// tracking.
fn tcp_table(change: &VitalsSample) -> Option<Block> {
    let tcp = &change.network.tcp;
    let counters = [
        ("connections opened", tcp.active_opens),
        ("connections accepted", tcp.passive_opens),
        ("connections not established", tcp.attempt_fails),
        ("segments in", tcp.in_segments),
        ("segments out", tcp.out_segments),
        ("retransmissions", tcp.retransmitted),
        ("retransmission timeouts", tcp.timeouts),
        ("resets sent", tcp.out_resets),
        ("connections reset", tcp.established_resets),
        ("listen queue overflows", tcp.listen_overflows),
        ("segments out of order", tcp.out_of_order),
        ("zero windows announced", tcp.zero_windows),
    ];
    let conntrack = change.network.conntrack.iter().flat_map(|of| {
        [
            ("conntrack entries at the end", of.entries),
            ("conntrack entries allowed", of.limit),
            ("packets dropped by conntrack", of.counters.dropped.0),
        ]
    });
    let all = counters.into_iter().map(|(name, counter)| (name, counter.0)).chain(conntrack);
    let rows: Vec<Row> = all
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| {
            Row::new(name, vec![SheetCell::Number(write::write_count(count), count as f64)])
        })
        .collect();
    let columns = vec![Column::words("Counter"), Column::number("Both families")];
    let caption = "TCP, which the kernel counts for both families together";
    (!rows.is_empty()).then(|| Block::Table(Table::new(caption, columns, rows)))
}

fn interfaces_table(change: &VitalsSample) -> Option<Block> {
    let seconds = seconds_of(change);
    let number = |count: u64| SheetCell::Number(write::write_count(count), count as f64);
    let rate = |bytes: u64| {
        let rate = bytes as f64 / seconds;
        SheetCell::Number(write::write_rate(rate), rate)
    };
    let row = |of: &Interface| {
        let counted = &of.counters;
        let dropped = counted.in_dropped.0 + counted.out_dropped.0 + counted.in_missed.0;
        let cells = vec![
            number(counted.in_packets.0),
            number(counted.out_packets.0),
            rate(counted.in_bytes.0),
            rate(counted.out_bytes.0),
            number(dropped),
            number(counted.in_errors.0 + counted.out_errors.0),
        ];
        Row::new(of.name.clone(), cells)
    };
    let used = |of: &&Interface| of.counters.in_packets.0 + of.counters.out_packets.0 > 0;
    let rows: Vec<Row> = change.network.interfaces.iter().filter(used).map(row).collect();
    let columns = ["Packets in", "Packets out", "Bytes in", "Bytes out", "Dropped", "Errors"];
    let columns = columns.map(Column::number).into_iter();
    let columns = std::iter::once(Column::words("Interface")).chain(columns).collect();
    (!rows.is_empty()).then(|| Block::Table(Table::new("Interfaces", columns, rows)))
}

fn disks_table(change: &VitalsSample) -> Option<Block> {
    let seconds = seconds_of(change);
    let rows: Vec<Row> = change
        .host
        .disks
        .iter()
        .filter(|disk| disk.counters.reads.0 + disk.counters.writes.0 > 0)
        .map(|disk| {
            let rate = |bytes: u64| {
                let rate = bytes as f64 / seconds;
                SheetCell::Number(write::write_rate(rate), rate)
            };
            let busy = disk.counters.busy_us.0 as f64 / seconds / 1e6;
            let cells = vec![
                rate(disk.counters.read_bytes.0),
                rate(disk.counters.written_bytes.0),
                SheetCell::Number(write::write_percent(busy), busy),
            ];
            Row::new(disk.name.clone(), cells)
        })
        .collect();
    let columns = ["Read", "Written", "Busy"].map(Column::number).into_iter();
    let columns = std::iter::once(Column::words("Disk")).chain(columns).collect();
    (!rows.is_empty()).then(|| Block::Table(Table::new("Disks", columns, rows)))
}

/// Returns a table of the selected groups of processes. Times are shares of one processor.
fn processes(result: &VitalsResult) -> Option<Part> {
    let seconds = seconds_of(&result.change);
    let row = |group: &Processes| {
        let core = |us: u64| {
            let share = us as f64 / seconds / 1e6;
            SheetCell::Number(write::write_percent(share), share)
        };
        let memory = group.memory_bytes as f64;
        let cells = vec![
            core(group.cpu_us()),
            core(group.counters.user_us.0),
            core(group.counters.system_us.0),
            SheetCell::Number(write::write_count(group.processes), group.processes as f64),
            SheetCell::Number(write::write_bytes(memory), memory),
        ];
        Row::new(group_name(group), cells)
    };
    let rows: Vec<Row> = result.change.groups.iter().map(row).collect();
    let columns = ["CPU", "User", "System", "Processes", "Memory at the end"];
    let columns = columns.map(Column::number).into_iter();
    let columns = std::iter::once(Column::words("Group")).chain(columns).collect();
    let table = Table::new("Groups of processes, of one core", columns, rows);
    let any = !result.change.groups.is_empty();
    any.then(|| Part::new("Processes", vec![Block::Table(table)])).flatten()
}

/// Returns `pid 1234` for a group selected by process id, otherwise the name by which it was
/// selected.
pub(crate) fn group_name(group: &Processes) -> String {
    match group.kind {
        GroupKind::Pid => format!("pid {}", group.name),
        _ => group.name.clone(),
    }
}

fn setting(result: &VitalsResult) -> Vec<Block> {
    let head = &result.head;
    let any = |count: u64| if count > 0 { write::write_count(count) } else { String::new() };
    let facts = vec![
        ("Interval", write::write_time(head.interval_s * 1e6)),
        ("Samples", write::write_count(result.taken)),
        ("Samples missed", any(result.missed)),
        ("Counters that restarted", any(result.resets)),
        (
            "CPU time of sampling",
            format!("{} of a core", write::write_percent(result.own_cpu_share)),
        ),
    ];
    let mut blocks = vec![Block::Table(Table::facts("Sampling", facts))];
    blocks.extend(setting::machine(&head.environment, Vec::new(), &head.tool));
    blocks
}

fn seconds_of(change: &VitalsSample) -> f64 {
    change.seconds().max(1e-3)
}
