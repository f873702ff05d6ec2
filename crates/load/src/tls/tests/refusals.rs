use std::sync::Arc;

use rcgen::{CertificateParams, ExtendedKeyUsagePurpose, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use sixmark_plan::plan::tls::{PlanTls, TlsVersion};
use sixmark_tally::tls::{Cause, Reason};

use super::support::{
    Authority, IPV6, NAME, Pair, Talk, client, key_of, only, self_signed, server, showing,
};
use crate::tls::Failure;

fn failure(tls: PlanTls, server: ServerConfig) -> (Failure, Talk) {
    let mut talk = Talk::new(&mut client(tls), IPV6, &Arc::new(server));
    let failure = talk.settle().unwrap_err();
    let line = failure.to_string();
    assert!(!line.is_empty() && !line.contains('\n'), "{line}");
    (failure, talk)
}

/// 2002-01-01 and 4001-01-01, in seconds since 1970 UTC.
const SECOND_OF_2002: i64 = 1_009_843_200;
const SECOND_OF_4001: i64 = 64_092_211_200;

/// What the client does not accept, and the alert that the server receives.
#[test]
fn rejects_a_wrong_certificate_with_its_reason_and_an_alert() {
    let (authority, other) = (Authority::new(), Authority::named("other"));
    let issue = |name, from, to| {
        authority.issue(name, |params| (params.not_before, params.not_after) = (from, to))
    };
    let [y2001, y2002, y4001] = [2001, 2002, 4001].map(|year| date_time_ymd(year, 1, 1));
    for version in [TlsVersion::V12, TlsVersion::V13] {
        for (pair, reason, alert, [expired, early]) in [
            (issue(NAME, y2001, y2002), Reason::CertificateDate, 45, [true, false]),
            (issue(NAME, y4001, y4001), Reason::CertificateDate, 45, [false, true]),
            (issue("b.example", y2001, y4001), Reason::CertificateName, 42, [false, false]),
            (other.issue(NAME, |_| ()), Reason::CertificateIssuer, 48, [false, false]),
        ] {
            let tls = only(version, authority.trusted());
            let (failure, mut talk) = failure(tls, server(&pair, rustls::ALL_VERSIONS));
            let found = (failure.cause.reason, failure.cause.alert);
            assert_eq!(found, (reason, Some(alert)), "{failure}");
            let dates = (failure.cause.expired_s, failure.cause.valid_from_s);
            let known = (expired.then_some(SECOND_OF_2002), early.then_some(SECOND_OF_4001));
            assert_eq!(dates, known, "{failure}");
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
fn accepts_any_certificate_with_insecure() {
    let (authority, other) = (Authority::new(), Authority::named("other"));
    let past = |params: &mut rcgen::CertificateParams| params.not_after = date_time_ymd(2001, 1, 1);
    let expired = authority.issue("b.example", past);
    for version in [TlsVersion::V12, TlsVersion::V13] {
        for pair in [&other.issue(NAME, |_| ()), &expired] {
            let tls = only(version, PlanTls { insecure: true, ..PlanTls::default() });
            let server = Arc::new(server(pair, rustls::ALL_VERSIONS));
            let mut talk = Talk::new(&mut client(tls), IPV6, &server);
            talk.settle().unwrap();
            assert!(talk.progress.finished);
        }
    }
}

/// The server's certificate is public: whoever shows it must still prove possession of the key.
#[test]
fn rejects_a_certificate_without_its_key_even_with_insecure() {
    let authority = Authority::new();
    let (pair, thief) = (authority.issue(NAME, |_| ()), authority.issue(NAME, |_| ()));
    for version in [TlsVersion::V12, TlsVersion::V13] {
        let config = showing(vec![pair.certificate.clone()], key_of(&thief.key));
        let tls = only(version, PlanTls { insecure: true, ..authority.trusted() });
        let (failure, _) = failure(tls, config);
        assert_eq!(failure.cause.reason, Reason::CertificateSignature, "{failure}");
    }
}

const VERSIONS: [TlsVersion; 2] = [TlsVersion::V12, TlsVersion::V13];

/// Connects to a server that shows this certificate, and returns why that fails, if it does.
fn shown(tls: &PlanTls, pair: &Pair) -> Option<Reason> {
    let reasons = VERSIONS.map(|version| {
        let config = showing(vec![pair.certificate.clone()], key_of(&pair.key));
        let mut talk = Talk::new(&mut client(only(version, tls.clone())), IPV6, &Arc::new(config));
        let failed = talk.settle().err();
        assert_eq!(failed.is_none(), talk.progress.finished);
        failed.map(|failure| failure.cause.reason)
    });
    assert_eq!(reasons[0], reasons[1]);
    reasons[0]
}

/// A certificate as made by `openssl req -x509`: a CA certificate, signed by itself. curl accepts
/// it, too.
#[test]
fn trusts_a_server_certificate_given_as_cacert_even_if_it_is_a_ca() {
    let authority = Authority::new();
    let (own, twin) = (self_signed(NAME, |_| ()), self_signed(NAME, |_| ()));
    assert_eq!(shown(&authority.trusting(&own), &own), None);
    let refused = Some(Reason::CertificateAuthority);
    assert_eq!(shown(&authority.trusting(&twin), &own), refused);
    assert_eq!(shown(&authority.trusted(), &own), refused);
    // A certificate that another authority has issued and that is not a CA certificate.
    let issued = Authority::named("other").issue(NAME, |_| ());
    assert_eq!(shown(&authority.trusting(&issued), &issued), None);
    assert_eq!(shown(&authority.trusted(), &issued), Some(Reason::CertificateIssuer));
}

/// A name, what is wrong with the certificate, and how it is refused.
type FlawedCertificate<'a> = (&'a str, fn(&mut CertificateParams), Reason);

#[test]
fn rejects_other_flaws_of_a_certificate_given_as_cacert() {
    let authority = Authority::new();
    let other = "b.example".to_owned();
    let kinds: [FlawedCertificate<'_>; 5] = [
        (NAME, |own| own.not_after = date_time_ymd(2001, 1, 1), Reason::CertificateDate),
        (NAME, |own| own.not_before = date_time_ymd(4000, 1, 1), Reason::CertificateDate),
        (&other, |_| (), Reason::CertificateName),
        (NAME, |own| own.subject_alt_names.clear(), Reason::CertificateNameless),
        (
            NAME,
            |own| own.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth],
            Reason::CertificatePurpose,
        ),
    ];
    for (name, change, reason) in kinds {
        let pair = self_signed(name, change);
        assert_eq!(shown(&authority.trusting(&pair), &pair), Some(reason));
        let insecure = PlanTls { insecure: true, cacert: None, ..authority.trusted() };
        assert_eq!(shown(&insecure, &pair), None, "{reason}");
    }
    let for_servers = self_signed(NAME, |own| {
        own.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ClientAuth, ExtendedKeyUsagePurpose::ServerAuth];
    });
    assert_eq!(shown(&authority.trusting(&for_servers), &for_servers), None);
}

/// Certificates for another name, and for none at all. `--sni` helps only with the first.
#[test]
fn distinguishes_a_certificate_without_names_from_a_wrong_name() {
    let authority = Authority::new();
    let other = authority.issue("b.example", |_| ());
    let none = authority.issue(NAME, |own| own.subject_alt_names.clear());
    assert_eq!(shown(&authority.trusted(), &other), Some(Reason::CertificateName));
    assert_eq!(shown(&authority.trusted(), &none), Some(Reason::CertificateNameless));
}

/// Made by `openssl x509 -req`, which creates certificates of version 1 in OpenSSL 3.0.
const VERSION_1: &[u8] = include_bytes!("version1.pem");

#[test]
fn accepts_a_version_1_certificate_only_with_insecure() {
    let authority = Authority::new();
    let certificate = CertificateDer::from_pem_slice(VERSION_1).unwrap();
    let key = PrivateKeyDer::from_pem_slice(VERSION_1).unwrap();
    let thief = authority.issue(NAME, |_| ()).key;
    let given = authority.file("version1.pem", std::str::from_utf8(VERSION_1).unwrap());
    let given = PlanTls { cacert: Some(given), ..authority.trusted() };
    let any = PlanTls { insecure: true, cacert: None, ..authority.trusted() };
    for version in VERSIONS {
        let settled = |tls: &PlanTls, key| {
            let config = Arc::new(showing(vec![certificate.clone()], key));
            Talk::new(&mut client(only(version, tls.clone())), IPV6, &config).settle()
        };
        settled(&any, key.clone_key()).unwrap();
        for tls in [&given, &authority.trusted()] {
            let failure = settled(tls, key.clone_key()).unwrap_err();
            assert_eq!(failure.cause.reason, Reason::CertificateVersion, "{failure}");
        }
        let failure = settled(&any, key_of(&thief)).unwrap_err();
        assert_eq!(failure.cause.reason, Reason::CertificateSignature, "{failure}");
    }
}

#[test]
fn reports_the_number_of_a_server_alert() {
    let authority = Authority::new();
    // No protocol in common: no_application_protocol.
    let tls = PlanTls { alpn: vec!["h2".into()], ..authority.trusted() };
    let (failure_, _) = failure(tls, authority.server());
    assert_eq!(failure_.cause, Cause::new(Reason::Alert, Some(120)));
    assert!(failure_.to_string().contains("120"), "{failure_}");
    // A certificate is required and none is sent: TLS 1.3 reports that after the handshake.
    let tls = only(TlsVersion::V13, authority.trusted());
    let (failure_, talk) = failure(tls, authority.asking_server());
    assert_eq!(failure_.cause, Cause::new(Reason::Alert, Some(116)));
    assert!(talk.progress.finished);
    let (failure_, talk) =
        failure(only(TlsVersion::V12, authority.trusted()), authority.asking_server());
    assert_eq!(failure_.cause.reason, Reason::Alert, "{failure_}");
    assert!(!talk.progress.finished);
}

#[test]
fn reports_a_server_without_a_common_tls_version() {
    let authority = Authority::new();
    let pair = authority.issue(NAME, |_| ());
    let old = server(&pair, &[&rustls::version::TLS12]);
    let (failure, _) = failure(only(TlsVersion::V13, authority.trusted()), old);
    assert_eq!(failure.cause, Cause::new(Reason::Alert, Some(70)));
}
