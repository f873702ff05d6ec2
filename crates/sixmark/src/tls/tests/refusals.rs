use std::sync::Arc;

use rcgen::date_time_ymd;
use rustls::ServerConfig;
use sixmark_core::plan::tls::{Tls, Version};
use sixmark_core::tls::{Cause, Reason};

use super::support::{Authority, IPV6, NAME, Talk, client, only, server};
use crate::tls::Failure;

fn failure(tls: Tls, server: ServerConfig) -> (Failure, Talk) {
    let mut talk = Talk::new(&mut client(tls), IPV6, &Arc::new(server));
    let failure = talk.settle().unwrap_err();
    let line = failure.to_string();
    assert!(!line.is_empty() && !line.contains('\n'), "{line}");
    (failure, talk)
}

/// What the client does not accept, and what the server hears of it.
#[test]
fn a_wrong_certificate_is_refused_by_its_kind_and_with_an_alert() {
    let (authority, other) = (Authority::new(), Authority::named("other"));
    let issue = |name, from, to| {
        authority.issue(name, |params| (params.not_before, params.not_after) = (from, to))
    };
    let [y2001, y2002, y4001] = [2001, 2002, 4001].map(|year| date_time_ymd(year, 1, 1));
    for version in [Version::V12, Version::V13] {
        for (pair, reason, alert) in [
            (issue(NAME, y2001, y2002), Reason::CertificateDate, 45),
            (issue(NAME, y4001, y4001), Reason::CertificateDate, 45),
            (issue("b.example", y2001, y4001), Reason::CertificateName, 42),
            (other.issue(NAME, |_| ()), Reason::CertificateIssuer, 48),
        ] {
            let tls = only(version, authority.trusted());
            let (failure, mut talk) = failure(tls, server(&pair, rustls::ALL_VERSIONS));
            assert_eq!(failure.cause, Cause { reason, alert: Some(alert) }, "{failure}");
            let heard = heard_by_server(&mut talk);
            assert!(heard.contains("received fatal alert"), "{heard}");
            assert!(talk.session.facts(&mut talk.room).is_none());
        }
    }
}

fn heard_by_server(talk: &mut Talk) -> String {
    let sent = std::mem::take(&mut talk.out);
    assert!(!sent.is_empty());
    talk.server.read_tls(&mut &sent[..]).unwrap();
    talk.server.process_new_packets().unwrap_err().to_string()
}

#[test]
fn any_certificate_will_do_where_that_is_asked_for() {
    let (authority, other) = (Authority::new(), Authority::named("other"));
    let past = |params: &mut rcgen::CertificateParams| params.not_after = date_time_ymd(2001, 1, 1);
    let expired = authority.issue("b.example", past);
    for version in [Version::V12, Version::V13] {
        for pair in [&other.issue(NAME, |_| ()), &expired] {
            let tls = only(version, Tls { insecure: true, ..Tls::default() });
            let server = Arc::new(server(pair, rustls::ALL_VERSIONS));
            let mut talk = Talk::new(&mut client(tls), IPV6, &server);
            talk.settle().unwrap();
            assert!(talk.progress.finished);
        }
    }
}

/// The server's certificate is public: whoever shows it has yet to prove that the key is his.
#[test]
fn another_ones_certificate_is_refused_even_then() {
    let authority = Authority::new();
    let (pair, thief) = (authority.issue(NAME, |_| ()), authority.issue(NAME, |_| ()));
    for version in [Version::V12, Version::V13] {
        let key = rustls::pki_types::PrivateKeyDer::try_from(thief.key.serialize_der()).unwrap();
        let key = rustls::crypto::aws_lc_rs::sign::any_supported_type(&key).unwrap();
        let shown = rustls::sign::CertifiedKey::new(vec![pair.certificate.clone()], key);
        let mut config = authority.server();
        config.cert_resolver = Arc::new(rustls::sign::SingleCertAndKey::from(shown));
        let tls = only(version, Tls { insecure: true, ..authority.trusted() });
        let (failure, _) = failure(tls, config);
        assert_eq!(failure.cause.reason, Reason::Certificate, "{failure}");
    }
}

#[test]
fn an_alert_of_the_server_is_told_by_its_number() {
    let authority = Authority::new();
    // No protocol in common: no_application_protocol.
    let tls = Tls { alpn: vec!["h2".into()], ..authority.trusted() };
    let (failure_, _) = failure(tls, authority.server());
    assert_eq!(failure_.cause, Cause { reason: Reason::Alert, alert: Some(120) });
    assert!(failure_.to_string().contains("120"), "{failure_}");
    // A certificate asked for and none shown: in TLS 1.3 that comes when the handshake is over.
    let tls = only(Version::V13, authority.trusted());
    let (failure_, talk) = failure(tls, authority.asking_server());
    assert_eq!(failure_.cause, Cause { reason: Reason::Alert, alert: Some(116) });
    assert!(talk.progress.finished);
    let (failure_, talk) =
        failure(only(Version::V12, authority.trusted()), authority.asking_server());
    assert_eq!(failure_.cause.reason, Reason::Alert, "{failure_}");
    assert!(!talk.progress.finished);
}

#[test]
fn a_server_without_a_version_in_common_is_told() {
    let authority = Authority::new();
    let pair = authority.issue(NAME, |_| ());
    let old = server(&pair, &[&rustls::version::TLS12]);
    let (failure, _) = failure(only(Version::V13, authority.trusted()), old);
    assert_eq!(failure.cause, Cause { reason: Reason::Alert, alert: Some(70) });
}
