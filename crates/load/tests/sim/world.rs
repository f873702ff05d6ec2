//! A world with a clock of its own.
//!
//! It keeps its own books, so that a worker's can be held against them, and is strict about how it
//! is used: whatever a real driver would not forgive fails the test.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sixmark_sys::driver::{
    Arrival, Close, Event, EventKind, ReceiveStamps, SendProgress, Slot, SocketRoute, TcpHandshake,
    TcpInfo, TcpOptions,
};
use sixmark_units::family::Family;

use super::ledger::{Asked, Begun, Connection, Ledger};
use super::random::Random;
use super::script::{Dial, Passed, Reply, Request, Script, Step, Take};

pub(crate) struct World {
    pub(crate) clock: u64,
    pub(crate) woke: u64,
    pub(crate) idle_ns: u64,
    pub(crate) ledger: Ledger,
    pub(crate) bytes: Vec<u8>,
    rules: Rules,
    script: Script,
    random: Random,
    slots: Vec<Option<Held>>,
    /// What will happen, by time and then by the order of its making.
    due: BTreeMap<(u64, u64), (Slot, Step)>,
    made: u64,
    /// What has happened and is not told yet.
    ready: VecDeque<News>,
    /// When the bytes that were last told had arrived, if their connection asks for timestamps.
    pub(crate) arrived: Option<Arrival>,
}

/// What has happened, when the worker was woken for it, and when it happened.
struct News {
    at: u64,
    arrived: u64,
    slot: Slot,
    step: Step,
}

/// What a worker is held to, and what it has to bear.
pub(crate) struct Rules {
    pub(crate) most_in_flight: usize,
    pub(crate) most_open: usize,
    /// A run that waits more often has got caught in a loop.
    pub(crate) most_waits: u64,
    /// Nanoseconds that each call takes.
    pub(crate) cost: u64,
    /// How often, of a hundred times, bytes that may be dropped are.
    pub(crate) drops: u64,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) stop_at: u64,
    /// When the worker stands still in a wait, and for how long; the world goes on.
    pub(crate) pause: Option<[u64; 2]>,
    /// How much later than something happens the worker is woken for it.
    pub(crate) late: u64,
}

/// A connection in a slot.
struct Held {
    /// Its number in the ledger.
    number: usize,
    established: bool,
    /// When it was dialled, and whether its handshake is asked about.
    called: u64,
    asks_handshake: bool,
    stamps: ReceiveStamps,
    /// An exchange is in flight.
    busy: bool,
    /// It was told that nothing more can come.
    over: bool,
    droppable: u64,
    /// Not all of what was sent is taken yet.
    sending: bool,
    /// When its exchange began.
    begun: u64,
    /// Bytes that came and are told later, with those that come then.
    carried: Vec<u8>,
}

impl World {
    pub(crate) fn new(script: Script, random: Random, begin: u64, rules: Rules) -> World {
        World {
            clock: begin,
            // As with a real driver, which is made before the run begins.
            woke: begin - 1,
            idle_ns: 0,
            ledger: Ledger::default(),
            bytes: Vec::new(),
            rules,
            script,
            random,
            slots: Vec::new(),
            due: BTreeMap::new(),
            made: 0,
            ready: VecDeque::new(),
            arrived: None,
        }
    }

    /// Returns when it was called.
    pub(crate) fn connect(&mut self, slot: Slot, way: &SocketRoute) -> u64 {
        let called = self.clock;
        self.work();
        let index = slot as usize;
        self.slots.resize_with(self.slots.len().max(index + 1), || None);
        assert!(self.slots[index].is_none(), "slot {slot} holds a connection already");
        let (number, begun) = (self.ledger.connections.len(), self.woke);
        self.slots[index] = Some(Held {
            number,
            established: false,
            called,
            asks_handshake: way.ask_handshake,
            stamps: way.stamps,
            // Of exchanges that share their connections the books know.
            busy: self.script.books.is_none(),
            over: false,
            droppable: 0,
            sending: false,
            begun,
            carried: Vec::new(),
        });
        let family = Family::of(way.to.ip());
        let page = Connection {
            family,
            established: None,
            closed: None,
            requests: Vec::new(),
            handshake: None,
            path: None,
        };
        self.ledger.connections.push(page);
        self.begin(number);
        self.script.clock.set(called);
        match (self.script.dial)(way, &mut self.random) {
            Dial::Connects { after, peer } => self.plan(slot, [(after, Step::Connected(peer))]),
            Dial::Fails { after, errno } => self.plan(slot, [(after, Step::Error(errno))]),
            Dial::Silent => {}
        }
        called
    }

    pub(crate) fn send(&mut self, slot: Slot, bytes: &[u8], length: usize) -> SendProgress {
        let at = self.clock;
        self.work();
        let woke = self.woke;
        let held = self.held(slot);
        assert!(held.established && !held.over, "slot {slot} can't send");
        assert_eq!(held.droppable, 0, "slot {slot} would drop bytes of the next response");
        // The first request belongs to the exchange that began with the connect.
        let (number, goes_on) = (held.number, std::mem::replace(&mut held.busy, true));
        held.begun = if goes_on { held.begun } else { woke };
        let begun = held.begun;
        let page = &mut self.ledger.connections[number];
        assert_eq!(goes_on, page.requests.is_empty(), "slot {slot} has one in flight already");
        let last = contains(&bytes[..bytes.len().min(1_024)], b"\r\nConnection: close\r\n");
        let line = String::from_utf8_lossy(bytes).split(" HTTP/1.1").next().unwrap().to_owned();
        let (taken, received, answered) = (false, 0, false);
        page.requests.push(Asked { begun, line, length, taken, last, received, answered });
        let request = Request { family: page.family, last, at };
        if !goes_on {
            self.begin(number);
        }
        let reply = (self.script.reply)(&request, &mut self.random);
        self.take(slot, at, reply)
    }

    /// As [`World::send`], unless the script reads streams.
    pub(crate) fn pass(&mut self, slot: Slot, bytes: &[u8]) -> SendProgress {
        let Some(mut see) = self.script.see.take() else {
            return self.send(slot, bytes, bytes.len());
        };
        let at = self.clock;
        self.work();
        let held = self.held(slot);
        assert!(held.established && !held.over, "slot {slot} can't send");
        assert!(!held.sending, "slot {slot} has something left to send");
        let (connection, bytes) = (held.number, bytes.to_vec());
        let family = self.ledger.connections[connection].family;
        if let Some(books) = &self.script.books {
            books.borrow_mut().passed(connection, family, self.woke, &bytes);
        }
        let reply = see(&Passed { connection, bytes }, &mut self.random);
        self.script.see = Some(see);
        self.take(slot, at, reply)
    }

    fn take(&mut self, slot: Slot, at: u64, reply: Reply) -> SendProgress {
        self.plan(slot, reply.steps);
        match reply.take {
            Take::Whole => {
                self.taken(slot);
                return SendProgress::Whole(at);
            }
            Take::Later => self.held(slot).sending = true,
            Take::Fails(errno) => self.plan(slot, [(0, Step::Error(errno))]),
        }
        SendProgress::Later
    }

    pub(crate) fn drop_next(&mut self, slot: Slot, count: u64) {
        self.held(slot).droppable = count;
    }

    /// What [`handshake`] says.
    pub(crate) fn handshake(&mut self, slot: Slot) -> Option<TcpHandshake> {
        let number = self.held(slot).number;
        self.ledger.connections[number].handshake
    }

    /// Each connection's own: its number says how much it sent again. Every fourth is not told.
    pub(crate) fn path(&mut self, slot: Slot) -> Option<TcpInfo> {
        let held = self.held(slot);
        assert!(held.established, "slot {slot} has no path");
        let index = held.number;
        let (number, page) = (index as u64, &mut self.ledger.connections[index]);
        page.path = (number % 4 != 3).then_some(TcpInfo {
            rtt: Some(1_000 + number),
            min_rtt: (number % 2 == 0).then_some(1_000),
            retransmitted: (number % 3) as u32,
            duplicates: (number % 2 == 0).then_some(1),
            delivered: Some(number as u32),
            mss: if page.family == Family::Ipv6 { 1_428 } else { 1_448 },
            options: Some(TcpOptions { sack: number.is_multiple_of(5), ..TcpOptions::default() }),
            out_of_order: None,
        });
        page.path
    }

    pub(crate) fn close(&mut self, slot: Slot, close: Close) {
        self.work();
        let number = self.held(slot).number;
        self.ledger.connections[number].closed = Some(close);
        if let Some(books) = &self.script.books {
            books.borrow_mut().over(number);
        }
        self.slots[slot as usize] = None;
        self.forget(slot);
    }

    pub(crate) fn wait(&mut self, until: u64) {
        self.ledger.waits += 1;
        assert!(self.ledger.waits <= self.rules.most_waits, "waits over and over");
        let before = self.clock;
        if self.ready.is_empty() {
            let first = self.due.first_key_value().map_or(u64::MAX, |(&(at, _), _)| at);
            let then = first.min(until);
            assert_ne!(then, u64::MAX, "waits for ever");
            let late = if first <= until { self.rules.late } else { 0 };
            self.clock = self.clock.max(then + late);
        }
        if let Some([_, length]) = self.rules.pause.take_if(|[from, _]| *from <= self.clock) {
            self.clock += length;
        }
        self.woke = self.clock;
        self.idle_ns += self.woke - before;
        while let Some(entry) = self.due.first_entry()
            && entry.key().0 <= self.woke
        {
            let arrived = entry.key().0;
            let (slot, step) = entry.remove();
            self.ready.push_back(News { at: self.woke, arrived, slot, step });
        }
        self.work();
    }

    pub(crate) fn next(&mut self) -> Option<Event> {
        self.arrived = None;
        let News { at, arrived, slot, step } = self.ready.pop_front()?;
        self.work();
        let stamped = self.held(slot).stamps != ReceiveStamps::Absent;
        if stamped && matches!(step, Step::Bytes(_) | Step::LastBytes(_)) {
            self.arrived = Some(arrived.into());
        }
        let kind = self.tell((at, arrived), slot, step);
        Some(Event { slot, at, kind })
    }

    fn tell(&mut self, (at, arrived): (u64, u64), slot: Slot, step: Step) -> EventKind {
        match step {
            Step::Connected(peer) => {
                let held = self.held(slot);
                held.established = true;
                let (number, took) = (held.number, at - held.called);
                let said = held.asks_handshake.then(|| handshake(number, took));
                let page = &mut self.ledger.connections[number];
                page.established = Some(at);
                page.handshake = said;
                page.family = Family::of(peer);
                EventKind::Connected(peer)
            }
            Step::Sent => {
                self.taken(slot);
                EventKind::Sent
            }
            Step::Left => EventKind::Left,
            Step::Bytes(bytes) => self.tell_bytes((at, arrived), slot, bytes, false),
            Step::LastBytes(bytes) => self.tell_bytes((at, arrived), slot, bytes, true),
            Step::Fin => {
                self.end(slot);
                EventKind::Ended
            }
            Step::Error(errno) => {
                self.end(slot);
                EventKind::Failed(errno)
            }
        }
    }

    fn tell_bytes(
        &mut self,
        (at, arrived): (u64, u64),
        slot: Slot,
        mut bytes: Vec<u8>,
        last: bool,
    ) -> EventKind {
        if self.script.books.is_some() {
            return self.tell_frames(at, slot, bytes);
        }
        let drops = self.random.chance(self.rules.drops);
        let held = self.held(slot);
        let droppable = bytes.len().min(held.droppable as usize);
        let dropped = drops && droppable > 0;
        let mut last = last;
        if dropped && droppable < bytes.len() {
            let rest = bytes.split_off(droppable);
            let step = if last { Step::LastBytes(rest) } else { Step::Bytes(rest) };
            self.ready.push_front(News { at, arrived, slot, step });
            last = false;
        }
        let held = self.held(slot);
        held.droppable -= droppable as u64;
        let busy = held.busy;
        held.busy &= !last;
        if busy && let Some(asked) = self.asked(slot) {
            asked.received += bytes.len();
            asked.answered |= last;
        }
        if dropped {
            return EventKind::Dropped(bytes.len() as u64);
        }
        self.bytes = bytes;
        EventKind::Received(self.bytes.len())
    }

    /// Cuts what came somewhere and keeps the rest for a while.
    fn tell_frames(&mut self, at: u64, slot: Slot, mut bytes: Vec<u8>) -> EventKind {
        let held = self.held(slot);
        bytes.splice(0..0, std::mem::take(&mut held.carried));
        let number = held.number;
        if bytes.len() > 1 && self.random.chance(20) {
            let rest = bytes.split_off(1 + self.random.below(bytes.len() as u64 - 1) as usize);
            self.held(slot).carried = rest;
            let delay = self.random.pick(&[0, 20_000, 1_000_000]);
            self.plan(slot, [(delay, Step::Bytes(Vec::new()))]);
        }
        let family = self.ledger.connections[number].family;
        if let Some(books) = &self.script.books {
            books.borrow_mut().told(number, family, at, &bytes);
        }
        self.bytes = bytes;
        EventKind::Received(self.bytes.len())
    }

    fn end(&mut self, slot: Slot) {
        let number = self.held(slot).number;
        if let Some(books) = &self.script.books {
            books.borrow_mut().over(number);
        }
        self.held(slot).over = true;
        self.forget(slot);
    }

    /// Nothing more is told of the connection in `slot`.
    fn forget(&mut self, slot: Slot) {
        self.due.retain(|_, (other, _)| *other != slot);
        self.ready.retain(|news| news.slot != slot);
    }

    /// Each step happens that long after the one before. Bytes stay in order, so that late ones of a
    /// response come before the next.
    fn plan(&mut self, slot: Slot, steps: impl IntoIterator<Item = (u64, Step)>) {
        let in_order = self.script.books.is_none();
        let late = in_order.then(|| self.latest(slot)).flatten();
        let mut at = late.map_or(self.clock, |at| at.max(self.clock));
        for (after, step) in steps {
            at += after;
            self.made += 1;
            self.due.insert((at, self.made), (slot, step));
        }
        // What is over at once is told before the next wait.
        while let Some(entry) = self.due.first_entry()
            && entry.get().0 == slot
            && entry.key().0 <= self.clock
        {
            let (slot, step) = entry.remove();
            let at = self.clock;
            self.ready.push_back(News { at, arrived: at, slot, step });
        }
    }

    /// When the last bytes that are still to come on a connection do.
    fn latest(&self, slot: Slot) -> Option<u64> {
        let mut due = self.due.iter().rev();
        let late = due.find(|(_, (other, step))| {
            *other == slot && matches!(step, Step::Bytes(_) | Step::LastBytes(_))
        });
        late.map(|(&(at, _), _)| at)
    }

    fn begin(&mut self, connection: usize) {
        self.ledger.begun.push(Begun { connection, woke: self.woke });
        let held = || self.slots.iter().flatten();
        let (open, in_flight) = (held().count(), held().filter(|held| held.busy).count());
        assert!(open <= self.rules.most_open, "{open} connections open");
        assert!(in_flight <= self.rules.most_in_flight, "{in_flight} exchanges in flight");
        self.ledger.most_open = self.ledger.most_open.max(open);
        self.ledger.most_in_flight = self.ledger.most_in_flight.max(in_flight);
    }

    fn held(&mut self, slot: Slot) -> &mut Held {
        let held = self.slots.get_mut(slot as usize).and_then(Option::as_mut);
        held.unwrap_or_else(|| panic!("slot {slot} holds no connection"))
    }

    /// The kernel has all that was sent in `slot`.
    fn taken(&mut self, slot: Slot) {
        self.held(slot).sending = false;
        if let Some(asked) = self.asked(slot) {
            asked.taken = true;
        }
    }

    /// The last request on the connection in `slot`; none where the script reads streams.
    fn asked(&mut self, slot: Slot) -> Option<&mut Asked> {
        let number = self.held(slot).number;
        self.ledger.connections[number].requests.last_mut()
    }

    fn work(&mut self) {
        self.clock += self.rules.cost;
        if self.clock >= self.rules.stop_at {
            self.rules.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// Of five connections three took half of what the client saw, one sent its SYN again and one has no
/// time.
pub(crate) fn handshake(number: usize, took: u64) -> TcpHandshake {
    match number % 5 {
        3 => TcpHandshake::SentAgain,
        4 => TcpHandshake::Untimed,
        _ => TcpHandshake::Took(took / 2),
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
