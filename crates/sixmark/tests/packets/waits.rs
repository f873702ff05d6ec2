//! How long responses were waited for, by either clock and on the wire. How close they come in
//! microseconds depends on the machine, so that their order and their ratio are asked for here.

use std::collections::HashMap;
use std::net::SocketAddr;

use sixmark_testkit::figures::{assert_normal, of, run, take_turn};
use sixmark_testkit::nginx::NGINX;
use sixmark_testkit::skipped;
use sixmark_testkit::web_server::{ServerSettings, WebServer};
use sixmark_units::family::{Family, PerFamily};

use super::segments::Segment;
use super::tcpdump::Tcpdump;

/// Requests of each family.
const EACH: u64 = 5_000;
/// By how much a wait may be short for want of digits: a histogram keeps three.
const RESOLUTION_SHARE: f64 = 0.002;

/// From each request's segment to the first one of its response, nanoseconds.
fn waits(segments: &[Segment], servers: &[SocketAddr]) -> PerFamily<Vec<u64>> {
    let mut waits: PerFamily<Vec<u64>> = PerFamily::default();
    let mut asked: HashMap<(SocketAddr, SocketAddr), u64> = HashMap::new();
    for segment in segments.iter().filter(|segment| !segment.payload.is_empty()) {
        if servers.contains(&segment.to) {
            asked.insert((segment.from, segment.to), segment.at);
        } else if let Some(at) = asked.remove(&(segment.to, segment.from)) {
            waits[Family::of(segment.to.ip())].push(segment.at.saturating_sub(at));
        }
    }
    waits
}

/// The median wait in microseconds: ours, and the wire's.
fn medians(clock: &str, connections: &str) -> PerFamily<[f64; 2]> {
    let nginx = WebServer::start(&NGINX, &ServerSettings::default());
    let [v6, v4] = nginx.urls("/4k");
    let servers = Family::BOTH.map(|family| nginx.address(family));
    let tcpdump = Tcpdump::start(&servers.map(|server| server.port()));
    let load = ["-n", "10000", "--timeout", "60s", "-c", connections, "--timestamps", clock];
    let result = run(&[&load[..], &[&v6, &v4]].concat());
    let mut waits = waits(&tcpdump.finish(servers[0]), &servers);
    PerFamily::from_fn(|family| {
        let (figures, waits) = (of(&result, family), &mut waits[family]);
        assert_normal(figures, EACH);
        assert_eq!(waits.len() as u64, EACH, "{family}: responses on the wire");
        waits.sort_unstable();
        let (ours, wire) = (figures.wait_us.p50.unwrap(), waits[waits.len() / 2] as f64 / 1e3);
        println!("-c {connections}, {clock}, {family}: wait p50 {ours:.1} us, wire {wire:.1} us");
        [ours, wire]
    })
}

/// The kernel stamps a request before it is on the wire and a response when it is, so that its wait
/// is the wire's and a little more: less than `most` times as long. By sixmark's clock it is shown.
fn agree(connections: &str, most: f64) {
    if skipped("nginx") || skipped("tcpdump") {
        return;
    }
    let _turn = take_turn();
    medians("user", connections);
    for (family, &[ours, wire]) in medians("kernel", connections).iter() {
        assert!(wire <= ours * (1.0 + RESOLUTION_SHARE), "{family}: {wire} > {ours}");
        assert!(ours < wire * most, "{family}: {ours} is not {wire}");
    }
}

#[test]
fn kernel_timed_waits_agree_with_the_wire() {
    agree("1", 2.0);
}

/// The generator itself makes requests wait, for hundreds of microseconds.
#[test]
fn kernel_timed_waits_agree_with_the_wire_when_the_generator_is_busy() {
    agree("64", 1.25);
}
