//! The lease of the fleet: a message that expires.
//!
//! It is the only message of its stream. Who takes or renews it says which message it has seen
//! (`Nats-Expected-Last-Subject-Sequence`, 0 for none), and the server keeps at most one of those
//! that say the same: two controllers can't both get it. The message's own `Nats-TTL` removes it,
//! by the server's clock alone: no two machines' clocks are compared.

use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::stream::LastRawMessageErrorKind;
use serde::{Deserialize, Serialize};

use super::client::Session;
use super::failure::Failure;
use super::kept::{Published, context, publish};
use super::subjects::{LEASE, LEASES};

/// What the message says.
#[derive(Debug, Serialize, Deserialize)]
struct Held {
    holder: String,
    length_s: u64,
}

/// Takes or renews the lease; returns the other holder if it has it.
pub(super) async fn take(
    session: &Session,
    holder: &str,
    length: Duration,
) -> Result<Result<(), String>, Failure> {
    let (seen, length_s) = match read(session).await? {
        Some((_, held)) if held.holder != holder => return Ok(Err(held.holder)),
        Some((seen, held)) => (seen, held.length_s),
        // The server counts in seconds, from one.
        None => (0, length.as_secs_f64().ceil().max(1.0) as u64),
    };
    let held = Held { holder: holder.to_owned(), length_s };
    let content = serde_json::to_vec(&held).map_err(Failure::passing)?;
    let mut headers = HeaderMap::new();
    headers.insert(async_nats::header::NATS_EXPECTED_LAST_SUBJECT_SEQUENCE, seen.to_string());
    headers.insert(async_nats::header::NATS_MESSAGE_TTL, format!("{length_s}s"));
    match publish(session, LEASE, headers, &content).await? {
        Published::Kept => Ok(Ok(())),
        // Another attempt reads what is there now.
        Published::Outrun => Err(Failure::Passing("the lease changes hands".to_owned())),
    }
}

/// Removes the lease if `holder` has it, and only the message that was seen.
pub(super) async fn give_up(session: &Session, holder: &str) -> Result<(), Failure> {
    let seen = match read(session).await? {
        Some((seen, held)) if held.holder == holder => seen,
        _ => return Ok(()),
    };
    let stream = context(session).get_stream_no_info(LEASES).await.map_err(Failure::passing)?;
    // Messages before this sequence number are removed.
    let purge = stream.purge().sequence(seen + 1).filter(LEASE);
    purge.await.map(drop).map_err(Failure::passing)
}

/// The current message with its sequence number.
async fn read(session: &Session) -> Result<Option<(u64, Held)>, Failure> {
    let stream = context(session).get_stream_no_info(LEASES).await.map_err(Failure::passing)?;
    match stream.get_last_raw_message_by_subject(LEASE).await {
        Ok(message) => {
            let held = crate::messages::read_json(&message.payload);
            let held = held.map_err(|error| {
                Failure::refused(format!("the stream '{LEASES}' has no lease of sixmark: {error}"))
            })?;
            Ok(Some((message.sequence, held)))
        }
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
