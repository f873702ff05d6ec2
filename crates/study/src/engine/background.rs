//! Background traffic of a cell.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sixmark_design::spec::traffic::Traffic;
use sixmark_design::study_result::{CellTraffic, TrafficGenerator};
use sixmark_traffic::traffic_result::FlowResult;
use sixmark_traffic::{Basis, Flow, TrafficSide};
use sixmark_units::family::{Family, PerFamily};

use super::mgen::Mgen;
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
    generator: TrafficGenerator,
    flows: Vec<Flow>,
    ends: Vec<End>,
}

/// One host's sender and receiver.
struct End {
    side: TrafficSide,
    sender: FlowSource,
    receiver: TrafficReceiver,
}

/// What sends the flows of a host.
enum FlowSource {
    Own(TrafficSender),
    Mgen(Mgen),
}

/// How traffic is sent.
#[derive(Clone, Copy)]
struct TrafficManner<'a> {
    generator: TrafficGenerator,
    seed: u64,
    /// The folder of scripts.
    folder: &'a Path,
}

/// A host of one side, for one family.
struct TrafficHost<'a> {
    family: Family,
    side: TrafficSide,
    host: &'a Host,
    address: IpAddr,
    flows: Vec<Flow>,
}

impl<'a> Background<'a> {
    /// Starts a mix between the hosts of a lab. When this returns, all connections are established
    /// and a message of each flow has been received. `folder` is for the scripts of other
    /// generators.
    pub(super) fn begin(
        up: &Up,
        traffic: &Traffic,
        mix: &'a str,
        seed: u64,
        folder: &Path,
    ) -> Result<Background<'a>, CommandError> {
        let known = traffic.mixes.get(mix);
        let known = known.ok_or_else(|| CommandError::Usage(format!("no mix '{mix}'")))?;
        let flows = known.mix.flows(seed).map_err(CommandError::Usage)?;
        let manner = TrafficManner { generator: known.generator, seed, folder };
        let mut background =
            Background { mix, generator: known.generator, flows: flows.clone(), ends: Vec::new() };
        for family in known.mix.families() {
            let flows: Vec<Flow> = flows.iter().filter(|f| f.family == family).cloned().collect();
            let near = traffic_host(up, &traffic.near[family], family, TrafficSide::Near, &flows)?;
            let far = traffic_host(up, &traffic.far[family], family, TrafficSide::Far, &flows)?;
            background.ends.extend(join_hosts(&near, &far, manner)?);
        }
        if background.arrives(&flows) {
            return Ok(background);
        }
        let said: String = background.ends.iter().filter_map(End::said).collect();
        let found = background.stop();
        let of = |flow: &&Flow| found.iter().find(|one| one.id == flow.id);
        let is_silent = |flow: &&Flow| of(flow).is_none_or(|one| received(one) == 0);
        let silent: Vec<_> = flows.iter().filter(is_silent).collect();
        let what = match silent.as_slice() {
            [] => "its first messages arrived late".to_owned(),
            flows => {
                let lines = flows.iter().map(|flow| describe_silent(flow, of(flow)));
                lines.collect::<Vec<_>>().join(", ")
            }
        };
        Err(CommandError::Measure(format!(
            "traffic {mix} does not arrive within {PATIENCE:?}: {what}{said}"
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
        let Background { mix, generator, ref flows, .. } = self;
        let offered = flows.iter().map(|flow| flow.bits_per_s(Basis::Wire)).sum();
        let (mix, flows) = (mix.to_owned(), flows.len() as u32);
        let found = self.stop();
        match generator {
            TrafficGenerator::Sixmark => summary(mix, flows, &found),
            TrafficGenerator::Mgen => CellTraffic {
                generator,
                offered_bits_per_s: offered,
                retransmitted: None,
                ..summary(mix, flows, &found)
            },
        }
    }

    /// Stops the traffic and returns the result of each flow.
    fn stop(self) -> Vec<FlowResult> {
        let (mut senders, mut receivers) = (Vec::new(), Vec::new());
        for End { side, sender, receiver } in self.ends {
            let sent = match sender {
                FlowSource::Own(sender) => sender.stop(),
                // What it sent is not known; it ends here.
                FlowSource::Mgen(_) => Vec::new(),
            };
            senders.push((side, sent));
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

impl End {
    /// Returns the last line that another generator said, if any.
    fn said(&self) -> Option<String> {
        match &self.sender {
            FlowSource::Own(_) => None,
            FlowSource::Mgen(mgen) => mgen.said().map(|line| format!("; mgen said: {line}")),
        }
    }
}

/// Describes in one line a flow of which nothing arrived, with what its sender knows of it.
fn describe_silent(flow: &Flow, found: Option<&FlowResult>) -> String {
    let Flow { id, protocol, family, .. } = flow;
    let sent = found.and_then(|found| found.figures.sent);
    let sent = sent.map(|sent| format!(", {} sent", sent.messages)).unwrap_or_default();
    let problem = found.and_then(|found| found.problem.as_ref());
    let problem = problem.map(|problem| format!(" ({problem})")).unwrap_or_default();
    format!("no message of flow {id}, {protocol} over {family}{sent}{problem}")
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
    Ok(TrafficHost {
        family,
        side,
        host,
        address: address.ok_or_else(absent)?,
        flows: flows.to_vec(),
    })
}

impl TrafficHost<'_> {
    /// Returns a name that no other host of a mix has.
    fn name(&self) -> String {
        format!("mgen-{}-{}", self.side, self.family).to_lowercase()
    }
}

/// Makes two hosts listen, then connect, then send.
fn join_hosts(
    near: &TrafficHost<'_>,
    far: &TrafficHost<'_>,
    manner: TrafficManner<'_>,
) -> Result<[End; 2], CommandError> {
    let hear = |place: &TrafficHost<'_>, from: TrafficSide| {
        place.host.within(|| TrafficReceiver::start(&ports(&place.flows, from)))
    };
    let (at_near, at_far) = (hear(near, TrafficSide::Far)?, hear(far, TrafficSide::Near)?);
    let near_sends = send(near, far.address, &at_far, manner)?;
    let far_sends = send(far, near.address, &at_near, manner)?;
    Ok([
        End { side: TrafficSide::Near, sender: near_sends, receiver: at_near },
        End { side: TrafficSide::Far, sender: far_sends, receiver: at_far },
    ])
}

fn send(
    from: &TrafficHost<'_>,
    to: IpAddr,
    there: &TrafficReceiver,
    manner: TrafficManner<'_>,
) -> Result<FlowSource, CommandError> {
    let open = open_ports(there);
    let to = Some(SocketAddr::new(to, 0));
    let hosts = PerFamily { ipv6: to, ipv4: to };
    let flows = outgoing(&from.flows, from.side, &hosts, &open).map_err(CommandError::Measure)?;
    match manner.generator {
        TrafficGenerator::Sixmark => {
            let go = || ReadyFlows::new(flows, manner.seed, PATIENCE)?.go();
            from.host.within(go).map(FlowSource::Own)
        }
        TrafficGenerator::Mgen => {
            Mgen::start(from.host, &flows, &from.name(), manner.folder).map(FlowSource::Mgen)
        }
    }
}

fn summary(mix: String, flows: u32, found: &[FlowResult]) -> CellTraffic {
    let rate = |of: &dyn Fn(&FlowResult) -> Option<f64>| found.iter().filter_map(of).sum::<f64>();
    CellTraffic {
        mix,
        generator: TrafficGenerator::Sixmark,
        flows,
        offered_bits_per_s: rate(&|flow| Some(flow.figures.offered?.wire_bits_per_s)),
        received_bits_per_s: rate(&|flow| Some(flow.figures.received?.wire_bits_per_s)),
        lost: found.iter().filter_map(|flow| flow.figures.lost).sum(),
        retransmitted: Some(
            found.iter().filter_map(|flow| flow.retransmitted).map(u64::from).sum(),
        ),
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
    fn describes_a_silent_flow_with_its_problem() {
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
        let mix = sixmark_traffic::TrafficMix::default();
        let flow = mix.flows(1).unwrap().into_iter().find(|flow| flow.id == 2).unwrap();
        let describe = |sent: &Sent| {
            let half = Half { sent: vec![sent.clone()], ..Half::default() };
            let ends = Ends { near: half, far: Some(Half::default()), shared_clock: true };
            let found = assemble(&ends);
            assert_eq!(received(&found[0]), 0);
            describe_silent(&flow, Some(&found[0]))
        };
        let line = "no message of flow 2, TCP over IPv6, 5 sent";
        assert_eq!(describe(&sent), line);
        assert_eq!(describe_silent(&flow, None), "no message of flow 2, TCP over IPv6");
        sent.problem = Some("Connection reset by peer".into());
        assert_eq!(describe(&sent), format!("{line} (Connection reset by peer)"));
    }
}
