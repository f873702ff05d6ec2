//! The certificate of a lab's site, and its authority, which clients are made to trust.

use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    PublicKeyData as _,
};
use sha2::{Digest as _, Sha256};
use sixmark_sys::command_error::CommandError;

use crate::case_lab::{SITE, ServedSite};

/// The variables by which programs learn of a file with authorities: OpenSSL and Go, curl, Python's
/// requests, Node.
pub(super) const AUTHORITY_VARIABLES: [&str; 4] =
    ["SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"];

/// A new identity of the site.
#[derive(Debug)]
pub struct SiteIdentity {
    certificate: String,
    key: String,
    authority: String,
    /// SHA-256 of the certificate.
    fingerprint: [u8; 32],
    /// SHA-256 of its public key, in Base64 (RFC 7469, 2.4).
    public_key_hash: String,
}

impl SiteIdentity {
    /// Makes an identity that is valid as long as clients accept.
    ///
    /// # Errors
    /// Returns an error if keys can't be made.
    pub fn make() -> Result<SiteIdentity, CommandError> {
        make_identity()
            .map_err(|error| CommandError::Measure(format!("the lab's certificate: {error}")))
    }

    /// Returns the site that has this identity.
    pub fn site(&self) -> ServedSite<'_> {
        ServedSite::Secure { certificate: &self.certificate, key: &self.key }
    }

    /// Returns the hash of the public key by which Chromium is made to trust it.
    pub(super) fn public_key_hash(&self) -> &str {
        &self.public_key_hash
    }

    /// Returns the line of a Firefox profile's `cert_override.txt` that makes it trust the certificate.
    pub(super) fn firefox_override(&self, port: u16) -> String {
        let hexes: Vec<String> = self.fingerprint.iter().map(|of| format!("{of:02X}")).collect();
        // The object identifier is that of SHA-256 (RFC 5754, 2.2).
        format!("{SITE}:{port}:\tOID.2.16.840.1.101.3.4.2.1\t{}\t\n", hexes.join(":"))
    }

    /// Writes the authority's certificate to a folder. Returns the file.
    ///
    /// # Errors
    /// Returns an error if the file can't be written.
    pub(super) fn write_authority(&self, folder: &Path) -> io::Result<PathBuf> {
        let file = folder.join("authority.pem");
        std::fs::write(&file, &self.authority)?;
        Ok(file)
    }
}

fn make_identity() -> Result<SiteIdentity, rcgen::Error> {
    let mut authority = CertificateParams::new(Vec::new())?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    authority.distinguished_name.push(DnType::CommonName, "sixmark eyes");
    let signing = KeyPair::generate()?;
    let authority_pem = authority.self_signed(&signing)?.pem();
    let own = CertificateParams::new(vec![SITE.to_owned()])?;
    let key = KeyPair::generate()?;
    let certificate = own.signed_by(&key, &Issuer::new(authority, signing))?;
    let public_key = Sha256::digest(key.subject_public_key_info());
    Ok(SiteIdentity {
        certificate: certificate.pem(),
        key: key.serialize_pem(),
        authority: authority_pem,
        fingerprint: Sha256::digest(certificate.der()).into(),
        public_key_hash: STANDARD.encode(public_key),
    })
}
