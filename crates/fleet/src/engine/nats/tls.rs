//! TLS to a server whose certificate is for the name that the user wrote.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use super::address::{NatsAddress, ServerHost};

/// Checks a server's certificate for one name, whatever the connection was opened to.
///
/// async-nats derives the name from the address to which it connects. That is an IP address here,
/// because the race chose it (see `race`). The name that the user wrote must stand in the
/// certificate nevertheless.
#[derive(Debug)]
struct NamedServer {
    name: ServerName<'static>,
    inner: Arc<WebPkiServerVerifier>,
}

impl ServerCertVerifier for NamedServer {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        self.inner.verify_server_cert(end_entity, intermediates, &self.name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.inner.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.inner.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}

/// Returns the configuration of TLS to a server: its certificate must be signed by `authority`
/// (PEM), or by an authority that this machine knows if there is none.
pub(super) fn configure_tls(
    server: &NatsAddress,
    authority: Option<&str>,
) -> Result<ClientConfig, String> {
    let name = match &server.host {
        ServerHost::Address(address) => ServerName::from(*address),
        ServerHost::Name(name) => ServerName::try_from(name.clone())
            .map_err(|_| format!("'{name}' can't be the name in a certificate"))?,
    };
    let provider = Arc::new(aws_lc_rs::default_provider());
    let roots = Arc::new(roots(authority)?);
    let inner = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider)).build();
    let inner = inner.map_err(|error| format!("no authority to check certificates: {error}"))?;
    build(provider, NamedServer { name, inner }).map_err(|error| format!("TLS: {error}"))
}

fn build(
    provider: Arc<CryptoProvider>,
    verifier: NamedServer,
) -> Result<ClientConfig, rustls::Error> {
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
    Ok(builder.with_no_client_auth())
}

fn roots(authority: Option<&str>) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    match authority {
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        Some(pem) => {
            for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
                let certificate = certificate.map_err(|error| error.to_string())?;
                roots.add(certificate).map_err(|error| error.to_string())?;
            }
        }
    }
    Ok(roots)
}
