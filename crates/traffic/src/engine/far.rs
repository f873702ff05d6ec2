//! The side that accepts requests for traffic: it listens for other sixmarks and carries out what
//! each of them requests.

use crate::engine::ports::ports;
use std::collections::HashMap;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::{Flow, MOST_FLOWS, TrafficSide};
use sixmark_units::family::{Family, PerFamily};

use super::control::{Answers, Asks, CONNECTING, ControlLine, LineBound, OpenPort, VERSION, clock};
use super::ports::{LONGEST, QUIET};
use super::{Half, ReadyFlows, TrafficReceiver, TrafficSender};
use crate::engine::ports::{open_ports, outgoing};
use sixmark_sys::command_error::CommandError;

/// The interval at which a listening thread checks whether to stop.
const GLANCE: Duration = Duration::from_millis(20);
/// The most connections that are served at once. Each has a thread.
const MOST_CONNECTIONS: usize = 64;

/// The near side's addresses of each session.
type Sessions = Arc<Mutex<HashMap<u64, PerFamily<Option<SocketAddr>>>>>;

/// The open control ports.
#[derive(Debug)]
pub struct Listener {
    listeners: Vec<TcpListener>,
}

impl Listener {
    /// Listens on `addresses`; port 0 means a free one.
    ///
    /// # Errors
    /// Returns a one-line error if an address can't be listened on.
    pub fn new(addresses: &[SocketAddr]) -> Result<Listener, CommandError> {
        let one = |address: &SocketAddr| {
            let listen = || {
                let kind = (socket2::Domain::for_address(*address), socket2::Type::STREAM);
                let socket = socket2::Socket::new(kind.0, kind.1, None)?;
                if address.is_ipv6() {
                    socket.set_only_v6(true)?;
                }
                socket.set_reuse_address(true)?;
                socket.bind(&(*address).into())?;
                socket.listen(64)?;
                socket.set_nonblocking(true)?;
                Ok(TcpListener::from(socket))
            };
            listen().map_err(|error: std::io::Error| {
                CommandError::Measure(format!("can't listen on {address}: {error}"))
            })
        };
        let listeners = addresses.iter().map(one).collect::<Result<_, _>>()?;
        Ok(Listener { listeners })
    }

    /// Returns the addresses on which it listens.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.listeners.iter().filter_map(|listener| listener.local_addr().ok()).collect()
    }

    /// Serves until `stop` is set, each session by a thread in the namespace of the calling thread.
    pub fn serve(&self, stop: &AtomicBool, tell: impl Fn(String) + Clone + Send + 'static) {
        let sessions = Sessions::default();
        let served = Arc::<AtomicUsize>::default();
        while !stop.load(Ordering::Relaxed) {
            let mut idle = true;
            for listener in &self.listeners {
                if let Ok((stream, peer)) = listener.accept() {
                    idle = false;
                    // A connection beyond the limit is closed at once.
                    let Some(place) = Served::take(&served) else { continue };
                    let (sessions, tell) = (Arc::clone(&sessions), tell.clone());
                    let serve = move || {
                        serve(stream, peer, &sessions, &tell);
                        drop(place);
                    };
                    // Without a thread the connection is closed, which the other side reports.
                    let _ = std::thread::Builder::new().spawn(serve);
                }
            }
            if idle {
                std::thread::sleep(GLANCE);
            }
        }
    }
}

/// A connection that is being served; it counts towards the limit until it is dropped.
struct Served(Arc<AtomicUsize>);

impl Served {
    fn take(all: &Arc<AtomicUsize>) -> Option<Served> {
        let served = Served(Arc::clone(all));
        let before = all.fetch_add(1, Ordering::Relaxed);
        (before < MOST_CONNECTIONS).then_some(served)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn serve(stream: TcpStream, peer: SocketAddr, sessions: &Sessions, tell: &impl Fn(String)) {
    if stream.set_nonblocking(false).is_err() {
        return;
    }
    let mut line = ControlLine::new(stream);
    let hello = line.hear(&LineBound::HELLO);
    let Ok(Some(Asks::Hello { version, session })) = hello else { return };
    if version != VERSION {
        let why = format!(
            "the far side supports version {VERSION} of the control protocol, not \
             {version}"
        );
        let _ = line.say(&Answers::Failed { why });
        return;
    }
    let family = Family::of(peer.ip());
    let lock = || sessions.lock().unwrap_or_else(PoisonError::into_inner);
    lock().entry(session).or_default()[family] = Some(peer);
    let mut talk = FarSession::default();
    let mut said = line.say(&Answers::Hello { version: VERSION, clock: clock() });
    while said.is_ok()
        && let Ok(Some(asks)) = line.hear(&LineBound::ASKS)
    {
        let peers = lock().get(&session).copied().unwrap_or_default();
        let answer = talk.answer(asks, peers);
        if let Answers::Failed { why } = &answer {
            tell(format!("{peer}: {why}"));
        }
        said = line.say(&answer);
    }
    // Traffic for a near side that has disconnected ends with the connection.
    lock().remove(&session);
    talk.end();
}

/// The state of a session.
#[derive(Default)]
struct FarSession {
    asked: Option<(Vec<Flow>, u64, Vec<OpenPort>)>,
    receiver: Option<TrafficReceiver>,
    ready: Option<ReadyFlows>,
    sender: Option<TrafficSender>,
    half: Half,
}

impl FarSession {
    fn answer(&mut self, asks: Asks, peers: PerFamily<Option<SocketAddr>>) -> Answers {
        let done = match asks {
            Asks::Hello { .. } => Err("a second hello".to_owned()),
            Asks::Prepare { flows, seed, doors } => return self.prepare(flows, seed, doors),
            Asks::Connect => self.connect(peers),
            Asks::Go => self.go(),
            Asks::Stop => {
                self.stop();
                Ok(())
            }
            Asks::Report => return Answers::Report { half: Box::new(self.report()) },
        };
        done.map_or_else(|why| Answers::Failed { why }, |()| Answers::Done)
    }

    fn prepare(&mut self, flows: Vec<Flow>, seed: u64, near: Vec<OpenPort>) -> Answers {
        if let Some(why) = wrong(&flows) {
            return Answers::Failed { why };
        }
        let made = TrafficReceiver::start(&ports(&flows, TrafficSide::Near));
        self.asked = Some((flows, seed, near));
        match made {
            Err(error) => Answers::Failed { why: error.to_string() },
            Ok(receiver) => {
                let doors = open_ports(&receiver);
                self.receiver = Some(receiver);
                Answers::Listening { doors }
            }
        }
    }

    fn connect(&mut self, peers: PerFamily<Option<SocketAddr>>) -> Result<(), String> {
        let (flows, seed, near) = self.asked.as_ref().ok_or("connect before prepare")?;
        let outgoing = outgoing(flows, TrafficSide::Far, &peers, near)?;
        let ready =
            ReadyFlows::new(outgoing, *seed, CONNECTING).map_err(|error| error.to_string())?;
        self.ready = Some(ready);
        Ok(())
    }

    fn go(&mut self) -> Result<(), String> {
        let ready = self.ready.take().ok_or("go before connect")?;
        self.sender = Some(ready.go().map_err(|error| error.to_string())?);
        Ok(())
    }

    fn stop(&mut self) {
        if let Some(sender) = self.sender.take() {
            self.half.sent = sender.stop();
        }
    }

    fn report(&mut self) -> Half {
        self.stop();
        if let Some(receiver) = self.receiver.take() {
            receiver.settle(QUIET, LONGEST);
            let sent = std::mem::take(&mut self.half.sent);
            self.half = Half::new(sent, receiver.stop());
        }
        std::mem::take(&mut self.half)
    }

    /// Stops everything that is still running.
    fn end(mut self) {
        self.stop();
        drop(self.receiver.take().map(TrafficReceiver::stop));
    }
}

/// Returns what is wrong with flows received from a peer.
fn wrong(flows: &[Flow]) -> Option<String> {
    if flows.len() > MOST_FLOWS {
        Some(format!("more than {MOST_FLOWS} flows"))
    } else {
        flows.iter().find_map(|flow| flow.check().err())
    }
}
