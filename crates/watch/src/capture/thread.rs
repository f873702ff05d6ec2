//! The thread that captures.

use std::io::PipeReader;
use std::os::fd::AsFd as _;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

use sixmark_wire::Span;
use sixmark_wire::flow::{FlowObserver, Follower};

use super::taker::Taker;
use super::writer::CaptureWriter;
use super::{CaptureResult, unable};
use sixmark_sys::command_error::CommandError;

/// The longest wait for packets before the capture is told to end.
const LONG: Duration = Duration::from_secs(3600);
/// The interval at which the time limit is checked.
const LOOK: Duration = Duration::from_millis(20);
/// The time after which the kernel counts as broken. Normally it hands over captured packets within
/// hundredths of a second.
const BROKEN: Duration = Duration::from_secs(30);

/// A capture in progress.
#[derive(Debug)]
pub(super) struct Watch<S> {
    taker: Taker,
    follower: Follower<S>,
    writer: Option<CaptureWriter>,
}

impl<S: FlowObserver> Watch<S> {
    pub(super) fn new(
        taker: Taker,
        follower: Follower<S>,
        writer: Option<CaptureWriter>,
    ) -> Watch<S> {
        Watch { taker, follower, writer }
    }

    /// Captures until it receives the time limit for the rest, or until the other end of `stopped`
    /// is dropped.
    pub(super) fn run(
        mut self,
        wake: &PipeReader,
        stopped: &Receiver<Duration>,
    ) -> Result<CaptureResult<S>, CommandError> {
        let patience = loop {
            self.look()?;
            match stopped.try_recv() {
                Ok(patience) => break patience,
                Err(TryRecvError::Disconnected) => break Duration::ZERO,
                Err(TryRecvError::Empty) => {}
            }
            let waited = self.taker.ring().wait(Some(wake.as_fd()), LONG);
            waited.map_err(|error| unable(self.taker.interface(), &error))?;
        };
        let settled = self.rest(patience)?;
        self.finish(settled)
    }

    /// Processes all packets captured until now and those of the connections that are still active.
    /// Returns false if the time limit passed first.
    fn rest(&mut self, patience: Duration) -> Result<bool, CommandError> {
        self.taker.count()?;
        let begun = Instant::now();
        loop {
            self.look()?;
            let waited = begun.elapsed();
            let (all, settled) = (self.taker.is_through(), self.follower.is_settled());
            if all && (settled || waited >= patience) {
                return Ok(settled);
            }
            if waited >= patience + BROKEN {
                let line = "the kernel does not deliver the captured packets";
                return Err(unable(self.taker.interface(), &std::io::Error::other(line)));
            }
            let waited = self.taker.ring().wait(None, LOOK);
            waited.map_err(|error| unable(self.taker.interface(), &error))?;
        }
    }

    /// Processes the packets that the kernel has handed over.
    fn look(&mut self) -> Result<(), CommandError> {
        let (follower, writer) = (&mut self.follower, &mut self.writer);
        while self.taker.look(|packet| {
            let span = Span::new(packet.bytes, packet.length as usize);
            follower.packet(packet.link, packet.at_ns, span);
            let written = writer.as_mut().map(|writer| writer.write(&packet));
            written.unwrap_or(Ok(()))
        })? {}
        Ok(())
    }

    fn finish(mut self, settled: bool) -> Result<CaptureResult<S>, CommandError> {
        self.taker.count()?;
        self.writer.map_or(Ok(()), CaptureWriter::finish)?;
        let (packets, dropped) = (self.taker.packets(), self.taker.dropped());
        let (sink, counts) = self.follower.finish();
        Ok(CaptureResult { sink, packets, dropped, counts, settled })
    }
}
