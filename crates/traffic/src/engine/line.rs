//! Sending of a single flow.

use std::io::{self, ErrorKind};

use crate::traffic_result::Sent;
use crate::{FlowProtocol, FlowSchedule, Outgoing, put_message};
use sixmark_sys::clock;
use sixmark_sys::flows::{BATCH, FlowSocketSettings, Outlet, Watched};

/// The delay after which a message counts as late, nanoseconds.
const LATE_NS: u64 = 1_000_000;
/// The most bytes of messages that are prepared at once.
const PIECE: usize = 64 * 1024;
/// The time until a failed connection is retried, nanoseconds.
const AGAIN_NS: u64 = 250_000_000;

/// What a flow waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    /// A time, nanoseconds of the monotonic clock.
    Until(u64),
    /// Room in the socket's send buffer.
    Room,
    /// Nothing: the flow has ended.
    Over,
}

/// A flow that is being sent.
pub(super) struct FlowLine {
    out: Outgoing,
    schedule: FlowSchedule,
    begin: u64,
    outlet: Option<Outlet>,
    connected: bool,
    /// Messages of one size that the kernel has not accepted completely, and how many of their
    /// bytes it has.
    pending: Vec<u8>,
    at: usize,
    size: usize,
    sequence: u32,
    /// Messages due up to this time do not count as late, because the thread is not to blame for
    /// their delay.
    excused: u64,
    again: Option<u64>,
    broken: bool,
    sent: Sent,
}

impl FlowLine {
    pub(super) fn new(out: Outgoing, seed: u64) -> FlowLine {
        let sent = Sent {
            id: out.flow.id,
            protocol: out.flow.protocol,
            source: None,
            destination: out.to,
            message_bytes: out.flow.phases.first().map_or(0, |phase| phase.bytes),
            offered: 0,
            offered_bytes: 0,
            sent: 0,
            sent_bytes: 0,
            late: 0,
            latest_ns: 0,
            retransmitted: None,
            on_ns: 0,
            problem: None,
        };
        FlowLine {
            schedule: FlowSchedule::new(&out.flow, seed),
            sequence: out.sequence,
            out,
            begin: 0,
            outlet: None,
            connected: false,
            pending: Vec::new(),
            at: 0,
            size: 1,
            excused: 0,
            again: None,
            broken: false,
            sent,
        }
    }

    /// Creates the socket and starts the connection of a stream.
    pub(super) fn open(&mut self) -> io::Result<()> {
        let (to, udp) = (&self.out.to, self.out.flow.protocol == FlowProtocol::Udp);
        let Outgoing { port, hops, class, buffer, .. } = self.out;
        let settings = FlowSocketSettings { port, hops, class, buffer };
        let outlet = match udp {
            true => Outlet::datagrams(to, &settings),
            false => Outlet::stream(to, &settings),
        }?;
        self.sent.source = outlet.local();
        (self.outlet, self.connected) = (Some(outlet), udp);
        Ok(())
    }

    /// Reports whether messages can be sent.
    pub(super) fn connected(&mut self) -> io::Result<bool> {
        if let Some(outlet) = self.outlet.as_ref().filter(|_| !self.connected) {
            self.connected = outlet.connected()?;
            self.sent.source = outlet.local();
        }
        Ok(self.connected)
    }

    pub(super) fn describe(&self) -> String {
        format!("{} to {}", self.out.flow.protocol, self.out.to)
    }

    /// Sets the beginning of all traffic. Returns when this flow must be served first.
    pub(super) fn begin(&mut self, at: u64) -> Waits {
        self.begin = at;
        // A socket that does not exist yet is created when the flow begins, not when its first
        // message is due.
        match self.outlet {
            None => Waits::Until(at.saturating_add(self.out.flow.start_ns())),
            Some(_) => self.next(),
        }
    }

    pub(super) fn room(&self) -> Option<Watched> {
        self.outlet.as_ref().map(Outlet::room)
    }

    pub(super) fn sent(&self) -> &Sent {
        &self.sent
    }

    /// Sends what is due by `now`.
    pub(super) fn serve(&mut self, now: u64) -> Waits {
        if self.broken {
            return self.skip(now);
        }
        if let Some(again) = self.again.filter(|&again| now < again) {
            return Waits::Until(again);
        }
        match self.ready(now) {
            Ok(true) => {}
            Ok(false) => return self.blocked(now),
            Err(error) => return self.fail(&error, now),
        }
        match self.pour(now) {
            Ok(true) => self.next(),
            Ok(false) => self.blocked(now),
            Err(error) => self.fail(&error, now),
        }
    }

    /// Counts what is due and unsent at the end `now`, and returns the figures of the flow.
    pub(super) fn finish(mut self, now: u64) -> Sent {
        let stop =
            self.out.flow.stop_ns.map_or(now, |stop| now.min(self.begin.saturating_add(stop)));
        if !self.broken && self.connected {
            // Sends what fits without waiting.
            let _ = self.hand();
        }
        self.skip(stop);
        if self.out.flow.protocol == FlowProtocol::Tcp
            && let Some(outlet) = &self.outlet
        {
            self.sent.retransmitted = outlet.path().map(|path| path.retransmitted);
            outlet.finish();
        }
        self.sent.on_ns = stop.saturating_sub(self.begin.saturating_add(self.out.flow.start_ns()));
        self.sent
    }

    fn ready(&mut self, now: u64) -> io::Result<bool> {
        if self.outlet.is_none() {
            self.again = None;
            self.open()?;
            self.excused = now;
        }
        self.connected()
    }

    /// Sends what is pending and due. Returns true if nothing is left, false if the socket has no
    /// room.
    fn pour(&mut self, now: u64) -> io::Result<bool> {
        loop {
            if !self.pending.is_empty() && !self.hand()? {
                return Ok(false);
            }
            if !self.make(now) {
                return Ok(true);
            }
        }
    }

    /// Prepares messages that are due. Returns false if none is.
    fn make(&mut self, now: u64) -> bool {
        let Some((_, bytes)) = self.due(now) else { return false };
        let sent_us = clock::real() / 1_000;
        (self.size, self.at) = (bytes as usize, 0);
        for _ in 0..BATCH {
            let same = self.due(now).filter(|&(_, next)| next == bytes);
            let Some((due, _)) = same else { break };
            if !self.pending.is_empty() && self.pending.len() + self.size > PIECE {
                break;
            }
            let name = (self.out.flow.id, self.sequence);
            put_message(&mut self.pending, name, sent_us, &self.out.to, self.size);
            self.sequence = self.sequence.wrapping_add(1);
            self.offer(due, now);
        }
        true
    }

    /// Returns the time and the size of the next message that is due by `now`.
    fn due(&self, now: u64) -> Option<(u64, u32)> {
        let (due, bytes) = self.schedule.next()?;
        let due = self.begin.saturating_add(due);
        (due <= now).then_some((due, bytes))
    }

    fn offer(&mut self, due: u64, now: u64) {
        self.sent.offered += 1;
        self.sent.offered_bytes += self.size as u64;
        let behind = now.saturating_sub(due);
        if behind > LATE_NS && due > self.excused {
            self.sent.late += 1;
        }
        if due > self.excused {
            self.sent.latest_ns = self.sent.latest_ns.max(behind);
        }
        self.schedule.advance();
    }

    /// Sends what is pending. Returns true if all of it was accepted.
    fn hand(&mut self) -> io::Result<bool> {
        while self.at < self.pending.len() {
            match self.push() {
                Ok(bytes) => self.took(bytes),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => self.refused(error)?,
            }
        }
        self.pending.clear();
        self.at = 0;
        Ok(true)
    }

    fn push(&self) -> io::Result<usize> {
        let rest = &self.pending[self.at..];
        let Some(outlet) = &self.outlet else { return Ok(0) };
        match self.out.flow.protocol {
            FlowProtocol::Tcp => outlet.send(rest),
            FlowProtocol::Udp => outlet.send_each(rest, self.size).map(|count| count * self.size),
        }
    }

    fn took(&mut self, bytes: usize) {
        let whole = |at: usize| (at / self.size) as u64;
        let messages = whole(self.at + bytes) - whole(self.at);
        self.at += bytes;
        self.sent.sent += messages;
        self.sent.sent_bytes += messages * self.size as u64;
    }

    /// Handles an error of sending. For datagrams, one of them is lost and the next may succeed. A
    /// stream ends with the error.
    fn refused(&mut self, error: io::Error) -> io::Result<()> {
        if self.out.flow.protocol == FlowProtocol::Tcp {
            return Err(error);
        }
        // ConnectionRefused reports an earlier datagram (ICMP); this one has not been sent.
        if error.kind() != ErrorKind::ConnectionRefused {
            self.at += self.size;
        }
        self.sent.problem.get_or_insert_with(|| format!("sending: {error}"));
        Ok(())
    }

    /// Waits for room. Messages that become due meanwhile are late through no fault of this thread.
    fn blocked(&mut self, now: u64) -> Waits {
        self.excused = self.excused.max(now);
        Waits::Room
    }

    /// Continues after the socket has room again, as of `now`.
    pub(super) fn unblock(&mut self, now: u64) {
        self.excused = self.excused.max(now);
    }

    /// Schedules a retry if the connection could not be established; gives up the flow if it was
    /// connected before.
    fn fail(&mut self, error: &io::Error, now: u64) -> Waits {
        let was = std::mem::take(&mut self.connected);
        let what = if was { "the connection broke" } else { "connecting" };
        self.sent.problem.get_or_insert_with(|| format!("{what}: {error}"));
        (self.outlet, self.broken) = (None, was);
        self.pending.clear();
        self.skip(now);
        if self.broken || self.schedule.next().is_none() {
            self.next()
        } else {
            self.again = Some(now + AGAIN_NS);
            Waits::Until(now + AGAIN_NS)
        }
    }

    /// Counts what is due by `now` as offered but not sent.
    fn skip(&mut self, now: u64) -> Waits {
        self.excused = self.excused.max(now);
        while let Some((due, bytes)) = self.due(now) {
            self.size = bytes as usize;
            self.sequence = self.sequence.wrapping_add(1);
            self.offer(due, now);
        }
        self.next()
    }

    fn next(&self) -> Waits {
        self.schedule
            .next()
            .map_or(Waits::Over, |(due, _)| Waits::Until(self.begin.saturating_add(due)))
    }
}
