//! Loss recovery of a connection beside smoltcp: fast retransmit and fast recovery (RFC 5681, RFC
//! 6582), with selective acknowledgements if they are negotiated (RFC 6675).
//!
//! smoltcp retransmits the first segment at the third duplicate acknowledgement, and nothing else
//! until its timer expires. Further lost segments are retransmitted here, from copies of the frames
//! in flight: the next one at each partial acknowledgement and, with selective acknowledgements, at
//! most one at each acknowledgement that arrives. A retransmission that is lost is repaired by the
//! timer.

use std::collections::VecDeque;

use smoltcp::wire::TcpSeqNumber;

use super::segment::Segment;

/// The number of duplicate acknowledgements, or of selectively acknowledged segments above it, at
/// which a segment counts as lost (RFC 5681, 3.2; RFC 6675, 2).
const THRESHOLD: usize = 3;

/// The frames in flight of a connection, and its recovery from a loss.
#[derive(Debug)]
pub(super) struct Recovery {
    /// Whether selective acknowledgements are used.
    selective: bool,
    kept: VecDeque<SentFrame>,
    duplicates: usize,
    episode: Option<Episode>,
}

/// A frame that carries data and has not been acknowledged.
#[derive(Debug)]
struct SentFrame {
    seq: TcpSeqNumber,
    end: TcpSeqNumber,
    bytes: Vec<u8>,
    /// Whether it was acknowledged selectively.
    sacked: bool,
    /// Whether it was retransmitted since the recovery began.
    again: bool,
}

/// A recovery that has begun.
#[derive(Clone, Copy, Debug)]
struct Episode {
    /// The highest sequence number sent when it began. It ends when this is acknowledged.
    until: TcpSeqNumber,
    /// The segment that smoltcp is about to retransmit.
    due: Option<TcpSeqNumber>,
    /// Whether more was acknowledged since it began, but not all of it. smoltcp must not see
    /// duplicate acknowledgements then: it would begin another recovery.
    partial: bool,
}

/// What to do after an acknowledgement.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// Whether to hide it from smoltcp.
    pub(super) hidden: bool,
    /// The frame to retransmit, if any.
    pub(super) again: Option<Vec<u8>>,
}

impl Recovery {
    /// Creates the state of a connection that begins.
    pub(super) fn new(selective: bool) -> Recovery {
        Recovery { selective, kept: VecDeque::new(), duplicates: 0, episode: None }
    }

    /// Records a segment with new data that smoltcp sends.
    pub(super) fn keep(&mut self, segment: &Segment, frame: &[u8]) {
        let (seq, end, bytes) = (segment.seq, segment.end(), frame.to_vec());
        self.kept.push_back(SentFrame { seq, end, bytes, sacked: false, again: false });
    }

    /// Returns true if the segment is the one that smoltcp retransmits at the third duplicate
    /// acknowledgement.
    pub(super) fn is_fast(&mut self, segment: &Segment) -> bool {
        let episode = self.episode.as_mut().filter(|episode| episode.due == Some(segment.seq));
        episode.is_some_and(|episode| episode.due.take().is_some())
    }

    /// Forgets everything, because the timer has expired and all is sent again (RFC 2018, 8).
    pub(super) fn restart(&mut self) {
        self.kept.clear();
        self.duplicates = 0;
        self.episode = None;
    }

    /// Marks what an acknowledgement acknowledges selectively. Returns true if any of it is new.
    pub(super) fn mark(&mut self, segment: &Segment) -> bool {
        let mut new = false;
        for (from, to) in segment.sacked.into_iter().flatten().filter(|_| self.selective) {
            let within = |one: &&mut SentFrame| !one.sacked && one.seq >= from && one.end <= to;
            for one in self.kept.iter_mut().filter(within) {
                one.sacked = true;
                new = true;
            }
        }
        new
    }

    /// Decides what to do after a duplicate acknowledgement; `furthest` is the highest sequence
    /// number sent.
    pub(super) fn duplicate(&mut self, ack: TcpSeqNumber, furthest: TcpSeqNumber) -> Verdict {
        self.duplicates += 1;
        if self.episode.is_none() && self.duplicates == THRESHOLD {
            self.episode = Some(Episode { until: furthest, due: Some(ack), partial: false });
            // smoltcp retransmits it after the other frames that have arrived.
            self.kept.iter_mut().take(1).for_each(|first| first.again = true);
            return Verdict::default();
        }
        let hidden = self.episode.is_some_and(|episode| episode.partial);
        let again = self.episode.filter(|_| self.selective).and_then(|_| self.next_lost(THRESHOLD));
        Verdict { hidden, again }
    }

    /// Decides what to do after an acknowledgement that is no duplicate.
    pub(super) fn advance(&mut self, ack: TcpSeqNumber) -> Verdict {
        let before = self.kept.len();
        self.kept.retain(|one| one.end > ack);
        self.duplicates = 0;
        let Some(mut episode) = self.episode else { return Verdict::default() };
        if ack >= episode.until {
            self.episode = None;
            self.kept.iter_mut().for_each(|one| one.again = false);
            return Verdict::default();
        }
        if self.kept.len() == before {
            return Verdict::default();
        }
        episode.partial = true;
        episode.due = None;
        self.episode = Some(episode);
        let again = if self.selective { self.next_lost(1) } else { self.first() };
        Verdict { hidden: false, again }
    }

    /// Returns the first segment in flight, unless it was retransmitted already (RFC 6582, 3.2).
    fn first(&mut self) -> Option<Vec<u8>> {
        let first = self.kept.front_mut().filter(|one| !one.sacked && !one.again)?;
        first.again = true;
        Some(first.bytes.clone())
    }

    /// Returns the first segment that was not retransmitted and has this many selectively
    /// acknowledged ones above it (RFC 6675, 4). After a partial acknowledgement one suffices: a
    /// recovery has found losses already.
    fn next_lost(&mut self, above: usize) -> Option<Vec<u8>> {
        let mut sacked = self.kept.iter().enumerate().rev().filter(|(_, one)| one.sacked);
        let (limit, _) = sacked.nth(above.saturating_sub(1))?;
        let lost = |one: &&mut SentFrame| !one.sacked && !one.again;
        let one = self.kept.iter_mut().take(limit).find(lost)?;
        one.again = true;
        Some(one.bytes.clone())
    }
}
