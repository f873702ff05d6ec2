//! The state of TCP connections as seen from their segments: enough to recognise duplicate
//! acknowledgements and retransmissions.

use std::collections::HashMap;

use smoltcp::wire::{IpEndpoint, TcpSeqNumber};

use super::segment::Segment;

/// The connections, by the client's endpoint and our own.
#[derive(Debug, Default)]
pub(super) struct Flows {
    flows: HashMap<(IpEndpoint, IpEndpoint), Flow>,
    /// The counts so far.
    pub(super) counts: Counts,
}

/// Counts of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// The number of duplicate acknowledgements that were hidden from TCP.
    pub(super) hidden: u64,
    /// The number of times that sending restarted at an earlier sequence number.
    pub(super) timeouts: u64,
    /// The number of segments that repeated data.
    pub(super) again: u64,
}

#[derive(Debug)]
struct Flow {
    heard: Heard,
    sent: Option<Sent>,
}

/// The latest values from the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Heard {
    /// The client's next sequence number.
    next: TcpSeqNumber,
    ack: Option<TcpSeqNumber>,
    window: u16,
}

/// The highest sequence number sent, and the end of the last segment.
#[derive(Clone, Copy, Debug)]
struct Sent {
    furthest: TcpSeqNumber,
    last: TcpSeqNumber,
}

impl Flows {
    /// Records a segment from the client. Returns true if it is a duplicate acknowledgement as
    /// defined in RFC 5681, section 2, and nothing else.
    pub(super) fn heard(&mut self, segment: &Segment) -> bool {
        let key = (segment.source, segment.target);
        let now = Heard { next: segment.end(), ack: segment.ack, window: segment.window };
        let Some(flow) = self.flows.get_mut(&key) else {
            if segment.syn {
                self.flows.insert(key, Flow { heard: now, sent: None });
            }
            return false;
        };
        if segment.syn && flow.heard.next != now.next {
            *flow = Flow { heard: now, sent: None };
            return false;
        }
        let hidden = flow.is_duplicate(segment, now);
        self.counts.hidden += u64::from(hidden);
        flow.note(now);
        hidden
    }

    /// Records a segment sent to the client.
    pub(super) fn sent(&mut self, segment: &Segment) {
        let key = (segment.target, segment.source);
        if segment.rst {
            self.flows.remove(&key);
        } else if let Some(flow) = self.flows.get_mut(&key) {
            flow.send(segment, &mut self.counts);
        }
    }

    /// Removes a connection that has ended.
    pub(super) fn forget(&mut self, client: IpEndpoint, own: IpEndpoint) {
        self.flows.remove(&(client, own));
    }
}

impl Flow {
    fn is_duplicate(&self, segment: &Segment, now: Heard) -> bool {
        let waits = |ack| self.sent.is_some_and(|sent| sent.furthest > ack);
        let empty = segment.payload == 0 && !(segment.syn || segment.fin || segment.rst);
        empty && now == self.heard && now.ack.is_some_and(waits)
    }

    /// Updates the state, except from reordered segments and keep-alive probes.
    fn note(&mut self, now: Heard) {
        if now.next >= self.heard.next && now.ack >= self.heard.ack {
            self.heard = now;
        }
    }

    fn send(&mut self, segment: &Segment, counts: &mut Counts) {
        let end = segment.end();
        // A single byte sent to a closed window is only a window probe.
        if end == segment.seq || (self.heard.window == 0 && segment.payload == 1) {
            return;
        }
        let before = self.sent.unwrap_or(Sent { furthest: segment.seq, last: segment.seq });
        counts.timeouts += u64::from(segment.seq < before.last);
        counts.again += u64::from(segment.seq < before.furthest);
        let furthest = if end > before.furthest { end } else { before.furthest };
        self.sent = Some(Sent { furthest, last: end });
    }
}
