//! The records of a load, read through a consumer that is created anew after any failure.

use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::consumer::pull::{Config, Stream};
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy};
use futures_util::StreamExt as _;
use tokio::time::{Instant, sleep_until, timeout};

use super::client::{Session, Sessions, Threads, end_of};
use super::failure::Failure;
use super::kept::context;
use super::subjects::{RECORDS, agent_of_record, records_of};
use crate::engine::transport::{RecordSource, TransportError};
use crate::messages::FromAgent;
use crate::names::LoadName;

/// The server removes a consumer after this time without requests.
const INACTIVE: Duration = Duration::from_secs(30);
/// How long one request for records lasts, and how often the server says that it is there.
const REQUEST: [Duration; 2] = [Duration::from_secs(20), Duration::from_secs(2)];
/// The records that are fetched ahead. Each may have 8 MiB.
const AHEAD: usize = 32;
/// How long the server may take to create a consumer.
const CREATION: Duration = Duration::from_secs(5);
/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(50);

/// A place in the stream of records.
pub(super) struct NatsRecords {
    threads: Arc<Threads>,
    reader: Reader,
}

struct Reader {
    sessions: Sessions,
    load: LoadName,
    /// The sequence number in the stream of the record that was returned last.
    last: u64,
    reading: Option<Reading>,
}

/// A consumer in one session.
struct Reading {
    session: u64,
    messages: Stream,
}

impl NatsRecords {
    pub(super) fn new(threads: Arc<Threads>, sessions: Sessions, load: &LoadName) -> NatsRecords {
        let reader = Reader { sessions, load: load.clone(), last: 0, reading: None };
        NatsRecords { threads, reader }
    }
}

impl std::fmt::Debug for NatsRecords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NatsRecords").field("load", &self.reader.load).finish_non_exhaustive()
    }
}

impl RecordSource for NatsRecords {
    fn next(&mut self, patience: Duration) -> Result<Option<FromAgent>, TransportError> {
        self.threads.run(self.reader.next(end_of(patience)))
    }
}

impl Reader {
    async fn next(&mut self, end: Instant) -> Result<Option<FromAgent>, TransportError> {
        loop {
            let session = match self.sessions.current(end).await {
                Ok(session) => session,
                // The connection may come back: there is no record by now.
                Err(TransportError::Silent(_)) => return Ok(None),
                Err(error) => return Err(error),
            };
            match self.read(&session, end).await {
                Ok(found) => return Ok(found),
                Err(Failure::Final(error)) => return Err(error),
                Err(Failure::Passing(_)) => self.reading = None,
            }
            if Instant::now() >= end {
                return Ok(None);
            }
            sleep_until(end.min(Instant::now() + PAUSE)).await;
        }
    }

    async fn read(
        &mut self,
        session: &Session,
        end: Instant,
    ) -> Result<Option<FromAgent>, Failure> {
        let number = session.number;
        let mut reading = match self.reading.take_if(|reading| reading.session == number) {
            Some(reading) => reading,
            // It may take longer than the caller's patience: otherwise a short one would get nothing.
            None => timeout(CREATION, self.create(session)).await.map_err(Failure::passing)??,
        };
        let message = tokio::select! {
            biased;
            message = reading.messages.next() => message,
            () = self.sessions.wait_for_end_of(number) => None,
            () = sleep_until(end) => {
                self.reading = Some(reading);
                return Ok(None);
            }
        };
        let message = message.ok_or_else(|| Failure::passing("the consumer ended"))?;
        let message = message.map_err(Failure::passing)?;
        self.last = message.info().map_err(Failure::passing)?.stream_sequence;
        self.reading = Some(reading);
        let message = &message.message;
        // Who may publish on a subject without an agent is not an agent: its record is no one's.
        let agent = agent_of_record(&message.subject)
            .ok_or_else(|| Failure::passing(format!("'{}' names no agent", message.subject)))?;
        Ok(Some(FromAgent { agent, content: message.payload.to_vec() }))
    }

    async fn create(&self, session: &Session) -> Result<Reading, Failure> {
        let config = Config {
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: self.last + 1 },
            ack_policy: AckPolicy::None,
            filter_subject: records_of(&self.load),
            inactive_threshold: INACTIVE,
            memory_storage: true,
            ..Config::default()
        };
        let context = context(session);
        let consumer = context.create_consumer_on_stream(config, RECORDS).await;
        let consumer = consumer.map_err(Failure::passing)?;
        let [request, heartbeat] = REQUEST;
        let messages = consumer.stream().max_messages_per_batch(AHEAD).expires(request);
        let messages = messages.heartbeat(heartbeat).messages().await.map_err(Failure::passing)?;
        Ok(Reading { session: session.number, messages })
    }
}
