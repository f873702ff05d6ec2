//! The TLS configuration that all handshakes of a run share. Reads the files that the plan names.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::ServerCertVerifier;
use rustls::client::{ResolvesClientCert, Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use sixmark_plan::plan::Plan;
use sixmark_plan::plan::tls::{Millionths, PlanTls, TlsVersion};
use sixmark_wire::x509;

use super::names;
use super::verifier::{AcceptAnyCertificate, GivenCertificates};
use sixmark_sys::command_error::CommandError;
use sixmark_sys::text_file;

/// The TLS configuration that all handshakes of a run share. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The configuration without resumption.
    pub(super) config: Arc<ClientConfig>,
    pub(super) resume: Millionths,
    /// The server names of the plan's targets, in their order. `None` for targets without TLS.
    pub(super) names: Arc<[Option<ServerName<'static>>]>,
}

impl Setup {
    /// Reads and checks everything that the plan says about TLS. `None` if it has no `https://`
    /// target. The error is one line: a file can't be read or has the wrong content, a name is
    /// unknown, or the key belongs to another certificate.
    pub fn new(plan: &Plan) -> Result<Option<Setup>, CommandError> {
        let Some(tls) = &plan.tls else { return Ok(None) };
        let named = |target: &sixmark_plan::plan::Target| {
            target.server_name.as_deref().map(server_name).transpose()
        };
        let names = plan.targets.iter().map(named).collect::<Result<_, _>>()?;
        Ok(Some(Setup { config: Arc::new(config(tls)?), resume: tls.resume, names }))
    }
}

fn server_name(text: &str) -> Result<ServerName<'static>, CommandError> {
    ServerName::try_from(text.to_owned()).map_err(|_| {
        usage(format!("'{text}' can't be a name in a certificate; give one with --sni"))
    })
}

fn config(tls: &PlanTls) -> Result<ClientConfig, CommandError> {
    let provider = Arc::new(provider(tls)?);
    let verifier = verifier(tls, &provider)?;
    let built = ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(versions(tls.version))
        .map_err(|error| usage(format!("--tls, --ciphers, --groups: {error}")))?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let mut config = match &tls.cert {
        Some(file) => built.with_client_cert_resolver(own_certificate(file, tls, &provider)?),
        None => built.with_no_client_auth(),
    };
    config.alpn_protocols = tls.alpn.iter().map(|name| name.clone().into_bytes()).collect();
    config.resumption = Resumption::disabled();
    config.enable_early_data = tls.early_data;
    Ok(config)
}

/// Returns the provider with the suites and groups of the plan. Suites of versions that are not
/// used are removed, and it is an error if none remains.
fn provider(tls: &PlanTls) -> Result<CryptoProvider, CommandError> {
    let mut provider = aws_lc_rs::default_provider();
    if !tls.ciphers.is_empty() {
        provider.cipher_suites = names::ciphers(&tls.ciphers).map_err(CommandError::Usage)?;
    }
    if !tls.groups.is_empty() {
        provider.kx_groups = names::groups(&tls.groups).map_err(CommandError::Usage)?;
    }
    let spoken = versions(tls.version);
    provider.cipher_suites.retain(|suite| spoken.contains(&suite.version()));
    if provider.cipher_suites.is_empty() {
        Err(usage(format!("--ciphers: no suite of {}", name_of_version(tls.version))))
    } else {
        Ok(provider)
    }
}

static BOTH: [&SupportedProtocolVersion; 2] = [&TLS13, &TLS12];

fn name_of_version(only: Option<TlsVersion>) -> &'static str {
    match only {
        None => "TLS 1.2 or 1.3",
        Some(TlsVersion::V13) => "TLS 1.3, which --tls or --http3 asks for",
        Some(TlsVersion::V12) => "TLS 1.2, which --tls asks for",
    }
}

fn versions(only: Option<TlsVersion>) -> &'static [&'static SupportedProtocolVersion] {
    match only {
        None => &BOTH,
        Some(TlsVersion::V13) => &BOTH[..1],
        Some(TlsVersion::V12) => &BOTH[1..],
    }
}

fn verifier(
    tls: &PlanTls,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, CommandError> {
    if tls.insecure {
        return Ok(Arc::new(AcceptAnyCertificate(provider.clone())));
    }
    let given = match &tls.cacert {
        Some(file) => certificates("--cacert", file)?,
        None => Vec::new(),
    };
    let roots = match &tls.cacert {
        Some(file) => roots_of(file, &given)?,
        None => system_roots()?,
    };
    let built = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone());
    let issued = built.build().map_err(|error| usage(format!("--cacert: {error}")))?;
    Ok(Arc::new(GivenCertificates::new(issued, given)))
}

fn roots_of(file: &str, given: &[CertificateDer<'static>]) -> Result<RootCertStore, CommandError> {
    let mut roots = RootCertStore::empty();
    for certificate in given {
        let wrong =
            |error| usage(format!("--cacert '{file}': a certificate is malformed: {error}"));
        roots.add(certificate.clone()).map_err(wrong)?;
    }
    Ok(roots)
}

/// Returns the system's certificates that can be parsed. Some may be too old for that.
fn system_roots() -> Result<RootCertStore, CommandError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        Err(CommandError::Measure(
            "this host trusts no certificates at all: install ca-certificates, or use --cacert or \
             --insecure"
                .into(),
        ))
    } else {
        Ok(roots)
    }
}

fn own_certificate(
    file: &str,
    tls: &PlanTls,
    provider: &CryptoProvider,
) -> Result<Arc<dyn ResolvesClientCert>, CommandError> {
    let chain = certificates("--cert", file)?;
    let (option, key_file) = tls.key.as_deref().map_or(("--cert", file), |key| ("--key", key));
    let pem = read_file(option, key_file)?;
    let key = PrivateKeyDer::from_pem_slice(&pem).map_err(|_| {
        let hint = if option == "--cert" { "; give its file with --key" } else { "" };
        usage(format!("{option} '{key_file}': no private key in it, or an encrypted one{hint}"))
    })?;
    let key = provider.key_provider.load_private_key(key);
    let key =
        key.map_err(|error| usage(format!("{option} '{key_file}': can't be used: {error}")))?;
    // The library can't parse certificates of version 1, which servers may accept, so this reads
    // the key itself.
    let public = chain.first().and_then(|own| x509::public_key(own));
    let public = public.ok_or_else(|| {
        usage(format!("--cert '{file}': a certificate is malformed: no public key is found in it"))
    })?;
    if key.public_key().is_some_and(|own| *own != *public) {
        let line = format!("{option} '{key_file}': not the key of the certificate in '{file}'");
        return Err(usage(line));
    }
    Ok(Arc::new(SingleCertAndKey::from(CertifiedKey::new(chain, key))))
}

/// Reads at least one certificate.
fn certificates(option: &str, file: &str) -> Result<Vec<CertificateDer<'static>>, CommandError> {
    let pem = read_file(option, file)?;
    let found = CertificateDer::pem_slice_iter(&pem).collect::<Result<Vec<_>, _>>();
    let found = found.map_err(|error| usage(format!("{option} '{file}': not PEM: {error}")))?;
    if found.is_empty() {
        Err(usage(format!("{option} '{file}': no certificate in it; give it in PEM")))
    } else {
        Ok(found)
    }
}

fn read_file(option: &str, file: &str) -> Result<Vec<u8>, CommandError> {
    text_file::read_bytes(Path::new(file))
        .map_err(|error| usage(format!("can't read {option} '{file}': {error}")))
}

fn usage(line: String) -> CommandError {
    CommandError::Usage(line)
}
