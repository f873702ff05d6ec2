//! What two sides know of the same flows, put together.

use std::net::SocketAddr;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use sixmark_model::provenance::{Ended, Tool};
use sixmark_model::traffic::TrafficSide;
use sixmark_model::traffic::result::{
    FlowResult, Heard, HostResult, MessageFigures, OfferedTraffic, SCHEMA, Sent, TrafficResult,
    kinds,
};

use super::Ears;
use super::doubts::doubts_of_traffic;
use crate::environment::environment;

/// What one side knows in the end.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Half {
    /// What it sent.
    pub sent: Vec<Sent>,
    /// What it heard.
    pub heard: Vec<Heard>,
    /// Datagrams that its sockets had no room for.
    pub drops: u64,
    /// Datagrams, and connections that were ended, with something else than messages.
    pub foreign: u64,
    /// What went wrong with its ports.
    pub problems: Vec<String>,
}

impl Half {
    /// What a sender and a receiver of one side tell.
    pub fn new(sent: Vec<Sent>, ears: Ears) -> Half {
        let Ears { flows: heard, drops, foreign, problems } = ears;
        Half { sent, heard, drops, foreign, problems }
    }
}

/// What both sides know.
#[derive(Clone, Debug, Default)]
pub struct Ends {
    /// The near side.
    pub near: Half,
    /// The far side; none where a host sends and listens by itself, and whoever else takes part tells
    /// nothing.
    pub far: Option<Half>,
    /// Both read one clock.
    pub shared_clock: bool,
}

/// What only whoever ran it knows.
pub(super) struct Facts {
    pub(super) started: SystemTime,
    pub(super) elapsed: Duration,
    pub(super) ended: Ended,
    pub(super) asked: OfferedTraffic,
    pub(super) seed: u64,
}

/// The flows by their numbers, those that one side sent first.
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

/// Flows that `from` sent, with what was heard of them, and what was heard of others.
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

/// What was heard of a flow: by its address or, where nobody else can have sent it, in spite of that,
/// since a translator of addresses may be in between.
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

/// The whole document.
pub(super) fn assemble_traffic(facts: Facts, ends: &Ends) -> TrafficResult {
    let flows = assemble(ends);
    let Facts { started, elapsed, ended, asked, seed } = facts;
    let mut result = TrafficResult {
        schema: SCHEMA.to_owned(),
        tool: Tool { name: "sixmark".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
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
