//! A certificate authority that signs the certificates of tests.

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// A certificate authority.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// Its own certificate, as PEM.
    pub pem: String,
}

/// A certificate and its private key, as PEM.
pub struct Paper {
    /// The certificate.
    pub certificate: String,
    /// The private key.
    pub key: String,
}

impl Authority {
    /// Creates an authority with a new key.
    pub fn create() -> Authority {
        let mut own = CertificateParams::new(Vec::new()).unwrap();
        own.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        own.distinguished_name.push(DnType::CommonName, "the tests' authority");
        let key = KeyPair::generate().unwrap();
        let pem = own.self_signed(&key).unwrap().pem();
        Authority { issuer: Issuer::new(own, key), pem }
    }

    /// Issues a certificate for these names.
    pub fn issue(&self, names: &[&str]) -> Paper {
        self.issue_until(names, 4096)
    }

    /// Issues a certificate for these names that is valid until the beginning of this year.
    pub fn issue_until(&self, names: &[&str], year: i32) -> Paper {
        let names: Vec<_> = names.iter().map(|&name| name.to_owned()).collect();
        let mut own = CertificateParams::new(names).unwrap();
        own.not_after = rcgen::date_time_ymd(year, 1, 1);
        let key = KeyPair::generate().unwrap();
        let certificate = own.signed_by(&key, &self.issuer).unwrap().pem();
        Paper { certificate, key: key.serialize_pem() }
    }
}

impl Paper {
    /// Returns the certificate chain and the key in the form of rustls.
    pub fn der(&self) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
        let certificate = CertificateDer::from_pem_slice(self.certificate.as_bytes()).unwrap();
        (vec![certificate], PrivateKeyDer::from_pem_slice(self.key.as_bytes()).unwrap())
    }

    /// Writes the certificate and the key to files in this folder whose names begin with `name`.
    /// Returns their paths.
    pub fn write(&self, folder: &std::path::Path, name: &str) -> [String; 2] {
        [("certificate", &self.certificate), ("key", &self.key)].map(|(what, text)| {
            let path = folder.join(format!("{name}.{what}.pem"));
            std::fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        })
    }
}
