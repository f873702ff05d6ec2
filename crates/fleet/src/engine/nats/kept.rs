//! What the server keeps: the streams, and messages published to them.

use std::time::Duration;

use async_nats::client::{Request, RequestErrorKind};
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType};
use async_nats::jetstream::{self, Context, ErrorCode};
use async_nats::{HeaderMap, StatusCode};
use serde::Deserialize;

use super::client::Session;
use super::failure::{Failure, check_length};
use super::subjects::{ALL_NOTES, ALL_RECORDS, LEASE, LEASES, NOTES, RECORDS};
use crate::engine::transport::TransportError;

/// How long records and notes are kept.
const WEEK: Duration = Duration::from_secs(7 * 24 * 3600);
/// The time within which a record that is published again is known.
const DUPLICATES: Duration = Duration::from_secs(120);
/// The room for all records, notes and leases, in bytes. The server sets it aside.
pub(super) const ROOM: [i64; 3] = [1 << 30, 64 << 20, 1 << 20];
/// What headers add to the length of a message beside a record's identity.
const HEADERS: usize = 64;

/// What the server answers to a message for a stream.
#[derive(Debug, Deserialize)]
struct Acknowledgement {
    error: Option<StreamError>,
}

#[derive(Debug, Deserialize)]
struct StreamError {
    #[serde(default)]
    err_code: u64,
    #[serde(default)]
    description: String,
}

/// A message was published, or another one had come before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Published {
    Kept,
    /// The last message of the subject was not the expected one.
    Outrun,
}

/// Creates the streams that are not there.
pub(super) async fn make_streams(session: Session) -> Result<(), Failure> {
    let context = context(&session);
    let [records, notes, leases] = ROOM;
    let stream = |name: &str, subject: &str, room| Config {
        name: name.to_owned(),
        subjects: vec![subject.to_owned()],
        retention: RetentionPolicy::Limits,
        storage: StorageType::File,
        discard: DiscardPolicy::New,
        max_bytes: room,
        max_age: WEEK,
        duplicate_window: DUPLICATES,
        ..Config::default()
    };
    make(&context, stream(RECORDS, ALL_RECORDS, records)).await?;
    let last_only = Config { max_messages_per_subject: 1, ..stream(NOTES, ALL_NOTES, notes) };
    make(&context, last_only).await?;
    let lease = Config {
        max_messages_per_subject: 1,
        allow_message_ttl: true,
        ..stream(LEASES, LEASE, leases)
    };
    make(&context, lease).await
}

/// One that is there stays as it is: who runs the server may have given it more room.
async fn make(context: &Context, config: Config) -> Result<(), Failure> {
    let name = config.name.clone();
    let made = match context.get_stream_no_info(&name).await {
        Ok(stream) if stream.get_info().await.is_ok() => return Ok(()),
        _ => context.create_stream(config).await,
    };
    let error = match made {
        Ok(_) => return Ok(()),
        Err(error) => error,
    };
    use async_nats::jetstream::context::CreateStreamErrorKind as Kind;
    match error.kind() {
        Kind::JetStream(error) if error.error_code() == ErrorCode::STORAGE_RESOURCES_EXCEEDED => {
            Err(Failure::refused(format!(
                "the NATS server has no room for the stream '{name}': give its JetStream more, or \
                 remove other streams"
            )))
        }
        Kind::JetStream(error)
            if [ErrorCode::JETSTREAM_NOT_ENABLED, ErrorCode::JETSTREAM_NOT_ENABLED_FOR_ACCOUNT]
                .contains(&error.error_code()) =>
        {
            Err(Failure::refused(
                "the NATS server has no JetStream for these credentials: enable it for their \
                 account"
                    .to_owned(),
            ))
        }
        Kind::JetStream(error) => {
            Err(Failure::refused(format!("can't make the stream '{name}': {error}")))
        }
        _ => Err(Failure::Passing(format!(
            "can't make the stream '{name}' ({error}): these credentials may lack the permission"
        ))),
    }
}

/// Returns the streams' side of a session.
pub(super) fn context(session: &Session) -> Context {
    jetstream::new(session.nats.clone())
}

/// Publishes a message to a stream, and returns once it is kept.
pub(super) async fn publish(
    session: &Session,
    subject: &str,
    headers: HeaderMap,
    content: &[u8],
) -> Result<Published, Failure> {
    let more: usize = headers.iter().flat_map(|(_, values)| values).map(|v| v.as_str().len()).sum();
    check_length(&session.nats, content, HEADERS + more).map_err(Failure::Final)?;
    let request = Request::new().headers(headers).payload(content.to_vec().into()).timeout(None);
    let answer = match session.nats.send_request(subject.to_owned(), request).await {
        Ok(answer) => answer,
        Err(error) if error.kind() == RequestErrorKind::NoResponders => {
            return Err(no_stream(subject));
        }
        Err(error) => return Err(Failure::passing(error)),
    };
    if answer.status == Some(StatusCode::NO_RESPONDERS) {
        return Err(no_stream(subject));
    }
    let answer: Acknowledgement =
        crate::messages::read_json(&answer.payload).map_err(Failure::passing)?;
    match answer.error {
        None => Ok(Published::Kept),
        Some(error) if error.err_code == ErrorCode::STREAM_WRONG_LAST_SEQUENCE.0 => {
            Ok(Published::Outrun)
        }
        Some(error) if error.err_code == ErrorCode::STREAM_STORE_FAILED.0 => {
            Err(Failure::refused(format!(
                "the NATS server can't keep what is sent to '{subject}' ({}): forget loads of \
                 earlier runs, or give its streams more room",
                error.description
            )))
        }
        Some(error) => Err(Failure::Passing(format!("'{subject}': {}", error.description))),
    }
}

fn no_stream(subject: &str) -> Failure {
    Failure::Passing(format!(
        "no stream of the NATS server keeps '{subject}': a controller that connects creates it"
    ))
}

/// Removes all messages of a subject.
pub(super) async fn remove(session: &Session, stream: &str, subject: &str) -> Result<(), Failure> {
    let stream = context(session).get_stream_no_info(stream).await.map_err(Failure::passing)?;
    stream.purge().filter(subject.to_owned()).await.map(drop).map_err(Failure::passing)
}

/// Says that a transport is not usable for a reason that passes.
pub(super) fn silent(error: impl std::fmt::Display) -> TransportError {
    TransportError::Silent(format!("NATS: {error}"))
}
