//! Tests of valid and invalid scripts.

use super::super::{Burst, Gap, Length, Pattern, Steady};
use super::*;
use sixmark_units::family::Family;

const SECOND: u64 = 1_000_000_000;

fn refused(text: &str) -> String {
    parse_script(text).unwrap_err().to_string()
}

#[test]
fn parses_on_mod_and_off_events() {
    let text = "\
# a comment
TTL 64
0.5 ON 1 UDP SRC 5001 DST 192.0.2.1/5000 PERIODIC [10 1460] TOS 0x10 # why
1.0 on 2 tcp dst 2001:db8::1/5000 POISSON [2.5 1440] COUNT 20
3 OFF 1
2 MOD 1 \\
  PERIODIC [20 100]
4 ON 1 UDP DST ::1/7 PERIODIC [1 40] TTL 3";
    let script = parse_script(text).unwrap();
    let [one, two, again] = &script.flows[..] else { panic!("{script:?}") };
    assert_eq!(
        (one.flow.id, one.to, one.port),
        (1, "192.0.2.1:5000".parse().unwrap(), Some(5_001))
    );
    assert_eq!((one.hops, one.class, one.flow.family), (Some(64), Some(16), Family::Ipv4));
    assert_eq!((one.flow.start_ns(), one.flow.stop_ns), (SECOND / 2, Some(3 * SECOND)));
    let steady = |per_s, gap| Pattern::Steady(Steady { per_s, gap, offset: 0.0 });
    let phases: Vec<_> = one.flow.phases.iter().map(|p| (p.from_ns, p.pattern, p.bytes)).collect();
    let (first, second) = (steady(10.0, Gap::Regular), steady(20.0, Gap::Regular));
    assert_eq!(phases, [(SECOND / 2, first, 1_460), (2 * SECOND, second, 100)]);
    assert_eq!(
        (two.flow.protocol, two.flow.family, two.flow.count),
        (FlowProtocol::Tcp, Family::Ipv6, Some(20))
    );
    assert_eq!(two.flow.phases[0].pattern, steady(2.5, Gap::Random));
    assert_eq!((again.flow.id, again.hops, again.flow.stop_ns), (1, Some(3), None));
    assert_eq!(script.end_ns(), None);
}

#[test]
fn parses_bursts_with_their_inner_pattern() {
    let text =
        "0 ON 3 UDP DST 127.0.0.1/5000 BURST [RANDOM 10.0 POISSON [10.0 256] EXP 5.0]\n9 OFF 3";
    let script = parse_script(text).unwrap();
    let within = Steady { per_s: 10.0, gap: Gap::Random, offset: 0.0 };
    let (every_ns, length_ns) = (10 * SECOND, 5 * SECOND);
    let (every, length) = (Gap::Random, Length::Exponential);
    let burst = Burst { within, every, every_ns, length, length_ns, carry: false };
    assert_eq!(script.flows[0].flow.phases[0].pattern, Pattern::Burst(burst));
    assert_eq!(script.end_ns(), Some(9 * SECOND));
}

#[test]
fn parses_listen_and_ignore_events() {
    let script =
        parse_script("0.0 LISTEN UDP 5000-5001,6000\n1 LISTEN TCP 5000\n6 IGNORE UDP 5000")
            .unwrap();
    let found: Vec<_> =
        script.listening.iter().map(|l| (l.protocol, l.port, l.from_ns, l.until_ns)).collect();
    let (udp, tcp) = (FlowProtocol::Udp, FlowProtocol::Tcp);
    let first = (udp, 5_000, 0, Some(6 * SECOND));
    assert_eq!(
        found,
        [first, (udp, 5_001, 0, None), (udp, 6_000, 0, None), (tcp, 5_000, SECOND, None)]
    );
}

#[test]
fn notes_lines_that_have_no_effect() {
    let script = parse_script("FLUSH\nOUTPUT log.txt\n0 LISTEN UDP 5000\nRXBUFFER 4096").unwrap();
    assert_eq!(script.notes.iter().map(|note| note.line).collect::<Vec<_>>(), [1, 2, 4]);
    assert!(script.notes[0].what.contains("FLUSH"));
}

#[test]
fn rejects_invalid_events_with_line_and_reason() {
    for (text, why) in [
        ("0 JOIN 224.225.1.2", "line 1: the event JOIN is not supported"),
        ("\n0 ON 1 UDP DST 224.225.1.2/5 PERIODIC [1 100]", "line 2: '224.225.1.2/5': multicast"),
        ("START 12:00:00", "'START' is not supported"),
        ("0 ON 1 SINK DST ::1/5 PERIODIC [1 100]", "protocol 'SINK'"),
        ("0 ON 1 UDP DST host/5 PERIODIC [1 100]", "'host/5' is not an address and a port"),
        ("0 ON 1 UDP DST ::1/5 JITTER [1 100 0.5]", "pattern 'JITTER' is not supported"),
        ("0 ON 1 UDP DST ::1/5 PERIODIC [-1 100]", "as fast as possible"),
        ("0 ON 1 UDP DST ::1/5 PERIODIC [1 39]", "no room for its header: at least 40 over IPv6"),
        ("0 ON 1 UDP DST 127.0.0.1/5 PERIODIC [1 65508]", "too large for a datagram"),
        ("0 ON 1 UDP DST ::1/5 PERIODIC [1 100] DATA [00]", "'DATA' is not supported in ON"),
        ("0 ON 1 UDP DST ::1/5", "needs a pattern"),
        ("0 ON 1 UDP PERIODIC [1 100]", "needs a destination"),
        ("0 ON 1 UDP DST ::1/5 PERIODIC [1 100", "the line ends where ']'"),
        ("0 ON 1 UDP DST ::1/5 BURST [REGULAR 0 PERIODIC [1 100] FIXED 1]", "above 0"),
        ("0 OFF 1", "flow 1 is not on at this time"),
        ("1 ON 1 UDP DST ::1/5 PERIODIC [1 100]\n0 OFF 1", "line 2: flow 1 is not on"),
        (
            "0 ON 1 UDP DST ::1/5 PERIODIC [1 100]\n1 ON 1 UDP DST ::1/5 PERIODIC [1 100]",
            "already on",
        ),
        ("0 ON 1 UDP DST ::1/5 PERIODIC [1 100]\n1 MOD 1 PERIODIC [1 3]", "line 2: a message of 3"),
        ("0 LISTEN UDP 0", "'0' is not a port"),
        ("0 LISTEN UDP 7-5", "'7-5' is not a port"),
        ("0 LISTEN UDP 5\n1 LISTEN UDP 4-6", "UDP port 5 is already open"),
        ("0 IGNORE TCP 5", "IGNORE can't close it"),
        ("0 LISTEN UDP 5 INTERFACE eth0", "'INTERFACE' is not supported here"),
        ("1e3 LISTEN UDP 5", "not a time in seconds"),
    ] {
        let said = refused(text);
        assert!(said.contains(why) && !said.contains('\n'), "{text}: {said}");
    }
}

/// What is written of flows is read as the same flows.
#[test]
fn reads_back_the_script_it_wrote() {
    let text = "\
TTL 64
0.5 ON 1 UDP SRC 5001 DST 192.0.2.1/5000 PERIODIC [10.25 1460] TOS 16 TXBUFFER 9000
1.000000001 ON 2 TCP DST 2001:db8::1/5000 POISSON [2.5 1440] COUNT 20 SEQUENCE 3
0 ON 3 UDP DST ::1/7 BURST [RANDOM 2.5 POISSON [200 1460] EXP 0.5]
2 MOD 1 PERIODIC [20 100]
3 OFF 1";
    let flows = parse_script(text).unwrap().flows;
    assert_eq!(parse_script(&write_script(&flows)).unwrap().flows, flows);
}

/// MGEN has no offsets: such a flow starts later.
#[test]
fn writes_the_offset_of_a_flow_as_a_later_start() {
    let mut flows = parse_script("1 ON 1 UDP DST ::1/7 PERIODIC [10 40]").unwrap().flows;
    flows[0].flow.phases[0].pattern =
        Pattern::Steady(Steady { per_s: 10.0, gap: Gap::Regular, offset: 0.25 });
    let read = parse_script(&write_script(&flows)).unwrap().flows;
    assert_eq!((read[0].flow.start_ns(), read[0].hops), (SECOND + SECOND / 40, Some(64)));
}
