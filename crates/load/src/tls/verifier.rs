//! Whom a run trusts, beyond what the library says: the very certificates that it was given, and with
//! `--insecure` any.

use std::fmt;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
    verify_tls13_signature_with_raw_key,
};
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, SignatureScheme};
use sixmark_wire::x509;

/// What the library has no word of its own for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    /// A certificate of version 1 or 2.
    Version,
    /// An authority's own certificate, which is not one of those given.
    Authority,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Flaw::Version => "the certificate is older than X.509 version 3 and names no server",
            Flaw::Authority => "the certificate is a CA certificate (CA:TRUE)",
        })
    }
}

impl std::error::Error for Flaw {}

/// Takes a server's certificate where one of those given has issued it, and also where it is one of them:
/// then nobody else need vouch for it, as for curl (X509_V_FLAG_PARTIAL_CHAIN). The library would
/// refuse it if it is an authority's, as those are that `openssl req -x509` makes.
#[derive(Debug)]
pub(super) struct GivenCertificates {
    issued: Arc<WebPkiServerVerifier>,
    given: Vec<CertificateDer<'static>>,
}

impl GivenCertificates {
    pub(super) fn new(
        issued: Arc<WebPkiServerVerifier>,
        given: Vec<CertificateDer<'static>>,
    ) -> GivenCertificates {
        GivenCertificates { issued, given }
    }

    /// Whether it is given itself, and refused for nothing but who has issued it or may be issued by it.
    fn vouches_for(&self, certificate: &CertificateDer<'_>, refusal: &Error) -> bool {
        let by_issuer = match refusal {
            Error::InvalidCertificate(CertificateError::UnknownIssuer) => true,
            Error::InvalidCertificate(CertificateError::Other(_)) => {
                x509::is_authority(certificate)
            }
            _ => false,
        };
        by_issuer && self.given.contains(certificate)
    }
}

/// What else must be right of a certificate that is trusted for itself: the library stopped looking.
fn check_itself(
    certificate: &CertificateDer<'_>,
    name: &ServerName<'_>,
    now: UnixTime,
) -> Result<ServerCertVerified, Error> {
    let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    if x509::not_before(certificate).is_none_or(|first| now < first) {
        return Err(CertificateError::NotValidYet.into());
    }
    if x509::not_after(certificate).is_none_or(|last| now > last) {
        return Err(CertificateError::Expired.into());
    }
    if !x509::is_for_servers(certificate) {
        return Err(CertificateError::InvalidPurpose.into());
    }
    verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
    Ok(ServerCertVerified::assertion())
}

/// The same refusal with its reason, where the library has no word for that.
fn explained(refusal: Error, certificate: &CertificateDer<'_>) -> Error {
    let Error::InvalidCertificate(CertificateError::Other(_)) = refusal else { return refusal };
    let flaw = match x509::version(certificate) {
        Some(1 | 2) => Flaw::Version,
        _ if x509::is_authority(certificate) => Flaw::Authority,
        _ => return refusal,
    };
    CertificateError::Other(OtherError(Arc::new(flaw))).into()
}

impl ServerCertVerifier for GivenCertificates {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match self.issued.verify_server_cert(certificate, between, name, ocsp, now) {
            Ok(verified) => Ok(verified),
            Err(refusal) if self.vouches_for(certificate, &refusal) => {
                check_itself(certificate, name, now)
            }
            Err(refusal) => Err(explained(refusal, certificate)),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.issued.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.issued.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.issued.supported_verify_schemes()
    }
}

/// Takes every chain, as OpenSSL's SSL_VERIFY_NONE does, but has the server prove that the key of
/// its certificate is its own: without that the handshake would cost less than it does.
#[derive(Debug)]
pub(super) struct AcceptAnyCertificate(pub(super) Arc<CryptoProvider>);

impl AcceptAnyCertificate {
    fn algorithms(&self) -> &WebPkiSupportedAlgorithms {
        &self.0.signature_verification_algorithms
    }
}

/// Whether the library would not read a certificate, which is no matter here as long as its key can be
/// read: it may be of version 1, or have extensions that only its owner knows.
fn is_unread(found: &Result<HandshakeSignatureValid, Error>) -> bool {
    matches!(found, Err(Error::InvalidCertificate(wrong)) if *wrong != CertificateError::BadSignature)
}

fn malformed() -> Error {
    CertificateError::BadEncoding.into()
}

impl ServerCertVerifier for AcceptAnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let found = verify_tls12_signature(message, certificate, signed, self.algorithms());
        if !is_unread(&found) {
            return found;
        }
        let key = x509::public_key(certificate).and_then(x509::key_parts);
        let (algorithm, key) = key.ok_or_else(malformed)?;
        let mapping = self.algorithms().mapping;
        let of_scheme = mapping.iter().filter(|(scheme, _)| *scheme == signed.scheme);
        let of_key = of_scheme
            .flat_map(|(_, all)| all.iter())
            .filter(|of| of.public_key_alg_id().as_ref() == algorithm);
        let signature = signed.signature();
        let mut verified = of_key.map(|of| of.verify_signature(key, message, signature).is_ok());
        match verified.any(|good| good) {
            true => Ok(HandshakeSignatureValid::assertion()),
            false => Err(CertificateError::BadSignature.into()),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let found = verify_tls13_signature(message, certificate, signed, self.algorithms());
        if !is_unread(&found) {
            return found;
        }
        let key =
            SubjectPublicKeyInfoDer::from(x509::public_key(certificate).ok_or_else(malformed)?);
        verify_tls13_signature_with_raw_key(message, &key, signed, self.algorithms())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms().supported_schemes()
    }
}
