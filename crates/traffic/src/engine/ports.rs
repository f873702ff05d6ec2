//! The ports of flows: local ones to listen on, and those of the other side.

use std::net::SocketAddr;
use std::time::Duration;

use crate::{Flow, FlowProtocol, Outgoing, TrafficSide};
use sixmark_units::family::{Family, PerFamily};

use super::control::OpenPort;
use super::{Port, TrafficReceiver};

/// After the end of sending, a receiver waits until no messages have arrived for this long, but in
/// all no longer than [`LONGEST`].
pub(super) const QUIET: Duration = Duration::from_millis(100);

/// The longest wait after the end of sending.
pub(super) const LONGEST: Duration = Duration::from_secs(5);

/// Returns a free port for each protocol and family that `from` sends.
pub fn ports(flows: &[Flow], from: TrafficSide) -> Vec<Port> {
    let mut kinds: Vec<_> =
        flows.iter().filter(|f| f.from == from).map(|f| (f.protocol, f.family)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds.into_iter().map(|(protocol, family)| Port::any(protocol, family)).collect()
}

/// Returns the ports on which a receiver listens.
pub fn open_ports(receiver: &TrafficReceiver) -> Vec<OpenPort> {
    let port = |(protocol, at): &(FlowProtocol, SocketAddr)| {
        let (protocol, family, port) = (*protocol, Family::of(at.ip()), at.port());
        OpenPort { protocol, family, port }
    };
    receiver.addresses().iter().map(port).collect()
}

/// Returns the flows that `from` sends, with the addresses and ports of the other side.
pub fn outgoing(
    flows: &[Flow],
    from: TrafficSide,
    hosts: &PerFamily<Option<SocketAddr>>,
    open: &[OpenPort],
) -> Result<Vec<Outgoing>, String> {
    let one = |flow: &Flow| {
        let (family, protocol) = (flow.family, flow.protocol);
        let mut to =
            hosts[family].ok_or_else(|| format!("the other side has no {family} address"))?;
        let port = open.iter().find(|port| (port.family, port.protocol) == (family, protocol));
        let port = port.ok_or_else(|| {
            format!("the other side listens on no port of {protocol} over {family}")
        })?;
        to.set_port(port.port);
        Ok(Outgoing {
            flow: flow.clone(),
            to,
            port: None,
            hops: None,
            class: None,
            buffer: None,
            sequence: 0,
        })
    };
    flows.iter().filter(|flow| flow.from == from).map(one).collect()
}
