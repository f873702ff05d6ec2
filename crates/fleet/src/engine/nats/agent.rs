//! An agent's side.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::Builder;
use std::time::Duration;

use async_nats::client::Request;
use async_nats::{Client, HeaderMap, Message, Subscriber};
use futures_util::StreamExt as _;
use futures_util::stream::{Select, select};
use sixmark_sys::threads::no_thread;
use tokio::runtime::Handle;
use tokio::sync::{Mutex, oneshot};
use tokio::time::timeout;

use super::address::NatsAddress;
use super::client::{PATIENCE, Session, Sessions, Target, Threads, connect, end_of};
use super::credentials::Credentials;
use super::failure::{Failure, check_length};
use super::subjects::{ALL, NOBODY, REFUSED};
use super::{kept, subjects};
use crate::engine::transport::{AgentSide, Handler, PublishedRecord, TransportError};
use crate::names::AgentName;

/// How long an agent that ends tries to send its last answer.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// An agent at a NATS server.
#[derive(Debug)]
pub struct NatsAgent {
    threads: Arc<Threads>,
    sessions: Sessions,
    /// It is locked while a request is being answered.
    answering: Arc<Mutex<()>>,
}

impl NatsAgent {
    /// Connects as the agent of this name, whose credentials they must be.
    ///
    /// # Errors
    /// One line: the server can't be reached, refuses the credentials, is too old, or has no
    /// JetStream.
    pub fn connect(
        server: &NatsAddress,
        credentials: &Credentials,
        agent: &AgentName,
    ) -> Result<NatsAgent, TransportError> {
        let (threads, sessions) = connect(Target {
            server: server.clone(),
            credentials: credentials.clone(),
            name: "sixmark agent",
            role: format!("agent {agent}"),
            inbox: subjects::agent_inbox(agent),
        })?;
        Ok(NatsAgent { threads, sessions, answering: Arc::default() })
    }
}

impl AgentSide for NatsAgent {
    fn serve(&self, agent: &AgentName, handler: Handler) -> Result<(), TransportError> {
        let (begun, begins) = oneshot::channel();
        let service = Service {
            answers: answer_in_a_thread(handler)?,
            sessions: self.sessions.clone(),
            answering: Arc::clone(&self.answering),
            agent: agent.clone(),
        };
        self.threads.spawn(service.go_on(begun));
        // If it takes longer, for instance since the connection is down, it begins later.
        let _ = self.threads.run(async { timeout(PATIENCE, begins).await });
        if self.is_open() { Ok(()) } else { self.threads.run(self.gone()) }
    }

    fn publish(&self, record: &PublishedRecord, patience: Duration) -> Result<(), TransportError> {
        let subject = subjects::record(&record.load, &record.agent);
        let publish = async |session: Session| {
            let mut headers = HeaderMap::new();
            headers.insert(async_nats::header::NATS_MESSAGE_ID, record.id.as_str());
            kept::publish(&session, &subject, headers, &record.content).await.map(drop)
        };
        self.threads.run(self.sessions.attempt(end_of(patience), publish))
    }

    fn is_open(&self) -> bool {
        self.sessions.are_possible()
    }
}

impl NatsAgent {
    async fn gone(&self) -> Result<(), TransportError> {
        self.sessions.current(end_of(Duration::ZERO)).await.map(drop)
    }
}

impl Drop for NatsAgent {
    fn drop(&mut self) {
        // A thread of a runtime must not wait.
        if Handle::try_current().is_ok() {
            return;
        }
        let last_words = async {
            drop(self.answering.lock().await);
            if let Ok(session) = self.sessions.current(end_of(Duration::ZERO)).await {
                round_trip(&session.nats).await;
            }
        };
        // If there is not enough time, they are lost.
        let _ = self.threads.run(async { timeout(LAST_WORDS, last_words).await });
    }
}

/// Passes messages to a handler in each session.
struct Service {
    sessions: Sessions,
    answering: Arc<Mutex<()>>,
    agent: AgentName,
    answers: Sender<Asked>,
}

/// A message for the handler, and where its answer goes.
type Asked = (Vec<u8>, oneshot::Sender<Option<Vec<u8>>>);

/// Calls the handler in one thread, until the sender is dropped. Those of the runtime must not wait,
/// and each that the runtime would start in their place has a heap of its own.
fn answer_in_a_thread(handler: Handler) -> Result<Sender<Asked>, TransportError> {
    let (asked, asks) = channel::<Asked>();
    let answer = move || {
        for (message, answer) in asks {
            // Who asked may have ended.
            let _ = answer.send(handler(&message));
        }
    };
    let thread = Builder::new().name("answers".to_owned()).spawn(answer);
    let refused = |error| TransportError::Refused(format!("can't serve: {}", no_thread(&error)));
    thread.map_err(refused)?;
    Ok(asked)
}

impl Service {
    async fn go_on(self, begun: oneshot::Sender<()>) {
        let mut begun = Some(begun);
        loop {
            let session = match self.sessions.current(end_of(PATIENCE)).await {
                Ok(session) => session,
                Err(TransportError::Silent(_)) => continue,
                Err(TransportError::Refused(_)) => return,
            };
            let subscribed = tokio::select! {
                subscribed = self.subscribe(&session.nats) => subscribed,
                () = self.sessions.wait_for_end_of(session.number) => continue,
            };
            let Ok(mut messages) = subscribed else {
                self.sessions.wait_for_end_of(session.number).await;
                continue;
            };
            if let Some(begun) = begun.take() {
                // Who waited may have stopped.
                let _ = begun.send(());
            }
            loop {
                tokio::select! {
                    Some(message) = messages.next() => self.answer(&session.nats, &message).await,
                    () = self.sessions.wait_for_end_of(session.number) => break,
                }
            }
        }
    }

    /// Subscribes, and returns once the server knows.
    async fn subscribe(&self, nats: &Client) -> Result<Select<Subscriber, Subscriber>, Failure> {
        let all = nats.subscribe(ALL).await.map_err(Failure::passing)?;
        let own = nats.subscribe(subjects::agent(&self.agent)).await.map_err(Failure::passing)?;
        round_trip(nats).await;
        Ok(select(own, all))
    }

    async fn answer(&self, nats: &Client, message: &Message) {
        let _answering = self.answering.lock().await;
        let (answer, said) = oneshot::channel();
        if self.answers.send((message.payload.to_vec(), answer)).is_err() {
            return;
        }
        let said = said.await.unwrap_or_default();
        let (Some(said), Some(reply)) = (said, message.reply.clone()) else { return };
        // Only this agent may publish there. Other replies go to the controller that asked.
        let reply = subjects::answer(&self.agent, &reply).map_or(reply, Into::into);
        // An answer that can't be sent is lost; who asked is told why if it is too long.
        let _ = match check_length(nats, &said, 0) {
            Ok(()) => nats.publish(reply, said.into()).await,
            Err(error) => {
                let mut headers = HeaderMap::new();
                headers.insert(REFUSED, error.to_string());
                nats.publish_with_headers(reply, headers, Vec::new().into()).await
            }
        };
    }
}

/// Waits until the server has processed all that was sent. It says that nobody listens to the
/// message that was sent last.
async fn round_trip(nats: &Client) {
    let request = Request::new().timeout(Some(PATIENCE));
    // Whatever it says. If it says nothing, the connection is lost.
    let _ = nats.send_request(NOBODY, request).await;
}
