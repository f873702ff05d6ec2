//! What the packets on an interface say of each exchange, while others load: a thread that captures
//! and follows.

pub(crate) mod taker;
mod thread;
pub(crate) mod writer;

use std::io::{PipeWriter, pipe};
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use sixmark_sys::netns::NetNs;
use sixmark_sys::packets::{self, Begin, PacketRing};
use sixmark_wire::Link;
use sixmark_wire::flow::{self, Counts, FlowObserver, Follower, Transfer, Transfers};

use sixmark_machine::CommandError;
use sixmark_machine::threads::no_thread;
use taker::Taker;
use writer::CaptureWriter;

/// So many bytes of each packet hold its headers, all options among them, and the beginning of a
/// request.
const SNAP: u32 = 192;

/// What is to be captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureSettings {
    /// On which interface.
    pub interface: String,
    /// The ports of servers to which connections are followed.
    pub ports: Vec<u16>,
    /// Where all packets are kept, the first 192 bytes of each, in a file as tcpdump writes it.
    pub file: Option<PathBuf>,
}

/// A capture that has begun. Dropped, it ends at once and tells nothing.
#[derive(Debug)]
pub struct Capture<S = Transfers> {
    thread: JoinHandle<Result<CaptureResult<S>, CommandError>>,
    stop: Sender<Duration>,
    /// Closed, it wakes the thread.
    wake: PipeWriter,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// Every exchange, in the order in which they began. Their times are of CLOCK_REALTIME.
    pub transfers: Vec<Transfer>,
    /// Packets that were captured, of whatever they were.
    pub packets: u64,
    /// Packets that the kernel had to drop, since nobody took them in time.
    pub dropped: u64,
    /// What was in the packets.
    pub counts: Counts,
    /// Each connection had come to rest. Where not, patience ended: what follows of it is missing.
    pub settled: bool,
}

/// What came of a capture that told `S` of all it found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CaptureResult<S> {
    pub(crate) sink: S,
    /// As in [`Captured`].
    pub(crate) packets: u64,
    pub(crate) dropped: u64,
    pub(crate) counts: Counts,
    pub(crate) settled: bool,
}

impl Capture {
    /// Begins. Whatever passes from when this returns is captured.
    ///
    /// # Errors
    /// The interface can't be captured on, or the file can't be written.
    pub fn start(namespace: &NetNs, settings: CaptureSettings) -> Result<Capture, CommandError> {
        Capture::telling(namespace, settings, SNAP, Transfers::default())
    }

    /// Ends it once all that passed before this call has been looked at, and every connection has come
    /// to rest: is closed, or has its response acknowledged. For that it waits `patience` at most.
    ///
    /// # Errors
    /// The interface went down or away, or the file could not be written.
    pub fn stop(self, patience: Duration) -> Result<Captured, CommandError> {
        let CaptureResult { sink, packets, dropped, counts, settled } = self.end(patience)?;
        Ok(Captured { transfers: sink.finish(dropped), packets, dropped, counts, settled })
    }
}

impl<S: FlowObserver + Send + 'static> Capture<S> {
    /// As [`Capture::start`], telling `sink` of what is found in the first `snap` bytes of packets.
    pub(crate) fn telling(
        namespace: &NetNs,
        settings: CaptureSettings,
        snap: u32,
        sink: S,
    ) -> Result<Capture<S>, CommandError> {
        let CaptureSettings { interface, ports, file } = settings;
        let writer =
            file.map(|path| CaptureWriter::create(path, snap, Link::Ethernet)).transpose()?;
        let taken = packets::PacketRingSettings { snap, ..packets::PacketRingSettings::default() };
        let ring = namespace.within(|| PacketRing::open(&interface, &taken));
        let ring = ring.map_err(|error| unable(&interface, &error))?;
        if ring.begin() != Begin::Ethernet {
            let line = "it is no Ethernet, and frames are what counts";
            return Err(unable(&interface, &std::io::Error::other(line)));
        }
        let follower = Follower::new(flow::Settings { ports, ..flow::Settings::default() }, sink);
        let (reader, wake) = pipe().map_err(|error| unable(&interface, &error))?;
        let (stop, stopped) = channel();
        let watch = thread::Watch::new(Taker::new(ring, interface), follower, writer);
        let thread = std::thread::Builder::new()
            .name("capture".into())
            .spawn(move || watch.run(&reader, &stopped))
            .map_err(|error| CommandError::Measure(no_thread(&error).to_string()))?;
        Ok(Capture { thread, stop, wake })
    }

    /// As [`Capture::stop`].
    pub(crate) fn end(self, patience: Duration) -> Result<CaptureResult<S>, CommandError> {
        // A thread that has ended with an error tells it below.
        let _ = self.stop.send(patience);
        drop(self.wake);
        let lost = || Err(CommandError::Measure("the thread that captures panicked".into()));
        self.thread.join().unwrap_or_else(|_| lost())
    }
}

pub(crate) fn unable(interface: &str, error: &std::io::Error) -> CommandError {
    let how = match error.kind() {
        std::io::ErrorKind::PermissionDenied => ": it needs root, or the right CAP_NET_RAW",
        _ => "",
    };
    CommandError::Measure(format!("can't capture on {interface}: {error}{how}"))
}
