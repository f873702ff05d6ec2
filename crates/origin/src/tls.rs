//! The certificate of the origin, and its TLS configuration.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::ServerConfig;
use sixmark_sys::text_file;

/// A certificate with its private key.
#[derive(Clone, PartialEq, Eq)]
pub struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: Arc<PrivateKeyDer<'static>>,
    authority: Option<String>,
}

impl fmt::Debug for Identity {
    /// Omits the private key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity of {} certificates", self.chain.len())
    }
}

impl Identity {
    /// Creates a new certificate (ECDSA, P-256) for localhost, the loopback addresses and
    /// `addresses`, signed by a new certificate authority.
    ///
    /// # Errors
    /// Returns one line if key generation or signing fails.
    pub fn made(addresses: &[IpAddr]) -> Result<Identity, String> {
        make(addresses).map_err(|error| format!("can't create a certificate: {error}"))
    }

    /// Reads an identity from two PEM files: a certificate followed by its chain, and its private
    /// key.
    ///
    /// # Errors
    /// Returns one line if a file is unreadable or invalid, or if the key does not belong to the
    /// certificate.
    pub fn read(certificate: &Path, key: &Path) -> Result<Identity, String> {
        let unreadable = |path: &Path, what: &str, why: &dyn fmt::Display| {
            format!("can't read {what} from {}: {why}; expected a PEM file", path.display())
        };
        let wrong = |why: &dyn fmt::Display| unreadable(certificate, "a certificate", why);
        let pem = text_file::read_bytes(certificate).map_err(|error| wrong(&error))?;
        let chain = CertificateDer::pem_slice_iter(&pem).collect::<Result<Vec<_>, _>>();
        let chain = chain.map_err(|error| wrong(&error))?;
        if chain.is_empty() {
            return Err(wrong(&"it contains none"));
        }
        let wrong_key = |why: &dyn fmt::Display| unreadable(key, "a private key", why);
        let pem = text_file::read_bytes(key).map_err(|error| wrong_key(&error))?;
        let secret = PrivateKeyDer::from_pem_slice(&pem).map_err(|error| wrong_key(&error))?;
        let identity = Identity { chain, key: Arc::new(secret), authority: None };
        identity.server(&[]).map_err(|error| {
            format!("can't use {} with {}: {error}", certificate.display(), key.display())
        })?;
        Ok(identity)
    }

    /// Returns the certificate of the new authority in PEM, which clients must trust. Returns
    /// `None` if the certificate was read from a file.
    pub fn authority(&self) -> Option<&str> {
        self.authority.as_deref()
    }

    /// Returns the TLS configuration of a server of these protocols (ALPN), with session tickets
    /// for resumption.
    pub(super) fn server(&self, protocols: &[&[u8]]) -> Result<ServerConfig, rustls::Error> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(self.chain.clone(), self.key.clone_key())?;
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        config.ticketer = aws_lc_rs::Ticketer::new()?;
        Ok(config)
    }
}

fn make(addresses: &[IpAddr]) -> Result<Identity, rcgen::Error> {
    let mut authority = CertificateParams::new(Vec::new())?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    authority.distinguished_name.push(DnType::CommonName, "sixmark origin's authority");
    let signing = KeyPair::generate()?;
    let pem = authority.self_signed(&signing)?.pem();
    let mut own = CertificateParams::new(names_of_addresses(addresses))?;
    own.distinguished_name.push(DnType::CommonName, "sixmark origin");
    let key = KeyPair::generate()?;
    let certificate = own.signed_by(&key, &Issuer::new(authority, signing))?;
    Ok(Identity {
        chain: vec![certificate.der().clone()],
        key: Arc::new(PrivatePkcs8KeyDer::from(key.serialize_der()).into()),
        authority: Some(pem),
    })
}

/// Returns the names for the certificate. Wildcard addresses are omitted.
fn names_of_addresses(addresses: &[IpAddr]) -> Vec<String> {
    let mut all = vec![IpAddr::from(Ipv6Addr::LOCALHOST), Ipv4Addr::LOCALHOST.into()];
    all.extend(addresses.iter().filter(|address| !address.is_unspecified()));
    all.sort_unstable();
    all.dedup();
    let all = all.iter().map(IpAddr::to_string);
    ["localhost".to_owned()].into_iter().chain(all).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcard_and_loopback_addresses_add_no_certificate_name() {
        let listened = ["::", "0.0.0.0", "::1", "192.0.2.1"].map(|one| one.parse().unwrap());
        assert_eq!(names_of_addresses(&listened), ["localhost", "127.0.0.1", "192.0.2.1", "::1"]);
    }

    #[test]
    fn names_the_file_with_an_invalid_certificate_or_key() {
        let dir = tempfile::tempdir().unwrap();
        let [certificate, key] = ["certificate", "key"].map(|name| dir.path().join(name));
        std::fs::write(&certificate, "none").unwrap();
        let error = Identity::read(&certificate, &key).unwrap_err();
        assert!(error.contains(&certificate.display().to_string()), "{error}");
        std::fs::write(&certificate, Identity::made(&[]).unwrap().authority().unwrap()).unwrap();
        let error = Identity::read(&certificate, &key).unwrap_err();
        assert!(error.contains(&key.display().to_string()), "{error}");
    }

    #[test]
    fn a_key_of_another_certificate_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let [certificate, key] = ["certificate", "key"].map(|name| dir.path().join(name));
        std::fs::write(&certificate, Identity::made(&[]).unwrap().authority().unwrap()).unwrap();
        std::fs::write(&key, KeyPair::generate().unwrap().serialize_pem()).unwrap();
        let error = Identity::read(&certificate, &key).unwrap_err();
        assert!(error.contains("can't use"), "{error}");
    }
}
