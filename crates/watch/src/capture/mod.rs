//! Packet captures during a measurement: a thread that captures the packets of an interface and
//! follows their exchanges.

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
use sixmark_wire::flow::{self, Counts, FlowObserver, Follower, HttpExchange, HttpExchanges};

use sixmark_sys::command_error::CommandError;
use sixmark_sys::threads::no_thread;
use taker::Taker;
use writer::CaptureWriter;

/// The number of bytes captured of each packet: its headers with all options, and the beginning of
/// a request.
const SNAP: u32 = 192;

/// The settings of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureSettings {
    /// The interface.
    pub interface: String,
    /// The server ports of the connections to follow.
    pub ports: Vec<u16>,
    /// The file that receives the first 192 bytes of every packet, in the format of tcpdump.
    pub file: Option<PathBuf>,
}

/// A running capture. Dropping it ends it at once and discards its findings.
#[derive(Debug)]
pub struct Capture<S = HttpExchanges> {
    thread: JoinHandle<Result<CaptureResult<S>, CommandError>>,
    stop: Sender<Duration>,
    /// The pipe that wakes the thread when it is closed.
    wake: PipeWriter,
}

/// The findings of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// All exchanges, in the order of their beginnings. Their times are of CLOCK_REALTIME.
    pub exchanges: Vec<HttpExchange>,
    /// Packets that were captured, of any kind.
    pub packets: u64,
    /// Packets that the kernel dropped because they were not read in time.
    pub dropped: u64,
    /// Counts of what the packets contained.
    pub counts: Counts,
    /// Whether all connections had come to rest. If false, the time limit passed first, and later
    /// packets are missing.
    pub settled: bool,
}

/// The findings of a capture that reported to a sink.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CaptureResult<S> {
    pub(crate) sink: S,
    /// The same as in [`Captured`], as are the fields below.
    pub(crate) packets: u64,
    pub(crate) dropped: u64,
    pub(crate) counts: Counts,
    pub(crate) settled: bool,
}

impl Capture {
    /// Starts a capture. Every packet that passes after this returns is captured.
    ///
    /// # Errors
    /// Returns an error if the interface can't be captured on, or if the file can't be written.
    pub fn start(namespace: &NetNs, settings: CaptureSettings) -> Result<Capture, CommandError> {
        Capture::telling(namespace, settings, SNAP, HttpExchanges::default())
    }

    /// Ends the capture once all packets from before this call have been processed and every
    /// connection has come to rest, that is, has been closed or had its response acknowledged. It
    /// waits for the connections for at most `patience`.
    ///
    /// # Errors
    /// Returns an error if the interface went down or disappeared, or if the file could not be
    /// written.
    pub fn stop(self, patience: Duration) -> Result<Captured, CommandError> {
        let CaptureResult { sink, packets, dropped, counts, settled } = self.end(patience)?;
        Ok(Captured { exchanges: sink.finish(dropped), packets, dropped, counts, settled })
    }
}

impl<S: FlowObserver + Send + 'static> Capture<S> {
    /// Starts a capture like [`Capture::start`], but reports what the first `snap` bytes of packets
    /// contain to `sink`.
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
            let line = "not an Ethernet interface";
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

    /// Ends the capture like [`Capture::stop`].
    pub(crate) fn end(self, patience: Duration) -> Result<CaptureResult<S>, CommandError> {
        // A thread that ended early returns its error below.
        let _ = self.stop.send(patience);
        drop(self.wake);
        let lost = || Err(CommandError::Measure("the thread that captures panicked".into()));
        self.thread.join().unwrap_or_else(|_| lost())
    }
}

pub(crate) fn unable(interface: &str, error: &std::io::Error) -> CommandError {
    let how = match error.kind() {
        std::io::ErrorKind::PermissionDenied => "; run as root, or with the capability CAP_NET_RAW",
        _ => "",
    };
    CommandError::Measure(format!("can't capture on {interface}: {error}{how}"))
}
