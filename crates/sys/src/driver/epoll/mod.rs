//! The epoll driver: edge-triggered, with one registration per socket.
//!
//! A usual exchange costs one send, one receive and a share of an `epoll_wait`. A receive that does
//! not fill the buffer has emptied the socket (epoll(7), Q&A 9), so that no second receive is
//! needed to find out.

mod connection;
mod receive;
mod stamped;
mod track;
mod wait;

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::thread;
use std::time::Duration;

use libc::{EPOLLET, EPOLLIN, EPOLLOUT, EPOLLRDHUP};

use super::arrival::{self, ArrivalClock};
use super::begin::{Begun, begin_connect, event_of_error};
use super::datagram::{self, Datagrams};
use super::datagram_batch::DatagramBatch;
use super::errno::errno_of;
use super::own::{OwnBytes, Spare, rest};
use super::{
    Arrival, Close, CompletionBatch, Driver, Event, EventKind, Message, ReceiveStamps,
    SendProgress, Slot, SocketRoute, Stamps, TcpHandshake, TcpInfo,
};
use crate::{check_return, clock, path, socket, stamp};
use connection::EpollSocket;
use stamped::Stamped;

/// The size of the receive buffer in bytes. A larger one would not fit into the processor's
/// second-level cache.
const BUFFER: usize = 128 * 1024;
/// The maximum number of sockets reported by one wait. It is small because they share one
/// timestamp: see [`Event::at`].
const BATCH: usize = 64;
/// Consecutive receives from one connection before the others get their turn.
const TURN: u32 = 16;
/// The maximum number of bytes that one system call discards.
const DROP: u64 = 1 << 30;

/// A driver that uses epoll.
pub struct Epoll {
    epoll: OwnedFd,
    sockets: Vec<EpollSocket>,
    /// Sockets reported by the last wait. Those before `next_told` have been processed.
    told: Vec<libc::epoll_event>,
    next_told: usize,
    /// The connection that is being processed.
    current: Option<Current>,
    /// Events of operations that completed at once.
    ready: VecDeque<Event>,
    /// Connections with more to receive that have yielded to the others.
    unfinished: VecDeque<Token>,
    /// The number of those connections that get a turn before the next wait.
    turns: usize,
    /// Whether the kernel supports timeouts in nanoseconds.
    precise: bool,
    buffer: Box<[u8]>,
    received: usize,
    /// Received datagrams of the connection that is being processed. Created with the first
    /// datagram socket.
    batch: Option<DatagramBatch>,
    /// The bytes of the last event are in the batch and not in `buffer`.
    in_batch: bool,
    spare: Spare,
    woke: u64,
    idle_ns: u64,
    /// How long a wait sleeps before it asks for events, nanoseconds.
    linger: u64,
    /// Converts the kernel's timestamps, if they are used.
    stamped: Option<Stamped>,
    /// The timestamp of the event that is being returned.
    stamp: Option<u64>,
    /// Converts the timestamps of connections that asked for them beside the driver's own times, and
    /// that of the event that was returned last.
    arrivals: Option<ArrivalClock>,
    arrived: Option<Arrival>,
}

/// A slot and the generation of the connection in it. The generation keeps a late report from being
/// attributed to a later connection in the slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Token {
    slot: Slot,
    generation: u32,
}

struct Current {
    token: Token,
    at: u64,
    receives: u32,
}

impl Epoll {
    /// Creates a driver without connections.
    pub fn new() -> io::Result<Epoll> {
        // SAFETY: epoll_create1 takes no pointers.
        let fd = check_return(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        Ok(Epoll {
            // SAFETY: the kernel has just returned this descriptor and nothing else owns it.
            epoll: unsafe { OwnedFd::from_raw_fd(fd) },
            sockets: Vec::new(),
            told: Vec::with_capacity(BATCH),
            next_told: 0,
            current: None,
            ready: VecDeque::new(),
            unfinished: VecDeque::new(),
            turns: 0,
            precise: true,
            buffer: vec![0; BUFFER].into(),
            received: 0,
            batch: None,
            in_batch: false,
            spare: Spare::default(),
            woke: clock::now(),
            idle_ns: 0,
            linger: 0,
            stamped: None,
            stamp: None,
            arrivals: None,
            arrived: None,
        })
    }

    /// Creates a driver that takes the times of sending and receiving from the kernel's timestamps.
    /// For datagrams this applies to receiving; their time of sending is that at which the call
    /// began.
    ///
    /// # Errors
    /// Returns an error with the reason and a remedy if the kernel provides no timestamps.
    pub fn with_kernel_stamps() -> io::Result<Epoll> {
        Ok(Epoll { stamped: Some(Stamped::new()?), ..Epoll::new()? })
    }

    /// Begins a connection in a slot. Returns the time at which the connect call began.
    fn begin(&mut self, slot: Slot, way: &SocketRoute) -> io::Result<u64> {
        let Begun { fd, called, returned, peer, handshake } = begin_connect(way)?;
        let track = match &self.stamped {
            Some(_) if way.datagrams => {
                // If this fails, the timestamps of received datagrams are counted as missing.
                let _ = stamp::enable_received(&fd);
                None
            }
            Some(_) => track::track(&fd),
            None => None,
        };
        let stamps = match &self.stamped {
            Some(_) => ReceiveStamps::Absent,
            None => arrival::enable(&mut self.arrivals, &fd, way.stamps),
        };
        let socket = &mut self.sockets[slot as usize];
        (socket.track, socket.stamps) = (track, stamps);
        socket.datagrams = way.datagrams.then(|| Datagrams::new(&way.to));
        if way.datagrams {
            self.batch.get_or_insert_with(DatagramBatch::new);
        }
        socket.fd = Some(fd);
        socket.connecting = peer.is_none();
        (socket.ask_handshake, socket.handshake) = (way.ask_handshake, handshake);
        self.register(slot, libc::EPOLL_CTL_ADD, peer.is_none())?;
        let kind = peer.map(EventKind::Connected);
        self.ready.extend(kind.map(|kind| Event { slot, at: returned, kind }));
        Ok(called)
    }

    /// Registers a socket, or changes whether it reports room to send.
    fn register(&mut self, slot: Slot, operation: i32, writable: bool) -> io::Result<()> {
        let socket = &mut self.sockets[slot as usize];
        let Some(fd) = &socket.fd else { return Ok(()) };
        let room = if writable { EPOLLOUT } else { 0 };
        let token = Token { slot, generation: socket.generation };
        let mut event = libc::epoll_event {
            events: (EPOLLIN | EPOLLRDHUP | EPOLLET | room) as u32,
            u64: token.pack(),
        };
        socket.asks_writable = writable;
        let (epoll, fd) = (self.epoll.as_raw_fd(), fd.as_raw_fd());
        // SAFETY: `event` is a valid event that the call only reads.
        check_return(unsafe { libc::epoll_ctl(epoll, operation, fd, &mut event) }).map(drop)
    }

    /// Returns the next connection that the kernel reported, after recording its flags.
    fn turn_to_next_told(&mut self) -> Option<Current> {
        while let Some(event) = self.told.get(self.next_told).copied() {
            self.next_told += 1;
            let token = Token::unpack(event.u64);
            if let Some(socket) = self.socket(token) {
                socket.note(event.events as i32);
                return Some(Current { token, at: self.woke, receives: 0 });
            }
        }
        None
    }

    /// Returns the next connection that has more to receive. Each of them gets one turn per wait.
    fn turn_to_unfinished(&mut self) -> Option<Current> {
        while self.turns > 0 {
            self.turns -= 1;
            let token = self.unfinished.pop_front()?;
            if self.socket(token).is_some() {
                return Some(Current { token, at: self.woke, receives: 0 });
            }
        }
        None
    }

    /// Returns the connection that `token` identifies, unless it is closed.
    fn socket(&mut self, token: Token) -> Option<&mut EpollSocket> {
        let socket = self.sockets.get_mut(token.slot as usize)?;
        (socket.fd.is_some() && socket.generation == token.generation).then_some(socket)
    }

    /// Returns the next event of the current connection.
    fn step(&mut self, current: &mut Current) -> Option<EventKind> {
        let socket = self.socket(current.token)?;
        if socket.connecting {
            return socket.connected();
        }
        let socket = &mut self.sockets[current.token.slot as usize];
        if socket.writable
            && let Some(kind) =
                socket.go_on_casting().or_else(|| socket.go_on_sending(&mut self.spare))
        {
            return Some(kind);
        }
        if self.stamped.is_some()
            && let Some(kind) = self.left(current.token.slot)
        {
            return Some(kind);
        }
        if let Some(kind) = self.next_of_batch() {
            return Some(kind);
        }
        let socket = &mut self.sockets[current.token.slot as usize];
        if !socket.readable {
            return None;
        }
        current.receives += 1;
        if current.receives > TURN {
            self.unfinished.push_back(current.token);
            return None;
        }
        let received = match socket.datagrams {
            Some(_) => self.receive_datagrams(current.token.slot),
            None => self.receive(current.token.slot),
        };
        // What was sent since the last wait may have been answered already: no answer is older than
        // its request.
        if received.is_some() && self.sockets[current.token.slot as usize].handed_at > current.at {
            current.at = self.now();
        }
        received
    }

    /// Sends `length` bytes, of which `rest` returns those after an offset. Returns the number of
    /// bytes that the kernel accepted and the time at which the call began or, with timestamps, at
    /// which the last byte left.
    fn hand<'b>(
        &mut self,
        slot: Slot,
        length: usize,
        rest: impl Fn(usize) -> [&'b [u8]; 2],
    ) -> Result<(usize, u64), i32> {
        let at = self.now();
        if length == 0 {
            // No byte will have a timestamp.
            return Ok((0, at));
        }
        let socket = &mut self.sockets[slot as usize];
        socket.handed_at = at;
        let progress = socket.hand(length, 0, rest);
        if let Some(track) = &mut socket.track {
            track.send(length);
        }
        let end = progress?;
        let left = match &mut self.stamped {
            Some(stamped) if end == length => stamped.left(socket),
            _ => None,
        };
        Ok((end, left.unwrap_or(at)))
    }

    /// Keeps the bytes after the first `end`, for which the kernel had no room.
    fn keep(&mut self, slot: Slot, bytes: OwnBytes, end: usize) -> SendProgress {
        let socket = &mut self.sockets[slot as usize];
        socket.sending = Some((bytes, end));
        self.ask_for_room(slot)
    }

    /// Requests a report when there is room to send the rest.
    fn ask_for_room(&mut self, slot: Slot) -> SendProgress {
        let socket = &mut self.sockets[slot as usize];
        socket.writable = false;
        if !socket.asks_writable
            && let Err(error) = self.register(slot, libc::EPOLL_CTL_MOD, true)
        {
            let (at, kind) = (self.now(), EventKind::Failed(errno_of(&error)));
            self.ready.push_back(Event { slot, at, kind });
        }
        SendProgress::Later
    }

    /// Handles a failed send. The peer may have answered before.
    fn refuse(&mut self, slot: Slot, errno: i32) -> SendProgress {
        let socket = &mut self.sockets[slot as usize];
        socket.refuse(errno);
        let token = Token { slot, generation: socket.generation };
        self.unfinished.push_back(token);
        SendProgress::Later
    }

    /// Returns an event if the last sent byte has left and this was not known before.
    fn left(&mut self, slot: Slot) -> Option<EventKind> {
        let stamped = self.stamped.as_mut()?;
        self.stamp = Some(stamped.left(&mut self.sockets[slot as usize])?);
        Some(EventKind::Left)
    }

    /// Waits for events for up to `patience` nanoseconds.
    fn ask(&mut self, patience: u64) {
        wait::wait_for_events(&self.epoll, &mut self.told, patience, &mut self.precise);
    }

    /// Waits for events until `until`. If there is none yet, sleeps for `linger` nanoseconds, so
    /// that there are several.
    fn wait_lingering(&mut self, linger: u64, until: u64) {
        self.ask(0);
        if self.told.is_empty() {
            thread::sleep(Duration::from_nanos(linger));
            self.ask(self.patience(self.now(), until));
        }
    }

    /// Returns the time to wait, nanoseconds.
    fn patience(&self, now: u64, until: u64) -> u64 {
        if !self.ready.is_empty() || !self.unfinished.is_empty() {
            return 0;
        }
        until.saturating_sub(now)
    }
}

impl Token {
    fn pack(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.slot)
    }

    fn unpack(packed: u64) -> Token {
        Token { slot: packed as u32, generation: (packed >> 32) as u32 }
    }
}

impl Driver for Epoll {
    fn name(&self) -> &'static str {
        "epoll"
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
        self.linger = batch.linger;
    }

    fn connect(&mut self, slot: Slot, way: &SocketRoute) -> u64 {
        if self.sockets.len() <= slot as usize {
            self.sockets.resize_with(slot as usize + 1, EpollSocket::default);
        }
        let generation = self.sockets[slot as usize].generation.wrapping_add(1);
        self.sockets[slot as usize] = EpollSocket { generation, ..EpollSocket::default() };
        self.begin(slot, way).unwrap_or_else(|error| {
            let (at, kind) = (self.now(), event_of_error(&error, way));
            self.ready.push_back(Event { slot, at, kind });
            at
        })
    }

    fn send(&mut self, slot: Slot, message: &Message) -> SendProgress {
        let length = message.length();
        match self.hand(slot, length, |from| message.rest(from)) {
            Ok((end, at)) if end == length => SendProgress::Whole(at),
            Ok((end, _)) => self.keep(slot, OwnBytes::Shared(message.clone()), end),
            Err(errno) => self.refuse(slot, errno),
        }
    }

    fn pass(&mut self, slot: Slot, bytes: &mut Vec<u8>) -> SendProgress {
        let length = bytes.len();
        let progress = self.hand(slot, length, |from| rest(bytes, from));
        if let Ok((end, _)) = progress
            && end < length
        {
            let own = self.spare.swap(bytes);
            return self.keep(slot, OwnBytes::Own(own), end);
        }
        bytes.clear();
        match progress {
            Ok((_, at)) => SendProgress::Whole(at),
            Err(errno) => self.refuse(slot, errno),
        }
    }

    fn cast(&mut self, slot: Slot, bytes: &[u8], segment: Option<usize>, ecn: u8) -> SendProgress {
        let at = self.now();
        let socket = &mut self.sockets[slot as usize];
        socket.handed_at = at;
        let Some((fd, datagrams)) = socket.fd.as_ref().zip(socket.datagrams.as_mut()) else {
            return self.refuse(slot, libc::EBADF);
        };
        match datagrams.cast(fd, bytes, segment, ecn) {
            Ok(true) => SendProgress::Whole(at),
            Ok(false) => self.ask_for_room(slot),
            Err(errno) => self.refuse(slot, errno),
        }
    }

    fn mtu(&mut self, slot: Slot) -> Option<u32> {
        let socket = self.sockets.get(slot as usize)?;
        socket.datagrams.as_ref()?.mtu(socket.fd.as_ref()?)
    }

    fn drops(&mut self, slot: Slot) -> u64 {
        let fd = self.sockets.get(slot as usize).and_then(|socket| socket.fd.as_ref());
        fd.map_or(0, datagram::drops)
    }

    fn drop_next(&mut self, slot: Slot, count: u64) {
        self.sockets[slot as usize].droppable = count;
    }

    fn local(&mut self, slot: Slot) -> Option<SocketAddr> {
        socket::local(self.sockets.get(slot as usize)?.fd.as_ref()?).ok()
    }

    fn handshake(&mut self, slot: Slot) -> Option<TcpHandshake> {
        self.sockets.get(slot as usize)?.handshake
    }

    fn path(&mut self, slot: Slot) -> Option<TcpInfo> {
        path::read_path(self.sockets.get(slot as usize)?.fd.as_ref()?)
    }

    fn close(&mut self, slot: Slot, close: Close) {
        let socket = &mut self.sockets[slot as usize];
        // Closing the descriptor also removes it from epoll. The next generation invalidates late
        // reports.
        if let Some(fd) = socket.fd.take()
            && close == Close::Reset
        {
            // If this fails, the close is orderly, which does no harm.
            let _ = socket::reset_on_close(&fd);
        }
        socket.sending = None;
        if !self.ready.is_empty() {
            self.ready.retain(|event| event.slot != slot);
        }
    }

    fn wait(&mut self, until: u64) {
        let before = self.now();
        let patience = self.patience(before, until);
        match self.linger.min(patience) {
            // A single connection has nothing to wait for but its event.
            linger if linger > 0 && self.sockets.len() > 1 => self.wait_lingering(linger, until),
            _ => self.ask(patience),
        }
        self.next_told = 0;
        self.turns = self.unfinished.len();
        self.woke = self.now();
        self.idle_ns += self.woke - before;
        if let Some(stamped) = &mut self.stamped {
            stamped.keep(self.woke);
        }
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.keep(self.woke);
        }
    }

    fn next(&mut self) -> Option<Event> {
        self.arrived = None;
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if let Some(mut current) = self.current.take()
                && let Some(kind) = self.step(&mut current)
            {
                let (slot, at) = (current.token.slot, current.at);
                self.current = Some(current);
                let at = self.stamp.take().unwrap_or(at);
                return Some(Event { slot, at, kind });
            }
            if let Some(batch) = &mut self.batch {
                // The rest of a connection that was closed.
                batch.clear();
            }
            self.current = Some(self.turn_to_next_told().or_else(|| self.turn_to_unfinished())?);
        }
    }

    fn bytes(&self) -> &[u8] {
        match &self.batch {
            Some(batch) if self.in_batch => batch.bytes(),
            _ => &self.buffer[..self.received],
        }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.batch {
            Some(batch) if self.in_batch => batch.bytes_mut(),
            _ => &mut self.buffer[..self.received],
        }
    }

    fn arrived(&self) -> Option<Arrival> {
        self.arrived
    }

    fn stamps(&self) -> Stamps {
        self.stamped.as_ref().map_or(Stamps::default(), Stamped::stamps)
    }
}
