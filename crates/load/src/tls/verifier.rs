//! The server certificates that a run accepts in addition to the library's rules: those given by
//! the user themselves, and with `--insecure` any.

use std::sync::Arc;
use std::time::Duration;

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

use super::flaw::{Flaw, LEAST_RSA};
use super::refusal::is_of_authority;

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
            Error::InvalidCertificate(wrong) => is_of_authority(wrong),
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
    check_dates(certificate, now)?;
    if !x509::is_for_servers(certificate) {
        return Err(CertificateError::InvalidPurpose.into());
    }
    verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
    Ok(ServerCertVerified::assertion())
}

fn check_dates(certificate: &CertificateDer<'_>, time: UnixTime) -> Result<(), CertificateError> {
    let now = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    let (first, last) = (x509::not_before(certificate), x509::not_after(certificate));
    if first.is_none_or(|first| now < first) {
        let not_yet = |not_before| CertificateError::NotValidYetContext { time, not_before };
        return Err(unix(first).map_or(CertificateError::NotValidYet, not_yet));
    }
    if last.is_none_or(|last| now > last) {
        let expired = |not_after| CertificateError::ExpiredContext { time, not_after };
        return Err(unix(last).map_or(CertificateError::Expired, expired));
    }
    Ok(())
}

/// Returns a time that the library can express: not before 1970.
fn unix(seconds: Option<i64>) -> Option<UnixTime> {
    let seconds = u64::try_from(seconds?).ok()?;
    Some(UnixTime::since_unix_epoch(Duration::from_secs(seconds)))
}

/// Returns the refusal with a more precise reason if the library has none. `chain` are the
/// certificates whose keys were used.
fn explained<'a>(
    refusal: Error,
    certificate: &CertificateDer<'_>,
    mut chain: impl Iterator<Item = &'a CertificateDer<'a>>,
) -> Error {
    let flaw = match refusal {
        Error::InvalidCertificate(CertificateError::Other(_))
            if matches!(x509::version(certificate), Some(1 | 2)) =>
        {
            Flaw::Version
        }
        Error::InvalidCertificate(CertificateError::BadSignature)
            if chain.any(|one| x509::rsa_bits(one).is_some_and(|bits| bits < LEAST_RSA)) =>
        {
            Flaw::KeySize
        }
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
            Err(refusal) => Err(explained(refusal, certificate, between.iter())),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let verified = self.issued.verify_tls12_signature(message, certificate, signed);
        verified.map_err(|refusal| explained(refusal, certificate, [certificate].into_iter()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let verified = self.issued.verify_tls13_signature(message, certificate, signed);
        verified.map_err(|refusal| explained(refusal, certificate, [certificate].into_iter()))
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
        if verified.any(|good| good) {
            Ok(HandshakeSignatureValid::assertion())
        } else {
            Err(CertificateError::BadSignature.into())
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
