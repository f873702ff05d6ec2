use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};
use sixmark_plan::plan::tls::{PlanTls, TlsVersion};
use sixmark_wire::x509::rfc3339;

use super::support::{Authority, IPV4, IPV6, NAME, Talk, client, only, server, server_with};

#[test]
fn a_handshake_finishes_once_however_its_bytes_are_split() {
    let authority = Authority::new();
    let server = Arc::new(authority.server());
    for version in [TlsVersion::V12, TlsVersion::V13] {
        let mut client = client(only(version, authority.trusted()));
        for step in [1, 2, 3, 5, 7, 100, 1_000, usize::MAX] {
            for endpoint in [IPV6, IPV4] {
                let mut talk = Talk::new(&mut client, endpoint, &server);
                talk.step = step;
                assert!(talk.session.facts(&mut talk.room).is_none());
                talk.settle().unwrap();
                assert!(talk.progress.finished && !talk.server.is_handshaking());
                assert!(!talk.progress.closed && talk.plain.is_empty());
            }
        }
    }
}

#[test]
fn reports_the_negotiated_parameters() {
    let authority = Authority::new();
    let pair = authority.issue(NAME, |params| params.not_after = rcgen::date_time_ymd(2050, 2, 28));
    let server = Arc::new(server(&pair, rustls::ALL_VERSIONS));
    let mut client = client(PlanTls {
        ciphers: vec!["tls_chacha20_poly1305_sha256".into()],
        groups: vec!["P-256".into()],
        ..authority.trusted()
    });
    let mut talk = Talk::new(&mut client, IPV6, &server);
    talk.settle().unwrap();
    let facts = talk.facts();
    assert_eq!((facts.version, facts.cipher), ("TLSv1.3", "TLS_CHACHA20_POLY1305_SHA256"));
    assert_eq!((facts.group, facts.alpn), (Some("secp256r1"), Some(0)));
    assert_eq!(talk.session.alpn(), Some(&b"http/1.1"[..]));
    assert!(!facts.resumed && !facts.offered && !facts.retried);
    let certificate = facts.certificate.unwrap();
    assert_eq!(certificate.sha256, digest(&SHA256, &pair.certificate).as_ref());
    let end = certificate.not_after.map(rfc3339);
    assert_eq!(end.as_deref(), Some("2050-02-28T00:00:00Z"));
    assert_eq!(talk.facts(), facts, "the second time it is remembered");
}

#[test]
fn negotiates_the_highest_common_tls_version() {
    let authority = Authority::new();
    let pair = authority.issue(NAME, |_| ());
    for (versions, name) in [
        (rustls::ALL_VERSIONS, "TLSv1.3"),
        (&[&rustls::version::TLS12], "TLSv1.2"),
        (&[&rustls::version::TLS13], "TLSv1.3"),
    ] {
        let server = Arc::new(server(&pair, versions));
        let mut talk = Talk::new(&mut client(authority.trusted()), IPV4, &server);
        talk.settle().unwrap();
        assert_eq!(talk.facts().version, name);
    }
}

#[test]
fn reports_a_retry_for_another_key_exchange_group() {
    let authority = Authority::new();
    let mut provider = rustls::crypto::aws_lc_rs::default_provider();
    provider.kx_groups = vec![rustls::crypto::aws_lc_rs::kx_group::SECP384R1];
    let pair = authority.issue(NAME, |_| ());
    let server = Arc::new(server_with(provider, &pair, rustls::ALL_VERSIONS));
    let mut talk = Talk::new(&mut client(authority.trusted()), IPV6, &server);
    talk.settle().unwrap();
    let facts = talk.facts();
    assert_eq!((facts.retried, facts.group), (true, Some("secp384r1")));
}

#[test]
fn sends_the_client_certificate_to_a_server_that_asks_for_it() {
    let authority = Authority::new();
    let server = Arc::new(authority.asking_server());
    let own = authority.issue("client.example", |params| {
        params.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ClientAuth];
    });
    let cert = authority.file("own.pem", &own.pem);
    let key = authority.file("own.key", &own.key.serialize_pem());
    let both = authority.file("both.pem", &(own.pem + &own.key.serialize_pem()));
    for (cert, key) in [(cert, Some(key)), (both, None)] {
        for version in [TlsVersion::V12, TlsVersion::V13] {
            let tls = PlanTls { cert: Some(cert.clone()), key: key.clone(), ..authority.trusted() };
            let mut talk = Talk::new(&mut client(only(version, tls)), IPV6, &server);
            talk.settle().unwrap();
            let shown = talk.server.peer_certificates().unwrap();
            assert_eq!(shown, std::slice::from_ref(&own.certificate));
        }
    }
}

#[test]
fn sends_and_verifies_the_name_given_as_sni() {
    let authority = Authority::new();
    let pair = authority.issue("b.example", |_| ());
    let server = Arc::new(server(&pair, rustls::ALL_VERSIONS));
    let tls = PlanTls { sni: Some("b.example".into()), ..authority.trusted() };
    let mut talk = Talk::new(&mut client(tls), IPV6, &server);
    talk.settle().unwrap();
    assert_eq!(talk.server.server_name(), Some("b.example"));
}

#[test]
fn verifies_a_certificate_for_an_ip_address_without_sending_sni() {
    let authority = Authority::new();
    let pair = authority.issue("::1", |_| ());
    let server = Arc::new(server(&pair, rustls::ALL_VERSIONS));
    let tls = PlanTls { sni: Some("::1".into()), ..authority.trusted() };
    let mut talk = Talk::new(&mut client(tls), IPV6, &server);
    talk.settle().unwrap();
    assert_eq!(talk.server.server_name(), None);
}
