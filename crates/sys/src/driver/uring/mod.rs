//! The io_uring driver.
//!
//! A request costs one submission. Its response costs one completion of a multishot receive, which
//! is submitted once per connection. Submissions and completions are exchanged with the kernel in
//! groups. Sends are submitted in small groups, so that the recorded time of a send is not long
//! before it leaves. Completions are collected by the next wait.
//!
//! Sockets are created and connected by ordinary system calls. Over loopback the connect call
//! performs the whole handshake, and only a separate call times it alone. Linking connect to send
//! and receive would save one call, but would add the time of the send to that of the connection.

mod datagram;
mod entry;
mod kernel_owned;
mod mark;
mod pass;
mod readable;
mod ring;
mod send;
mod socket;
mod submit;
mod tell;

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::ops::Range;
use std::os::fd::{AsRawFd as _, IntoRawFd as _, OwnedFd};

use io_uring::squeue::Entry;

use self::kernel_owned::{KernelOwnedBytes, SHORT};
use self::mark::Operation;
pub use self::ring::PeerWrites;
use self::ring::{Completion, DriverRing};
use self::socket::{FixedFile, ReceiveState, UringSocket};
use super::arrival::{self, ArrivalClock};
use super::begin::{Begun, begin_connect, event_of_error};
use super::datagram::{Datagrams, drops};
use super::errno::errno_of;
use super::own::{OwnBytes, Spare};
use super::{
    Arrival, Close, CompletionBatch, Driver, Event, EventKind, Message, ReceiveStamps,
    SendProgress, Slot, SocketRoute, TcpHandshake, TcpInfo,
};
use crate::buffers::FilledBuffer;
use crate::{clock, path, socket as tcp};

/// A smaller number of bytes is received and not discarded: changing over costs two submissions.
const WORTH_DROPPING: u64 = 128 * 1024;
/// The maximum number of bytes that one submission discards.
const DROP: u64 = 1 << 30;

/// A driver that uses io_uring.
pub struct Uring {
    ring: DriverRing,
    kernel_owned: KernelOwnedBytes,
    spare: Spare,
    /// Completions of passed bytes that the kernel did not fully accept.
    unsent: Vec<Completion>,
    sockets: Vec<UringSocket>,
    /// Entries to be queued after all others before the next wait: closing connections must not
    /// delay requests.
    last: Vec<Entry>,
    /// Completions with the time at which they were collected.
    told: VecDeque<(Completion, u64)>,
    /// Events of operations that completed at once.
    ready: VecDeque<Event>,
    /// The slot of the event that was last returned.
    current: Option<Slot>,
    /// The bytes of that event.
    received: Option<Filled>,
    /// The buffer of plain receives. Allocated with the first of them.
    own: Box<[u8]>,
    /// Converts the timestamps of connections that asked for them, and that of the event that was
    /// returned last.
    arrivals: Option<ArrivalClock>,
    arrived: Option<Arrival>,
    /// Sends queued since the last call into the kernel.
    sends: usize,
    batch: CompletionBatch,
    /// The error number that made the ring unusable.
    broken: Option<i32>,
    /// Connections that are open or being opened.
    open: usize,
    /// The last wait returned at once without events, and nothing was requested since.
    spinning: bool,
    woke: u64,
    idle_ns: u64,
}

/// The bytes of an event.
struct Filled {
    holder: Holder,
    range: Range<usize>,
}

/// Where the bytes of an event are.
enum Holder {
    /// In a buffer that the kernel selected.
    Pool(FilledBuffer),
    /// In the driver's own buffer.
    Own,
}

impl Uring {
    /// Creates a driver without connections. Its file table has room for `most` sockets, limited by
    /// the number of files that the process may open. Its buffers are sized for `writes`, the
    /// amount that peers write at once. It belongs to the thread that first uses it.
    ///
    /// # Errors
    /// Returns an error if the kernel is older than Linux 6.1, or if the system forbids io_uring.
    pub fn new(most: u32, writes: PeerWrites) -> io::Result<Uring> {
        Ok(Uring {
            ring: DriverRing::new(most, writes)?,
            kernel_owned: KernelOwnedBytes::default(),
            spare: Spare::default(),
            unsent: Vec::new(),
            sockets: Vec::new(),
            last: Vec::new(),
            told: VecDeque::new(),
            ready: VecDeque::new(),
            current: None,
            received: None,
            own: Box::default(),
            arrivals: None,
            arrived: None,
            sends: 0,
            batch: CompletionBatch { sends: 1, linger: 0 },
            broken: None,
            open: 0,
            spinning: false,
            woke: clock::now(),
            idle_ns: 0,
        })
    }

    /// Returns true if lasting connections are placed in the ring's file table, which is not
    /// subject to the process's limit on open files (since Linux 6.13).
    pub fn has_table(&self) -> bool {
        self.ring.has_place(0)
    }

    /// Returns true if the kernel can hold back completions for a while (since Linux 6.12).
    pub fn can_linger(&self) -> bool {
        self.ring.can_linger()
    }

    /// Begins a connection in a slot. Returns the time at which the connect call began.
    fn begin(&mut self, slot: Slot, way: &SocketRoute) -> io::Result<u64> {
        if way.datagrams {
            self.ring.expect_datagrams()?;
        }
        let Begun { fd, called: at, returned, peer, handshake } = self.begin_with_room(way)?;
        let stamps = arrival::enable(&mut self.arrivals, &fd, way.stamps);
        // Plain calls need a descriptor.
        let called = way.datagrams || stamps == ReceiveStamps::FirstAndLast;
        let file = self.file(slot, fd, way.lasting && !called);
        let socket = &mut self.sockets[slot as usize];
        socket.datagrams = way.datagrams.then(|| Datagrams::new(&way.to));
        (socket.connecting, socket.stamps) = (peer.is_none(), stamps);
        (socket.ask_handshake, socket.handshake) = (way.ask_handshake, handshake);
        let told = entry::connected(socket, slot, &file);
        socket.file = Some(file);
        match peer.map(EventKind::Connected) {
            Some(kind) => self.ready.push_back(Event { slot, at: returned, kind }),
            None => self.push(&told),
        }
        Ok(at)
    }

    /// Begins a connection. If no descriptor is left, closes those that are waiting to be closed
    /// and tries again.
    fn begin_with_room(&mut self, way: &SocketRoute) -> io::Result<Begun> {
        if let Some(errno) = self.broken {
            return Err(io::Error::from_raw_os_error(errno));
        }
        match begin_connect(way) {
            Err(error) if errno_of(&error) == libc::EMFILE && !self.last.is_empty() => {
                self.close_now();
                begin_connect(way)
            }
            begun => begun,
        }
    }

    /// Closes the connections that are to be closed, without waiting for the next wait.
    fn close_now(&mut self) {
        self.queue_last();
        self.flush();
    }

    /// Moves a lasting socket into the ring's table if there is room. This happens before the
    /// handshake completes, so that a slow connection does not occupy one of the process's
    /// descriptors.
    fn file(&mut self, slot: Slot, fd: OwnedFd, lasting: bool) -> FixedFile {
        if !lasting || !self.ring.has_place(slot) {
            return FixedFile::Open(fd);
        }
        if !self.last.is_empty() {
            // The previous connection in this place may still be waiting to be closed.
            self.close_now();
            if self.ring.queued() > 0 {
                // It is still waiting, because the kernel is temporarily out of memory.
                return FixedFile::Open(fd);
            }
        }
        let listed = self.ring.put(slot, fd.as_raw_fd()).is_ok();
        if listed { FixedFile::Listed } else { FixedFile::Open(fd) }
    }

    /// Applies `what`, which needs a descriptor of the process, to a socket. Returns `None` if no
    /// descriptor is available.
    fn ask<T>(&mut self, slot: Slot, what: impl FnOnce(&OwnedFd) -> T) -> Option<T> {
        match self.sockets.get(slot as usize)?.file.as_ref()? {
            FixedFile::Open(fd) => Some(what(fd)),
            FixedFile::Listed => {
                let fd = self.install(slot).or_else(|| {
                    self.close_now();
                    self.install(slot)
                })?;
                Some(what(&fd))
            }
        }
    }

    /// Opens a descriptor for a listed socket.
    fn install(&mut self, slot: Slot) -> Option<OwnedFd> {
        let socket = &self.sockets[slot as usize];
        let mark = socket.mark(slot, Operation::Install);
        self.push(&entry::install(socket, slot));
        self.flush();
        // The operation never blocks. If the completion queue overflowed, a second call returns the
        // completion.
        let found = self.find_told(mark).or_else(|| {
            let done = self.ring.submit_and_look();
            self.take_note(done);
            self.find_told(mark)
        })?;
        ring::installed(found.result)
    }

    /// Removes and returns the completion of the submission with this mark.
    fn find_told(&mut self, mark: u64) -> Option<Completion> {
        let at = self.told.iter().rposition(|(told, _)| told.mark == mark)?;
        self.told.remove(at).map(|(told, _)| told)
    }

    /// Submits a receive for a connection's next bytes, or a discard if they may be discarded.
    fn listen(&mut self, slot: Slot) {
        let socket = &mut self.sockets[slot as usize];
        let Some(file) = socket.file.as_ref().filter(|_| !socket.over && !socket.connecting) else {
            return;
        };
        let hears = socket.hears();
        let again = match hears {
            Operation::Receive => socket.lasting && !socket.hung,
            hears => hears == Operation::ReceiveStamped,
        };
        let watch = (again && !socket.watched).then(|| entry::watch(socket, slot, file));
        let dropping = socket.droppable >= WORTH_DROPPING;
        let (state, entry) = match socket.receive_state {
            ReceiveState::Closed if dropping => {
                let most = socket.droppable.min(DROP) as u32;
                (ReceiveState::Discarding, entry::discard(socket, slot, file, most))
            }
            ReceiveState::Closed if hears == Operation::Hear => {
                (ReceiveState::Open, entry::hear(socket, slot, file))
            }
            ReceiveState::Closed if hears == Operation::ReceiveStamped => {
                (ReceiveState::Open, entry::receive_stamped(socket, slot, file))
            }
            ReceiveState::Closed if hears == Operation::Readable => {
                (ReceiveState::Open, entry::readable(socket, slot, file))
            }
            ReceiveState::Closed => {
                (ReceiveState::Open, entry::receive_entry(socket, slot, file, again))
            }
            ReceiveState::Open if dropping => {
                (ReceiveState::Closing, entry::cancel(socket, slot, hears))
            }
            _ => return,
        };
        socket.receive_state = state;
        socket.watched |= watch.is_some();
        watch.iter().for_each(|watch| self.push(watch));
        self.push(&entry);
    }

    /// Marks a connection as broken. Its remaining bytes are then received by single receives.
    fn hang_up(&mut self, slot: Slot) {
        let socket = &mut self.sockets[slot as usize];
        let hears = socket.hears();
        socket.hung = true;
        if socket.receive_state == ReceiveState::Open {
            socket.receive_state = ReceiveState::Closing;
            let entry = entry::cancel(socket, slot, hears);
            self.push(&entry);
        }
    }

    /// Finishes the event that was last returned: returns its buffer and resumes receiving.
    fn settle(&mut self) {
        self.arrived = None;
        if let Some(Filled { holder: Holder::Pool(buffer), .. }) = self.received.take() {
            self.ring.give_back(buffer);
        }
        if let Some(slot) = self.current.take() {
            self.listen(slot);
        }
    }

    /// Cancels all operations in progress on a connection.
    fn cancel_all(&mut self, slot: Slot) {
        let socket = &self.sockets[slot as usize];
        let heard = match socket.receive_state {
            ReceiveState::Closed => None,
            ReceiveState::Discarding => Some(Operation::Discard),
            ReceiveState::Open | ReceiveState::Closing => Some(socket.hears()),
        };
        let sent = socket.sending.then_some(Operation::Send);
        let connected = socket.connecting.then_some(Operation::Connect);
        let watched = socket.watched.then_some(Operation::Watch);
        let room = self.awaits_room(slot);
        for operation in [heard, sent, connected, watched, room].into_iter().flatten() {
            self.push(&entry::cancel(&self.sockets[slot as usize], slot, operation));
        }
    }
}

impl Driver for Uring {
    fn name(&self) -> &'static str {
        "uring"
    }

    fn now(&self) -> u64 {
        clock::now()
    }

    fn woke(&self) -> u64 {
        self.woke
    }

    fn idle_ns(&self) -> u64 {
        self.idle_ns
    }

    fn keep_to(&mut self, batch: CompletionBatch) {
        self.batch = batch;
    }

    fn connect(&mut self, slot: Slot, way: &SocketRoute) -> u64 {
        if self.sockets.len() <= slot as usize {
            self.sockets.resize_with(slot as usize + 1, UringSocket::default);
        }
        self.spinning = false;
        self.sockets[slot as usize].renew(way.lasting);
        self.open += 1;
        self.begin(slot, way).unwrap_or_else(|error| {
            let (at, kind) = (self.now(), event_of_error(&error, way));
            self.ready.push_back(Event { slot, at, kind });
            at
        })
    }

    fn send(&mut self, slot: Slot, message: &Message) -> SendProgress {
        let at = self.now();
        self.spinning = false;
        if let Some(errno) = self.broken {
            self.ready.push_back(Event { slot, at, kind: EventKind::Failed(errno) });
            return SendProgress::Later;
        }
        self.make_way(slot);
        self.sockets[slot as usize].handed_at = at;
        if self.sockets[slot as usize].sending {
            let socket = &mut self.sockets[slot as usize];
            socket.waiting = Some(OwnBytes::Shared(message.clone()));
            socket.awaited = true;
            return SendProgress::Later;
        }
        let address = message.head().as_ptr() as usize;
        let kept =
            self.sockets[slot as usize].request == address || self.kernel_owned.keep(message);
        if kept {
            self.send_kept(slot, message.head());
        } else {
            self.sockets[slot as usize].awaited = true;
            self.send_owned(slot, OwnBytes::Shared(message.clone()));
        }
        self.count_send();
        if kept { SendProgress::Whole(at) } else { SendProgress::Later }
    }

    fn pass(&mut self, slot: Slot, bytes: &mut Vec<u8>) -> SendProgress {
        let at = self.now();
        self.spinning = false;
        if let Some(errno) = self.broken {
            self.ready.push_back(Event { slot, at, kind: EventKind::Failed(errno) });
            return SendProgress::Later;
        }
        self.make_way(slot);
        if bytes.is_empty() {
            return SendProgress::Whole(at);
        }
        let (own, socket) = (self.spare.swap(bytes), &mut self.sockets[slot as usize]);
        socket.handed_at = at;
        let quietly = own.len() <= SHORT && !socket.sending;
        socket.awaited = !quietly;
        if quietly {
            self.pass_quietly(slot, own);
        } else if socket.sending {
            socket.waiting = Some(OwnBytes::Own(own));
            return SendProgress::Later;
        } else {
            self.send_owned(slot, OwnBytes::Own(own));
        }
        self.count_send();
        if quietly { SendProgress::Whole(at) } else { SendProgress::Later }
    }

    fn cast(&mut self, slot: Slot, bytes: &[u8], segment: Option<usize>, ecn: u8) -> SendProgress {
        let at = self.now();
        self.spinning = false;
        let done = match self.datagrams(slot) {
            Some((fd, datagrams)) => datagrams.cast(fd, bytes, segment, ecn),
            None => Err(libc::EBADF),
        };
        match done {
            Ok(true) => return SendProgress::Whole(at),
            Ok(false) => self.ask_for_room(slot),
            Err(errno) => {
                let kind = self.failed(slot, errno);
                self.ready.extend(kind.map(|kind| Event { slot, at, kind }));
            }
        }
        SendProgress::Later
    }

    fn mtu(&mut self, slot: Slot) -> Option<u32> {
        self.datagrams(slot).and_then(|(fd, datagrams)| datagrams.mtu(fd))
    }

    fn drops(&mut self, slot: Slot) -> u64 {
        self.ask(slot, drops).unwrap_or(0)
    }

    fn drop_next(&mut self, slot: Slot, count: u64) {
        self.sockets[slot as usize].droppable = count;
    }

    fn local(&mut self, slot: Slot) -> Option<SocketAddr> {
        self.ask(slot, tcp::local)?.ok()
    }

    fn handshake(&mut self, slot: Slot) -> Option<TcpHandshake> {
        self.sockets.get(slot as usize)?.handshake
    }

    fn path(&mut self, slot: Slot) -> Option<TcpInfo> {
        self.ask(slot, path::read_path).flatten()
    }

    fn close(&mut self, slot: Slot, close: Close) {
        self.spinning = false;
        self.open -= 1;
        self.cancel_all(slot);
        if close == Close::Reset && self.sockets[slot as usize].asked {
            // A request that still waits for room would keep the connection open.
            let entry = entry::cancel_kept(&self.sockets[slot as usize], slot);
            self.push(&entry);
        }
        let socket = &mut self.sockets[slot as usize];
        match socket.file.take() {
            Some(FixedFile::Open(fd)) => {
                if close == Close::Reset {
                    // If this fails, the close is orderly, which does no harm.
                    let _ = tcp::reset_on_close(&fd);
                }
                self.last.push(entry::close(socket, slot, fd.into_raw_fd()));
            }
            Some(FixedFile::Listed) => {
                let reset = (close == Close::Reset).then(|| entry::reset_listed(socket, slot));
                self.last.extend(reset);
                self.last.push(entry::close_listed(socket, slot));
            }
            None => {}
        }
        if !self.ready.is_empty() {
            self.ready.retain(|event| event.slot != slot);
        }
    }

    fn arrived(&self) -> Option<Arrival> {
        self.arrived
    }

    fn look(&mut self) {
        self.settle();
        let done = self.ring.submit_and_look();
        self.woke = self.take_note(done);
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.keep(self.woke);
        }
    }

    fn wait(&mut self, until: u64) {
        let before = self.woke;
        self.queue_last();
        self.sends = 0;
        // The work that the kernel does for this process in this call does not count as waiting.
        self.look();
        if !self.told.is_empty() || !self.ready.is_empty() {
            self.spinning = false;
        } else if until <= self.woke {
            self.spin(before);
        } else {
            self.block(until);
        }
    }

    fn next(&mut self) -> Option<Event> {
        self.settle();
        if let Some(event) = self.ready.pop_front() {
            self.current = Some(event.slot);
            return Some(event);
        }
        while let Some((completion, at)) = self.told.pop_front() {
            let (mark, reads_now) = (completion.mark, completion.is_of(Operation::Readable));
            if let Some((slot, mut kind)) = self.tell(completion) {
                self.current = Some(slot);
                // As with epoll: no answer is older than its request.
                let is_newer = reads_now && self.sockets[slot as usize].handed_at > at;
                let at = if is_newer { self.now() } else { at };
                if let EventKind::Datagrams { more, .. } = &mut kind {
                    // Each message has a timestamp of its own.
                    *more = self.arrived.is_none() && self.has_more_datagrams(mark, at);
                }
                return Some(Event { slot, at, kind });
            }
        }
        None
    }

    fn bytes(&self) -> &[u8] {
        let Some(Filled { holder, range }) = &self.received else { return &[] };
        match holder {
            Holder::Pool(buffer) => self.ring.view(buffer, range.clone()),
            Holder::Own => &self.own[range.clone()],
        }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        let Some(Filled { holder, range }) = &self.received else { return &mut [] };
        match holder {
            Holder::Pool(buffer) => self.ring.view_mut(buffer, range.clone()),
            Holder::Own => &mut self.own[range.clone()],
        }
    }
}

impl Drop for Uring {
    /// Closes the connections that are to be closed. The descriptors in `last` have no other owner.
    /// Memory that the kernel might still read is leaked.
    fn drop(&mut self) {
        self.queue_last();
        self.drain();
        if !self.ring.cancel_all() {
            std::mem::forget(std::mem::take(&mut self.kernel_owned));
        }
    }
}
