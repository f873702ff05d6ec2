//! A certificate authority, a server in memory, and an exchange of data between it and a session.

use sixmark_plan::fixture;
use std::io::{Read as _, Write as _};
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, SupportedProtocolVersion};
use sixmark_plan::plan::Plan;
use sixmark_plan::plan::tls::{PlanTls, TlsVersion};
use sixmark_tally::tls::Facts;
use tempfile::TempDir;

use crate::tls::{Client, Failure, Progress, Room, Session, Setup};

/// The name in the valid certificate.
pub(super) const NAME: &str = "a.example";
/// Endpoint numbers of [`plan`]: the one address of each family.
pub(super) const IPV6: usize = 0;
pub(super) const IPV4: usize = 1;

/// A certificate authority, and a folder with its certificate.
pub(super) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    pub(super) folder: TempDir,
}

/// A certificate and its key.
pub(super) struct Pair {
    pub(super) certificate: CertificateDer<'static>,
    pub(super) pem: String,
    pub(super) key: KeyPair,
}

impl Authority {
    pub(super) fn new() -> Authority {
        Authority::named("good")
    }

    /// Creates an authority with this name, which distinguishes it from others.
    pub(super) fn named(name: &str) -> Authority {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let authority = Authority { issuer, folder: tempfile::tempdir().unwrap() };
        authority.file("ca.pem", &authority.issuer.pem());
        authority
    }

    /// Writes a file and returns its path.
    pub(super) fn file(&self, name: &str, content: &str) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub(super) fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    /// Issues a certificate for `name`, changed by `change`.
    pub(super) fn issue(&self, name: &str, change: impl FnOnce(&mut CertificateParams)) -> Pair {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Pair { certificate: certificate.der().clone(), pem: certificate.pem(), key }
    }

    /// Issues a certificate for an authority of this name, changed by `change`.
    pub(super) fn issue_authority(
        &self,
        name: &str,
        change: impl FnOnce(&mut CertificateParams),
    ) -> Authority {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let issuer = CertifiedIssuer::signed_by(params, key, &self.issuer).unwrap();
        Authority { issuer, folder: tempfile::tempdir().unwrap() }
    }

    /// Returns its certificate.
    pub(super) fn certificate(&self) -> CertificateDer<'static> {
        self.issuer.der().clone()
    }

    /// Returns the TLS part of a plan that trusts this authority.
    pub(super) fn trusted(&self) -> PlanTls {
        PlanTls {
            cacert: Some(self.path("ca.pem")),
            alpn: vec!["http/1.1".into()],
            ..PlanTls::default()
        }
    }

    /// Returns the TLS part of a plan that trusts this certificate instead.
    pub(super) fn trusting(&self, pair: &Pair) -> PlanTls {
        PlanTls { cacert: Some(self.file("given.pem", &pair.pem)), ..self.trusted() }
    }

    /// Returns a server with a valid certificate.
    pub(super) fn server(&self) -> ServerConfig {
        server(&self.issue(NAME, |_| ()), rustls::ALL_VERSIONS)
    }

    /// Returns a server with a valid certificate that requests client certificates.
    pub(super) fn asking_server(&self) -> ServerConfig {
        let mut roots = RootCertStore::empty();
        roots.add(self.issuer.der().clone()).unwrap();
        let provider = Arc::new(aws_lc_rs::default_provider());
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone());
        let pair = self.issue(NAME, |_| ());
        ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(verifier.build().unwrap())
            .with_single_cert(vec![pair.certificate], key_of(&pair.key))
            .unwrap()
    }
}

pub(super) fn server(pair: &Pair, versions: &[&'static SupportedProtocolVersion]) -> ServerConfig {
    server_with(aws_lc_rs::default_provider(), pair, versions)
}

/// Returns a server with a certificate that its library would refuse.
pub(super) fn showing(chain: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'_>) -> ServerConfig {
    let key = aws_lc_rs::sign::any_supported_type(&key).unwrap();
    let shown = rustls::sign::CertifiedKey::new(chain, key);
    let mut config = Authority::new().server();
    config.cert_resolver = Arc::new(rustls::sign::SingleCertAndKey::from(shown));
    config
}

/// Returns a certificate for `name`, signed by its own key and changed by `change`.
pub(super) fn self_signed(name: &str, change: impl FnOnce(&mut CertificateParams)) -> Pair {
    let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    change(&mut params);
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    Pair { certificate: certificate.der().clone(), pem: certificate.pem(), key }
}

pub(super) fn server_with(
    provider: CryptoProvider,
    pair: &Pair,
    versions: &[&'static SupportedProtocolVersion],
) -> ServerConfig {
    let mut config = ServerConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(versions)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![pair.certificate.clone()], key_of(&pair.key))
        .unwrap();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config
}

pub(super) fn key_of(key: &KeyPair) -> PrivateKeyDer<'static> {
    PrivateKeyDer::try_from(key.serialize_der()).unwrap()
}

/// Returns a plan with one address of each family.
pub(crate) fn plan(tls: PlanTls) -> Plan {
    fixture::secure_plan(tls)
}

pub(super) fn client(tls: PlanTls) -> Client {
    let plan = plan(tls);
    Client::new(&Setup::new(&plan).unwrap().unwrap(), &plan, 0)
}

pub(super) fn only(version: TlsVersion, tls: PlanTls) -> PlanTls {
    PlanTls { version: Some(version), ..tls }
}

/// A session and the server with which it talks.
pub(super) struct Talk {
    pub(super) session: Box<Session>,
    pub(super) server: ServerConnection,
    pub(super) room: Room,
    /// What the session has decrypted.
    pub(super) plain: Vec<u8>,
    /// What the server has decrypted.
    heard: Vec<u8>,
    /// The data that the session wants to send.
    pub(super) out: Vec<u8>,
    /// The result of all data fed so far.
    pub(super) progress: Progress,
    /// Maximum number of bytes that the session is fed at once.
    pub(super) step: usize,
}

impl Talk {
    pub(super) fn new(client: &mut Client, endpoint: usize, server: &Arc<ServerConfig>) -> Talk {
        let mut talk = Talk {
            session: client.session(endpoint).unwrap().unwrap(),
            server: ServerConnection::new(server.clone()).unwrap(),
            room: Room::default(),
            plain: Vec::new(),
            heard: Vec::new(),
            out: Vec::new(),
            progress: Progress::default(),
            step: usize::MAX,
        };
        talk.session.start(&mut talk.room, &mut talk.out).unwrap();
        talk
    }

    /// Passes the session's data to the server. If the server finds an error, it tells the session
    /// with an alert.
    pub(super) fn deliver(&mut self) {
        let sent = std::mem::take(&mut self.out);
        let mut rest = &sent[..];
        while !rest.is_empty() {
            self.server.read_tls(&mut rest).unwrap();
            if self.server.process_new_packets().is_err() {
                return;
            }
            self.hear();
        }
    }

    /// Returns the data that the server wants to send.
    pub(super) fn answer(&mut self) -> Vec<u8> {
        let mut wire = Vec::new();
        while self.server.wants_write() {
            self.server.write_tls(&mut wire).unwrap();
        }
        wire
    }

    /// Feeds the session in steps.
    pub(super) fn feed(&mut self, wire: &[u8]) -> Result<(), Failure> {
        for part in wire.chunks(self.step.min(wire.len()).max(1)) {
            let Talk { session, room, plain, out, .. } = self;
            let progress = session.feed(part, room, plain, out)?;
            assert!(!(progress.finished && self.progress.finished), "finished twice");
            self.progress.finished |= progress.finished;
            self.progress.closed |= progress.closed;
        }
        Ok(())
    }

    /// Passes data in both directions until neither side has anything to send.
    pub(super) fn settle(&mut self) -> Result<(), Failure> {
        loop {
            self.deliver();
            let wire = self.answer();
            if wire.is_empty() && self.out.is_empty() {
                return Ok(());
            }
            self.feed(&wire)?;
        }
    }

    pub(super) fn facts(&mut self) -> Facts {
        self.session.facts(&mut self.room).unwrap()
    }

    pub(super) fn write(&mut self, parts: [&[u8]; 2]) {
        self.session.write(parts, &mut self.room, &mut self.out).unwrap();
    }

    /// Returns the data that the server has decrypted.
    pub(super) fn received(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.heard)
    }

    fn hear(&mut self) {
        let mut part = [0; 4096];
        while let Ok(n @ 1..) = self.server.reader().read(&mut part) {
            self.heard.extend_from_slice(&part[..n]);
        }
    }

    pub(super) fn say(&mut self, bytes: &[u8]) {
        self.server.writer().write_all(bytes).unwrap();
    }
}
