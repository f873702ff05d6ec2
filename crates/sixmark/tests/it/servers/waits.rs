//! How long responses were waited for, by either clock and on the wire.

use std::collections::HashMap;
use std::net::SocketAddr;

use sixmark_core::family::{Family, PerFamily};

use super::nginx::NGINX;
use super::packets::Segment;
use super::server::{Server, Settings};
use super::tcpdump::Tcpdump;
use super::{assert_normal, of, run, take_turn};
use crate::support::skipped;

/// Requests of each family.
const EACH: u64 = 5_000;
/// How often each comparison is made; odd, so that there is a middle one.
const RUNS: usize = 5;

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
    let nginx = Server::start(&NGINX, &Settings::default());
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

/// The middle of several comparisons must agree, for each family, by the kernel's clock. By ours
/// they are only shown.
fn agree(connections: &str) {
    if skipped("nginx") || skipped("tcpdump") {
        return;
    }
    let _turn = take_turn();
    let mut excess: PerFamily<Vec<f64>> = PerFamily::default();
    for _ in 0..RUNS {
        medians("user", connections);
        for (family, &[ours, wire]) in medians("kernel", connections).iter() {
            excess[family].push((ours - wire).abs() - (5.0 + wire * 0.01));
        }
    }
    for family in Family::BOTH {
        excess[family].sort_by(f64::total_cmp);
        let (all, middle) = (&excess[family], excess[family][RUNS / 2]);
        assert!(middle <= 0.0, "{family}: wait p50 is out of bounds by {all:.1?} us");
    }
}

#[test]
fn the_kernels_waits_are_those_of_the_wire() {
    agree("1");
}

#[test]
fn the_kernels_waits_are_those_of_the_wire_when_the_generator_is_busy() {
    agree("64");
}
