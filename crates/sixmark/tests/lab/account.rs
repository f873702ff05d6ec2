//! The parts of response times beside those that tshark sees in a capture of the same run.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use sixmark_testkit::lab::{Lab, without};
use sixmark_testkit::process::program;
use sixmark_testkit::program_path;

const LAB: &str = r#"
name = "accounted"
[hosts.client]
[hosts.server]
initial-window = 4
[links.way]
between = ["client", "server"]
delay = "10ms"
ipv6 = { delay = "14ms" }
[names]
"www.test" = "server"
[services.web]
host = "server"
command = ["{sixmark}", "origin", "--listen", "[{server.ipv6}]:80", "--listen", "{server.ipv4}:80"]
"#;

/// Captures what a run sends and receives, to the request that marks the end.
const SCRIPT: &str = r#"
cd "$1"
tcpdump -i any -n -U -s 200 -B 65536 --time-stamp-precision=nano -w capture tcp port 80 2>said &
capture=$!
until grep -q 'listening on' said; do kill -0 $capture || exit 1; done
"$2" run --quiet -n 60 -c 2 --no-keep-alive --json result http://www.test/bytes/30000 >/dev/null
curl -s -o /dev/null http://www.test/end-of-capture
until grep -aq end-of-capture capture; do kill -0 $capture || exit 1; done
kill -INT $capture
wait $capture
"#;

/// How often a run is made that a busy machine may have disturbed.
const TRIES: usize = 3;

/// A packet with data, or of a handshake.
struct Packet {
    at_us: f64,
    from_server: bool,
    ipv6: bool,
    syn: bool,
    bytes: u64,
}

/// The parts of an exchange on a connection of its own, in microseconds.
#[derive(Default)]
struct Parts {
    connect: f64,
    wait: f64,
    flights: f64,
    transfer: f64,
}

#[test]
fn the_parts_of_responses_are_those_of_their_packets() {
    if without(&["tcpdump", "tshark", "curl"]) {
        return;
    }
    let lab = Lab::up("accounted", LAB, &[]);
    // A busy machine delays the program between a packet and its time, now and then by milliseconds.
    let mut found = Vec::new();
    for _ in 0..TRIES {
        found = find_differences(&lab);
        if found.is_empty() {
            return;
        }
    }
    panic!("{found:#?}");
}

/// Makes a run beside a capture. Returns the parts that differ between them.
fn find_differences(lab: &Lab) -> Vec<String> {
    let dir = tempfile::TempDir::new().unwrap();
    let path = dir.path().to_str().unwrap();
    lab.says("client", &["sh", "-c", SCRIPT, "sh", path, program_path().to_str().unwrap()]);
    let result: Value =
        serde_json::from_slice(&std::fs::read(dir.path().join("result")).unwrap()).unwrap();
    let shown = show_packets(&dir.path().join("capture"));
    let mut differences = Vec::new();
    for (family, ipv6) in [("ipv6", true), ("ipv4", false)] {
        let of: Vec<Parts> = shown
            .values()
            .filter(|packets| packets[0].ipv6 == ipv6)
            .filter_map(|of| parts_of(of))
            .collect();
        assert_eq!(of.len(), 30, "{family}");
        let account = &result["families"][family]["account"]["mean"]["parts_us"];
        let said = |part: &str| account[part].as_f64().unwrap();
        let mean = |value: fn(&Parts) -> f64| of.iter().map(value).sum::<f64>() / of.len() as f64;
        let whole = mean(|of| of.flights + of.transfer);
        for (part, seen, size) in [
            ("connect", mean(|of| of.connect), said("connect")),
            ("wait", mean(|of| of.wait), said("wait")),
            ("flights", mean(|of| of.flights), whole),
            ("transfer", mean(|of| of.transfer), whole),
        ] {
            if (said(part) - seen).abs() > 5.0 + 0.05 * size {
                differences.push(format!("{family} {part}: {} and {seen}", said(part)));
            }
        }
        // A small window makes several flights.
        assert!(said("flights") > 20_000.0, "{account}");
    }
    differences
}

/// The packets of each connection, as tshark shows them.
fn show_packets(capture: &Path) -> BTreeMap<u32, Vec<Packet>> {
    let mut tshark = program("tshark");
    tshark.arg("-r").arg(capture).args(["-T", "fields"]);
    for field in
        ["tcp.stream", "frame.time_epoch", "tcp.srcport", "ipv6.src", "tcp.flags.syn", "tcp.len"]
    {
        tshark.args(["-e", field]);
    }
    let output = tshark.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut all: BTreeMap<u32, Vec<Packet>> = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [stream, at, port, ipv6, syn, bytes] = fields[..] else { panic!("{line}") };
        let (seconds, nanos) = at.split_once('.').unwrap();
        let seconds: u64 = seconds.parse().unwrap();
        all.entry(stream.parse().unwrap()).or_default().push(Packet {
            at_us: (seconds % 100_000) as f64 * 1e6 + nanos.parse::<f64>().unwrap() / 1e3,
            from_server: port == "80",
            ipv6: !ipv6.is_empty(),
            syn: matches!(syn, "1" | "True"),
            bytes: bytes.parse().unwrap(),
        });
    }
    all
}

/// The parts of the exchange; `None` for the request that marks the end, whose response is short.
fn parts_of(packets: &[Packet]) -> Option<Parts> {
    let times = |from_server: bool, wanted: fn(&Packet) -> bool| {
        let of = packets.iter().filter(move |of| of.from_server == from_server && wanted(of));
        of.map(|of| of.at_us).collect::<Vec<f64>>()
    };
    if packets.iter().filter(|of| of.from_server).map(|of| of.bytes).sum::<u64>() < 30_000 {
        return None;
    }
    let (begun, connected) = (times(false, |of| of.syn)[0], times(true, |of| of.syn)[0]);
    let asked = *times(false, |of| of.bytes > 0).last()?;
    let received = times(true, |of| of.bytes > 0);
    let trip = connected - begun;
    let pauses = received.windows(2).map(|pair| pair[1] - pair[0]);
    let flights: f64 = pauses.filter(|us| (trip / 4.0..=trip * 1.5).contains(us)).sum();
    Some(Parts {
        connect: trip,
        wait: received[0] - asked,
        flights,
        transfer: received.last()? - received[0] - flights,
    })
}
