//! The streams of a tunnel: TCP connections of one end, each copied both ways over the pipes.
//!
//! No end can make the other one's memory grow: of each stream at most [`WINDOW`] bytes are on their
//! way or queued, and more are sent only when the receiver has passed some on and said so
//! ([`Frame::Credit`]).
//!
//! There is no deadlock. Only the thread that reads the pipe could block the other end, and it waits
//! for nothing but the pipe: it puts bytes into queues, for which the window leaves room, and writes
//! to no pipe and no socket. Hence what is written to a pipe is always read, every write to it
//! returns, and a stream waits for nothing but its own two connections. One whose connection is not
//! read holds up no other stream.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use super::frames::{Frame, LONGEST_DATA, TunnelError};
use super::stream::{Stream, WINDOW, lock};

/// The bytes after which the sender is told that they were passed on.
const STEP: usize = WINDOW / 4;
/// The largest number of open streams.
pub(super) const MOST_STREAMS: usize = 64;

type Closure = Box<dyn FnOnce(&str) + Send>;

/// The end of a tunnel that has been established.
pub(super) struct Streams {
    /// The pipe to the other end, until the tunnel ends.
    out: Mutex<Option<Box<dyn Write + Send>>>,
    table: Mutex<Table>,
    ended: AtomicBool,
    end: Mutex<End>,
    end_changed: Condvar,
    began: Instant,
    /// When the other end last sent something, milliseconds since `began`.
    heard_ms: AtomicU64,
}

#[derive(Default)]
struct Table {
    streams: BTreeMap<u32, Arc<Stream>>,
    /// The highest number that was ever used.
    last: u32,
}

#[derive(Default)]
struct End {
    reason: Option<String>,
    call: Option<Closure>,
}

impl Streams {
    /// Begins without a stream. `at_end` is called once, with the reason, when the tunnel has ended.
    pub(super) fn new(out: Box<dyn Write + Send>, at_end: Closure) -> Arc<Streams> {
        Arc::new(Streams {
            out: Mutex::new(Some(out)),
            table: Mutex::default(),
            ended: AtomicBool::new(false),
            end: Mutex::new(End { reason: None, call: Some(at_end) }),
            end_changed: Condvar::new(),
            began: Instant::now(),
            heard_ms: AtomicU64::new(0),
        })
    }

    /// Returns false once the tunnel has ended.
    pub(super) fn is_open(&self) -> bool {
        !self.ended.load(Ordering::SeqCst)
    }

    /// Sends a frame. Returns false if the tunnel has ended.
    pub(super) fn send(&self, frame: &Frame) -> bool {
        let bytes = frame.to_bytes();
        let written = match lock(&self.out).as_mut() {
            Some(out) if self.is_open() => out.write_all(&bytes).and_then(|()| out.flush()),
            _ => return false,
        };
        if let Err(error) = written {
            self.end(&TunnelError::from(error).to_string());
        }
        // `end` can't close a pipe to which another thread is writing.
        if !self.is_open() {
            self.close_pipe();
        }
        self.is_open()
    }

    /// Ends the tunnel with all its streams. Only the first reason counts.
    pub(super) fn end(&self, reason: &str) {
        let call = {
            let mut end = lock(&self.end);
            if end.reason.is_some() {
                return;
            }
            end.reason = Some(reason.to_owned());
            self.ended.store(true, Ordering::SeqCst);
            end.call.take()
        };
        self.end_changed.notify_all();
        self.close_pipe();
        for stream in std::mem::take(&mut lock(&self.table).streams).into_values() {
            stream.end();
        }
        if let Some(call) = call {
            call(reason);
        }
    }

    /// Returns why the tunnel has ended.
    pub(super) fn reason(&self) -> Option<String> {
        lock(&self.end).reason.clone()
    }

    fn close_pipe(&self) {
        if let Ok(mut out) = self.out.try_lock() {
            *out = None;
        }
    }

    /// Sends a sign of life each `interval`, until the tunnel ends.
    pub(super) fn send_alive(&self, interval: Duration) {
        while !self.wait_for_end(interval) {
            self.send(&Frame::Alive);
        }
    }

    /// Ends the tunnel when nothing was heard for `longest`. Returns when it has ended.
    pub(super) fn expect_alive(&self, longest: Duration) {
        loop {
            let heard = Duration::from_millis(self.heard_ms.load(Ordering::Relaxed));
            let silence = self.began.elapsed().saturating_sub(heard);
            if silence >= longest {
                self.end(&format!("nothing was heard from the controller for {longest:?}"));
            }
            let left = longest.saturating_sub(silence).max(Duration::from_millis(1));
            if self.wait_for_end(left) {
                return;
            }
        }
    }

    /// Waits until the tunnel has ended, for at most `most`. Returns true if it has.
    pub(super) fn wait_for_end(&self, most: Duration) -> bool {
        let end = lock(&self.end);
        let waited = self.end_changed.wait_timeout_while(end, most, |end| end.reason.is_none());
        waited.unwrap_or_else(PoisonError::into_inner).0.reason.is_some()
    }

    fn hear(&self) {
        let now = self.began.elapsed().as_millis();
        self.heard_ms.store(u64::try_from(now).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Opens a stream for a connection of this end. Does nothing but close the connection if there
    /// are [`MOST_STREAMS`] already.
    pub(super) fn open(self: &Arc<Self>, socket: TcpStream) {
        let mut table = lock(&self.table);
        if table.streams.len() >= MOST_STREAMS || !self.is_open() {
            return;
        }
        let Some(number) = table.last.checked_add(1) else { return };
        table.last = number;
        let stream = Stream::new();
        table.streams.insert(number, Arc::clone(&stream));
        drop(table);
        if self.send(&Frame::Open(number)) {
            self.start(number, stream, move || Ok(socket));
        }
    }

    /// Reads frames until the tunnel ends. A stream that the other end opens is connected to
    /// `server`; without one the other end must not open any.
    pub(super) fn read_frames(self: &Arc<Self>, mut from: impl Read, server: Option<SocketAddr>) {
        let reason = loop {
            let frame = match Frame::read(&mut from) {
                Ok(Some(frame)) => frame,
                Ok(None) => break TunnelError::Gone,
                Err(error) => break error,
            };
            self.hear();
            let taken = match (frame, server) {
                (Frame::Open(number), Some(server)) => self.take_open(number, server),
                (frame, _) => self.take(frame),
            };
            if let Err(line) = taken {
                break TunnelError::Protocol(line);
            }
        };
        self.end(&reason.to_string());
    }

    fn take_open(self: &Arc<Self>, number: u32, server: SocketAddr) -> Result<(), String> {
        let mut table = lock(&self.table);
        if !self.is_open() {
            return Ok(());
        }
        if number <= table.last {
            return Err(format!("stream {number} again"));
        }
        // The other end may know sooner than this one that a stream is over.
        if table.streams.len() >= 2 * MOST_STREAMS {
            return Err(format!("more than {MOST_STREAMS} streams"));
        }
        table.last = number;
        let stream = Stream::new();
        table.streams.insert(number, Arc::clone(&stream));
        drop(table);
        self.start(number, stream, move || TcpStream::connect(server));
        Ok(())
    }

    fn take(&self, frame: Frame) -> Result<(), String> {
        let stream = |number: u32| {
            let table = lock(&self.table);
            match table.streams.get(&number) {
                None if number > table.last => {
                    Err(format!("something for unknown stream {number}"))
                }
                found => Ok(found.cloned()),
            }
        };
        match frame {
            Frame::Alive => Ok(()),
            Frame::Data(number, bytes) => {
                stream(number)?.map_or(Ok(()), |stream| stream.take_data(number, &bytes))
            }
            Frame::Credit(number, bytes) => {
                stream(number)?.map_or(Ok(()), |stream| stream.take_credit(number, bytes))
            }
            Frame::Close(number) => {
                if let Some(stream) = stream(number)? {
                    stream.take_close();
                }
                Ok(())
            }
            Frame::Hello(_) | Frame::Answer(_) | Frame::Open(_) => {
                Err("a frame that is not allowed there".into())
            }
        }
    }

    /// Starts the two threads of a stream. The first one establishes its connection.
    fn start(
        self: &Arc<Self>,
        number: u32,
        stream: Arc<Stream>,
        connect: impl FnOnce() -> io::Result<TcpStream> + Send + 'static,
    ) {
        let (streams, its) = (Arc::clone(self), Arc::clone(&stream));
        let run = move || {
            let pair = connect().and_then(|socket| {
                // A message is never held back to fill a packet.
                socket.set_nodelay(true)?;
                Ok((socket.try_clone()?, socket))
            });
            let (reader, writer) = match pair {
                Ok((reader, writer)) => (Some(reader), Some(writer)),
                Err(_) => (None, None),
            };
            its.set_socket(writer.as_ref());
            let (other, same) = (Arc::clone(&streams), Arc::clone(&its));
            let collect = move || other.collect(number, &same, reader);
            // Without a second thread nothing can be collected: the stream is over in this direction.
            let thread = Builder::new().name("tunnel".into()).spawn(collect);
            let writer = writer.filter(|_| thread.is_ok());
            if thread.is_err() {
                streams.send(&Frame::Close(number));
            }
            streams.deliver(number, &its, writer);
            if let Ok(thread) = thread {
                let _ = thread.join();
            }
            lock(&streams.table).streams.remove(&number);
        };
        if Builder::new().name("tunnel".into()).spawn(run).is_err() {
            self.end("can't create a thread");
        }
    }

    /// Sends what the connection brings, until its end.
    fn collect(&self, number: u32, stream: &Stream, socket: Option<TcpStream>) {
        let mut buffer = vec![0; LONGEST_DATA];
        while let Some(mut socket) = socket.as_ref()
            && let Some(most) = stream.wait_for_credit()
        {
            let most = most.min(buffer.len());
            match socket.read(&mut buffer[..most]) {
                Ok(0) => break,
                Ok(length) => {
                    stream.spend(length);
                    if !self.send(&Frame::Data(number, buffer[..length].to_vec())) {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        self.send(&Frame::Close(number));
    }

    /// Passes on what is received, until its end. What can't be passed on is dropped, so that the
    /// other end's connection is not held up until it learns that this one is gone.
    fn deliver(&self, number: u32, stream: &Stream, mut socket: Option<TcpStream>) {
        let mut passed = 0;
        while let Some(bytes) = stream.next_bytes() {
            for part in bytes.chunks(STEP) {
                if let Some(to) = &mut socket
                    && to.write_all(part).is_err()
                {
                    let _ = to.shutdown(Shutdown::Both);
                    socket = None;
                }
                passed += part.len();
                if passed >= STEP {
                    // Less than twice STEP.
                    self.send(&Frame::Credit(number, passed as u32));
                    passed = 0;
                }
            }
        }
        if let Some(socket) = socket {
            let _ = socket.shutdown(Shutdown::Write);
        }
    }
}
