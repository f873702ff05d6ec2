//! Why TLS failed, as a cause to count and as one line of text.

use std::fmt;

use rustls::{AlertDescription, CertificateError, Error, OtherError};
use sixmark_record::tls::{Cause, Reason};

use super::verifier::Flaw;

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
        Failure {
            cause: Cause { reason: Reason::Protocol, alert: None },
            detail: detail.to_owned(),
        }
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
    let (reason, alert) = match error {
        Error::AlertReceived(alert) => (Reason::Alert, Some(u8::from(*alert))),
        Error::InvalidCertificate(wrong) => {
            (flaw(wrong), Some(AlertDescription::from(wrong.clone()).into()))
        }
        Error::NoCertificatesPresented => (Reason::Certificate, None),
        Error::PeerIncompatible(_) | Error::NoApplicationProtocol => (Reason::Incompatible, None),
        _ => (Reason::Protocol, None),
    };
    Cause { reason, alert }
}

fn flaw(wrong: &CertificateError) -> Reason {
    use CertificateError as Wrong;
    match wrong {
        Wrong::Expired
        | Wrong::ExpiredContext { .. }
        | Wrong::NotValidYet
        | Wrong::NotValidYetContext { .. } => Reason::CertificateDate,
        Wrong::UnknownIssuer => Reason::CertificateIssuer,
        Wrong::NotValidForNameContext { presented, .. } if presented.is_empty() => {
            Reason::CertificateNameless
        }
        Wrong::NotValidForName | Wrong::NotValidForNameContext { .. } => Reason::CertificateName,
        Wrong::InvalidPurpose | Wrong::InvalidPurposeContext { .. } => Reason::CertificatePurpose,
        Wrong::Other(OtherError(other)) => match other.downcast_ref() {
            Some(Flaw::Version) => Reason::CertificateVersion,
            Some(Flaw::Authority) => Reason::CertificateAuthority,
            None => Reason::Certificate,
        },
        _ => Reason::Certificate,
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
