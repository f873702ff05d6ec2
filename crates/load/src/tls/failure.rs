//! Why TLS failed, as a cause to count and as one line of text.

use std::fmt;

use rustls::{CertificateError, Error};
use sixmark_tally::tls::{Cause, Reason};

use super::refusal::refusal_cause;

/// The failure that ended a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The cause to count.
    pub cause: Cause,
    /// A description in one line.
    detail: String,
}

impl Failure {
    /// Creates a failure for data that violates the TLS protocol.
    pub(super) fn protocol(detail: &str) -> Failure {
        Failure { cause: Cause::new(Reason::Protocol, None), detail: detail.to_owned() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl std::error::Error for Failure {}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure { cause: cause(&error), detail: detail(&error) }
    }
}

fn cause(error: &Error) -> Cause {
    match error {
        Error::AlertReceived(alert) => Cause::new(Reason::Alert, Some(u8::from(*alert))),
        Error::InvalidCertificate(wrong) => refusal_cause(wrong),
        Error::NoCertificatesPresented => Cause::new(Reason::Certificate, None),
        Error::PeerIncompatible(_) | Error::NoApplicationProtocol => {
            Cause::new(Reason::Incompatible, None)
        }
        _ => Cause::new(Reason::Protocol, None),
    }
}

/// Returns the description in one line, with advice if there is any.
fn detail(error: &Error) -> String {
    let line = error.to_string().replace('\n', " ");
    match error {
        Error::AlertReceived(alert) => {
            format!("the server sent the alert {} ({:?})", u8::from(*alert), alert)
        }
        Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            "the certificate's issuer is not trusted: give its certificate with --cacert, or \
             accept any with --insecure"
                .to_owned()
        }
        _ => line,
    }
}
