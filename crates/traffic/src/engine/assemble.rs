//! Joins the figures of both sides about the same flows.

use std::net::SocketAddr;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::TrafficSide;
use crate::traffic_result::{
    FlowResult, Heard, HostResult, MessageFigures, OfferedTraffic, SCHEMA, Sent, TrafficResult,
    kinds,
};
use sixmark_document::provenance::{Ended, Tool};

use super::ReceivedFlows;
use crate::warnings::doubts_of_traffic;
use sixmark_document::environment::environment;

/// The final figures of one side.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Half {
    /// The flows that it sent.
    pub sent: Vec<Sent>,
    /// The flows that it received.
    pub heard: Vec<Heard>,
    /// Datagrams dropped at its full socket buffers.
    pub drops: u64,
    /// Datagrams with invalid messages, and connections that were closed because of one.
    pub foreign: u64,
    /// Problems with its ports.
    pub problems: Vec<String>,
}

impl Half {
    /// Combines the figures of a sender and a receiver of one side.
    pub fn new(sent: Vec<Sent>, received: ReceivedFlows) -> Half {
        let ReceivedFlows { flows: heard, drops, foreign, problems } = received;
        Half { sent, heard, drops, foreign, problems }
    }
}

/// The figures of both sides.
#[derive(Clone, Debug, Default)]
pub struct Ends {
    /// The near side.
    pub near: Half,
    /// The far side; `None` if one host sends and receives by itself and the other hosts do not
    /// report.
    pub far: Option<Half>,
    /// Whether both sides read the same clock.
    pub shared_clock: bool,
}

/// Facts about a measurement that its caller provides.
pub(super) struct Facts {
    pub(super) started: SystemTime,
    pub(super) elapsed: Duration,
    pub(super) ended: Ended,
    pub(super) asked: OfferedTraffic,
    pub(super) seed: u64,
}

/// Returns the flows in the order of their numbers, starting with those that one of the sides sent.
pub fn assemble(ends: &Ends) -> Vec<FlowResult> {
    let Ends { near, far, shared_clock } = ends;
    let mut flows = Vec::new();
    match far {
        Some(far) => {
            join_flows(&mut flows, TrafficSide::Near, &near.sent, &far.heard, true, *shared_clock);
            join_flows(&mut flows, TrafficSide::Far, &far.sent, &near.heard, true, *shared_clock);
        }
        None => {
            join_flows(&mut flows, TrafficSide::Near, &near.sent, &near.heard, false, *shared_clock)
        }
    }
    flows.sort_by_key(|flow: &FlowResult| (flow.from.is_none(), flow.id, flow.protocol));
    flows
}

/// Appends the flows that `from` sent, with what was received of them, and the received flows that
/// are not among these.
fn join_flows(
    flows: &mut Vec<FlowResult>,
    from: TrafficSide,
    sent: &[Sent],
    heard: &[Heard],
    listened: bool,
    shared_clock: bool,
) {
    let mut taken = vec![false; heard.len()];
    for sent in sent {
        let found = find_heard(sent, heard, &taken, listened);
        found.iter().for_each(|&at| taken[at] = true);
        let of = found.map(|at| &heard[at]);
        flows.extend(FlowResult::new(Some(from), Some(sent), of, listened, shared_clock));
    }
    for (stranger, _) in heard.iter().zip(taken).filter(|(_, taken)| !taken) {
        flows.extend(FlowResult::new(None, None, Some(stranger), true, false));
    }
}

/// Finds what was received of a flow, by its address. If only the other side can have sent it, a
/// different address matches too, because there may be a network address translator on the path.
fn find_heard(sent: &Sent, heard: &[Heard], taken: &[bool], ours: bool) -> Option<usize> {
    let like = |at: &usize| {
        !taken[*at] && (heard[*at].id, heard[*at].protocol) == (sent.id, sent.protocol)
    };
    let same = |at: &usize| {
        let port = sent.source.map(|source| source.port());
        Some(heard[*at].source.port()) == port
            && is_of_ipv6(&heard[*at].source) == is_of_ipv6(&sent.destination)
    };
    let all = || (0..heard.len()).filter(like);
    all().find(same).or_else(|| all().next().filter(|_| ours))
}

fn is_of_ipv6(address: &SocketAddr) -> bool {
    address.ip().to_canonical().is_ipv6()
}

/// Assembles the result.
pub(super) fn assemble_traffic(facts: Facts, ends: &Ends) -> TrafficResult {
    let flows = assemble(ends);
    let Facts { started, elapsed, ended, asked, seed } = facts;
    let mut result = TrafficResult {
        schema: SCHEMA.to_owned(),
        tool: Tool::of_this_program(),
        started: humantime::format_rfc3339_millis(started).to_string(),
        elapsed_s: elapsed.as_secs_f64(),
        ended,
        asked,
        seed,
        shared_clock: ends.shared_clock,
        kinds: kinds(&flows),
        total: MessageFigures::sum(flows.iter().map(|flow| &flow.figures)),
        flows,
        hosts: hosts(ends),
        environment: environment(Vec::new()),
        warnings: Vec::new(),
    };
    result.warnings = doubts_of_traffic(&result);
    result
}

fn hosts(ends: &Ends) -> Vec<HostResult> {
    let host = |side, half: &Half| {
        let latest = half.sent.iter().map(|sent| sent.latest_ns).max();
        HostResult {
            side: Some(side),
            latest_us: latest.map(|ns| ns as f64 / 1e3),
            socket_drops: half.drops,
            foreign: half.foreign,
            problems: half.problems.clone(),
        }
    };
    let far = ends.far.as_ref().map(|far| host(TrafficSide::Far, far));
    std::iter::once(host(TrafficSide::Near, &ends.near)).chain(far).collect()
}
