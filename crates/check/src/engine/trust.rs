//! The TLS configuration of a check: a certificate that is not accepted is noted, and the fetch goes on.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use sixmark_sys::command_error::CommandError;
use sixmark_sys::text_file;

/// The certificates that a check trusts.
#[derive(Clone, Debug)]
pub struct TrustedRoots {
    verifier: Arc<WebPkiServerVerifier>,
    provider: Arc<CryptoProvider>,
}

impl TrustedRoots {
    /// Reads the certificates of a PEM file, or those of the system.
    ///
    /// # Errors
    /// The file can't be read or has no certificate; the system trusts none.
    pub fn read(file: Option<&Path>) -> Result<TrustedRoots, CommandError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut roots = RootCertStore::empty();
        match file {
            None => {
                let found = rustls_native_certs::load_native_certs();
                roots.add_parsable_certificates(found.certs);
            }
            Some(file) => {
                let wrong = |why: String| {
                    CommandError::Usage(format!("--cacert '{}': {why}", file.display()))
                };
                let pem = text_file::read_bytes(file).map_err(|error| wrong(error.to_string()))?;
                for found in CertificateDer::pem_slice_iter(&pem) {
                    let found = found.map_err(|error| wrong(format!("not PEM: {error}")))?;
                    roots.add(found).map_err(|error| wrong(error.to_string()))?;
                }
            }
        }
        let build = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone());
        let none = |_| {
            CommandError::Measure(
                "no certificates to trust: install ca-certificates, or use --cacert".to_owned(),
            )
        };
        Ok(TrustedRoots { verifier: build.build().map_err(none)?, provider })
    }

    /// Returns the configuration of one handshake, and where it notes why the certificate is not
    /// accepted. A small ClientHello fits one packet: it offers no post-quantum key exchange.
    pub(super) fn config(
        &self,
        protocols: &[&str],
        is_small: bool,
    ) -> Result<(Arc<ClientConfig>, Arc<NotingVerifier>), Error> {
        let noting = Arc::new(NotingVerifier { roots: self.clone(), refused: Mutex::default() });
        let provider =
            if is_small { Arc::new(self.small_provider()) } else { self.provider.clone() };
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(noting.clone())
            .with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        config.resumption = rustls::client::Resumption::disabled();
        Ok((Arc::new(config), noting))
    }
}

impl TrustedRoots {
    fn small_provider(&self) -> CryptoProvider {
        CryptoProvider {
            kx_groups: vec![aws_lc_rs::kx_group::X25519, aws_lc_rs::kx_group::SECP256R1],
            ..CryptoProvider::clone(&self.provider)
        }
    }
}

/// Accepts any certificate, and notes why it should not.
#[derive(Debug)]
pub(super) struct NotingVerifier {
    roots: TrustedRoots,
    refused: Mutex<Option<String>>,
}

impl NotingVerifier {
    /// Returns why the certificate is not accepted; `None` if it is.
    pub(super) fn refused(&self) -> Option<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ServerCertVerifier for NotingVerifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verifier = &self.roots.verifier;
        if let Err(error) = verifier.verify_server_cert(certificate, between, name, ocsp, now) {
            let why = match error {
                Error::InvalidCertificate(why) => why.to_string(),
                other => other.to_string(),
            };
            *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.roots.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.roots.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.roots.provider.signature_verification_algorithms.supported_schemes()
    }
}
