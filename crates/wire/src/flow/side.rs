//! One side of a connection: its stream, its acknowledgements of the other side's stream, and the
//! statistics of both.

use super::Segment;
use super::connection_report::Sent;
use super::rtt::{Timer, Times};
use super::stream::{Heard, SegmentEffect, SegmentKind, Stream};
use crate::Tcp;

/// The round-trip time assumed if the handshake was not captured. A segment that arrives within it
/// cannot be a retransmission; tshark uses the same 3 ms.
const SOON_NS: u64 = 3_000_000;
/// The bytes by which options shorten a full segment: those of timestamps.
const OPTIONS: u16 = 12;

/// The state of one side of a connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Side {
    pub(super) sent: Sent,
    /// The stream of this side, once it has sent a segment.
    pub(super) stream: Option<Stream>,
    /// The segments of this side whose round-trip times are being measured.
    timer: Timer,
    /// The round-trip times from a segment of the other side to this side's ACK.
    pub(super) answers: Times,
    /// The last ACK of this side.
    last_ack: Option<SentAck>,
    /// True if it has acknowledged more than before.
    acks_more: bool,
}

/// An ACK as it was sent.
#[derive(Clone, Copy, Debug)]
struct SentAck {
    acknowledgement: u32,
    window: u16,
    at_ns: u64,
    duplicates: u32,
}

impl Side {
    /// Adds a segment of this side. `other` has not processed it yet.
    pub(super) fn take(
        &mut self,
        segment: &Segment<'_>,
        other: &Side,
        handshake_ns: Option<u64>,
    ) -> SegmentEffect {
        let tcp = &segment.tcp;
        self.count(segment);
        if tcp.flags.syn() {
            self.offer(tcp);
        }
        let soon_ns = handshake_ns.unwrap_or(SOON_NS);
        let stream = self.stream.get_or_insert_with(|| Stream::new(tcp));
        let heard = other.heard(stream, soon_ns);
        let (start, end) = (stream.position(tcp.sequence), stream.end());
        let effect = stream.sent(tcp, segment.at_ns, &heard);
        self.time(&effect, start, segment.at_ns);
        self.sort(&effect, tcp.payload.length as u64);
        self.say(tcp, segment.at_ns, start == end);
        self.window(tcp, other);
        effect
    }

    /// Records that the other side acknowledged this side's stream up to `to`. Returns the
    /// round-trip time if one was measured.
    pub(super) fn acknowledged(&mut self, to: i64, at_ns: u64) -> Option<u64> {
        self.timer.acknowledged(to, at_ns)
    }

    /// Returns whether this side sent an ACK at once that covers `new` bytes more than the one
    /// before: it carries nothing itself, and two full segments had come (RFC 9293, 3.8.6.3).
    pub(super) fn acks_at_once(&self, tcp: &Tcp<'_>, new: i64) -> bool {
        let full = self.sent.mss.map(|mss| i64::from(mss.saturating_sub(OPTIONS)));
        tcp.is_pure_ack() && full.is_some_and(|full| full > 0 && new >= 2 * full)
    }

    /// Returns whether this side has sent an ACK.
    pub(super) fn has_acked(&self) -> bool {
        self.last_ack.is_some()
    }

    /// Returns whether its ACKs show that the other side sent something in the meantime.
    pub(super) fn acks_more(&self) -> bool {
        self.acks_more
    }

    pub(super) fn has_finished(&self) -> bool {
        self.stream.as_ref().is_some_and(Stream::has_finished)
    }

    /// Returns the stream position after the last byte of payload.
    pub(super) fn payload_end(&self) -> i64 {
        self.stream.as_ref().map_or(0, Stream::payload_end)
    }

    pub(super) fn count(&mut self, segment: &Segment<'_>) {
        let sent = &mut self.sent;
        sent.packets += segment.packets;
        sent.frame_bytes += segment.length;
        sent.payload_bytes += segment.tcp.payload.length as u64;
        sent.fragments += segment.fragments;
        sent.resets += u64::from(segment.tcp.flags.rst());
    }

    fn offer(&mut self, tcp: &Tcp<'_>) {
        let options = tcp.options();
        self.sent.mss = options.mss.or(self.sent.mss);
        self.sent.window_scale = options.window_scale.or(self.sent.window_scale);
        self.sent.sack_permitted |= options.sack_permitted;
    }

    fn heard(&self, stream: &Stream, soon_ns: u64) -> Heard {
        let last_ack = self.last_ack.as_ref();
        Heard {
            acknowledged: last_ack.map(|last_ack| stream.position(last_ack.acknowledgement)),
            acknowledged_ns: last_ack.map_or(0, |last_ack| last_ack.at_ns),
            duplicates: last_ack.map_or(0, |last_ack| last_ack.duplicates),
            closed: last_ack.is_some_and(|last_ack| last_ack.window == 0),
            soon_ns,
        }
    }

    fn time(&mut self, effect: &SegmentEffect, start: i64, at_ns: u64) {
        match effect.kind {
            SegmentKind::Next if effect.known == 0 => {
                // A SYN with data may be acknowledged without it (RFC 7413).
                if (start + 1..effect.end).contains(&effect.begin) {
                    self.timer.start(effect.begin, at_ns);
                }
                self.timer.start(effect.end, at_ns);
            }
            SegmentKind::Empty => {}
            _ => self.timer.doubt(start),
        }
    }

    fn sort(&mut self, effect: &SegmentEffect, payload: u64) {
        let sent = &mut self.sent;
        sent.stream_bytes += payload - effect.known;
        sent.fins += u64::from(effect.finishes);
        match effect.kind {
            SegmentKind::Retransmitted => sent.retransmitted += 1,
            SegmentKind::OutOfOrder => sent.out_of_order += 1,
            SegmentKind::Probe => sent.probes += 1,
            SegmentKind::Next | SegmentKind::Empty => {}
        }
    }

    /// Records the ACK of a segment, and whether it is a duplicate. `at_end` is true if the segment
    /// is positioned at the end of this side's stream.
    fn say(&mut self, tcp: &Tcp<'_>, at_ns: u64, at_end: bool) {
        let flags = tcp.flags;
        if !flags.ack() {
            return;
        }
        let (acknowledgement, window) = (tcp.acknowledgement, tcp.window);
        self.acks_more |= self.last_ack.is_some_and(|last| last.acknowledgement != acknowledgement);
        let last = self.last_ack.filter(|last| last.acknowledgement == acknowledgement);
        let plain = !(flags.syn() || flags.fin() || flags.rst());
        let repeats = plain && at_end && window > 0 && tcp.payload.length == 0;
        let repeats = repeats && last.is_some_and(|last| last.window == window);
        let before = last.map_or(0, |last| last.duplicates);
        let duplicates = before.saturating_add(repeats.into());
        self.last_ack = Some(SentAck { acknowledgement, window, at_ns, duplicates });
        self.sent.duplicate_acks += u64::from(repeats);
        self.sent.selective_acks += u64::from(tcp.selective().next().is_some());
    }

    fn window(&mut self, tcp: &Tcp<'_>, other: &Side) {
        let flags = tcp.flags;
        let both = self.sent.window_scale.filter(|_| other.sent.window_scale.is_some());
        let scale = if flags.syn() { 0 } else { both.unwrap_or(0) };
        let window = u64::from(tcp.window) << scale;
        self.sent.largest_window = self.sent.largest_window.max(window);
        let shut = tcp.window == 0 && !(flags.syn() || flags.fin() || flags.rst());
        self.sent.zero_windows += u64::from(shut);
    }
}
