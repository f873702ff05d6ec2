//! What is offered to a server, and what becomes of it.

use serde_json::{Value, json as value};
use sixmark_testkit::{Origin, json};

use super::{assert_normal, both, trusting};
use crate::site::{Over, Site};

#[test]
fn negotiates_the_only_offered_version_cipher_or_group() {
    let origin = Origin::secure();
    for (option, offered, counts, agreed) in [
        ("--tls", "1.2", "versions", "TLSv1.2"),
        ("--tls", "1.3", "versions", "TLSv1.3"),
        ("--ciphers", "TLS_CHACHA20_POLY1305_SHA256", "ciphers", "TLS_CHACHA20_POLY1305_SHA256"),
        (
            "--ciphers",
            "ECDHE-ECDSA-AES128-GCM-SHA256",
            "ciphers",
            "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        ),
        ("--groups", "x25519", "groups", "x25519"),
        ("--groups", "P-256", "groups", "secp256r1"),
        ("--groups", "secp384r1", "groups", "secp384r1"),
        ("--groups", "X25519MLKEM768", "groups", "X25519MLKEM768"),
    ] {
        let of_tls12 = offered == "1.2" || offered.starts_with("ECDHE");
        let spoken: [&[&str]; 3] = [&[], &["--http2"], &["--http3"]];
        // QUIC has no TLS before 1.3.
        for more in &spoken[..if of_tls12 { 2 } else { 3 }] {
            let load = ["-n", "8", "-c", "2", "--no-keep-alive", option, offered];
            let result = trusting(&origin, "/", &[&load[..], more].concat());
            assert_normal(&result, 4);
            for figures in both(&result) {
                assert_eq!(figures["tls"][counts], value!({agreed: 4}), "{option} {offered}");
            }
        }
    }
}

#[test]
fn counts_the_negotiated_alpn_protocol() {
    let origin = Origin::secure();
    for (options, agreed) in [
        (&[][..], "http/1.1"),
        (&["--http2"], "h2"),
        (&["--alpn", "none"], "none"),
        (&["--http2", "--alpn", "h2,http/1.1"], "h2"),
        (&["--http2-prior-knowledge", "--alpn", "h2"], "h2"),
        (&["--http3"], "h3"),
        (&["--http3", "--alpn", "h2,h3"], "h3"),
    ] {
        let load = ["-n", "8", "-c", "2", "--no-keep-alive"];
        let result = trusting(&origin, "/", &[&load, options].concat());
        assert_normal(&result, 4);
        for figures in both(&result) {
            assert_eq!(figures["tls"]["alpn"], value!({agreed: 4}), "{options:?}");
        }
    }
}

/// The handshake is fine, what was agreed on is not what is to be spoken: this server has only what
/// is offered besides.
#[test]
fn counts_an_alpn_mismatch_as_a_protocol_failure() {
    let site = Site::start(Over::Https1);
    let [v6, v4] = site.urls("/x");
    let options = ["-n", "8", "-c", "2", "-k", "--http2", "--alpn", "h2,http/1.1", &v6, &v4];
    let result = json(&options);
    for figures in both(&result) {
        let expected = value!([{
            "outcome": "PROTOCOL", "phase": "tls", "errno": null, "code": null, "count": 4
        }]);
        assert_eq!(figures["failures"], expected);
        let handshakes = &figures["tls"]["handshakes"];
        assert_eq!([&handshakes["full"], &handshakes["failed"]], [4, 0]);
    }
}

#[test]
fn reports_the_alert_for_an_unsupported_alpn_protocol() {
    let origin = Origin::secure();
    let result = trusting(&origin, "/", &["-n", "8", "-c", "2", "--alpn", "gopher"]);
    for figures in both(&result) {
        let expected = value!([{"reason": "alert", "alert": 120, "count": 4}]);
        assert_eq!(figures["tls"]["failures"], expected);
    }
}

fn handshakes<'a>(figures: &'a Value, which: &str) -> &'a Value {
    &figures["tls"]["handshakes"][which]
}

#[test]
fn sessions_are_resumed_by_each_family_on_its_own() {
    let origin = Origin::secure();
    for (share, least, most) in [("off", 0, 0), ("0.5", 46, 50), ("on", 96, 99)] {
        for more in [&[][..], &["--http2"], &["--http3"], &["--tls", "1.2"]] {
            let load = ["-n", "200", "-c", "4", "-t", "1", "--no-keep-alive", "--resume", share];
            let result = trusting(&origin, "/", &[&load, more].concat());
            assert_normal(&result, 100);
            for figures in both(&result) {
                let count = |which| handshakes(figures, which).as_u64().unwrap();
                let resumed = count("resumed");
                assert!((least..=most).contains(&resumed), "{share} {more:?}: {resumed}");
                assert_eq!([count("full") + resumed, count("offered")], [100, resumed]);
                let summaries = ["tls_us", "full_us", "resumed_us"];
                let counts = summaries.map(|which| figures["tls"][which]["count"].as_u64());
                assert_eq!(counts, [Some(100), Some(100 - resumed), Some(resumed)]);
            }
        }
    }
}
