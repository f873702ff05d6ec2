//! Processing of packets from any source.

use crate::WatchCollector;
use sixmark_wire::flow::{
    self, ConnectionReport, Counts, Ends, FlowObserver, Follower, HttpExchange,
};
use sixmark_wire::{Link, Span};

use super::lines::WatchFiles;
use super::quic::Opener;
use super::{WatchProgress, WatchSettings};
use sixmark_sys::command_error::CommandError;

/// Packets from several processors may be out of order by this much without a change of the clock.
const JITTER_NS: u64 = 1_000_000;
const SECOND_NS: u64 = 1_000_000_000;

/// A processor of packets that follows their connections and counts them.
#[derive(Debug)]
pub(super) struct CaptureState {
    follower: Follower<WatchSinks>,
    pub(super) ports: Vec<u16>,
    pub(super) packets: u64,
    pub(super) frame_bytes: u64,
    /// Packets of an unsupported link type.
    pub(super) unreadable: u64,
    /// The times of the first and the last packet.
    pub(super) first_ns: Option<u64>,
    pub(super) last_ns: u64,
    /// The time at which the first second begins.
    pub(super) begin_ns: Option<u64>,
    due_ns: u64,
}

/// The clock of one source.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clock {
    last_ns: u64,
    /// How often it went backwards.
    pub(super) went_back: u64,
}

/// The receivers of connections and exchanges: the tallies and the files of lines.
#[derive(Debug)]
pub(super) struct WatchSinks {
    pub(super) collector: WatchCollector,
    lines: WatchFiles,
}

impl CaptureState {
    /// Creates a processor for a capture that begins at `begin_ns`, or with its first packet if
    /// that is absent.
    pub(super) fn new(
        settings: &WatchSettings,
        begin_ns: Option<u64>,
    ) -> Result<CaptureState, CommandError> {
        let collector = WatchCollector::new(begin_ns.unwrap_or(0));
        let found = WatchSinks { collector, lines: WatchFiles::create(settings)? };
        let how = flow::Settings {
            ports: settings.ports.clone(),
            max_flows: settings.max_flows,
            idle_ns: u64::try_from(settings.idle.as_nanos()).unwrap_or(u64::MAX),
            ..flow::Settings::default()
        };
        Ok(CaptureState {
            follower: Follower::new(how, found).with_opener(Box::new(Opener)),
            ports: settings.ports.clone(),
            packets: 0,
            frame_bytes: 0,
            unreadable: 0,
            first_ns: None,
            last_ns: 0,
            begin_ns,
            due_ns: 0,
        })
    }

    /// Processes a packet.
    #[inline]
    pub(super) fn packet(
        &mut self,
        clock: &mut Clock,
        link: Option<Link>,
        at_ns: u64,
        frame: Span<'_>,
    ) {
        clock.see(at_ns);
        if self.first_ns.is_none() {
            self.first(at_ns);
        }
        self.packets += 1;
        self.frame_bytes += frame.length as u64;
        self.last_ns = self.last_ns.max(at_ns);
        match link {
            Some(link) => self.follower.packet(link, at_ns, frame),
            None => self.unreadable += 1,
        }
        if at_ns >= self.due_ns {
            self.due_ns = at_ns.saturating_add(SECOND_NS);
            self.follower.sink().collector.pass(at_ns);
        }
    }

    /// Advances the time without a packet.
    pub(super) fn pass(&mut self, now_ns: u64) {
        self.follower.pass(now_ns);
        self.follower.sink().collector.pass(now_ns);
    }

    /// Reports whether every TCP connection is over.
    pub(super) fn is_over(&self) -> bool {
        self.follower.is_over()
    }

    /// Writes the lines of what has ended.
    pub(super) fn flush(&mut self) {
        self.follower.sink().lines.flush();
    }

    /// Returns why files of lines can no longer be written, each reason once.
    pub(super) fn lost_files(&mut self) -> Vec<String> {
        self.follower.sink().lines.lost()
    }

    pub(super) fn progress(&mut self, dropped: u64, now_ns: u64) -> WatchProgress {
        WatchProgress {
            packets: self.packets,
            dropped,
            families: self.follower.sink().collector.progress(),
            elapsed_ns: now_ns.saturating_sub(self.begin_ns.unwrap_or(now_ns)),
            lost_files: Vec::new(),
        }
    }

    /// Ends the capture. Also returns why files of lines could not be written at the end.
    pub(super) fn finish(self) -> (WatchCollector, Counts, Vec<String>) {
        let (mut found, counts) = self.follower.finish();
        found.lines.flush();
        (found.collector, counts, found.lines.lost())
    }

    fn first(&mut self, at_ns: u64) {
        self.first_ns = Some(at_ns);
        if self.begin_ns.is_none() {
            self.begin_ns = Some(at_ns);
            self.follower.sink().collector.begin(at_ns);
        }
    }
}

impl Clock {
    fn see(&mut self, at_ns: u64) {
        if at_ns.saturating_add(JITTER_NS) < self.last_ns {
            self.went_back += 1;
        }
        self.last_ns = at_ns;
    }
}

impl FlowObserver for WatchSinks {
    fn connection(&mut self, connection: &ConnectionReport) {
        self.lines.connection(connection);
        self.collector.connection(connection);
    }

    fn exchange(&mut self, exchange: &HttpExchange) {
        self.lines.exchange(exchange);
        self.collector.exchange(exchange);
    }

    fn round_trip(&mut self, ends: &Ends, by_client: bool, ns: u64) {
        self.collector.round_trip(ends, by_client, ns);
    }
}
