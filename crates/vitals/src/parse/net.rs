//! Parses the network files of a namespace: IP, TCP, packet queues, connection tracking and
//! neighbours.

use super::named::NamedNumbers;
use crate::counter::Counter;
use crate::network::{Conntrack, ConntrackCounters, Ip, Tcp};
use sixmark_units::family::PerFamily;

/// Returns each family's counters from `/proc/net/snmp6`, `/proc/net/snmp` and `/proc/net/netstat`.
pub fn parse_families(
    snmp6: &NamedNumbers<'_>,
    snmp: &NamedNumbers<'_>,
    netstat: &NamedNumbers<'_>,
) -> PerFamily<Ip> {
    PerFamily { ipv6: ipv6(snmp6), ipv4: ipv4(snmp, netstat) }
}

fn ipv6(snmp6: &NamedNumbers<'_>) -> Ip {
    let of = |name| snmp6.get("", name);
    Ip {
        in_packets: of("Ip6InReceives"),
        out_packets: of("Ip6OutRequests"),
        in_octets: of("Ip6InOctets"),
        out_octets: of("Ip6OutOctets"),
        delivered: of("Ip6InDelivers"),
        forwarded: of("Ip6OutForwDatagrams"),
        in_header_errors: of("Ip6InHdrErrors"),
        in_address_errors: of("Ip6InAddrErrors"),
        in_discards: of("Ip6InDiscards"),
        out_discards: of("Ip6OutDiscards"),
        out_no_routes: of("Ip6OutNoRoutes"),
        reassembly_needed: of("Ip6ReasmReqds"),
        reassembled: of("Ip6ReasmOKs"),
        reassembly_failed: of("Ip6ReasmFails"),
        fragmented: of("Ip6FragOKs"),
        fragmentation_failed: of("Ip6FragFails"),
        fragments_made: of("Ip6FragCreates"),
        unreachable_in: of("Icmp6InDestUnreachs"),
        unreachable_out: of("Icmp6OutDestUnreachs"),
        packet_too_big_in: of("Icmp6InPktTooBigs"),
        packet_too_big_out: of("Icmp6OutPktTooBigs"),
        udp_in: of("Udp6InDatagrams"),
        udp_out: of("Udp6OutDatagrams"),
        udp_no_ports: of("Udp6NoPorts"),
        udp_receive_buffer_errors: of("Udp6RcvbufErrors"),
        udp_send_buffer_errors: of("Udp6SndbufErrors"),
    }
}

fn ipv4(snmp: &NamedNumbers<'_>, netstat: &NamedNumbers<'_>) -> Ip {
    let ip = |name| snmp.get("Ip", name);
    let udp = |name| snmp.get("Udp", name);
    Ip {
        in_packets: ip("InReceives"),
        out_packets: ip("OutRequests"),
        in_octets: netstat.get("IpExt", "InOctets"),
        out_octets: netstat.get("IpExt", "OutOctets"),
        delivered: ip("InDelivers"),
        forwarded: ip("ForwDatagrams"),
        in_header_errors: ip("InHdrErrors"),
        in_address_errors: ip("InAddrErrors"),
        in_discards: ip("InDiscards"),
        out_discards: ip("OutDiscards"),
        out_no_routes: ip("OutNoRoutes"),
        reassembly_needed: ip("ReasmReqds"),
        reassembled: ip("ReasmOKs"),
        reassembly_failed: ip("ReasmFails"),
        fragmented: ip("FragOKs"),
        fragmentation_failed: ip("FragFails"),
        fragments_made: ip("FragCreates"),
        unreachable_in: snmp.get("Icmp", "InDestUnreachs"),
        unreachable_out: snmp.get("Icmp", "OutDestUnreachs"),
        packet_too_big_in: Counter(0),
        packet_too_big_out: Counter(0),
        udp_in: udp("InDatagrams"),
        udp_out: udp("OutDatagrams"),
        udp_no_ports: udp("NoPorts"),
        udp_receive_buffer_errors: udp("RcvbufErrors"),
        udp_send_buffer_errors: udp("SndbufErrors"),
    }
}

/// Returns TCP's counters from `/proc/net/snmp` and `/proc/net/netstat`.
pub fn tcp(snmp: &NamedNumbers<'_>, netstat: &NamedNumbers<'_>) -> Tcp {
    let of = |name| snmp.get("Tcp", name);
    let more = |name| netstat.get("TcpExt", name);
    Tcp {
        active_opens: of("ActiveOpens"),
        passive_opens: of("PassiveOpens"),
        attempt_fails: of("AttemptFails"),
        established_resets: of("EstabResets"),
        in_segments: of("InSegs"),
        out_segments: of("OutSegs"),
        retransmitted: of("RetransSegs"),
        syn_retransmitted: more("TCPSynRetrans"),
        fast_retransmitted: more("TCPFastRetrans"),
        timeouts: more("TCPTimeouts"),
        lost_retransmitted: more("TCPLostRetransmit"),
        in_errors: of("InErrs"),
        out_resets: of("OutRsts"),
        listen_overflows: more("ListenOverflows"),
        listen_drops: more("ListenDrops"),
        syn_cookies_sent: more("SyncookiesSent"),
        backlog_drops: more("TCPBacklogDrop"),
        out_of_order: more("TCPOFOQueue"),
        zero_windows: more("TCPToZeroWindowAdv"),
        memory_pressures: more("TCPMemoryPressures"),
    }
}

/// Parses `/proc/net/softnet_stat`. Returns, each with one value per processor: packets processed,
/// packets dropped, and how often the budget was used up.
pub fn softnet(text: &str) -> [Vec<u32>; 3] {
    let mut found = [const { Vec::new() }; 3];
    for line in text.lines() {
        let words = line.split_whitespace().map(|word| u32::from_str_radix(word, 16).unwrap_or(0));
        found.iter_mut().zip(words).for_each(|(of, number)| of.push(number));
    }
    found
}

/// Parses connection tracking from `nf_conntrack_count` and `nf_conntrack_max` of /proc/sys and
/// from `/proc/net/stat/nf_conntrack`, whose text may be empty. Returns `None` if one of the first
/// two is not a number.
pub fn conntrack(entries: &str, limit: &str, stat: &str) -> Option<Conntrack> {
    let mut lines = stat.lines();
    let names: Vec<&str> = lines.next().unwrap_or("").split_whitespace().collect();
    let mut counters = ConntrackCounters::default();
    for line in lines {
        let words = line.split_whitespace().map(|word| u64::from_str_radix(word, 16).unwrap_or(0));
        for (name, number) in names.iter().zip(words) {
            match *name {
                "insert_failed" => counters.insert_failed.0 += number,
                "drop" => counters.dropped.0 += number,
                "early_drop" => counters.early_dropped.0 += number,
                _ => {}
            }
        }
    }
    let number = |text: &str| text.trim().parse().ok();
    Some(Conntrack { entries: number(entries)?, limit: number(limit)?, counters })
}

/// Returns the number of entries of a neighbour table from `/proc/net/stat/arp_cache` or
/// `ndisc_cache`. The line of each processor begins with the number for all of them.
pub fn neighbours(text: &str) -> Option<u64> {
    let first = text.lines().nth(1)?.split_whitespace().next()?;
    u64::from_str_radix(first, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{flat, paired};
    use sixmark_units::family::Family;

    const SNMP: &str = "Ip: Forwarding DefaultTTL InReceives InHdrErrors OutRequests ReasmOKs\n\
        Ip: 2 64 879418981 3 876190161 5\n\
        Icmp: InMsgs InErrors InCsumErrors InDestUnreachs\nIcmp: 30665 0 0 30665\n\
        IcmpMsg: InType3 OutType3\nIcmpMsg: 30665 30658\n\
        Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets \
        CurrEstab InSegs OutSegs RetransSegs InErrs OutRsts InCsumErrors\n\
        Tcp: 1 200 120000 -1 52567683 50234435 2333007 5932894 0 1701724369 1701302284 419862 0 \
        6826896 0\n\
        Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors\n\
        Udp: 3891645 30658 28262 3976709 28262\n";
    const NETSTAT: &str = "TcpExt: SyncookiesSent ListenOverflows ListenDrops TCPTimeouts\n\
        TcpExt: 0 7 8 110956\nIpExt: InNoRoutes InOctets OutOctets\n\
        IpExt: 0 1539129369137 1537754831297\n";
    const SNMP6: &str = "Ip6InReceives                   \t835662289\nIp6OutDiscards     \t188\n\
        Ip6InOctets                     \t1619731333762\nIcmp6InPktTooBigs               \t12\n\
        Udp6RcvbufErrors                \t3628238\n";

    #[test]
    fn reads_ip_counters_per_family_and_tcp_counters_for_both() {
        let (snmp, netstat, snmp6) = (paired(SNMP), paired(NETSTAT), flat(SNMP6));
        let found = parse_families(&snmp6, &snmp, &netstat);
        let six = found[Family::Ipv6];
        assert_eq!(
            [six.in_packets.0, six.out_discards.0, six.packet_too_big_in.0],
            [835_662_289, 188, 12]
        );
        assert_eq!(
            [six.in_octets.0, six.udp_receive_buffer_errors.0],
            [1_619_731_333_762, 3_628_238]
        );
        let four = found[Family::Ipv4];
        assert_eq!([four.in_packets.0, four.reassembled.0], [879_418_981, 5]);
        assert_eq!([four.in_octets.0, four.unreachable_in.0], [1_539_129_369_137, 30_665]);
        assert_eq!([four.udp_in.0, four.packet_too_big_in.0], [3_891_645, 0]);
        let tcp = tcp(&snmp, &netstat);
        assert_eq!([tcp.active_opens.0, tcp.retransmitted.0], [52_567_683, 419_862]);
        assert_eq!([tcp.listen_overflows.0, tcp.timeouts.0], [7, 110_956]);
    }

    #[test]
    fn reads_one_softnet_line_per_processor() {
        let text = "419393ed 0000390e 0000002e 00000000\n3d226ae0 00004e0f 00000038 00000000\n";
        let [processed, dropped, squeezed] = softnet(text);
        assert_eq!(processed, [0x4193_93ed, 0x3d22_6ae0]);
        assert_eq!((dropped, squeezed), (vec![0x390e, 0x4e0f], vec![0x2e, 0x38]));
        assert!(softnet("").iter().all(Vec::is_empty));
    }

    #[test]
    fn sums_conntrack_counters_of_all_processors() {
        let stat = "entries  clashres found new invalid ignore delete chainlength insert insert_failed drop early_drop\n\
            0000000a  00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000002 00000001 00000000\n\
            0000000a  00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000010 00000000 00000003\n";
        let found = conntrack("10\n", "262144\n", stat).unwrap();
        assert_eq!((found.entries, found.limit), (10, 262_144));
        assert_eq!(found.counters.insert_failed, Counter(18));
        assert_eq!(
            (found.counters.dropped, found.counters.early_dropped),
            (Counter(1), Counter(3))
        );
        assert_eq!(conntrack("7", "8", "").unwrap().counters, ConntrackCounters::default());
        assert_eq!(conntrack("", "8", stat), None);
    }

    #[test]
    fn reads_the_neighbour_count_from_one_line_only() {
        let text = "entries  allocs   destroys\n0000001f 00038a93 0003fa6d\n0000001f 0003396e 1\n";
        assert_eq!(neighbours(text), Some(31));
        assert_eq!(neighbours("entries"), None);
    }
}
