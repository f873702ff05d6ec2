//! What a capture says of exchanges beside what tcpdump saw on the same interface: two hosts in a
//! network of their own.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use sixmark_sys::netns::NetNs;
use sixmark_testkit::process::{Process, program};
use sixmark_testkit::{DEADLINE, command, finish, signal, skipped};
use sixmark_units::family::Family;
use sixmark_watch::capture::{Capture, CaptureSettings, Captured};
use sixmark_wire::flow::HttpExchange;
use tempfile::TempDir;

use super::segments::{Segment, segments};

/// What is fetched.
const FILE: u64 = 320_000;

/// A client and a server, joined by one link whose packets are as long as on a wire.
struct Hosts {
    client: NetNs,
    server: NetNs,
}

impl Hosts {
    fn new() -> Hosts {
        let hosts = Hosts { client: NetNs::create().unwrap(), server: NetNs::create().unwrap() };
        let there = hosts.server.as_fd().as_raw_fd();
        let there = format!("/proc/{}/fd/{there}", std::process::id());
        let link = format!("link add eth type veth peer name eth netns {there}");
        ip(&hosts.client, &link);
        for (host, last) in [(&hosts.client, 1), (&hosts.server, 2)] {
            ip(host, &format!("addr add 2001:db8:6::{last}/64 dev eth nodad"));
            ip(host, &format!("addr add 192.0.2.{last}/24 dev eth"));
            ip(host, "link set eth gso_max_segs 1 up");
        }
        hosts
    }
}

fn ip(host: &NetNs, words: &str) {
    let output = host.within(|| program("ip").args(words.split(' ')).output()).unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "ip {words}: {said}");
}

/// sixmark's own server, in the network of its host.
struct Origin {
    child: Child,
    /// IPv6 first.
    addresses: Vec<SocketAddr>,
}

impl Origin {
    fn start(hosts: &Hosts) -> Origin {
        let listen = ["--listen", "[2001:db8:6::2]:0", "--listen", "192.0.2.2:0"];
        let mut command = command(&[&["origin", "--json"], &listen[..]].concat());
        let mut child = hosts.server.within(|| command.spawn()).unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        let addresses = told["addresses"].as_array().unwrap().iter();
        let of = |url: &str| url.split('/').nth(2).unwrap().parse().unwrap();
        let addresses = addresses.map(|address| of(address["url"].as_str().unwrap())).collect();
        Origin { child, addresses }
    }

    fn ports(&self) -> Vec<u16> {
        self.addresses.iter().map(SocketAddr::port).collect()
    }

    fn urls(&self) -> Vec<String> {
        self.addresses.iter().map(|address| format!("http://{address}/bytes/{FILE}")).collect()
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        signal(self.child.id(), "TERM");
        let _ = self.child.wait();
    }
}

/// tcpdump at the server, and a capture there.
struct Both {
    tcpdump: Process,
    capture: Capture,
    dir: TempDir,
}

impl Both {
    fn start(hosts: &Hosts, ports: Vec<u16>) -> Both {
        let dir = TempDir::new().unwrap();
        let mut command = program("tcpdump");
        command.args(["-i", "eth", "-n", "-U", "--immediate-mode", "-B", "65536", "-s", "192"]);
        command.args(["--time-stamp-precision=nano", "-w", "-", "tcp"]);
        command.stdout(Stdio::from(File::create(dir.path().join("theirs")).unwrap()));
        let start = || Ok(Process::start(&mut command, dir.path(), "tcpdump", "tcpdump"));
        let mut tcpdump = hosts.server.within(start).unwrap();
        assert!(tcpdump.wait_until_it_says("listening on"), "{}", tcpdump.said());
        let file = Some(dir.path().join("ours"));
        let settings = CaptureSettings { interface: "eth".into(), ports, file };
        let capture = Capture::start(&hosts.server, settings).unwrap();
        Both { tcpdump, capture, dir }
    }

    /// What was captured, and the segments of which that was made.
    fn finish(mut self) -> (Captured, Vec<Segment>) {
        let captured = self.capture.stop(DEADLINE).unwrap();
        let read = |name: &str| segments(&fs::read(self.dir.path().join(name)).unwrap());
        let ours = read("ours");
        assert!(self.tcpdump.wait_until(|| read("theirs").len() >= ours.len()));
        self.tcpdump.stop("INT");
        let theirs = read("theirs");
        assert_seen_alike(&ours, &theirs);
        assert!(self.tcpdump.said().contains("\n0 packets dropped by kernel"));
        assert_eq!((captured.dropped, captured.settled), (0, true));
        (captured, ours)
    }
}

/// Both saw the same segments, but for the stamps and the order of what two processors saw at once:
/// each socket has its own. tcpdump, which ends later, may have seen more at the end.
fn assert_seen_alike(ours: &[Segment], theirs: &[Segment]) {
    let show = |segment: &Segment| {
        let mut segment = segment.clone();
        segment.at = 0;
        format!("{segment:?}")
    };
    let mut left: HashMap<String, u32> = HashMap::new();
    ours.iter().for_each(|segment| *left.entry(show(segment)).or_default() += 1);
    let last = ours.iter().map(|segment| segment.at).max().unwrap();
    for segment in theirs {
        match left.get_mut(&show(segment)) {
            Some(number) if *number > 0 => *number -= 1,
            _ => assert!(segment.at > last, "tcpdump alone saw {segment:?} before {last}"),
        }
    }
    left.retain(|_, number| *number > 0);
    assert!(left.is_empty(), "tcpdump did not see {left:?}");
}

/// Has a client fetch; what it says.
fn fetch(hosts: &Hosts, command: &mut Command) -> String {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = hosts.client.within(|| command.spawn()).unwrap();
    let output = finish(child);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    String::from_utf8(output.stdout).unwrap()
}

/// The same figures, from a whole capture of a connection of one exchange on a path that loses
/// nothing.
fn assert_as_on_the_wire(found: &HttpExchange, all: &[Segment]) {
    let ends = [found.ends.client, found.ends.server];
    let of = |by: SocketAddr, to: SocketAddr| {
        all.iter().filter(move |segment| segment.from == by && segment.to == to)
    };
    let asked = || of(ends[0], ends[1]);
    let answered = || of(ends[1], ends[0]);
    let get = asked().find(|segment| segment.payload.starts_with(b"GET ")).unwrap().at;
    let syn = asked().find(|segment| segment.syn()).unwrap();
    let syn_ack = answered().find(|segment| segment.syn()).unwrap();
    let ends = answered().filter(|s| s.carries > 0);
    let ends = ends.map(|s| s.sequence.wrapping_add(s.carries as u32));
    let end = ends.max_by_key(|end| end.wrapping_sub(syn_ack.sequence)).unwrap();
    let fin = asked().position(|segment| segment.fin()).unwrap_or(usize::MAX);
    let before_fin = || asked().take(fin);
    // Those up to the first one that acknowledges the most before FIN; the server's FIN is no content.
    let most = before_fin().map(|s| end.wrapping_sub(s.acknowledgement) as i32).filter(|n| *n >= 0);
    let most = end.wrapping_sub(most.min().unwrap() as u32);
    let ack = before_fin().find(|segment| segment.acknowledgement == most).unwrap().at;
    let counted = |segment: &&Segment| (get..=ack).contains(&segment.at);
    // Even here a server may probe for a loss that was none (RFC 8985, 7).
    let mut seen = HashSet::new();
    let mut bytes = |segments: Vec<&Segment>| {
        let new = segments.iter().filter(|s| s.carries == 0 || seen.insert((s.from, s.sequence)));
        new.map(|segment| segment.frame as u64).sum::<u64>()
    };
    assert_eq!(found.unmeasured, None);
    assert_eq!(found.began_ns, get);
    assert_eq!(found.delay_ns, Some(ack - get));
    assert_eq!(found.bytes.from_client, bytes(asked().filter(counted).collect()));
    assert_eq!(found.bytes.from_server, bytes(answered().filter(counted).collect()));
    assert_eq!(found.answered_ns, Some(syn_ack.at - syn.at));
    assert!(found.established_ns > found.answered_ns);
    assert_eq!(found.coalesced, 0);
}

#[test]
fn each_exchange_is_timed_and_counted_as_on_the_wire() {
    if skipped("netns") || skipped("tcpdump") || skipped("curl") {
        return;
    }
    let hosts = Hosts::new();
    let origin = Origin::start(&hosts);
    let both = Both::start(&hosts, origin.ports());
    let mut heads = Vec::new();
    for url in origin.urls().iter().cycle().take(6) {
        let mut curl = program("curl");
        curl.args(["-q", "-g", "-s", "-o", "/dev/null", "-w", "%{size_header} %{size_download}"]);
        let said = fetch(&hosts, curl.arg(url));
        let (head, body) = said.split_once(' ').unwrap();
        assert_eq!(body.parse(), Ok(FILE));
        heads.push(head.parse::<u64>().unwrap());
    }
    let (captured, segments) = both.finish();
    assert_eq!(captured.exchanges.len(), 6);
    assert_eq!(captured.counts.segments, segments.len() as u64);
    for ((found, head), family) in
        captured.exchanges.iter().zip(heads).zip(Family::BOTH.iter().cycle())
    {
        assert_eq!((found.family(), found.number), (*family, 1));
        assert_eq!(found.path, format!("/bytes/{FILE}"));
        assert_eq!(found.response_bytes, head + FILE);
        assert_as_on_the_wire(found, &segments);
    }
}

#[test]
fn separates_the_exchanges_of_kept_connections() {
    if skipped("netns") || skipped("tcpdump") {
        return;
    }
    let hosts = Hosts::new();
    let origin = Origin::start(&hosts);
    let both = Both::start(&hosts, origin.ports());
    let urls = origin.urls();
    let load = ["run", "-q", "--json", "-", "-n", "40", "-c", "4", &urls[0], &urls[1]];
    fetch(&hosts, &mut command(&load));
    let (captured, _) = both.finish();
    for family in Family::BOTH {
        let of = || captured.exchanges.iter().filter(|found| found.family() == family);
        assert_eq!(of().count(), 20);
        // The last one's end may be acknowledged by the FIN.
        let again =
            |this: &HttpExchange| of().any(|f| f.ends == this.ends && f.number > this.number);
        assert!(of().all(|found| found.unmeasured.is_none()));
        assert!(of().all(|found| found.left_to_fin == 0 || !again(found)));
        assert!(of().all(|found| found.response_bytes > FILE && found.wait_ns <= found.delay_ns));
        // On each connection they are numbered from 1, and of four connections one has five or more.
        let follows =
            |this: &HttpExchange| of().any(|f| f.ends == this.ends && f.number + 1 == this.number);
        assert!(of().all(|found| found.number == 1 || follows(found)));
        assert!(of().any(|found| found.number >= 5));
    }
}

#[test]
fn reports_an_interface_that_cannot_be_captured() {
    if skipped("netns") {
        return;
    }
    let nowhere = NetNs::create().unwrap();
    let settings = |interface: &str| CaptureSettings {
        interface: interface.into(),
        ports: vec![80],
        file: None,
    };
    let refused =
        |interface| Capture::start(&nowhere, settings(interface)).unwrap_err().to_string();
    assert_eq!(refused("eth"), "can't capture on eth: there is no interface 'eth'");
    assert!(refused("lo").starts_with("can't capture on lo: "), "{}", refused("lo"));
}
