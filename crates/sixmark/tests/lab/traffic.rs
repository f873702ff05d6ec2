//! The engine as a study uses it: a sender and a receiver in hosts of their own.

use std::time::Duration;

use sixmark_sys::netns::NetNs;
use sixmark_testkit::{DEADLINE, skipped};
use sixmark_traffic::engine::{Ends, Half, Port, ReadyFlows, TrafficReceiver, assemble};
use sixmark_traffic::{BitRate, FlowProtocol, Outgoing, TrafficDirection, TrafficMix};
use sixmark_units::family::Family;

/// Loopback of the calling thread's namespace, up.
fn raise_loopback() {
    let done = std::process::Command::new("ip").args(["link", "set", "lo", "up"]).status();
    assert!(done.unwrap().success(), "this needs root and ip");
}

/// Only loopback connects a namespace of its own, so both are in one here; what is outside hears nothing.
#[test]
fn sender_and_receiver_use_the_network_namespace_of_their_thread() {
    if skipped("netns") {
        return;
    }
    let host = NetNs::create().expect("this needs root");
    let in_host = || {
        host.enter().unwrap();
        raise_loopback();
        let ports = FlowProtocol::BOTH
            .map(|protocol| Family::BOTH.map(|family| Port::any(protocol, family)));
        let receiver = TrafficReceiver::start(ports.as_flattened()).unwrap();
        let mix = TrafficMix {
            rate: BitRate(4_000_000),
            direction: TrafficDirection::Up,
            ..TrafficMix::default()
        };
        let outgoing = mix.flows(3).unwrap().into_iter().map(|flow| {
            let port = receiver.port(flow.protocol, flow.family).unwrap();
            let host = if flow.family == Family::Ipv6 { "[::1]" } else { "127.0.0.1" };
            let to = format!("{host}:{port}").parse().unwrap();
            let (port, hops, class, buffer, sequence) = (None, None, None, None, 0);
            Outgoing { flow, to, port, hops, class, buffer, sequence }
        });
        let sender = ReadyFlows::new(outgoing.collect(), 3, DEADLINE).unwrap().go().unwrap();
        assert!(receiver.wait_for(10, DEADLINE), "{} flows", receiver.counters().flows());
        let sent = sender.stop();
        receiver.settle(Duration::from_millis(50), DEADLINE);
        (sent, receiver.stop())
    };
    let (sent, received) = std::thread::scope(|scope| scope.spawn(in_host).join().unwrap());
    let near = Half { sent, ..Half::default() };
    let ends = Ends { near, far: Some(Half::new(Vec::new(), received)), shared_clock: true };
    let flows = assemble(&ends);
    assert_eq!(flows.len(), 10);
    for flow in flows {
        let figures = &flow.figures;
        assert_eq!((figures.lost, flow.problem.as_ref()), (Some(0), None), "{flow:?}");
        assert!(flow.delay.is_some_and(|delay| delay.least_us.is_some_and(|us| us >= -1.0)));
    }
}
