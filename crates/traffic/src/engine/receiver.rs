//! The receiving thread.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::traffic_result::Heard;
use crate::{FlowProtocol, Header, Hearing, Listening, Stream};
use sixmark_sys::clock;
use sixmark_sys::flows::{Arrived, Inbox, InboxSocket, Watched, wait_for_flows};
use sixmark_units::family::Family;

use super::Counters;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::threads::no_thread;

/// The interval at which a waiting thread checks whether to stop, nanoseconds.
const GLANCE_NS: u64 = 20_000_000;
/// The pause between two rounds, so that a round finds several messages. The kernel timestamps
/// them.
const ROUND: Duration = Duration::from_micros(200);
/// The most system calls for one socket in a round.
const TURNS: usize = 32;
const BUFFER: usize = 256 * 1024;
/// The most flows. More would not be test traffic, and their records would fill the memory.
const MOST_FLOWS: usize = 20_000;

/// A port to listen on.
#[derive(Clone, Copy, Debug)]
pub struct Port {
    /// The protocol.
    pub protocol: FlowProtocol,
    /// The address; port 0 means a free one.
    pub at: SocketAddr,
    /// The time at which it opens, nanoseconds from the beginning of all traffic.
    pub from_ns: u64,
    /// The time at which it closes, nanoseconds from the beginning of all traffic; `None` means
    /// never.
    pub until_ns: Option<u64>,
}

/// Open ports that a separate thread reads.
#[derive(Debug)]
pub struct TrafficReceiver {
    stop: Arc<AtomicBool>,
    counters: Arc<Counters>,
    streams: Arc<AtomicU64>,
    addresses: Vec<(FlowProtocol, SocketAddr)>,
    thread: Option<JoinHandle<ReceivedFlows>>,
}

/// What was received.
#[derive(Clone, Debug, Default)]
pub struct ReceivedFlows {
    /// The flows.
    pub flows: Vec<Heard>,
    /// Datagrams dropped at full socket buffers.
    pub drops: u64,
    /// Datagrams with invalid messages, and connections that were closed because of such.
    pub foreign: u64,
    /// Ports that could not be opened when it was time.
    pub problems: Vec<String>,
}

impl Port {
    /// Returns a free port at all addresses of a family, open all the time.
    pub fn any(protocol: FlowProtocol, family: Family) -> Port {
        Port { protocol, at: SocketAddr::new(unspecified(family), 0), from_ns: 0, until_ns: None }
    }

    /// Returns the ports of a script's statement, one for each family.
    pub fn of_script(listening: &Listening) -> [Port; 2] {
        let Listening { protocol, port, from_ns, until_ns } = *listening;
        Family::BOTH.map(|family| Port {
            protocol,
            at: SocketAddr::new(unspecified(family), port),
            from_ns,
            until_ns,
        })
    }

    fn open(&self) -> Result<InboxSocket, String> {
        let made = match self.protocol {
            FlowProtocol::Tcp => InboxSocket::listener(&self.at),
            FlowProtocol::Udp => InboxSocket::datagrams(&self.at),
        };
        made.map_err(|error| format!("can't listen on {} {}: {error}", self.protocol, self.at))
    }
}

fn unspecified(family: Family) -> IpAddr {
    match family {
        Family::Ipv6 => Ipv6Addr::UNSPECIFIED.into(),
        Family::Ipv4 => Ipv4Addr::UNSPECIFIED.into(),
    }
}

impl TrafficReceiver {
    /// Listens on `ports` in the network namespace of the calling thread. Ports that are open from
    /// the beginning are open when this returns.
    ///
    /// # Errors
    /// Returns a one-line error if a port can't be listened on.
    pub fn start(ports: &[Port]) -> Result<TrafficReceiver, CommandError> {
        let mut work = ReceiverLoop::default();
        for port in ports {
            match port.from_ns {
                0 => work.open(port).map_err(CommandError::Measure)?,
                _ => work.later.push(*port),
            }
        }
        let addresses = work.open.iter().filter_map(|o| Some((o.protocol, o.local?))).collect();
        let (stop, counters) = (Arc::<AtomicBool>::default(), Arc::<Counters>::default());
        let streams = Arc::<AtomicU64>::default();
        let (seen, told, many) = (Arc::clone(&stop), Arc::clone(&counters), Arc::clone(&streams));
        let thread = std::thread::Builder::new().name("traffic-in".into());
        let thread = thread
            .spawn(move || work.run(&seen, &told, &many))
            .map_err(|error| CommandError::Measure(no_thread(&error).to_string()))?;
        Ok(TrafficReceiver { stop, counters, streams, addresses, thread: Some(thread) })
    }

    /// Returns the addresses that are open from the beginning.
    pub fn addresses(&self) -> &[(FlowProtocol, SocketAddr)] {
        &self.addresses
    }

    /// Returns the port of a protocol and family, the first one if there are several.
    pub fn port(&self, protocol: FlowProtocol, family: Family) -> Option<u16> {
        let is =
            |(p, at): &&(FlowProtocol, SocketAddr)| *p == protocol && Family::of(at.ip()) == family;
        self.addresses.iter().find(is).map(|(_, at)| at.port())
    }

    /// Returns the counters of what arrived so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Waits until messages of this number of flows have arrived. Returns false if that takes
    /// longer than `patience`.
    pub fn wait_for(&self, flows: u64, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        while self.counters.flows() < flows {
            if Instant::now() >= until {
                return false;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        true
    }

    /// Waits until no messages have arrived for `quiet`, but at most `patience`. While streams are
    /// open, `quiet` is ten times as long.
    pub fn settle(&self, quiet: Duration, patience: Duration) {
        let until = Instant::now() + patience;
        let (mut seen, mut since) = (self.counters.messages(), Instant::now());
        while Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
            let now = self.counters.messages();
            if now != seen {
                (seen, since) = (now, Instant::now());
            }
            let streams = self.streams.load(Ordering::Relaxed);
            // A stream can be silent for longer while its sender waits for a retransmission.
            let enough = if streams == 0 { quiet } else { quiet * 10 };
            if since.elapsed() >= enough {
                return;
            }
        }
    }

    /// Stops listening and returns what was received.
    pub fn stop(mut self) -> ReceivedFlows {
        self.end().unwrap_or_default()
    }

    fn end(&mut self) -> Option<ReceivedFlows> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().and_then(|thread| thread.join().ok())
    }
}

/// Ends the thread, so that it does not outlive a caller that fails.
impl Drop for TrafficReceiver {
    fn drop(&mut self) {
        self.end();
    }
}

/// An open port, or a connection accepted on one.
struct Open {
    sink: InboxSocket,
    protocol: FlowProtocol,
    local: Option<SocketAddr>,
    until_ns: Option<u64>,
    /// The state of a connection; `None` for a port.
    talk: Option<ReceiverSession>,
    done: bool,
}

struct ReceiverSession {
    from: SocketAddr,
    stream: Stream,
}

/// The state of the thread.
#[derive(Default)]
struct ReceiverLoop {
    open: Vec<Open>,
    later: Vec<Port>,
    books: Books,
    problems: Vec<String>,
    /// Datagrams dropped at the full buffers of ports that have been closed.
    drops: u64,
    inbox: Inbox,
    watched: Vec<Watched>,
    changed: bool,
}

/// The records of all flows.
#[derive(Default)]
struct Books {
    flows: HashMap<(FlowProtocol, u32, SocketAddr), (Option<SocketAddr>, Hearing)>,
    messages: u64,
    bytes: u64,
    foreign: u64,
}

impl ReceiverLoop {
    fn open(&mut self, port: &Port) -> Result<(), String> {
        let sink = port.open()?;
        let (protocol, local, until_ns) = (port.protocol, sink.local(), port.until_ns);
        self.open.push(Open { sink, protocol, local, until_ns, talk: None, done: false });
        self.changed = true;
        Ok(())
    }

    fn run(mut self, stop: &AtomicBool, counters: &Counters, streams: &AtomicU64) -> ReceivedFlows {
        clock::wake_precisely();
        let begin = clock::now();
        let mut buffer = vec![0; BUFFER];
        while !stop.load(Ordering::Relaxed) {
            self.keep_time(clock::now() - begin);
            self.watch();
            if wait_for_flows(&mut self.watched, GLANCE_NS).is_err() {
                std::thread::sleep(Duration::from_nanos(GLANCE_NS));
            }
            let came = self.round(&mut buffer);
            let Books { messages, bytes, ref flows, .. } = self.books;
            counters.set(messages, bytes, flows.len() as u64);
            let talks = self.open.iter().filter(|open| open.talk.is_some()).count();
            streams.store(talks as u64, Ordering::Relaxed);
            if came {
                std::thread::sleep(ROUND);
            }
        }
        self.finish()
    }

    /// Opens and closes the ports whose time has come.
    fn keep_time(&mut self, ns: u64) {
        let (now, later) =
            std::mem::take(&mut self.later).into_iter().partition(|p| p.from_ns <= ns);
        self.later = later;
        let now: Vec<Port> = now;
        for port in &now {
            if let Err(problem) = self.open(port) {
                self.problems.push(problem);
            }
        }
        for open in &mut self.open {
            open.done |= open.until_ns.is_some_and(|until| until <= ns);
        }
        self.close();
    }

    fn close(&mut self) {
        let before = self.open.len();
        let drops = &mut self.drops;
        self.open.retain(|open| {
            *drops +=
                if open.done && open.protocol == FlowProtocol::Udp { open.sink.drops() } else { 0 };
            !open.done
        });
        self.changed |= self.open.len() != before;
    }

    fn watch(&mut self) {
        if std::mem::take(&mut self.changed) || self.watched.len() != self.open.len() {
            self.watched = self.open.iter().map(|open| open.sink.arrivals()).collect();
        }
    }

    /// Reads what has arrived. Returns true if there was anything.
    fn round(&mut self, buffer: &mut [u8]) -> bool {
        let mut came = false;
        let mut new = Vec::new();
        for (open, watched) in self.open.iter_mut().zip(&self.watched) {
            if !watched.ready() {
                continue;
            }
            came = true;
            match (open.protocol, &mut open.talk) {
                (FlowProtocol::Udp, _) => datagrams(open, &mut self.inbox, &mut self.books),
                (FlowProtocol::Tcp, None) => accept(open, &mut new),
                (FlowProtocol::Tcp, Some(talk)) => {
                    open.done = stream(&open.sink, open.local, talk, buffer, &mut self.books);
                }
            }
        }
        self.changed |= !new.is_empty();
        self.open.append(&mut new);
        self.close();
        came
    }

    fn finish(mut self) -> ReceivedFlows {
        self.open.iter_mut().for_each(|open| open.done = true);
        self.close();
        let heard =
            |((protocol, id, from), (to, hearing))| Heard::new((id, protocol), from, to, hearing);
        let mut flows: Vec<Heard> = self.books.flows.into_iter().map(heard).collect();
        flows.sort_by_key(|flow| (flow.id, flow.protocol, flow.source));
        ReceivedFlows {
            flows,
            drops: self.drops,
            foreign: self.books.foreign,
            problems: self.problems,
        }
    }
}

impl Books {
    fn message(
        &mut self,
        (protocol, from, to): (FlowProtocol, SocketAddr, Option<SocketAddr>),
        header: &Header,
        bytes: usize,
        at_ns: u64,
    ) {
        let full = self.flows.len() >= MOST_FLOWS;
        let key = (protocol, header.flow, from);
        if full && !self.flows.contains_key(&key) {
            self.foreign += 1;
            return;
        }
        self.messages += 1;
        self.bytes += bytes as u64;
        let (_, hearing) = self.flows.entry(key).or_insert_with(|| (to, Hearing::default()));
        hearing.record(header.sequence, bytes as u64, header.sent_us * 1_000, at_ns);
    }
}

fn datagrams(open: &Open, inbox: &mut Inbox, books: &mut Books) {
    for _ in 0..TURNS {
        let each = |arrived: Arrived<'_>| match Header::read(arrived.look) {
            Ok(header) if header.length == arrived.length => {
                let way = (FlowProtocol::Udp, arrived.from, open.local);
                books.message(way, &header, arrived.length, arrived.at_ns);
            }
            _ => books.foreign += 1,
        };
        match open.sink.receive_each(inbox, each) {
            Ok(count) if count == sixmark_sys::flows::BATCH => {}
            _ => return,
        }
    }
}

fn accept(open: &Open, new: &mut Vec<Open>) {
    while let Ok(sink) = open.sink.accept() {
        // A connection that has been reset already has no peer.
        let Some(from) = sink.peer() else { continue };
        let talk = Some(ReceiverSession { from, stream: Stream::default() });
        let (protocol, local, until_ns) = (open.protocol, sink.local(), open.until_ns);
        new.push(Open { sink, protocol, local, until_ns, talk, done: false });
    }
}

/// Reads what has arrived. Returns true at the end of the stream.
fn stream(
    sink: &InboxSocket,
    local: Option<SocketAddr>,
    talk: &mut ReceiverSession,
    buffer: &mut [u8],
    books: &mut Books,
) -> bool {
    for _ in 0..TURNS {
        let (count, at_ns) = match sink.receive(buffer) {
            Ok((0, _)) => return true,
            Ok(came) => came,
            Err(error) => {
                return !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted);
            }
        };
        let way = (FlowProtocol::Tcp, talk.from, local);
        let each = |header: Header, bytes| books.message(way, &header, bytes, at_ns);
        if talk.stream.feed(&buffer[..count], each).is_err() {
            books.foreign += 1;
            return true;
        }
        if count < buffer.len() {
            return false;
        }
    }
    false
}
