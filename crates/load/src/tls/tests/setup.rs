use sixmark_plan::plan::tls::{PlanTls, TlsVersion};

use super::support::{Authority, plan};
use crate::tls::Setup;

/// Returns the one-line error of a setup that fails.
fn refused(tls: PlanTls) -> String {
    let error = Setup::new(&plan(tls)).unwrap_err();
    let line = error.to_string();
    assert!(!line.contains('\n'), "{line}");
    line
}

#[test]
fn a_plan_without_tls_needs_no_setup() {
    let mut plan = plan(PlanTls::default());
    plan.tls = None;
    assert!(Setup::new(&plan).unwrap().is_none());
}

#[test]
fn rejects_unusable_files_and_names_them() {
    let authority = Authority::new();
    let (one, other) = (authority.issue("a", |_| ()), authority.issue("b", |_| ()));
    let cert = authority.file("cert.pem", &one.pem);
    let key = authority.file("key.pem", &other.key.serialize_pem());
    let text = authority.file("text", "no PEM at all\n");
    let half = authority.file("half", "-----BEGIN CERTIFICATE-----\nAAAA");
    let hollow =
        authority.file("hollow", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    let none = authority.path("none");
    let ca = |file: &String| PlanTls { cacert: Some(file.clone()), ..PlanTls::default() };
    let own = |cert: &String, key: Option<&String>| PlanTls {
        cert: Some(cert.clone()),
        key: key.cloned(),
        ..authority.trusted()
    };
    for (tls, file, part) in [
        (ca(&none), &none, "No such file"),
        (ca(&text), &text, "no certificate"),
        (ca(&half), &half, "--cacert"),
        (ca(&hollow), &hollow, "malformed"),
        (own(&none, None), &none, "No such file"),
        (own(&text, Some(&key)), &text, "no certificate"),
        (own(&cert, None), &cert, "--key"),
        (own(&cert, Some(&none)), &none, "No such file"),
        (own(&cert, Some(&text)), &text, "no private key"),
        (own(&cert, Some(&key)), &key, "not the key"),
        (own(&hollow, Some(&key)), &hollow, "malformed"),
    ] {
        let line = refused(tls);
        assert!(line.contains(file.as_str()) && line.contains(part), "{line}");
    }
}

/// A malformed certificate is reported for `--cert` and not for its key. One of version 1 is valid.
#[test]
fn attributes_a_malformed_client_certificate_to_cert_and_not_to_key() {
    let authority = Authority::new();
    let key = authority.issue("a", |_| ()).key.serialize_pem();
    let key = authority.file("key.pem", &key);
    let hollow =
        authority.file("hollow", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    let own = |cert: &String, key: &String| PlanTls {
        cert: Some(cert.clone()),
        key: Some(key.clone()),
        ..authority.trusted()
    };
    let line = refused(own(&hollow, &key));
    assert!(line.starts_with("--cert") && !line.contains("--key"), "{line}");
    let text = std::str::from_utf8(include_bytes!("version1.pem")).unwrap();
    let version1 = authority.file("version1.pem", text);
    assert!(Setup::new(&plan(own(&version1, &version1))).is_ok());
    assert!(refused(own(&version1, &key)).contains("not the key"));
}

#[test]
fn rejects_invalid_cipher_group_and_server_names_with_a_hint() {
    let authority = Authority::new();
    let names = |name: &str| vec![name.to_owned()];
    for (tls, part) in [
        (PlanTls { ciphers: names("RC4"), ..authority.trusted() }, "TLS_AES_128_GCM_SHA256"),
        (PlanTls { groups: names("P-1"), ..authority.trusted() }, "x25519"),
        (PlanTls { sni: Some("a b".into()), ..authority.trusted() }, "--sni"),
        (
            PlanTls {
                version: Some(TlsVersion::V12),
                ciphers: names("TLS_AES_128_GCM_SHA256"),
                ..authority.trusted()
            },
            "--tls",
        ),
    ] {
        let line = refused(tls);
        assert!(line.contains(part), "{line}");
    }
}
