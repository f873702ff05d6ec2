//! The server certificates that a run accepts in addition to the library's rules: those given by
//! the user themselves, and with `--insecure` any.

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

/// Defects for which the library has no error of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    /// A certificate of version 1 or 2.
    Version,
    /// A CA certificate that is not one of those given.
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

/// Accepts a server's certificate if one of the given certificates has issued it, or if it is one
/// of them: then no issuer is needed, as for curl (X509_V_FLAG_PARTIAL_CHAIN). The library alone
/// would refuse it if it is a CA certificate, such as `openssl req -x509` makes.
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

    /// Returns true if the certificate is one of those given, and was refused only because of its
    /// issuer or because it is a CA certificate.
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

/// Makes the remaining checks of a certificate that is trusted itself, at which the library did not
/// arrive.
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

/// Returns the refusal with a more precise reason if the library has none.
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

/// Accepts every chain, as OpenSSL's SSL_VERIFY_NONE does, but requires proof that the server has
/// the key of its certificate: without that, the handshake would cost less than it normally does.
#[derive(Debug)]
pub(super) struct AcceptAnyCertificate(pub(super) Arc<CryptoProvider>);

impl AcceptAnyCertificate {
    fn algorithms(&self) -> &WebPkiSupportedAlgorithms {
        &self.0.signature_verification_algorithms
    }
}

/// Returns true if the library could not parse a certificate. That does not matter here as long as
/// its key can be read: it may be of version 1 or have unknown extensions.
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
