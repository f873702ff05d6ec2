//! The controller's side.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_nats::client::{Request, RequestErrorKind};
use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::stream::LastRawMessageErrorKind;
use async_nats::{HeaderMap, Message};
use futures_util::{StreamExt as _, TryStreamExt as _};
use sixmark_sys::output::unguessable;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::address::NatsAddress;
use super::client::{PATIENCE, Session, Sessions, Target, Threads, connect, end_of};
use super::credentials::Credentials;
use super::failure::{Failure, check_length};
use super::kept::{self, context, make_streams, silent};
use super::records::NatsRecords;
use super::subjects::{ALL, ALL_NOTES, CONTROLLER_INBOX, NOTES, RECORDS, REFUSED};
use super::{lease, subjects};
use crate::engine::transport::{ControllerSide, RecordSource, TransportError};
use crate::messages::FromAgent;
use crate::names::{AgentName, LoadName};

/// The time between two attempts to reach an agent that is not there.
const PAUSE: Duration = Duration::from_millis(50);

/// The most answers to one question that count of a name: two show that two agents have it.
const ANSWERS: usize = 2;

/// A controller at a NATS server.
#[derive(Clone, Debug)]
pub struct NatsController {
    threads: Arc<Threads>,
    sessions: Sessions,
}

impl NatsController {
    /// Connects, and creates the streams that the server lacks.
    ///
    /// # Errors
    /// One line: the server can't be reached, refuses the credentials, is too old, or has no
    /// JetStream.
    pub fn connect(
        server: &NatsAddress,
        credentials: &Credentials,
    ) -> Result<NatsController, TransportError> {
        let (threads, sessions) = connect(Target {
            server: server.clone(),
            credentials: credentials.clone(),
            name: "sixmark controller",
            role: "the controller".to_owned(),
            inbox: CONTROLLER_INBOX.to_owned(),
        })?;
        threads.run(sessions.attempt(end_of(PATIENCE), make_streams))?;
        Ok(NatsController { threads, sessions })
    }

    /// Makes attempts at an operation until it succeeds or the usual patience is over.
    fn attempt<T>(
        &self,
        operation: impl AsyncFn(Session) -> Result<T, Failure>,
    ) -> Result<T, TransportError> {
        self.threads.run(self.sessions.attempt(end_of(PATIENCE), operation))
    }
}

impl ControllerSide for NatsController {
    fn ask_all(
        &self,
        question: &[u8],
        expected: Option<usize>,
        patience: Duration,
    ) -> Result<Vec<FromAgent>, TransportError> {
        let end = end_of(patience);
        self.threads.run(async {
            let session = self.sessions.current(end).await?;
            ask_all(&session, question, expected, end).await
        })
    }

    fn ask(
        &self,
        agent: &AgentName,
        request: &[u8],
        patience: Duration,
    ) -> Result<Vec<u8>, TransportError> {
        self.threads.run(ask(&self.sessions, agent, request, end_of(patience)))
    }

    fn announce(&self, message: &[u8]) -> Result<(), TransportError> {
        self.threads.run(async {
            let nats = self.sessions.current(end_of(PATIENCE)).await?.nats;
            check_length(&nats, message, 0)?;
            nats.publish(ALL, message.to_vec().into()).await.map_err(silent)?;
            nats.flush().await.map_err(silent)
        })
    }

    fn take_lease(
        &self,
        holder: &str,
        length: Duration,
    ) -> Result<Result<(), String>, TransportError> {
        self.attempt(async |session| lease::take(&session, holder, length).await)
    }

    fn give_up_lease(&self, holder: &str) -> Result<(), TransportError> {
        self.attempt(async |session| lease::give_up(&session, holder).await)
    }

    fn keep_note(&self, load: &LoadName, content: &[u8]) -> Result<(), TransportError> {
        let subject = subjects::note(load);
        self.attempt(async |session| {
            kept::publish(&session, &subject, HeaderMap::new(), content).await.map(drop)
        })
    }

    fn note(&self, load: &LoadName) -> Result<Option<Vec<u8>>, TransportError> {
        let subject = subjects::note(load);
        self.attempt(async |session| read_note(&session, &subject).await)
    }

    fn loads(&self) -> Result<Vec<LoadName>, TransportError> {
        self.attempt(async |session| {
            let stream = context(&session).get_stream_no_info(NOTES).await;
            let stream = stream.map_err(Failure::passing)?;
            let subjects = stream.info_with_subjects(ALL_NOTES).await.map_err(Failure::passing)?;
            let all: Vec<_> = subjects.try_collect().await.map_err(Failure::passing)?;
            Ok(all.iter().filter_map(|(subject, _)| subjects::load_of_note(subject)).collect())
        })
    }

    fn records(&self, load: &LoadName) -> Result<Box<dyn RecordSource>, TransportError> {
        let (threads, sessions) = (Arc::clone(&self.threads), self.sessions.clone());
        Ok(Box::new(NatsRecords::new(threads, sessions, load)))
    }

    fn restore(&self) -> Result<(), TransportError> {
        self.attempt(make_streams)
    }

    fn forget(&self, load: &LoadName) -> Result<(), TransportError> {
        self.attempt(async |session| {
            kept::remove(&session, RECORDS, &subjects::records_of(load)).await?;
            kept::remove(&session, NOTES, &subjects::note(load)).await
        })
    }
}

async fn ask_all(
    session: &Session,
    question: &[u8],
    expected: Option<usize>,
    end: Instant,
) -> Result<Vec<FromAgent>, TransportError> {
    let nats = &session.nats;
    check_length(nats, question, 0)?;
    // Answers to other questions have other subjects.
    let number = unguessable();
    let mut messages = nats.subscribe(subjects::answers_to(&number)).await.map_err(silent)?;
    let reply = subjects::question(&number);
    let sent = nats.publish_with_reply(ALL, reply, question.to_vec().into());
    sent.await.map_err(silent)?;
    let (mut answers, mut from) = (Vec::new(), BTreeMap::<AgentName, usize>::new());
    while expected.is_none_or(|expected| from.len() < expected) {
        match timeout_at(end, messages.next()).await {
            Ok(Some(message)) => {
                let agent = subjects::agent_of_answer(&message.subject);
                let Some((agent, content)) = agent.zip(read_answer(message).ok()) else { continue };
                let answered = from.entry(agent.clone()).or_default();
                *answered += 1;
                if *answered <= ANSWERS {
                    answers.push(FromAgent { agent, content });
                }
            }
            Ok(None) => return Err(silent("the connection is lost")),
            Err(_) => break,
        }
    }
    Ok(answers)
}

/// Sends a request once, as soon as the agent is there.
async fn ask(
    sessions: &Sessions,
    agent: &AgentName,
    request: &[u8],
    end: Instant,
) -> Result<Vec<u8>, TransportError> {
    let does_not_answer = || TransportError::Silent(format!("agent {agent} does not answer"));
    loop {
        let session = sessions.current(end).await?;
        check_length(&session.nats, request, 0)?;
        let message = Request::new().payload(request.to_vec().into()).timeout(None);
        let answer = tokio::select! {
            answer = session.nats.send_request(subjects::agent(agent), message) => answer,
            // It may have arrived: whether to ask again is for the caller to say.
            () = sessions.wait_for_end_of(session.number) => return Err(does_not_answer()),
            () = sleep_until(end) => return Err(does_not_answer()),
        };
        match answer {
            Ok(answer) => return read_answer(answer),
            Err(error) if error.kind() == RequestErrorKind::NoResponders => {}
            Err(_) => return Err(does_not_answer()),
        }
        if Instant::now() >= end {
            return Err(TransportError::Silent(format!("agent {agent} is not connected")));
        }
        sleep_until(end.min(Instant::now() + PAUSE)).await;
    }
}

/// The content of an answer, or why the agent could not send it.
fn read_answer(message: Message) -> Result<Vec<u8>, TransportError> {
    match message.headers.as_ref().and_then(|headers| headers.get(REFUSED)) {
        Some(why) => Err(TransportError::Refused(why.as_str().to_owned())),
        None => Ok(message.payload.to_vec()),
    }
}

async fn read_note(session: &Session, subject: &str) -> Result<Option<Vec<u8>>, Failure> {
    let stream = context(session).get_stream_no_info(NOTES).await.map_err(Failure::passing)?;
    match stream.get_last_raw_message_by_subject(subject).await {
        Ok(message) => Ok(Some(message.payload.to_vec())),
        Err(error) => match error.kind() {
            LastRawMessageErrorKind::NoMessageFound => Ok(None),
            LastRawMessageErrorKind::JetStream(error)
                if error.error_code() == ErrorCode::NO_MESSAGE_FOUND =>
            {
                Ok(None)
            }
            _ => Err(Failure::passing(error)),
        },
    }
}
