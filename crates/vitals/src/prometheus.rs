//! Writes a sample in Prometheus's text format, version 0.0.4.

use sixmark_sheet::exposition::{ExpositionKind, ExpositionPage, prometheus_label};

use super::counter::{Counter, Counters};
use super::host::CpuTimes;
use super::network::{Interface, Network, Sockets};
use super::sample::VitalsSample;

/// The content type of the page.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Returns the whole page. Times are in seconds; other values are in the unit with which their name
/// ends.
pub fn prometheus_page(sample: &VitalsSample) -> String {
    let mut page = Page(ExpositionPage::new("sixmark_vitals_"));
    let host = &sample.host;
    let modes = "CPU time of all CPUs by mode.";
    page.0.head("cpu_seconds_total", ExpositionKind::Counter, modes);
    cpu(&mut page, "cpu_seconds_total", "", &host.cpu);
    page.0.head("core_seconds_total", ExpositionKind::Counter, "CPU time of each CPU by mode.");
    for (number, core) in host.cores.iter().enumerate() {
        cpu(&mut page, "core_seconds_total", &format!("core=\"{number}\","), core);
    }
    page.counters(
        "events",
        "Interrupts, context switches and similar events.",
        [("", &host.events)],
    );
    page.0.gauge(
        "threads",
        "Threads that are running or blocked.",
        &[("state=\"running\"", host.running as f64), ("state=\"blocked\"", host.blocked as f64)],
    );
    memory(&mut page, sample);
    page.counters("paging", "Paging.", [("", &host.paging)]);
    let disks: Vec<_> = host
        .disks
        .iter()
        .map(|disk| (prometheus_label("disk", &disk.name), &disk.counters))
        .collect();
    page.labelled("disk", "Operations and time of a disk.", &disks);
    let nfs = [("role=\"client\"", &host.nfs_client), ("role=\"server\"", &host.nfs_server)];
    let nfs = nfs.into_iter().filter_map(|(role, nfs)| Some((role.to_owned(), nfs.as_ref()?)));
    page.labelled("nfs", "NFS calls.", &nfs.collect::<Vec<_>>());
    page.counters("softnet", "Packets processed by the CPUs (softnet).", [("", &host.softnet)]);
    network(&mut page, &sample.network);
    groups(&mut page, sample);
    page.0.head("own_cpu_seconds_total", ExpositionKind::Counter, "CPU time of this program.");
    page.0.line("own_cpu_seconds_total", "", sample.own_cpu_us.0 as f64 / 1e6);
    page.0.take()
}

fn cpu(page: &mut Page, name: &str, before: &str, times: &CpuTimes) {
    times.each(&mut |mode, Counter(us)| {
        let mode = mode.trim_end_matches("_us");
        page.0.line(name, &format!("{before}mode=\"{mode}\""), us as f64 / 1e6);
    });
}

fn memory(page: &mut Page, sample: &VitalsSample) {
    let memory = &sample.host.memory;
    let mut of = vec![
        ("kind=\"total\"", memory.total_bytes as f64),
        ("kind=\"free\"", memory.free_bytes as f64),
        ("kind=\"buffers\"", memory.buffers_bytes as f64),
        ("kind=\"cached\"", memory.cached_bytes as f64),
        ("kind=\"dirty\"", memory.dirty_bytes as f64),
        ("kind=\"swap_total\"", memory.swap_total_bytes as f64),
        ("kind=\"swap_free\"", memory.swap_free_bytes as f64),
    ];
    of.extend(memory.available_bytes.map(|bytes| ("kind=\"available\"", bytes as f64)));
    page.0.gauge("memory_bytes", "Memory by use.", &of);
}

fn network(page: &mut Page, network: &Network) {
    let families: Vec<_> = network
        .families
        .iter()
        .map(|(family, ip)| (prometheus_label("family", family.word()), ip))
        .collect();
    page.labelled("ip", "IP, ICMP and UDP counters of a family.", &families);
    page.counters("tcp", "TCP counters, both families together.", [("", &network.tcp)]);
    if let Some(sockets) = &network.sockets {
        page.0.head(
            "sockets",
            ExpositionKind::Gauge,
            "Sockets of a family: TCP by state, and UDP.",
        );
        for (family, sockets) in sockets.iter() {
            states(page, family.word(), sockets);
        }
        let live: Vec<_> = sockets
            .iter()
            .map(|(family, of)| (prometheus_label("family", family.word()), &of.counters))
            .collect();
        page.labelled("live_sockets", "Counters of a family's open sockets (TCP_INFO).", &live);
    }
    let interfaces: Vec<_> = network.interfaces.iter().map(by_name).collect();
    page.labelled("interface", "Counters of an interface.", &interfaces);
    if let Some(conntrack) = &network.conntrack {
        page.0.gauge(
            "conntrack_entries",
            "Tracked connections.",
            &[("", conntrack.entries as f64)],
        );
        page.0.gauge(
            "conntrack_limit",
            "Maximum number of tracked connections.",
            &[("", conntrack.limit as f64)],
        );
        page.counters("conntrack", "Counters of connection tracking.", [("", &conntrack.counters)]);
    }
    let known = network.neighbours.iter();
    let known: Vec<_> = known
        .filter_map(|(family, known)| {
            Some((prometheus_label("family", family.word()), (*known)? as f64))
        })
        .collect();
    let known: Vec<_> = known.iter().map(|(label, known)| (label.as_str(), *known)).collect();
    page.0.gauge("neighbours", "Entries in the neighbour table.", &known);
}

fn by_name(interface: &Interface) -> (String, &super::network::InterfaceCounters) {
    (prometheus_label("interface", &interface.name), &interface.counters)
}

fn states(page: &mut Page, family: &str, sockets: &Sockets) {
    for (state, number) in sockets.states() {
        let labels = format!("family=\"{family}\",state=\"{state}\"");
        page.0.line("sockets", &labels, number as f64);
    }
}

fn groups(page: &mut Page, sample: &VitalsSample) {
    let labels = |group: &super::group::Group| prometheus_label("group", &group.name);
    let of: Vec<_> = sample.groups.iter().map(|group| (labels(group), &group.counters)).collect();
    page.labelled("group", "Resources used by a group of processes.", &of);
    let of: Vec<_> = sample.groups.iter().map(labels).collect();
    let gauge = |number: fn(&super::group::Group) -> u64| {
        let numbers = sample.groups.iter().map(|group| number(group) as f64);
        of.iter().map(String::as_str).zip(numbers).collect::<Vec<_>>()
    };
    page.0.gauge(
        "group_processes",
        "Number of processes in a group.",
        &gauge(|group| group.processes),
    );
    page.0.gauge(
        "group_memory_bytes",
        "Memory of a group of processes.",
        &gauge(|group| group.memory_bytes),
    );
}

struct Page(ExpositionPage);

impl Page {
    fn counters<C: Counters, const N: usize>(
        &mut self,
        what: &str,
        help: &str,
        of: [(&str, &C); N],
    ) {
        self.labelled(what, help, &of.map(|(labels, counters)| (labels.to_owned(), counters)));
    }

    /// Writes counters for several label sets. The format requires all lines of one metric to be
    /// adjacent.
    fn labelled<C: Counters>(&mut self, what: &str, help: &str, of: &[(String, &C)]) {
        let Some((_, first)) = of.first() else { return };
        let mut names = Vec::new();
        first.each(&mut |name, _| names.push(name));
        for name in names {
            let (metric, scale) = match name.strip_suffix("_us") {
                Some(time) => (format!("{what}_{time}_seconds_total"), 1e-6),
                None => (format!("{what}_{name}_total"), 1.0),
            };
            self.0.head(&metric, ExpositionKind::Counter, help);
            for (labels, counters) in of {
                counters.each(&mut |known, Counter(value)| {
                    if known == name {
                        self.0.line(&metric, labels, value as f64 * scale);
                    }
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exposition::{Exporter, parse_exposition, processor_time};
    use crate::group::Group;

    fn sample() -> VitalsSample {
        let mut sample = VitalsSample::default();
        sample.host.cpu.user_us = Counter(1_500_000);
        sample.host.cpu.idle_us = Counter(8_500_000);
        sample.host.cores = vec![sample.host.cpu];
        sample.network.families.ipv6.in_octets = Counter(42);
        sample.network.sockets = Some(Default::default());
        let mut group = Group { name: "a\"b".into(), ..Group::default() };
        group.counters.user_us = Counter(250_000);
        sample.groups.push(group);
        sample
    }

    #[test]
    fn writes_one_type_line_per_metric_before_its_values() {
        let text = prometheus_page(&sample());
        let mut known: Vec<&str> = Vec::new();
        for line in text.lines() {
            match line.strip_prefix("# TYPE ") {
                Some(rest) => {
                    let name = rest.split(' ').next().unwrap();
                    assert!(!known.contains(&name), "{name} twice");
                    known.push(name);
                }
                None if line.starts_with('#') => {}
                None => {
                    let name = line.split(['{', ' ']).next().unwrap();
                    assert_eq!(known.last(), Some(&name), "{line}");
                }
            }
        }
        assert!(known.contains(&"sixmark_vitals_cpu_seconds_total"));
        assert!(known.contains(&"sixmark_vitals_sockets"));
    }

    #[test]
    fn reads_back_the_page_that_it_wrote() {
        let text = prometheus_page(&sample());
        let found: Vec<_> = parse_exposition(&text).collect();
        let octets = found.iter().find(|metric| {
            metric.name == "sixmark_vitals_ip_in_octets_total"
                && metric.label("family") == Some("ipv6")
        });
        assert_eq!(octets.unwrap().value, 42.0);
        let (who, point) = processor_time(&text, 7).unwrap();
        assert_eq!(who, Exporter::Sixmark);
        assert_eq!((point.host_us, point.all_us), (1_500_000.0, 10_000_000.0));
        assert_eq!(point.processes_us, Some(250_000.0));
        assert!(text.contains("group=\"a\\\"b\""));
    }
}
