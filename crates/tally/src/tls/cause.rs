//! Why TLS failed.

use std::fmt;

use serde::{Deserialize, Serialize};
use sixmark_wire::x509::rfc3339;

/// The reason why a handshake failed, or a connection after its handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cause {
    /// The kind of failure.
    pub reason: Reason,
    /// The number of the alert (RFC 8446, 6): the one received if the reason is `alert`, otherwise
    /// the one sent; null if none is known.
    pub alert: Option<u8>,
    /// If the reason is `certificate_date`: when the certificate expired, in seconds since 1970
    /// UTC; absent if it has not, or that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expired_s: Option<i64>,
    /// If the reason is `certificate_date`: when the certificate becomes valid, in seconds since
    /// 1970 UTC; absent if it already was, or that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from_s: Option<i64>,
}

impl Cause {
    /// Creates a cause without the dates of a certificate.
    pub const fn new(reason: Reason, alert: Option<u8>) -> Cause {
        Cause { reason, alert, expired_s: None, valid_from_s: None }
    }

    /// Returns when the certificate expired: RFC 3339, UTC.
    pub fn expired(self) -> Option<String> {
        self.expired_s.map(rfc3339)
    }

    /// Returns when the certificate becomes valid: RFC 3339, UTC.
    pub fn valid_from(self) -> Option<String> {
        self.valid_from_s.map(rfc3339)
    }
}

/// The kinds of TLS failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The server sent an alert.
    Alert,
    /// The server's certificate or one of its issuers' has expired or is not yet valid.
    CertificateDate,
    /// No trusted authority issued the server's certificate.
    CertificateIssuer,
    /// The server's certificate is for another name.
    CertificateName,
    /// The server's certificate contains no name: it has no subjectAltName.
    CertificateNameless,
    /// The server's certificate has X.509 version 1 or 2, which cannot contain server names.
    CertificateVersion,
    /// The server's certificate is that of an authority (CA:TRUE) and is not one of the trusted
    /// ones.
    CertificateAuthority,
    /// The server's certificate is not valid for servers (extended key usage).
    CertificatePurpose,
    /// An issuer may not issue certificates for the names in the server's certificate (name
    /// constraints).
    CertificateNameConstraint,
    /// An issuer may not have that many issuers below it (path length constraint).
    CertificatePathLength,
    /// An issuer's certificate is not that of an authority (CA:FALSE).
    CertificateNotAuthority,
    /// There are too many certificates between the server's and a trusted one, or too many ways to
    /// combine them.
    CertificateChain,
    /// A certificate is signed with an algorithm that is not accepted, such as SHA-1.
    CertificateAlgorithm,
    /// An RSA key of a certificate is shorter than 2048 bits.
    CertificateKeySize,
    /// The signature of a certificate is wrong, or the server does not prove that it has the key of
    /// its certificate.
    CertificateSignature,
    /// A certificate has a critical extension that is not known.
    CertificateExtension,
    /// A certificate is malformed.
    CertificateEncoding,
    /// The server's certificate is invalid for another reason.
    Certificate,
    /// The two sides have no common version, cipher suite or group.
    Incompatible,
    /// The received bytes were not legal TLS.
    Protocol,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Reason::Alert => "alert",
            Reason::CertificateDate => "certificate_date",
            Reason::CertificateIssuer => "certificate_issuer",
            Reason::CertificateName => "certificate_name",
            Reason::CertificateNameless => "certificate_nameless",
            Reason::CertificateVersion => "certificate_version",
            Reason::CertificateAuthority => "certificate_authority",
            Reason::CertificatePurpose => "certificate_purpose",
            Reason::CertificateNameConstraint => "certificate_name_constraint",
            Reason::CertificatePathLength => "certificate_path_length",
            Reason::CertificateNotAuthority => "certificate_not_authority",
            Reason::CertificateChain => "certificate_chain",
            Reason::CertificateAlgorithm => "certificate_algorithm",
            Reason::CertificateKeySize => "certificate_key_size",
            Reason::CertificateSignature => "certificate_signature",
            Reason::CertificateExtension => "certificate_extension",
            Reason::CertificateEncoding => "certificate_encoding",
            Reason::Certificate => "certificate",
            Reason::Incompatible => "incompatible",
            Reason::Protocol => "protocol",
        })
    }
}
