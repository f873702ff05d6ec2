//! What is said of failures.

use std::error::Error;
use std::io;

use async_nats::{ConnectError, ConnectErrorKind};

use super::address::NatsAddress;
use crate::engine::transport::{LONGEST_MESSAGE, TransportError};

/// Why an attempt at an operation failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// Another attempt may succeed.
    Passing(String),
    /// None will.
    Final(TransportError),
}

impl Failure {
    pub(super) fn passing(error: impl std::fmt::Display) -> Failure {
        Failure::Passing(format!("NATS: {error}"))
    }

    pub(super) fn refused(line: String) -> Failure {
        Failure::Final(TransportError::Refused(line))
    }
}

/// Says why a connection failed, in one line.
pub(super) fn explain(error: &ConnectError, server: &NatsAddress) -> TransportError {
    let refused = |line: String| TransportError::Refused(line);
    if let Some(why) = find_tls_error(error) {
        return refused(format!(
            "TLS with the NATS server at {server} failed ({why}): use the name that its \
             certificate is for, and credentials with the certificate of its authority"
        ));
    }
    match error.kind() {
        ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => {
            refused(format!(
                "the NATS server at {server} refuses these credentials: use a file that was made \
                 for this server"
            ))
        }
        _ => {
            TransportError::Silent(format!("can't connect to the NATS server at {server}: {error}"))
        }
    }
}

/// What TLS found wrong, if it did.
fn find_tls_error(error: &ConnectError) -> Option<String> {
    let mut cause: Option<&(dyn Error + 'static)> = error.source();
    while let Some(error) = cause {
        if let Some(found) = error.downcast_ref::<rustls::Error>() {
            return Some(found.to_string());
        }
        let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        if let Some(found) = inner.and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
            return Some(found.to_string());
        }
        cause = error.source();
    }
    None
}

/// Checks that a message is no longer than the server takes. `more` is the length of its headers.
pub(super) fn check_length(
    nats: &async_nats::Client,
    content: &[u8],
    more: usize,
) -> Result<(), TransportError> {
    let (length, most) = (content.len(), nats.max_payload().saturating_sub(more));
    let most = most.min(LONGEST_MESSAGE);
    if length <= most {
        return Ok(());
    }
    Err(TransportError::Refused(format!(
        "a message of {length} bytes is too long: at most {most} bytes can be sent \
         (also by max_payload in the NATS server's configuration)"
    )))
}
