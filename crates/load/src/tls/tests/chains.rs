//! Chains of certificates that break a rule, and the reason that is given.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, ExtendedKeyUsagePurpose, GeneralSubtree,
    IsCa, NameConstraints,
};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use sixmark_plan::plan::tls::{PlanTls, TlsVersion};
use sixmark_tally::tls::Reason;

use super::support::{Authority, IPV6, NAME, Pair, Talk, client, key_of, only, showing};

/// Connects to a server that shows this chain, and returns why that fails, if it does.
fn refused(
    tls: &PlanTls,
    chain: &[CertificateDer<'static>],
    key: impl Fn() -> PrivateKeyDer<'static>,
) -> Option<Reason> {
    let reasons = [TlsVersion::V12, TlsVersion::V13].map(|version| {
        let config = Arc::new(showing(chain.to_vec(), key()));
        let mut talk = Talk::new(&mut client(only(version, tls.clone())), IPV6, &config);
        talk.settle().err().map(|failure| failure.cause.reason)
    });
    assert_eq!(reasons[0], reasons[1]);
    reasons[0]
}

/// Shows a certificate of `issuers.last()`, each of which the one before has issued.
fn below(root: &Authority, issuers: &[Authority], pair: &Pair) -> Option<Reason> {
    let between = issuers.iter().rev().map(Authority::certificate);
    let chain: Vec<_> = std::iter::once(pair.certificate.clone()).chain(between).collect();
    refused(&root.trusted(), &chain, || key_of(&pair.key))
}

fn plain(issuer: &Authority) -> Pair {
    issuer.issue(NAME, |_| ())
}

/// The end of the object identifier 1.3.6.1.4.1.99999.1, which nobody knows.
fn unknown_extension(critical: bool) -> CustomExtension {
    let mut extension =
        CustomExtension::from_oid_content(&[1, 3, 6, 1, 4, 1, 99_999, 1], vec![5, 0]);
    extension.set_criticality(critical);
    extension
}

#[test]
fn accepts_a_valid_certificate_chain() {
    let root = Authority::new();
    let one = root.issue_authority("one", |_| ());
    let two = one.issue_authority("two", |params| {
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.custom_extensions = vec![unknown_extension(false)];
    });
    let pair = plain(&two);
    assert_eq!(below(&root, &[one, two], &pair), None);
}

#[test]
fn rejects_a_chain_beyond_the_path_length_of_an_issuer() {
    let root = Authority::new();
    let one = root.issue_authority("one", |params| {
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    });
    let two = one.issue_authority("two", |_| ());
    let pair = plain(&two);
    assert_eq!(below(&root, &[one, two], &pair), Some(Reason::CertificatePathLength));
}

#[test]
fn rejects_a_name_outside_the_name_constraints_of_an_issuer() {
    let root = Authority::new();
    let names = |name: &str| vec![GeneralSubtree::DnsName(name.to_owned())];
    for (permitted_subtrees, excluded_subtrees, reason) in [
        (names("b.example"), Vec::new(), Some(Reason::CertificateNameConstraint)),
        (Vec::new(), names("example"), Some(Reason::CertificateNameConstraint)),
        (names("example"), names("b.example"), None),
    ] {
        let one = root.issue_authority("one", |params| {
            params.name_constraints =
                Some(NameConstraints { permitted_subtrees, excluded_subtrees });
        });
        let pair = plain(&one);
        assert_eq!(below(&root, &[one], &pair), reason);
    }
}

#[test]
fn rejects_an_issuer_that_is_not_a_ca() {
    let root = Authority::new();
    for no_authority in [IsCa::NoCa, IsCa::ExplicitNoCa] {
        let one = root.issue_authority("one", |params| params.is_ca = no_authority);
        let pair = plain(&one);
        assert_eq!(below(&root, &[one], &pair), Some(Reason::CertificateNotAuthority));
    }
}

#[test]
fn rejects_a_chain_of_too_many_certificates() {
    let root = Authority::new();
    let mut chain = vec![root.issue_authority("0", |_| ())];
    for number in 1..8 {
        let next = chain[number - 1].issue_authority(&number.to_string(), |_| ());
        chain.push(next);
    }
    let pair = plain(&chain[7]);
    assert_eq!(below(&root, &chain, &pair), Some(Reason::CertificateChain));
}

#[test]
fn rejects_an_unknown_critical_extension() {
    let root = Authority::new();
    let pair = root.issue(NAME, |params| {
        params.custom_extensions = vec![unknown_extension(true)];
    });
    assert_eq!(below(&root, &[], &pair), Some(Reason::CertificateExtension));
    let one = root.issue_authority("one", |params| {
        params.custom_extensions = vec![unknown_extension(true)];
    });
    let pair = plain(&one);
    assert_eq!(below(&root, &[one], &pair), Some(Reason::CertificateExtension));
}

#[test]
fn checks_the_purpose_and_validity_dates_of_issuers() {
    let root = Authority::new();
    type Change = fn(&mut CertificateParams);
    let changes: [(Change, Reason); 2] = [
        (
            |own| own.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth],
            Reason::CertificatePurpose,
        ),
        (|own| own.not_after = rcgen::date_time_ymd(2001, 1, 1), Reason::CertificateDate),
    ];
    for (change, reason) in changes {
        let one = root.issue_authority("one", change);
        let pair = plain(&one);
        assert_eq!(below(&root, &[one], &pair), Some(reason));
    }
}

#[test]
fn rejects_forged_and_malformed_certificates() {
    let root = Authority::new();
    let pair = plain(&root);
    let changed = |change: fn(&mut Vec<u8>)| {
        let mut der = pair.certificate.to_vec();
        change(&mut der);
        let chain = [CertificateDer::from(der)];
        refused(&root.trusted(), &chain, || key_of(&pair.key))
    };
    assert_eq!(changed(|_| ()), None);
    // The last byte is one of the signature.
    let forged = changed(|der| *der.last_mut().unwrap() ^= 1);
    assert_eq!(forged, Some(Reason::CertificateSignature));
    assert_eq!(changed(|der| der.push(0)), Some(Reason::CertificateEncoding));
    assert_eq!(changed(|der| der.truncate(40)), Some(Reason::CertificateEncoding));
}

/// Made by OpenSSL 3: a CA certificate, one below it with an RSA key of 1,024 bits, a server's that
/// the latter has signed, one that the former has signed with SHA-1, and the key of both.
const WEAK: &[u8] = include_bytes!("weak.pem");

#[test]
fn rejects_short_keys_and_obsolete_signature_algorithms() {
    let found = CertificateDer::pem_slice_iter(WEAK).collect::<Result<Vec<_>, _>>().unwrap();
    let [root, small, below_small, sha1] = &found[..] else { panic!("{}", found.len()) };
    let key = || PrivateKeyDer::from_pem_slice(WEAK).unwrap();
    let authority = Authority::new();
    let pem = std::str::from_utf8(WEAK).unwrap();
    let end = "-----END CERTIFICATE-----\n";
    let (first, _) = pem.split_once(end).unwrap();
    let cacert = authority.file("root.pem", &format!("{first}{end}"));
    assert!(!root.is_empty());
    let tls = PlanTls { cacert: Some(cacert), ..authority.trusted() };
    let chain = [below_small.clone(), small.clone()];
    assert_eq!(refused(&tls, &chain, key), Some(Reason::CertificateKeySize));
    assert_eq!(refused(&tls, std::slice::from_ref(sha1), key), Some(Reason::CertificateAlgorithm));
    let any = PlanTls { insecure: true, cacert: None, ..authority.trusted() };
    assert_eq!(refused(&any, &chain, key), None);
}
