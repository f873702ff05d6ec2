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
use sixmark_machine::CommandError;

/// The longest wait for packets when nobody has to be listened to.
const LONG: Duration = Duration::from_secs(3600);
/// Between two looks whether patience has ended.
const LOOK: Duration = Duration::from_millis(20);
/// What the kernel has captured it hands over within hundredths of a second, unless it is broken.
const BROKEN: Duration = Duration::from_secs(30);

/// A capture that is going on.
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

    /// Captures until told how long the rest may take, or until nobody is there any more to tell.
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

    /// Looks at all that came until now and at what belongs to it. False where patience ended before.
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
                let line = "the kernel keeps what it captured to itself";
                return Err(unable(self.taker.interface(), &std::io::Error::other(line)));
            }
            let waited = self.taker.ring().wait(None, LOOK);
            waited.map_err(|error| unable(self.taker.interface(), &error))?;
        }
    }

    /// Looks at what the kernel has handed over.
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
