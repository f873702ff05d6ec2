//! Combines the figures of both sides of a flow, and sums flows by kind.

use std::net::SocketAddr;

use super::{Amount, Delay, FlowResult, Heard, KindResult, MessageFigures, Sent};
use crate::{Basis, FlowProtocol, Hearing, TrafficSide};
use sixmark_units::family::Family;

impl Heard {
    /// Creates the final figures from the record of a flow.
    pub fn new(
        (id, protocol): (u32, FlowProtocol),
        source: SocketAddr,
        destination: Option<SocketAddr>,
        hearing: Hearing,
    ) -> Heard {
        let (received, messages) = (hearing.unique(), hearing.messages.max(1));
        Heard {
            id,
            protocol,
            source,
            destination,
            received,
            // Duplicates have the mean size of all messages.
            received_bytes: hearing.bytes - hearing.bytes / messages * hearing.duplicates,
            duplicates: hearing.duplicates,
            reordered: hearing.reordered,
            missing: hearing.missing(),
            heard_ns: hearing.last_ns.saturating_sub(hearing.first_ns.unwrap_or(hearing.last_ns)),
            least_ns: hearing.variation.least(),
            consecutive_us: hearing.consecutive.summary(),
            variation_us: hearing.variation.timing().summary(),
        }
    }
}

impl FlowResult {
    /// Combines the figures of the sender and the receiver of a flow. Returns `None` if neither has
    /// any. If the receiver has none, the flow counts as completely lost if the other side
    /// `listened`, otherwise its loss is unknown.
    pub fn new(
        from: Option<TrafficSide>,
        sent: Option<&Sent>,
        heard: Option<&Heard>,
        listened: bool,
        shared_clock: bool,
    ) -> Option<FlowResult> {
        let id = sent.map(|s| s.id).or(heard.map(|h| h.id))?;
        let protocol = sent.map(|s| s.protocol).or(heard.map(|h| h.protocol))?;
        let destination = sent.map(|s| s.destination).or(heard.and_then(|h| h.destination));
        let source = heard.map(|h| h.source).or(sent.and_then(|s| s.source));
        let family = Family::of(destination.or(source)?.ip());
        let figures = join_figures((family, protocol), sent, heard, listened);
        let delay = |heard: &Heard| Delay {
            least_us: heard.least_ns.filter(|_| shared_clock).map(|ns| ns as f64 / 1e3),
            variation_us: heard.variation_us.clone(),
            consecutive_us: heard.consecutive_us.clone(),
        };
        Some(FlowResult {
            id,
            protocol,
            family,
            from,
            source,
            destination,
            message_bytes: sent.map(|s| s.message_bytes),
            figures,
            delay: heard.map(delay),
            retransmitted: sent.and_then(|s| s.retransmitted),
            problem: sent.and_then(|s| s.problem.clone()),
        })
    }
}

/// Combines the message counts of both sides of a flow.
fn join_figures(
    kind: (Family, FlowProtocol),
    sent: Option<&Sent>,
    heard: Option<&Heard>,
    listened: bool,
) -> MessageFigures {
    let on_s = sent.map(|s| s.on_ns as f64 / 1e9);
    // On a slow path, the last bytes of a stream arrive long after the sender has stopped.
    let heard_s = heard.map_or(0.0, |h| h.heard_ns as f64 / 1e9).max(on_s.unwrap_or(0.0));
    let of_sent = |messages: fn(&Sent) -> u64, bytes: fn(&Sent) -> u64| {
        sent.map(|s| Amount::new(kind, messages(s), bytes(s), on_s.unwrap_or(0.0)))
    };
    let none = || listened.then(Amount::default);
    let received =
        heard.map(|h| Amount::new(kind, h.received, h.received_bytes, heard_s)).or_else(none);
    let lost = match (sent, heard) {
        (Some(sent), _) => received.map(|r| sent.sent.saturating_sub(r.messages)),
        (None, heard) => heard.map(|h| h.missing),
    };
    MessageFigures {
        offered: of_sent(|s| s.offered, |s| s.offered_bytes),
        sent: of_sent(|s| s.sent, |s| s.sent_bytes),
        received,
        lost,
        duplicates: received.map(|_| heard.map_or(0, |h| h.duplicates)),
        reordered: received.map(|_| heard.map_or(0, |h| h.reordered)),
        late: sent.map(|s| s.late),
    }
}

impl Amount {
    fn new(
        (family, protocol): (Family, FlowProtocol),
        messages: u64,
        bytes: u64,
        s: f64,
    ) -> Amount {
        let rate = |bytes: f64| if s > 0.0 { bytes * 8.0 / s } else { 0.0 };
        // Assumes that all messages have the mean size.
        let mean = if messages > 0 { bytes as f64 / messages as f64 } else { 0.0 };
        let on_wire = Basis::Wire.bytes(family, protocol, mean.round() as u32);
        Amount {
            messages,
            bytes,
            payload_bits_per_s: rate(bytes as f64),
            wire_bits_per_s: rate(on_wire * messages as f64),
        }
    }

    /// Returns the rate on the given basis.
    pub fn bits_per_s(&self, basis: Basis) -> f64 {
        match basis {
            Basis::Payload => self.payload_bits_per_s,
            Basis::Wire => self.wire_bits_per_s,
        }
    }

    fn plus(self, other: Amount) -> Amount {
        Amount {
            messages: self.messages + other.messages,
            bytes: self.bytes + other.bytes,
            payload_bits_per_s: self.payload_bits_per_s + other.payload_bits_per_s,
            wire_bits_per_s: self.wire_bits_per_s + other.wire_bits_per_s,
        }
    }
}

impl MessageFigures {
    /// Returns the sum of several flows' figures.
    pub fn sum<'a>(all: impl IntoIterator<Item = &'a MessageFigures>) -> MessageFigures {
        all.into_iter().fold(MessageFigures::default(), |sum, one| MessageFigures {
            offered: join_options(sum.offered, one.offered, Amount::plus),
            sent: join_options(sum.sent, one.sent, Amount::plus),
            received: join_options(sum.received, one.received, Amount::plus),
            lost: join_options(sum.lost, one.lost, |a, b| a + b),
            duplicates: join_options(sum.duplicates, one.duplicates, |a, b| a + b),
            reordered: join_options(sum.reordered, one.reordered, |a, b| a + b),
            late: join_options(sum.late, one.late, |a, b| a + b),
        })
    }

    /// Returns the share of sent messages that did not arrive, or `None` if unknown.
    pub fn loss(&self) -> Option<f64> {
        let sent = self
            .sent
            .map(|sent| sent.messages)
            .or_else(|| Some(self.received?.messages + self.lost?))?;
        self.lost.filter(|_| sent > 0).map(|lost| lost as f64 / sent as f64)
    }
}

/// Returns the figures of each kind of flows, in the order of first appearance.
pub fn kinds(flows: &[FlowResult]) -> Vec<KindResult> {
    let mut found: Vec<(FlowProtocol, Family, Option<TrafficSide>)> = Vec::new();
    for flow in flows {
        let kind = (flow.protocol, flow.family, flow.from);
        if !found.contains(&kind) {
            found.push(kind);
        }
    }
    let of = |(protocol, family, from)| {
        let these: Vec<&FlowResult> = flows
            .iter()
            .filter(|f| (f.protocol, f.family, f.from) == (protocol, family, from))
            .collect();
        let again = these.iter().filter_map(|flow| flow.retransmitted).map(u64::from);
        KindResult {
            protocol,
            family,
            from,
            flows: these.len() as u32,
            figures: MessageFigures::sum(these.iter().map(|flow| &flow.figures)),
            retransmitted: these.iter().any(|f| f.retransmitted.is_some()).then(|| again.sum()),
        }
    };
    found.into_iter().map(of).collect()
}

fn join_options<T>(one: Option<T>, other: Option<T>, with: impl Fn(T, T) -> T) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(with(one, other)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(protocol: FlowProtocol) -> Sent {
        Sent {
            id: 4,
            protocol,
            source: None,
            destination: "[::1]:9".parse().unwrap(),
            message_bytes: 1_440,
            offered: 1_000,
            offered_bytes: 1_440_000,
            sent: 990,
            sent_bytes: 990 * 1_440,
            late: 2,
            latest_ns: 2_000_000,
            retransmitted: None,
            on_ns: 2_000_000_000,
            problem: None,
        }
    }

    fn heard(sequences: impl Iterator<Item = u32>) -> Heard {
        let mut hearing = Hearing::default();
        sequences.for_each(|s| {
            hearing.record(s, 1_440, u64::from(s) * 1_000, u64::from(s) * 1_000 + 70)
        });
        Heard::new((4, FlowProtocol::Udp), "[::1]:8".parse().unwrap(), None, hearing)
    }

    #[test]
    fn joins_the_figures_of_sender_and_receiver() {
        let sent = sent(FlowProtocol::Udp);
        let heard = heard((0..980).chain([5]));
        let flow = FlowResult::new(Some(TrafficSide::Near), Some(&sent), Some(&heard), true, true)
            .unwrap();
        let figures = &flow.figures;
        assert_eq!((figures.lost, figures.duplicates), (Some(10), Some(1)));
        assert_eq!(figures.received.unwrap().bytes, 980 * 1_440);
        assert_eq!(figures.offered.unwrap().payload_bits_per_s, 1_440_000.0 * 4.0);
        assert_eq!(figures.offered.unwrap().wire_bits_per_s, 1_502_000.0 * 4.0);
        assert_eq!(flow.delay.unwrap().least_us, Some(0.07));
        let unshared = FlowResult::new(None, Some(&sent), Some(&heard), true, false).unwrap();
        assert_eq!(unshared.delay.unwrap().least_us, None);
    }

    #[test]
    fn counts_unreceived_messages_as_lost_only_if_a_receiver_listened() {
        let sent = sent(FlowProtocol::Tcp);
        let lost = |listened| {
            FlowResult::new(None, Some(&sent), None, listened, true).unwrap().figures.lost
        };
        assert_eq!((lost(true), lost(false)), (Some(990), None));
        let stranger = heard([3, 4, 6].into_iter());
        let flow = FlowResult::new(None, None, Some(&stranger), true, true).unwrap();
        assert_eq!((flow.figures.lost, flow.figures.loss()), (Some(1), Some(0.25)));
    }

    #[test]
    fn sums_flows_by_kind() {
        let (tcp, udp) = (sent(FlowProtocol::Tcp), sent(FlowProtocol::Udp));
        let flow =
            |of| FlowResult::new(Some(TrafficSide::Near), Some(of), None, true, true).unwrap();
        let kinds = kinds(&[flow(&tcp), flow(&udp), flow(&tcp)]);
        assert_eq!(kinds.iter().map(|kind| kind.flows).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(kinds[0].figures.sent.unwrap().messages, 1_980);
    }
}
