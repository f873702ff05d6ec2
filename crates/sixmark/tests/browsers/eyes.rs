//! Browsers as clients of `sixmark eyes`: what is published of them is found.

use serde_json::Value;
use sixmark_testkit::{sixmark, skipped};

/// Watches a browser in some cases, and returns the document.
fn watch_browser(browser: &str, words: &[&str]) -> Value {
    let all = [&["eyes", "--browser", browser, "--json", "-"], words].concat();
    let output = sixmark(&all);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The delay is the browser's own timer, of which a busy machine makes some late: the least counts.
fn check_delay(document: &Value, published_ms: f64) {
    let least = document["profile"]["attempt_delay"]["all"]["least_ms"].as_f64().unwrap();
    assert!((least / published_ms - 1.0).abs() < 0.1, "{:#}", document["profile"]);
}

#[test]
fn chromium_begins_with_ipv6_and_tries_ipv4_after_300_ms() {
    if ["netns", "chromium"].into_iter().any(skipped) {
        return;
    }
    let words = ["--repeat", "2", "--cases", "healthy,dead-ipv6,last-alive"];
    let document = watch_browser("chromium", &words);
    check_delay(&document, 300.0);
    let profile = &document["profile"];
    assert_eq!(profile["first_family"], "ipv6");
    // It tries one address of each family (arXiv 2412.00263, table 2).
    assert_eq!(profile["address_order"], serde_json::json!(["ipv6", "ipv4"]));
}

#[test]
fn firefox_begins_with_ipv6_and_tries_ipv4_after_250_ms() {
    if ["netns", "firefox"].into_iter().any(skipped) {
        return;
    }
    let document = watch_browser("firefox", &["--repeat", "2", "--cases", "healthy,dead-ipv6"]);
    check_delay(&document, 250.0);
    assert_eq!(document["profile"]["first_family"], "ipv6");
}

/// QUIC and TCP race where the HTTPS record offers HTTP/3. Firefox asks over QUIC; Chromium ends it, as the
/// authority is not a known one, and asks over TCP.
#[test]
fn both_browsers_race_quic_and_tcp_where_http_3_is_offered() {
    if ["netns", "chromium", "firefox"].into_iter().any(skipped) {
        return;
    }
    for browser in ["chromium", "firefox"] {
        let words = ["--https", "--repeat", "1", "--cases", "http3,quic-dead"];
        let document = watch_browser(browser, &words);
        for case in document["cases"].as_array().unwrap() {
            assert_eq!(case["figures"]["survived"], 1, "{browser}: {case:#}");
        }
        let quic = &document["profile"]["quic"];
        let after = quic["tcp_after"]["median_ms"].as_f64();
        assert!(after.is_some_and(|after| after.abs() < 1_000.0), "{browser}: {quic:#}");
        assert_eq!(quic["over_quic"], u32::from(browser == "firefox"), "{browser}: {quic:#}");
    }
}
