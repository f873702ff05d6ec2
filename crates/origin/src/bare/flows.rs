//! What is remembered of the TCP connections whose segments pass: enough to see duplicate
//! acknowledgements come and retransmissions go.

use std::collections::HashMap;

use smoltcp::wire::{IpEndpoint, TcpSeqNumber};

use super::segment::Segment;

/// The connections that pass, by the client's end and our own.
#[derive(Debug, Default)]
pub(super) struct Flows {
    flows: HashMap<(IpEndpoint, IpEndpoint), Flow>,
    /// What was counted so far.
    pub(super) counts: Counts,
}

/// What passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Duplicate acknowledgements that were hidden.
    pub(super) hidden: u64,
    /// Times that sending went back to what had been sent before.
    pub(super) timeouts: u64,
    /// Segments sent that held something that had been sent before.
    pub(super) again: u64,
}

#[derive(Debug)]
struct Flow {
    heard: Heard,
    sent: Option<Sent>,
}

/// The latest that the client said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Heard {
    /// The sequence number that it goes on with.
    next: TcpSeqNumber,
    ack: Option<TcpSeqNumber>,
    window: u16,
}

/// Up to where we sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    furthest: TcpSeqNumber,
    last: TcpSeqNumber,
}

impl Flows {
    /// Notes a client's segment. True where it is a duplicate acknowledgement in the words of
    /// RFC 5681, section 2, and nothing else.
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

    /// Notes a segment of ours.
    pub(super) fn sent(&mut self, segment: &Segment) {
        let key = (segment.target, segment.source);
        if segment.rst {
            self.flows.remove(&key);
        } else if let Some(flow) = self.flows.get_mut(&key) {
            flow.send(segment, &mut self.counts);
        }
    }

    /// Forgets a connection that is over.
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

    /// What comes late or asks for a sign of life tells nothing new.
    fn note(&mut self, now: Heard) {
        if now.next >= self.heard.next && now.ack >= self.heard.ack {
            self.heard = now;
        }
    }

    fn send(&mut self, segment: &Segment, counts: &mut Counts) {
        let end = segment.end();
        // A byte for a closed window only asks whether it is still closed.
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
