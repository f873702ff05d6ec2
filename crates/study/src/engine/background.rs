//! Background traffic of a cell.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::spec::traffic::Traffic;
use crate::study_result::CellTraffic;
use sixmark_traffic::traffic_result::FlowResult;
use sixmark_traffic::{Flow, TrafficSide};
use sixmark_units::family::{Family, PerFamily};

use sixmark_lab::{Host, Up};
use sixmark_sys::command_error::CommandError;
use sixmark_traffic::engine::{
    Ends, Half, ReadyFlows, TrafficReceiver, TrafficSender, assemble, open_ports, outgoing, ports,
};

/// How long connections and the first messages may take. It is longer than TCP's wait before its
/// fourth retransmission, which a link with high loss may need.
const PATIENCE: Duration = Duration::from_secs(30);
/// Traffic is over when no message has arrived for `QUIET`, or after `LONGEST`.
const QUIET: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_millis(300);
/// The interval at which `stop` is checked.
const LOOK: Duration = Duration::from_millis(50);

/// Running traffic.
pub(super) struct Background<'a> {
    mix: &'a str,
    flows: usize,
    ends: Vec<End>,
}

/// One host's sender and receiver.
struct End {
    side: TrafficSide,
    sender: TrafficSender,
    receiver: TrafficReceiver,
}

/// A host of one side, for one family.
struct TrafficHost<'a> {
    side: TrafficSide,
    host: &'a Host,
    address: IpAddr,
    flows: Vec<Flow>,
}

impl<'a> Background<'a> {
    /// Starts a mix between the hosts of a lab. When this returns, all connections are established
    /// and a message of each flow has been received.
    pub(super) fn begin(
        up: &Up,
        traffic: &Traffic,
        mix: &'a str,
        seed: u64,
    ) -> Result<Background<'a>, CommandError> {
        let known = traffic.mixes.get(mix);
        let known = known.ok_or_else(|| CommandError::Usage(format!("no mix '{mix}'")))?;
        let flows = known.flows(seed).map_err(CommandError::Usage)?;
        let mut background = Background { mix, flows: flows.len(), ends: Vec::new() };
        for family in known.families() {
            let flows: Vec<Flow> = flows.iter().filter(|f| f.family == family).cloned().collect();
            let near = traffic_host(up, &traffic.near[family], family, TrafficSide::Near, &flows)?;
            let far = traffic_host(up, &traffic.far[family], family, TrafficSide::Far, &flows)?;
            background.ends.extend(join_hosts(&near, &far, seed)?);
        }
        if background.arrives(&flows) {
            return Ok(background);
        }
        let found = background.stop();
        let silent: Vec<_> = found.iter().filter(|flow| received(flow) == 0).collect();
        let what = match silent.as_slice() {
            [] => "its first messages arrived late".to_owned(),
            flows => flows.iter().map(|flow| describe_silent(flow)).collect::<Vec<_>>().join(", "),
        };
        Err(CommandError::Measure(format!(
            "traffic {mix} does not arrive within {PATIENCE:?}: {what}"
        )))
    }

    /// Waits until a message of each flow has been received at its destination. Returns false on a
    /// timeout.
    fn arrives(&self, flows: &[Flow]) -> bool {
        self.ends.iter().all(|end| {
            let heard: Vec<_> = end.receiver.addresses().to_vec();
            let of_end = |flow: &&Flow| {
                let here = |(protocol, at): &(_, SocketAddr)| {
                    *protocol == flow.protocol && Family::of(at.ip()) == flow.family
                };
                flow.from != end.side && heard.iter().any(here)
            };
            let expected = flows.iter().filter(of_end).count() as u64;
            end.receiver.wait_for(expected, PATIENCE)
        })
    }

    /// Stops the traffic and returns a summary of it.
    pub(super) fn end(self) -> CellTraffic {
        let (mix, flows) = (self.mix, self.flows);
        summary(mix, flows, &self.stop())
    }

    /// Stops the traffic and returns the result of each flow.
    fn stop(self) -> Vec<FlowResult> {
        let (mut senders, mut receivers) = (Vec::new(), Vec::new());
        for End { side, sender, receiver } in self.ends {
            senders.push((side, sender.stop()));
            receivers.push((side, receiver));
        }
        let mut ends =
            Ends { near: Half::default(), far: Some(Half::default()), shared_clock: true };
        for ((side, sent), (_, receiver)) in senders.into_iter().zip(receivers) {
            receiver.settle(QUIET, LONGEST);
            let half = Half::new(sent, receiver.stop());
            let whole = match side {
                TrafficSide::Near => &mut ends.near,
                TrafficSide::Far => ends.far.get_or_insert_default(),
            };
            whole.sent.extend(half.sent);
            whole.heard.extend(half.heard);
        }
        assemble(&ends)
    }
}

fn received(flow: &FlowResult) -> u64 {
    flow.figures.received.map_or(0, |received| received.messages)
}

/// Describes in one line a flow of which nothing arrived.
fn describe_silent(flow: &FlowResult) -> String {
    let FlowResult { id, protocol, family, figures, .. } = flow;
    let sent = figures.sent.map_or(0, |sent| sent.messages);
    let problem = flow.problem.iter().map(|problem| format!(" ({problem})")).collect::<String>();
    format!("no message of flow {id}, {protocol} over {family}, {sent} sent{problem}")
}

fn traffic_host<'a>(
    up: &'a Up,
    name: &str,
    family: Family,
    side: TrafficSide,
    flows: &[Flow],
) -> Result<TrafficHost<'a>, CommandError> {
    let lab = up.lab();
    let address = lab.host(name).and_then(|host| lab.address(host, family));
    let absent = || CommandError::Usage(format!("the host {name} has no {family} for traffic"));
    let host = up.hosts().get(name)?;
    Ok(TrafficHost { side, host, address: address.ok_or_else(absent)?, flows: flows.to_vec() })
}

/// Makes two hosts listen, then connect, then send.
fn join_hosts(
    near: &TrafficHost<'_>,
    far: &TrafficHost<'_>,
    seed: u64,
) -> Result<[End; 2], CommandError> {
    let hear = |place: &TrafficHost<'_>, from: TrafficSide| {
        place.host.within(|| TrafficReceiver::start(&ports(&place.flows, from)))
    };
    let (at_near, at_far) = (hear(near, TrafficSide::Far)?, hear(far, TrafficSide::Near)?);
    let near_sends = send(near, far.address, &at_far, seed)?;
    let far_sends = send(far, near.address, &at_near, seed)?;
    Ok([
        End { side: TrafficSide::Near, sender: near_sends, receiver: at_near },
        End { side: TrafficSide::Far, sender: far_sends, receiver: at_far },
    ])
}

fn send(
    from: &TrafficHost<'_>,
    to: IpAddr,
    there: &TrafficReceiver,
    seed: u64,
) -> Result<TrafficSender, CommandError> {
    let open = open_ports(there);
    let to = Some(SocketAddr::new(to, 0));
    let hosts = PerFamily { ipv6: to, ipv4: to };
    let flows = outgoing(&from.flows, from.side, &hosts, &open).map_err(CommandError::Measure)?;
    from.host.within(|| ReadyFlows::new(flows, seed, PATIENCE)?.go())
}

fn summary(mix: &str, flows: usize, found: &[FlowResult]) -> CellTraffic {
    let rate = |of: &dyn Fn(&FlowResult) -> Option<f64>| found.iter().filter_map(of).sum::<f64>();
    CellTraffic {
        mix: mix.to_owned(),
        flows: flows as u32,
        offered_bits_per_s: rate(&|flow| Some(flow.figures.offered?.wire_bits_per_s)),
        received_bits_per_s: rate(&|flow| Some(flow.figures.received?.wire_bits_per_s)),
        lost: found.iter().filter_map(|flow| flow.figures.lost).sum(),
        retransmitted: found.iter().filter_map(|flow| flow.retransmitted).map(u64::from).sum(),
    }
}

/// Lets the traffic run for `time`. Returns false if the study is to stop.
pub(super) fn go_on(time: Duration, stop: &AtomicBool) -> bool {
    let end = Instant::now() + time;
    while Instant::now() < end && !stop.load(Ordering::Relaxed) {
        std::thread::sleep(LOOK.min(end.saturating_duration_since(Instant::now())));
    }
    !stop.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use sixmark_traffic::FlowProtocol;
    use sixmark_traffic::traffic_result::Sent;

    use super::*;

    #[test]
    fn a_flow_of_which_nothing_arrived_is_described_with_its_problem() {
        let mut sent = Sent {
            id: 2,
            protocol: FlowProtocol::Tcp,
            source: None,
            destination: "[fd00::1]:9".parse().unwrap(),
            message_bytes: 1_000,
            offered: 7,
            offered_bytes: 7_000,
            sent: 5,
            sent_bytes: 5_000,
            late: 0,
            latest_ns: 0,
            retransmitted: None,
            on_ns: 1,
            problem: None,
        };
        let describe = |sent: &Sent| {
            let half = Half { sent: vec![sent.clone()], ..Half::default() };
            let ends = Ends { near: half, far: Some(Half::default()), shared_clock: true };
            let found = assemble(&ends);
            assert_eq!(received(&found[0]), 0);
            describe_silent(&found[0])
        };
        let line = "no message of flow 2, TCP over IPv6, 5 sent";
        assert_eq!(describe(&sent), line);
        sent.problem = Some("Connection reset by peer".into());
        assert_eq!(describe(&sent), format!("{line} (Connection reset by peer)"));
    }
}
