//! Signs in a change of the counters that make measured figures doubtful.

use super::sample::VitalsSample;
use sixmark_units::family::Family;

/// Processors count as full if they are busy for more than this share (0 to 1) of the time.
const FULL: f64 = 0.95;

/// The largest share (0 to 1) of stolen time that is not reported.
const STOLEN: f64 = 0.02;

/// The largest ratio of dropped packets to all packets that is not reported.
const FEW: f64 = 1e-5;

/// A family's retransmissions are reported if their share of its segments is more than `AGAIN` and
/// more than `TIMES` times the other family's share.
const AGAIN: f64 = 0.001;
const TIMES: f64 = 3.0;

/// A reason to doubt the figures. `Display` describes it.
#[derive(Clone, Debug, PartialEq)]
pub enum VitalsDoubt {
    /// The processors were busy for this share (0 to 1) of the time.
    CpuFull(f64),
    /// This share (0 to 1) of processor time was stolen by the hypervisor.
    Stolen(f64),
    /// Packets dropped because a processor's queue was full.
    SoftnetDrops(u64),
    /// Packets dropped at an interface.
    InterfaceDrops(String, u64),
    /// Connections that did not fit into a listener's queue.
    ListenOverflows(u64),
    /// A family whose live sockets retransmitted a far larger share of segments than the other's;
    /// its share and the other's, 0 to 1.
    Retransmissions(Family, f64, f64),
    /// Packets dropped because the connection tracking table was full.
    ConntrackFull(u64),
}

/// Returns the doubts that a change gives reason for.
pub fn doubts_of_change(change: &VitalsSample) -> Vec<VitalsDoubt> {
    let mut found = Vec::new();
    let cpu = &change.host.cpu;
    found.extend(cpu.busy_share().filter(|share| *share > FULL).map(VitalsDoubt::CpuFull));
    found.extend(cpu.steal_share().filter(|share| *share > STOLEN).map(VitalsDoubt::Stolen));
    let softnet = &change.host.softnet;
    if is_much(softnet.dropped.0, softnet.processed.0) {
        found.push(VitalsDoubt::SoftnetDrops(softnet.dropped.0));
    }
    for interface in &change.network.interfaces {
        let of = &interface.counters;
        let dropped = of.in_dropped.0 + of.out_dropped.0 + of.in_missed.0 + of.in_fifo_errors.0;
        if is_much(dropped, of.in_packets.0 + of.out_packets.0) {
            found.push(VitalsDoubt::InterfaceDrops(interface.name.clone(), dropped));
        }
    }
    let overflows = change.network.tcp.listen_overflows.0;
    found.extend((overflows > 0).then_some(VitalsDoubt::ListenOverflows(overflows)));
    let full = change.network.conntrack.map_or(0, |of| of.counters.dropped.0);
    found.extend((full > 0).then_some(VitalsDoubt::ConntrackFull(full)));
    found.extend(retransmissions(change));
    found
}

fn is_much(dropped: u64, of: u64) -> bool {
    dropped > 0 && dropped as f64 > of as f64 * FEW
}

fn retransmissions(change: &VitalsSample) -> Option<VitalsDoubt> {
    Family::BOTH.into_iter().find_map(|family| {
        let own = change.network.retransmitted_share(family)?;
        let other = change.network.retransmitted_share(family.other())?;
        (own > AGAIN && own > TIMES * other)
            .then_some(VitalsDoubt::Retransmissions(family, own, other))
    })
}

impl std::fmt::Display for VitalsDoubt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let count = sixmark_units::quantity::write_count;
        match self {
            VitalsDoubt::CpuFull(share) => {
                write!(f, "the CPUs were busy for {:.0} % of the time", share * 1e2)
            }
            VitalsDoubt::Stolen(share) => write!(
                f,
                "the host of this virtual machine took {:.1} % of its CPU time (steal)",
                share * 1e2
            ),
            VitalsDoubt::SoftnetDrops(packets) => write!(
                f,
                "{} packets were dropped because a CPU's queue was full \
                 (net.core.netdev_max_backlog)",
                count(*packets)
            ),
            VitalsDoubt::InterfaceDrops(name, packets) => {
                write!(f, "the interface {name} dropped {} packets", count(*packets))
            }
            VitalsDoubt::ListenOverflows(times) => write!(
                f,
                "{} connections found a listener's queue full (its backlog, net.core.somaxconn)",
                count(*times)
            ),
            VitalsDoubt::Retransmissions(family, own, other) => write!(
                f,
                "{family} retransmitted {:.2} % of its segments, {} {:.2} %",
                own * 1e2,
                family.other(),
                other * 1e2
            ),
            VitalsDoubt::ConntrackFull(packets) => write!(
                f,
                "{} packets were dropped because the connection tracking table was full \
                 (net.netfilter.nf_conntrack_max)",
                count(*packets)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counter::Counter;
    use crate::network::{Interface, Sockets};
    use sixmark_units::family::PerFamily;

    #[test]
    fn reports_no_doubt_for_minor_symptoms() {
        let mut change = VitalsSample::default();
        change.host.cpu.user_us = Counter(50);
        change.host.cpu.idle_us = Counter(50);
        change.host.softnet.processed = Counter(10_000_000);
        change.host.softnet.dropped = Counter(7);
        assert_eq!(doubts_of_change(&change), []);
    }

    #[test]
    fn reports_each_symptom_with_its_figures() {
        let mut change = VitalsSample::default();
        change.host.cpu.softirq_us = Counter(96);
        change.host.cpu.steal_us = Counter(4);
        change.host.softnet.dropped = Counter(1_000);
        let mut interface = Interface { name: "eth0".into(), ..Interface::default() };
        interface.counters.in_missed = Counter(5);
        change.network.interfaces.push(interface);
        change.network.tcp.listen_overflows = Counter(3);
        let mut sockets = PerFamily::<Sockets>::default();
        sockets.ipv6.counters.segments_out = Counter(1_000);
        sockets.ipv6.counters.retransmitted = Counter(10);
        sockets.ipv4.counters.segments_out = Counter(1_000);
        change.network.sockets = Some(sockets);
        let found = doubts_of_change(&change);
        assert_eq!(found.len(), 6);
        let told: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert!(told[2].starts_with("1,000 packets"), "{told:?}");
        assert!(told[3].contains("eth0 dropped 5"), "{told:?}");
        assert_eq!(told[5], "IPv6 retransmitted 1.00 % of its segments, IPv4 0.00 %");
    }
}
