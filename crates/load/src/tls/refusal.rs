//! Why a server's certificate is refused, by the rule that it breaks.

use rustls::pki_types::UnixTime;
use rustls::{AlertDescription, CertificateError, OtherError};
use sixmark_tally::tls::{Cause, Reason};

use super::flaw::Flaw;

/// Returns the cause to count for a certificate that was refused because of `wrong`.
pub(super) fn refusal_cause(wrong: &CertificateError) -> Cause {
    let alert = Some(AlertDescription::from(wrong.clone()).into());
    let cause = Cause::new(reason(wrong), alert);
    match wrong {
        CertificateError::ExpiredContext { not_after, .. } => {
            Cause { expired_s: seconds(*not_after), ..cause }
        }
        CertificateError::NotValidYetContext { not_before, .. } => {
            Cause { valid_from_s: seconds(*not_before), ..cause }
        }
        _ => cause,
    }
}

fn seconds(time: UnixTime) -> Option<i64> {
    i64::try_from(time.as_secs()).ok()
}

fn reason(wrong: &CertificateError) -> Reason {
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
        Wrong::BadEncoding => Reason::CertificateEncoding,
        Wrong::BadSignature => Reason::CertificateSignature,
        Wrong::UnsupportedSignatureAlgorithmContext { .. }
        | Wrong::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
            Reason::CertificateAlgorithm
        }
        Wrong::UnhandledCriticalExtension => Reason::CertificateExtension,
        Wrong::Other(other) => reason_of_other(other),
        _ => Reason::Certificate,
    }
}

/// Returns the reason of an error that the TLS library passes on from the one that checks
/// certificates, or of a flaw that sixmark found itself.
fn reason_of_other(OtherError(other): &OtherError) -> Reason {
    let of_library = || other.downcast_ref().map_or(Reason::Certificate, reason_of_library);
    match other.downcast_ref() {
        Some(Flaw::Version) => Reason::CertificateVersion,
        Some(Flaw::KeySize) => Reason::CertificateKeySize,
        None => of_library(),
    }
}

fn reason_of_library(error: &webpki::Error) -> Reason {
    use webpki::Error as Wrong;
    match error {
        Wrong::CaUsedAsEndEntity => Reason::CertificateAuthority,
        Wrong::EndEntityUsedAsCa => Reason::CertificateNotAuthority,
        Wrong::NameConstraintViolation => Reason::CertificateNameConstraint,
        Wrong::PathLenConstraintViolated => Reason::CertificatePathLength,
        Wrong::MaximumPathDepthExceeded
        | Wrong::MaximumPathBuildCallsExceeded
        | Wrong::MaximumSignatureChecksExceeded
        | Wrong::MaximumNameConstraintComparisonsExceeded => Reason::CertificateChain,
        Wrong::UnsupportedCertVersion => Reason::CertificateVersion,
        Wrong::UnsupportedCriticalExtension => Reason::CertificateExtension,
        Wrong::EmptyEkuExtension
        | Wrong::ExtensionValueInvalid
        | Wrong::InvalidNetworkMaskConstraint
        | Wrong::InvalidSerialNumber
        | Wrong::MalformedDnsIdentifier
        | Wrong::MalformedExtensions
        | Wrong::MalformedNameConstraint
        | Wrong::SignatureAlgorithmMismatch => Reason::CertificateEncoding,
        _ => Reason::Certificate,
    }
}

/// Returns true if a certificate was refused only because it is that of an authority.
pub(super) fn is_of_authority(wrong: &CertificateError) -> bool {
    reason(wrong) == Reason::CertificateAuthority
}
