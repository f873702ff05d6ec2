//! The thread that captures.

use std::io::PipeReader;
use std::os::fd::AsFd as _;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

use sixmark_core::flow::{Follower, Sink};
use sixmark_core::wire::{Link, Span};
use sixmark_sys::packets::{Frame, Ring};

use super::writer::Writer;
use super::{Found, unable};
use crate::Error;

/// The longest wait for packets when nobody has to be listened to.
const LONG: Duration = Duration::from_secs(3600);
/// Between two looks whether patience has ended.
const LOOK: Duration = Duration::from_millis(20);
/// What the kernel has captured it hands over within hundredths of a second, unless it is broken.
const BROKEN: Duration = Duration::from_secs(30);

/// A capture that is going on.
#[derive(Debug)]
pub(super) struct Watch<S> {
    ring: Ring,
    interface: String,
    follower: Follower<S>,
    writer: Option<Writer>,
    /// Packets that were looked at.
    packets: u64,
    /// What the kernel says: packets that came, and those of them that it dropped.
    came: u64,
    dropped: u64,
    /// For frames that have to be put together again.
    room: Vec<u8>,
}

impl<S: Sink> Watch<S> {
    pub(super) fn new(
        ring: Ring,
        interface: String,
        follower: Follower<S>,
        writer: Option<Writer>,
    ) -> Watch<S> {
        let (packets, came, dropped, room) = (0, 0, 0, Vec::new());
        Watch { ring, interface, follower, writer, packets, came, dropped, room }
    }

    /// Captures until told how long the rest may take, or until nobody is there any more to tell.
    pub(super) fn run(
        mut self,
        wake: &PipeReader,
        stopped: &Receiver<Duration>,
    ) -> Result<Found<S>, Error> {
        let patience = loop {
            self.look()?;
            match stopped.try_recv() {
                Ok(patience) => break patience,
                Err(TryRecvError::Disconnected) => break Duration::ZERO,
                Err(TryRecvError::Empty) => {}
            }
            let waited = self.ring.wait(Some(wake.as_fd()), LONG);
            waited.map_err(|error| unable(&self.interface, &error))?;
        };
        let settled = self.rest(patience)?;
        self.finish(settled)
    }

    /// Looks at all that came until now and at what belongs to it. False where patience ended before.
    fn rest(&mut self, patience: Duration) -> Result<bool, Error> {
        self.count()?;
        let (until_now, begun) = (self.came - self.dropped, Instant::now());
        loop {
            self.look()?;
            let waited = begun.elapsed();
            let (all, settled) = (self.packets >= until_now, self.follower.is_settled());
            if all && (settled || waited >= patience) {
                return Ok(settled);
            }
            if waited >= patience + BROKEN {
                let line = "the kernel keeps what it captured to itself";
                return Err(unable(&self.interface, &std::io::Error::other(line)));
            }
            self.ring.wait(None, LOOK).map_err(|error| unable(&self.interface, &error))?;
        }
    }

    /// Looks at what the kernel has handed over.
    fn look(&mut self) -> Result<(), Error> {
        while let Some(block) = self.ring.block() {
            for frame in block.frames() {
                self.packets += 1;
                let (bytes, length) = whole(&frame, &mut self.room);
                let span = Span::new(bytes, length as usize);
                self.follower.packet(Link::Ethernet, frame.at_ns, span);
                if let Some(writer) = &mut self.writer {
                    writer.write(frame.at_ns, length, bytes)?;
                }
            }
        }
        Ok(())
    }

    fn count(&mut self) -> Result<(), Error> {
        let counts = self.ring.counts().map_err(|error| unable(&self.interface, &error))?;
        self.came += counts.packets;
        self.dropped += counts.dropped;
        Ok(())
    }

    fn finish(mut self, settled: bool) -> Result<Found<S>, Error> {
        self.count()?;
        self.writer.map_or(Ok(()), Writer::finish)?;
        let (packets, dropped) = (self.packets, self.dropped);
        let (sink, counts) = self.follower.finish();
        Ok(Found { sink, packets, dropped, counts, settled })
    }
}

/// A frame with its VLAN tag where it was on the wire, behind both addresses.
fn whole<'a>(frame: &Frame<'a>, room: &'a mut Vec<u8>) -> (&'a [u8], u32) {
    match (frame.vlan, frame.bytes.split_at_checked(12)) {
        (Some(tag), Some((addresses, rest))) => {
            room.clear();
            room.extend_from_slice(addresses);
            room.extend_from_slice(&tag);
            room.extend_from_slice(rest);
            (room.as_slice(), frame.length + tag.len() as u32)
        }
        _ => (frame.bytes, frame.length),
    }
}
