//! Certificates of clients: a server that demands one.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, Stream};
use serde_json::json as value;
use sixmark_testkit::authority::Authority;
use sixmark_testkit::{Raw, complaint, json, sixmark};

use super::{assert_normal, both};

/// Answers one request on each connection, whose client it knows.
fn serve(mut stream: TcpStream, config: &Arc<ServerConfig>) {
    let mut tls = ServerConnection::new(Arc::clone(config)).unwrap();
    let mut stream = Stream::new(&mut tls, &mut stream);
    let mut head = Vec::new();
    let mut piece = [0; 1_024];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut piece) {
            Ok(some) if some > 0 => head.extend_from_slice(&piece[..some]),
            _ => return,
        }
    }
    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    // Until the client goes: an end without close_notify would be an end all the same.
    while stream.read(&mut piece).is_ok_and(|some| some > 0) {}
}

fn demanding(authority: &Authority) -> Raw {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut roots = RootCertStore::empty();
    let paper = authority.issue(&["::1", "127.0.0.1"]);
    let (chain, key) = paper.der();
    let own = CertificateDer::from_pem_slice(authority.pem.as_bytes()).unwrap();
    roots.add(own).unwrap();
    let clients =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(clients.build().unwrap())
        .with_single_cert(chain, key)
        .unwrap();
    let config = Arc::new(config);
    Raw::start(move |stream| serve(stream, &config))
}

#[test]
fn reports_the_alert_of_a_server_that_requires_a_client_certificate() {
    let authority = Authority::create();
    let folder = tempfile::tempdir().unwrap();
    let [certificate, key] = authority.issue(&["client.test"]).write(folder.path(), "client");
    let [wrong, wrong_key] =
        Authority::create().issue(&["client.test"]).write(folder.path(), "wrong");
    let ca = folder.path().join("ca.pem");
    std::fs::write(&ca, &authority.pem).unwrap();
    let server = demanding(&authority);
    let [v6, v4] = server.urls("https");
    for version in ["1.2", "1.3"] {
        let load = ["-n", "8", "-c", "2", "--no-keep-alive", "--tls", version];
        let run = |options: &[&str]| {
            let trust = ["--cacert", ca.to_str().unwrap()];
            json(&[&load[..], &trust, options, &[&v6, &v4]].concat())
        };
        assert_normal(&run(&["--cert", &certificate, "--key", &key]), 4);
        // certificate_required; decrypt_error, since the other authority has the same name.
        for (options, alert) in [(&[][..], 116), (&["--cert", &wrong, "--key", &wrong_key], 51)] {
            let result = run(options);
            for figures in both(&result) {
                assert_eq!(figures["outcomes"]["TLS"], 4, "{version} {figures}");
                let expected = value!([{"reason": "alert", "alert": alert, "count": 4}]);
                assert_eq!(figures["tls"]["failures"], expected, "{version}");
            }
        }
    }
}

#[test]
fn rejects_a_client_certificate_and_key_that_do_not_match() {
    let authority = Authority::create();
    let folder = tempfile::tempdir().unwrap();
    let [certificate, key] = authority.issue(&["a.test"]).write(folder.path(), "a");
    let [_, other] = authority.issue(&["b.test"]).write(folder.path(), "b");
    for options in [
        &["--cert", &certificate, "--key", &other][..],
        &["--cert", &certificate],
        &["--cert", &key, "--key", &key],
        &["--cacert", &key],
    ] {
        let line = complaint(
            &sixmark(&[&["run", "-n", "1"], options, &["https://127.0.0.1:1/"]].concat()),
            2,
        );
        assert!(line.contains(".pem"), "{line}");
    }
}
