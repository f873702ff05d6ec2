//! Advice about failures of TLS, mostly about certificates that were refused.

use crate::tls::{Cause, Reason};

/// The advice if nothing better is known.
pub(super) const NOT_TLS: &str =
    "see tls.failures in the result: perhaps that port does not use TLS";

/// Returns the advice about a certificate that is not valid now.
pub(super) fn of_dates(cause: Cause) -> String {
    const WAY: &str = "or accept any with --insecure";
    match (cause.expired(), cause.valid_from()) {
        (Some(at), _) => {
            format!("a certificate expired at {at}: renew it, check this host's clock, {WAY}")
        }
        (None, Some(at)) => {
            format!("a certificate is not valid before {at}: check this host's clock, {WAY}")
        }
        (None, None) => "check the certificate's dates and this host's clock".to_owned(),
    }
}

/// Returns the advice about any other failure of TLS.
pub(super) fn of_reason(reason: Reason) -> &'static str {
    match reason {
        Reason::CertificateIssuer => {
            "give the issuer's certificate with --cacert, or accept any with --insecure"
        }
        Reason::CertificateName => "the certificate is for another name: set it with --sni",
        Reason::CertificateNameless => {
            "the certificate has no subjectAltName, the only name that counts: reissue it with \
             one, or accept any with --insecure"
        }
        Reason::CertificateVersion => {
            "the certificate is older than X.509 version 3, so it can't name a server: reissue \
             it, or accept any with --insecure"
        }
        Reason::CertificateAuthority => {
            "the server presents a CA certificate (CA:TRUE) as its own: give that certificate \
             with --cacert, or accept any with --insecure"
        }
        Reason::CertificatePurpose => {
            "the certificate is not for servers (extended key usage): accept any with --insecure"
        }
        Reason::CertificateNameConstraint => {
            "an issuer may not issue certificates for this name (name constraints): reissue it, \
             or accept any with --insecure"
        }
        Reason::CertificatePathLength => {
            "an issuer may not have that many issuers below it (path length): reissue the \
             certificate, or accept any with --insecure"
        }
        Reason::CertificateNotAuthority => {
            "a certificate was issued by one that is not a CA certificate (CA:FALSE): reissue it, \
             or accept any with --insecure"
        }
        Reason::CertificateChain => {
            "too many certificates lie between the server's and a trusted one: shorten the \
             chain, or accept any with --insecure"
        }
        Reason::CertificateAlgorithm => {
            "a certificate is signed with an algorithm that is not accepted, such as SHA-1: \
             reissue it, or accept any with --insecure"
        }
        Reason::CertificateKeySize => {
            "an RSA key of the certificates is shorter than 2048 bits: replace it, or accept any \
             with --insecure"
        }
        Reason::CertificateSignature => {
            "the signature of a certificate, or the server's proof that it has the key, is \
             wrong: accept any certificate with --insecure"
        }
        Reason::CertificateExtension => {
            "a certificate has a critical extension that is not known: reissue it, or accept any \
             with --insecure"
        }
        Reason::CertificateEncoding => "a certificate is malformed: reissue it, or use --insecure",
        Reason::Certificate => "the certificate is bad: accept any with --insecure",
        Reason::Incompatible => {
            "the server supports nothing that --tls, --ciphers, --groups and --alpn allow"
        }
        Reason::CertificateDate | Reason::Alert | Reason::Protocol => NOT_TLS,
    }
}
