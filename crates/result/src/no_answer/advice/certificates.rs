//! What is wrong with a certificate that was refused, and what to do about it; and advice about other
//! failures of TLS.

use sixmark_tally::tls::{Cause, Reason};

/// The advice if nothing better is known.
pub(super) const NOT_TLS: &str =
    "see tls.failures in the result: perhaps that port does not use TLS";

/// The advice where nothing but the certificate's owner could mend it.
const REISSUE: &str = "reissue it, or accept any with --insecure";

/// Returns what is wrong with a certificate, in words that follow a colon, and what to do. `None` if
/// something else than a certificate failed.
pub(super) fn fault_of_certificate(cause: Cause) -> Option<(String, &'static str)> {
    let (why, way) = match cause.reason {
        Reason::CertificateDate => return Some(fault_of_dates(cause)),
        Reason::CertificateIssuer => (
            "its issuer is not trusted",
            "give the issuer's certificate with --cacert, or accept any with --insecure",
        ),
        Reason::CertificateName => ("it is for another name", "set that name with --sni"),
        Reason::CertificateNameless => {
            ("it has no subjectAltName, the only name that counts", REISSUE)
        }
        Reason::CertificateVersion => {
            ("it is older than X.509 version 3, so it can't name a server", REISSUE)
        }
        Reason::CertificateAuthority => (
            "it names itself as a CA (CA:TRUE)",
            "give it with --cacert, or accept any with --insecure",
        ),
        Reason::CertificatePurpose => {
            ("it is not for servers (extended key usage)", "accept any certificate with --insecure")
        }
        Reason::CertificateNameConstraint => {
            ("an issuer may not issue certificates for this name (name constraints)", REISSUE)
        }
        Reason::CertificatePathLength => {
            ("an issuer may not have that many issuers below it (path length)", REISSUE)
        }
        Reason::CertificateNotAuthority => {
            ("one that is not a CA certificate (CA:FALSE) issued one of the chain", REISSUE)
        }
        Reason::CertificateChain => (
            "too many certificates lie between it and a trusted one",
            "shorten the chain, or accept any with --insecure",
        ),
        Reason::CertificateAlgorithm => {
            ("one is signed with an algorithm that is not accepted, such as SHA-1", REISSUE)
        }
        Reason::CertificateKeySize => (
            "an RSA key is shorter than 2048 bits",
            "replace it, or accept any certificate with --insecure",
        ),
        Reason::CertificateSignature => (
            "the signature, or the server's proof that it has the key, is wrong",
            "accept any certificate with --insecure",
        ),
        Reason::CertificateExtension => ("one has a critical extension that is not known", REISSUE),
        Reason::CertificateEncoding => ("it is malformed", "reissue it, or use --insecure"),
        Reason::Certificate => ("it is bad", "accept any certificate with --insecure"),
        Reason::Alert | Reason::Protocol | Reason::Incompatible => return None,
    };
    Some((why.to_owned(), way))
}

fn fault_of_dates(cause: Cause) -> (String, &'static str) {
    match (cause.expired(), cause.valid_from()) {
        (Some(at), _) => (
            format!("one expired at {at}"),
            "renew it, check this host's clock, or accept any with --insecure",
        ),
        (None, Some(at)) => (
            format!("one is not valid before {at}"),
            "check this host's clock, or accept any with --insecure",
        ),
        (None, None) => ("it is not valid now".to_owned(), "check its dates and this host's clock"),
    }
}

/// Returns the advice about another failure of TLS.
pub(super) fn of_reason(reason: Reason) -> &'static str {
    match reason {
        Reason::Incompatible => {
            "the server supports nothing that --tls, --ciphers, --groups and --alpn allow"
        }
        _ => NOT_TLS,
    }
}
