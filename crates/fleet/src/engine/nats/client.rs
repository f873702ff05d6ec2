//! The connection of either side, which is made anew for as long as it takes.
//!
//! Each connection is a *session* with a client of async-nats of its own. async-nats could connect
//! anew by itself, but only to addresses that it has known since the beginning, and with its own
//! order of them. Here the name is looked up again, and the families race again (see `race`).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_nats::{Client, ConnectOptions, Event, ServerAddr};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};

use super::address::NatsAddress;
use super::credentials::Credentials;
use super::failure::{Failure, explain};
use super::race::find_server;
use super::tls::configure_tls;
use crate::engine::transport::TransportError;

/// How long an operation has if its caller gives no patience.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// How long the answer to one attempt is awaited before another.
const ATTEMPT: Duration = Duration::from_secs(5);
/// The time between two attempts of an operation.
const PAUSE: Duration = Duration::from_millis(50);
/// The shortest and the longest time between two attempts to connect.
const BETWEEN: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(2)];
/// The connection is lost if a server leaves three of these unanswered.
const PING: Duration = Duration::from_secs(5);
/// The time in which a server must do its part of a new connection.
const HANDSHAKE: Duration = Duration::from_secs(5);

/// How a server says that a client must not read a subject.
const NOT_MINE: &str = "permissions violation for subscription";

/// To what is connected, and as whom.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) server: NatsAddress,
    pub(super) credentials: Credentials,
    /// What the server's operator sees.
    pub(super) name: &'static str,
    /// Who it is, as part of a sentence.
    pub(super) role: String,
    /// Below this subject answers arrive.
    pub(super) inbox: String,
}

/// One connection.
#[derive(Clone, Debug)]
pub(super) struct Session {
    /// It differs from that of any earlier one.
    pub(super) number: u64,
    pub(super) nats: Client,
}

/// The current session, for as long as there is one.
#[derive(Clone, Debug)]
pub(super) struct Sessions(watch::Receiver<Link>);

#[derive(Clone, Debug)]
enum Link {
    Up(Session),
    /// Attempts are being made; the line says why the last one failed.
    Down(String),
    /// No more attempts are made.
    Gone(String),
}

/// The threads on which connections live. They end when this value is dropped.
pub(super) struct Threads(Option<Runtime>, Handle);

impl Threads {
    fn start() -> Result<Threads, TransportError> {
        let refused = |error: std::io::Error| TransportError::Refused(format!("NATS: {error}"));
        // Two workers, and one thread that looks a name up.
        sixmark_sys::threads::demand(3).map_err(refused)?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("nats")
            .enable_all()
            .build()
            .map_err(refused)?;
        let handle = runtime.handle().clone();
        Ok(Threads(Some(runtime), handle))
    }

    /// Runs a future to its end on the calling thread, which must not be one of a runtime.
    pub(super) fn run<T>(&self, future: impl Future<Output = T>) -> T {
        self.1.block_on(future)
    }

    /// Runs a future on these threads.
    pub(super) fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        self.1.spawn(future);
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        // A lookup that hangs is left to itself.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Threads").finish_non_exhaustive()
    }
}

/// Connects for the first time. Later connections are made when one is lost.
pub(super) fn connect(target: Target) -> Result<(Arc<Threads>, Sessions), TransportError> {
    let threads = Threads::start()?;
    let (nats, events) = threads.run(target.connect())?;
    let (sender, receiver) = watch::channel(Link::Up(Session { number: 0, nats }));
    threads.spawn(keep_connected(target, events, sender));
    Ok((Arc::new(threads), Sessions(receiver)))
}

/// Connects anew each time that a connection has ended, until the server refuses.
async fn keep_connected(target: Target, mut events: Events, link: watch::Sender<Link>) {
    for number in 1.. {
        if let Some(line) = events.wait_for_end().await {
            link.send_replace(Link::Gone(format!(
                "the NATS server at {} does not let these credentials be {}: {line}",
                target.server, target.role
            )));
            return;
        }
        link.send_replace(Link::Down(format!(
            "the connection to the NATS server at {} is lost",
            target.server
        )));
        let mut pause = BETWEEN[0];
        events = loop {
            match target.connect().await {
                Ok((nats, events)) => {
                    link.send_replace(Link::Up(Session { number, nats }));
                    break events;
                }
                Err(TransportError::Silent(line)) => drop(link.send_replace(Link::Down(line))),
                Err(TransportError::Refused(line)) => {
                    link.send_replace(Link::Gone(line));
                    return;
                }
            }
            sleep(pause).await;
            pause = (pause * 2).min(BETWEEN[1]);
        };
    }
}

/// What async-nats tells of one client. The channel ends when the client's connection has ended and
/// async-nats has given up.
struct Events(mpsc::UnboundedReceiver<Event>);

impl Events {
    /// Returns what the server said if it is of no use to go on: it forbids what the other side would
    /// send.
    async fn wait_for_end(&mut self) -> Option<String> {
        while let Some(event) = self.0.recv().await {
            if let Event::ServerError(error) = event
                && error.to_string().to_lowercase().contains(NOT_MINE)
            {
                return Some(error.to_string().escape_debug().to_string());
            }
        }
        None
    }
}

impl Target {
    async fn connect(&self) -> Result<(Client, Events), TransportError> {
        let (address, greeting) = find_server(&self.server).await?;
        // Credentials with a certificate are for a server with TLS: nobody between may take it away.
        let wants_tls = self.server.tls || self.credentials.authority().is_some();
        greeting.check(&self.server, wants_tls)?;
        let (sender, receiver) = mpsc::unbounded_channel();
        let mut options = self.options(sender)?.require_tls(wants_tls);
        if wants_tls || greeting.tls_required {
            let tls = configure_tls(&self.server, self.credentials.authority());
            options = options.tls_client_config(tls.map_err(TransportError::Refused)?);
        }
        let address = format!("nats://{address}").parse::<ServerAddr>();
        let address = address.map_err(|error| TransportError::Refused(error.to_string()))?;
        let connected = options.connect(address).await;
        let client = connected.map_err(|error| explain(&error, &self.server))?;
        Ok((client, Events(receiver)))
    }

    fn options(
        &self,
        events: mpsc::UnboundedSender<Event>,
    ) -> Result<ConnectOptions, TransportError> {
        let options = ConnectOptions::new()
            .name(self.name)
            .custom_inbox_prefix(self.inbox.clone())
            .connection_timeout(HANDSHAKE)
            .ping_interval(PING)
            // Each operation has a patience of its own.
            .request_timeout(None)
            // One attempt at the same address after a loss; then `keep_connected` goes on.
            .max_reconnects(1)
            .ignore_discovered_servers()
            .event_callback(move |event| {
                // Nobody listens any more while the threads end.
                let _ = events.send(event);
                std::future::ready(())
            });
        if self.credentials.has_jwt() {
            options
                .credentials(&self.credentials.to_text())
                .map_err(|error| TransportError::Refused(error.to_string()))
        } else {
            Ok(options.nkey(self.credentials.seed().to_owned()))
        }
    }
}

impl Sessions {
    /// Waits for a connection.
    pub(super) async fn current(&self, end: Instant) -> Result<Session, TransportError> {
        let mut links = self.0.clone();
        loop {
            let why = match &*links.borrow_and_update() {
                Link::Up(session) => return Ok(session.clone()),
                Link::Gone(line) => return Err(TransportError::Refused(line.clone())),
                Link::Down(line) => line.clone(),
            };
            match timeout_at(end, links.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return Err(TransportError::Refused("NATS: closed".to_owned())),
                Err(_) => return Err(TransportError::Silent(why)),
            }
        }
    }

    /// Waits until a session is not the current one any more.
    pub(super) async fn wait_for_end_of(&self, number: u64) {
        let mut links = self.0.clone();
        let other = |link: &Link| !matches!(link, Link::Up(session) if session.number == number);
        // An error means that the threads end.
        let _ = links.wait_for(other).await;
    }

    /// Returns whether there is a connection, or may be one again.
    pub(super) fn are_possible(&self) -> bool {
        !matches!(&*self.0.borrow(), Link::Gone(_))
    }

    /// Makes attempts at an operation that does no harm if it is repeated, until one succeeds or
    /// must not be repeated, or until `end`.
    pub(super) async fn attempt<T>(
        &self,
        end: Instant,
        operation: impl AsyncFn(Session) -> Result<T, Failure>,
    ) -> Result<T, TransportError> {
        let mut why = None;
        loop {
            let session = self.current(end).await.map_err(|error| match (error, why.clone()) {
                (TransportError::Silent(_), Some(why)) => TransportError::Silent(why),
                (error, _) => error,
            })?;
            let number = session.number;
            let silence = || Err(Failure::Passing("the NATS server does not answer".to_owned()));
            let tried = tokio::select! {
                tried = timeout(ATTEMPT, operation(session)) => tried.unwrap_or_else(|_| silence()),
                () = self.wait_for_end_of(number) => silence(),
                () = sleep_until(end) => silence(),
            };
            match tried {
                Ok(done) => return Ok(done),
                Err(Failure::Final(error)) => return Err(error),
                Err(Failure::Passing(line)) if Instant::now() >= end => {
                    return Err(TransportError::Silent(why.unwrap_or(line)));
                }
                Err(Failure::Passing(line)) => why = Some(line),
            }
            sleep_until(end.min(Instant::now() + PAUSE)).await;
        }
    }
}

/// Returns the time at which a patience is over.
pub(super) fn end_of(patience: Duration) -> Instant {
    Instant::now() + patience
}
