//! Whom a run trusts, and by what name.

use serde_json::{Value, json as value};
use sixmark_origin::{Identity, Options};
use sixmark_testkit::authority::{Authority, Paper};
use sixmark_testkit::{Origin, command, complaint, document, finish, json, sixmark};
use sixmark_units::family::Family;

use super::{assert_normal, both, trusting, warnings};

/// An address for each family, each with a certificate of its own or both with the same.
struct Pair {
    origins: [Origin; 2],
    authority: tempfile::NamedTempFile,
}

impl Pair {
    fn start(authority: &Authority, papers: [&Paper; 2]) -> Pair {
        let folder = tempfile::tempdir().unwrap();
        let hosts = ["[::1]:0", "127.0.0.1:0"];
        let origins = [0, 1].map(|number| {
            let [certificate, key] = papers[number].write(folder.path(), "own");
            let identity = Identity::read(certificate.as_ref(), key.as_ref()).unwrap();
            let listen = vec![hosts[number].parse().unwrap()];
            Origin::with(Options { listen, identity: Some(identity), ..Options::default() })
        });
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &authority.pem).unwrap();
        Pair { origins, authority: file }
    }

    fn urls(&self) -> [String; 2] {
        [0, 1].map(|number| self.origins[number].url(Family::BOTH[number], "/"))
    }

    fn run(&self, options: &[&str]) -> Value {
        let [v6, v4] = self.urls();
        let authority = self.authority.path().to_str().unwrap();
        json(&[&["-n", "8", "-c", "2", "--cacert", authority], options, &[&v6, &v4]].concat())
    }
}

/// All exchanges failed in TLS for this reason, and were told so by this alert.
fn fails(result: &Value, reason: &str, alert: u64, each: u64) {
    for figures in both(result) {
        let expected = value!([{
            "outcome": "TLS", "phase": "tls", "errno": null, "code": alert, "count": each
        }]);
        assert_eq!(figures["failures"], expected);
        let failures = figures["tls"]["failures"].as_array().unwrap();
        let found = failures.iter().map(|of| [&of["reason"], &of["alert"], &of["count"]]);
        let expected = [value!(reason), value!(alert), value!(each)];
        assert_eq!(found.collect::<Vec<_>>(), [expected.each_ref()]);
        assert_eq!(figures["tls"]["handshakes"]["failed"], each);
        assert_eq!(figures["tls"]["tls_us"]["count"], 0);
    }
}

#[test]
fn rejects_a_certificate_from_an_untrusted_issuer() {
    let origin = Origin::secure();
    let [v6, v4] = origin.urls("/");
    // The system's certificates are another authority's, whatever this system has.
    let other = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(other.path(), Authority::create().pem).unwrap();
    for more in [&[][..], &["--http2"], &["--http3"]] {
        let load = ["run", "-q", "--json", "-", "-n", "8", "-c", "2"];
        let mut run = command(&[&load, more, &[&v6, &v4]].concat());
        let output = finish(run.env("SSL_CERT_FILE", other.path()).spawn().unwrap());
        fails(&document(&output), "certificate_issuer", 48, 4);
        let line = complaint(&output, 3);
        for part in ["its issuer is not trusted", "--cacert", "--insecure"] {
            assert!(line.contains(part), "{line}");
        }
    }
}

#[test]
fn accepts_a_certificate_that_the_system_trusts() {
    let origin = Origin::secure();
    let [v6, v4] = origin.urls("/");
    let mut run = command(&["run", "-q", "--json", "-", "-n", "8", &v6, &v4]);
    let output = finish(run.env("SSL_CERT_FILE", origin.authority()).spawn().unwrap());
    let result = document(&output);
    assert_normal(&result, 4);
    assert_eq!(result["plan"]["tls"]["cacert"], Value::Null);
}

#[test]
fn insecure_accepts_any_certificate_with_a_warning() {
    let origin = Origin::secure();
    let [v6, v4] = origin.urls("/");
    for name in [&[][..], &["--sni", "other.test"]] {
        let result = json(&[&["-n", "8", "--insecure"], name, &[&v6, &v4]].concat());
        assert_normal(&result, 4);
        assert!(warnings(&result).contains(&"insecure"), "{:?}", warnings(&result));
    }
    let output = sixmark(&["run", "-n", "8", "-k", &v6, &v4]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("certificate not verified (--insecure)"), "{said}");
}

#[test]
fn rejects_a_certificate_for_another_name_unless_sni_matches_it() {
    let origin = Origin::secure();
    let load = ["-n", "8", "-c", "2"];
    for more in [&[][..], &["--http3"]] {
        let load = [&load[..], &["--sni", "other.test"], more].concat();
        let wrong = trusting(&origin, "/", &load);
        fails(&wrong, "certificate_name", 42, 4);
        assert_eq!(wrong["plan"]["tls"]["sni"], "other.test");
    }
    for family in Family::BOTH {
        let address = origin.address(family);
        let resolve = format!("other.test:{}:{}", address.port(), address.ip());
        let url = format!("https://other.test:{}/", address.port());
        let run = ["-n", "4", "--cacert", origin.authority(), "--resolve", &resolve, &url];
        for more in [&[][..], &["--http3"]] {
            let result = json(&[&run[..], more].concat());
            assert_eq!(result["total"]["tls"]["failures"][0]["reason"], "certificate_name");
            let result = json(&[&run[..], more, &["--sni", "localhost"]].concat());
            assert_eq!(result["total"]["outcomes"], value!({"NORMAL": 4}));
        }
    }
}

const NAMES: [&str; 2] = ["::1", "127.0.0.1"];

#[test]
fn rejects_an_expired_certificate_and_warns_with_insecure() {
    let authority = Authority::create();
    let expired = authority.issue_until(&NAMES, 2020);
    let pair = Pair::start(&authority, [&expired; 2]);
    let refused = pair.run(&[]);
    fails(&refused, "certificate_date", 45, 4);
    for figures in both(&refused) {
        assert_eq!(figures["tls"]["failures"][0]["expired_s"], 1_577_836_800);
    }
    let [v6, v4] = pair.urls();
    let trust = pair.authority.path().to_str().unwrap();
    let output = sixmark(&["run", "-q", "-n", "8", "--cacert", trust, &v6, &v4]);
    let line = complaint(&output, 3);
    assert!(line.contains("not accepted: one expired at 2020-01-01T00:00:00Z"), "{line}");
    let result = json(&["-n", "8", "-k", &v6, &v4]);
    assert_normal(&result, 4);
    assert!(warnings(&result).contains(&"certificate_expires"), "{:?}", warnings(&result));
    for figures in both(&result) {
        assert_eq!(figures["tls"]["certificates"][0]["not_after"], "2020-01-01T00:00:00Z");
    }
}

#[test]
fn warns_if_the_certificates_of_the_families_differ() {
    let authority = Authority::create();
    let [one, other] = [authority.issue(&NAMES), authority.issue(&NAMES)];
    for (papers, differ) in [([&one, &other], true), ([&one, &one], false)] {
        let result = Pair::start(&authority, papers).run(&[]);
        assert_normal(&result, 4);
        assert_eq!(warnings(&result).contains(&"certificates_differ"), differ);
        let [v6, v4] = both(&result).map(|figures| &figures["tls"]["certificates"]);
        assert_eq!(v6[0]["sha256"] != v4[0]["sha256"], differ);
        assert_eq!((v6.as_array().unwrap().len(), v4.as_array().unwrap().len()), (1, 1));
    }
}

/// One family alone can fail: the other one is measured, and the run says what is missing.
#[test]
fn a_family_whose_certificate_is_wrong_fails_alone() {
    let authority = Authority::create();
    let [right, wrong] = [authority.issue(&NAMES), authority.issue(&["other.test"])];
    let result = Pair::start(&authority, [&wrong, &right]).run(&[]);
    let [v6, v4] = both(&result);
    assert_eq!(v6["tls"]["failures"][0]["reason"], "certificate_name");
    assert_eq!(v4["outcomes"], value!({"NORMAL": 4}));
    assert!(warnings(&result).contains(&"family_fell_away"), "{:?}", warnings(&result));
}
