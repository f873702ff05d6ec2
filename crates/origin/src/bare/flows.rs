//! The state of TCP connections as seen from their segments: enough to recognise duplicate
//! acknowledgements and retransmissions, and to recover from losses.

use std::collections::HashMap;

use smoltcp::wire::{IpEndpoint, TcpSeqNumber};

use super::recovery::{Recovery, Verdict};
use super::segment::Segment;
use super::{LossRecovery, Statistics};

/// The connections, by the client's endpoint and our own.
#[derive(Debug)]
pub(super) struct Flows {
    flows: HashMap<(IpEndpoint, IpEndpoint), Flow>,
    manner: LossRecovery,
    /// The counts so far. Connections and requests are not counted here.
    pub(super) counts: Statistics,
}

#[derive(Debug)]
struct Flow {
    heard: Heard,
    sent: Option<Sent>,
    /// `None` if only the timer repairs losses.
    recovery: Option<Recovery>,
}

/// What to do with a segment from the client.
#[derive(Debug, Default)]
pub(super) struct Reception {
    /// Whether to hide it from smoltcp.
    pub(super) hidden: bool,
    /// The window to put into it, if any.
    pub(super) window: Option<u16>,
    /// The frame to retransmit first, if any.
    pub(super) again: Option<Vec<u8>>,
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
    /// Creates the state of a server that recovers from losses in this manner.
    pub(super) fn new(manner: LossRecovery) -> Flows {
        Flows { flows: HashMap::new(), manner, counts: Statistics::default() }
    }

    /// Records a segment from the client and decides what to do with it.
    pub(super) fn heard(&mut self, segment: &Segment) -> Reception {
        let key = (segment.source, segment.target);
        let now = Heard { next: segment.end(), ack: segment.ack, window: segment.window };
        let known = self.flows.get_mut(&key);
        let known = known.filter(|flow| !segment.syn || flow.heard.next == now.next);
        let Some(flow) = known else {
            if segment.syn {
                self.flows.insert(key, Flow::new(now, self.manner));
            }
            return Reception::default();
        };
        let reception = flow.hear(segment, now);
        self.counts.duplicate_acks_hidden += u64::from(reception.hidden);
        self.counts.segments_sent_again += u64::from(reception.again.is_some());
        reception
    }

    /// Records a segment sent to the client, whose frame this is.
    pub(super) fn sent(&mut self, segment: &Segment, frame: &[u8]) {
        let key = (segment.target, segment.source);
        if segment.rst {
            self.flows.remove(&key);
        } else if let Some(flow) = self.flows.get_mut(&key) {
            flow.send(segment, frame, &mut self.counts);
        }
    }

    /// Removes a connection that has ended.
    pub(super) fn forget(&mut self, client: IpEndpoint, own: IpEndpoint) {
        self.flows.remove(&(client, own));
    }
}

impl Flow {
    fn new(heard: Heard, manner: LossRecovery) -> Flow {
        let recovery = match manner {
            LossRecovery::Timeout => None,
            LossRecovery::FastRetransmit => Some(Recovery::new(false)),
            LossRecovery::Sack => Some(Recovery::new(true)),
        };
        Flow { heard, sent: None, recovery }
    }

    fn hear(&mut self, segment: &Segment, now: Heard) -> Reception {
        let (before, duplicate) = (self.heard, self.is_duplicate(segment, now));
        let Some(recovery) = &mut self.recovery else {
            self.note(now);
            return Reception { hidden: duplicate, ..Reception::default() };
        };
        let selective = recovery.mark(segment) && is_empty(segment) && now.ack == before.ack;
        let furthest = self.sent.map(|sent| sent.furthest);
        let (verdict, window) = match now.ack.zip(furthest) {
            Some((ack, furthest)) if duplicate || selective => {
                // smoltcp does not count a duplicate with another window. The client repeats the
                // window when it acknowledges more.
                let differs = before.window != now.window && before.window > 0;
                (recovery.duplicate(ack, furthest), differs.then_some(before.window))
            }
            Some((ack, _)) => (recovery.advance(ack), None),
            None => (Verdict::default(), None),
        };
        self.note(Heard { window: window.unwrap_or(now.window), ..now });
        Reception { hidden: verdict.hidden, window, again: verdict.again }
    }

    /// Returns true if the segment is a duplicate acknowledgement as defined in RFC 5681, section
    /// 2, and nothing else.
    fn is_duplicate(&self, segment: &Segment, now: Heard) -> bool {
        let waits = |ack| self.sent.is_some_and(|sent| sent.furthest > ack);
        is_empty(segment) && now == self.heard && now.ack.is_some_and(waits)
    }

    /// Updates the state, except from reordered segments and keep-alive probes.
    fn note(&mut self, now: Heard) {
        if now.next >= self.heard.next && now.ack >= self.heard.ack {
            self.heard = now;
        }
    }

    fn send(&mut self, segment: &Segment, frame: &[u8], counts: &mut Statistics) {
        let end = segment.end();
        // A single byte sent to a closed window is only a window probe.
        if end == segment.seq || (self.heard.window == 0 && segment.payload == 1) {
            return;
        }
        let before = self.sent.unwrap_or(Sent { furthest: segment.seq, last: segment.seq });
        counts.segments_sent_again += u64::from(segment.seq < before.furthest);
        if self.recovery.as_mut().is_some_and(|recovery| recovery.is_fast(segment)) {
            counts.fast_retransmits += 1;
            return;
        }
        let timeout = segment.seq < before.last;
        counts.timeouts += u64::from(timeout);
        if let Some(recovery) = &mut self.recovery {
            if timeout {
                recovery.restart();
            }
            if segment.payload > 0 {
                recovery.keep(segment, frame);
            }
        }
        let furthest = if end > before.furthest { end } else { before.furthest };
        self.sent = Some(Sent { furthest, last: end });
    }
}

/// Returns true if the segment carries nothing but an acknowledgement.
fn is_empty(segment: &Segment) -> bool {
    segment.payload == 0 && !(segment.syn || segment.fin || segment.rst)
}
