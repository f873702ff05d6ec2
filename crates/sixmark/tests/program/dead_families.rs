//! Families that are down, each in its own way: `compare` names the way once, ends early, and says by its exit
//! status that it could not measure.

use std::io::Read as _;
use std::net::{Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

use serde_json::Value;
use sixmark_testkit::dead_family::{check_all, dead, in_one_line};
use sixmark_testkit::{Origin, Raw, refusing, sixmark};
use sixmark_units::family::Family;
use socket2::SockRef;

use super::sameness::deaf;

/// Resets each connection: at once, or after the first bytes of a request.
fn resetting(after_request: bool) -> Raw {
    Raw::start(move |mut stream: TcpStream| {
        if after_request {
            let _ = stream.read(&mut [0; 4096]);
        }
        let _ = SockRef::from(&stream).set_linger(Some(Duration::ZERO));
    })
}

/// Closes each connection after the first bytes of a request.
fn empty() -> Raw {
    Raw::start(|mut stream: TcpStream| drop(stream.read(&mut [0; 4096])))
}

#[test]
fn names_a_failed_family_and_the_reason_over_plain_http() {
    let origin = Origin::start();
    let fine = origin.url(Family::Ipv4, "/bytes/10");
    let status = |code| origin.url(Family::Ipv6, &format!("/status/{code}"));
    let busy4 = origin.url(Family::Ipv4, "/status/503");
    let (_kept, closed) = refusing(Family::Ipv6);
    let (_kept4, closed4) = refusing(Family::Ipv4);
    let (_full, full) = deaf();
    let [at_accept, after_request] = [false, true].map(resetting);
    let (empty, secure) = (empty(), Origin::secure());
    let url = |address: SocketAddr| format!("http://{address}/");
    let (closed, closed4, full) = (url(closed), url(closed4), url(full));
    let at = |raw: &Raw| raw.urls("http")[0].clone();
    let plain_to_tls = secure.url(Family::Ipv6, "/").replace("https:", "http:");
    let short = ["--timeout", "300ms", "-c", "4"];
    let http2 = ["--http2-prior-knowledge"];
    let refused = "No answer over IPv6 (";
    let neither = "connection refused, nor over IPv4 (";
    check_all(&[
        dead([&closed, &fine], &[], "connection refused; nothing listens there: start the server"),
        dead([&closed, &fine], &["-c", "4"], refused),
        dead([&closed, &fine], &["--rate", "400"], "connection refused; nothing listens there"),
        dead([&closed, &fine], &["--calibrate"], "connection refused; nothing listens there"),
        dead([&closed, &fine], &http2, "connection refused; nothing listens there"),
        dead([&closed, &closed4], &[], neither),
        dead(
            [&full, &fine],
            &short,
            "no connection within 300 ms; check for a firewall in between",
        ),
        dead([&at(&at_accept), &fine], &["-c", "8"], "reset"),
        dead(
            [&at(&after_request), &fine],
            &["-c", "8"],
            "connection reset without an answer; the server's log",
        ),
        dead(
            [&at(&after_request), &fine],
            &["-c", "8", "--rate", "400"],
            "connection reset without an answer; the",
        ),
        dead(
            [&at(&empty), &fine],
            &["-c", "8"],
            "connection closed without an answer; the server's log",
        ),
        dead([&plain_to_tls, &fine], &["-c", "8"], "does not support the requested version"),
        dead([&status(503), &fine], &[], "IPv6 answers 503 to every request; IPv4 200."),
        dead([&status(429), &fine], &["--rate", "400"], "IPv6 answers 429 to every request"),
        dead([&status(503), &busy4], &http2, "IPv6 returns only errors: 0 of"),
    ]);
}

#[test]
fn names_a_failed_family_and_the_reason_over_tls() {
    let (origin, stranger, plain) = (Origin::secure(), Origin::secure(), Origin::start());
    let trust = ["--cacert", origin.authority(), "-c", "8"];
    let fine = origin.url(Family::Ipv4, "/bytes/10");
    let (_kept, closed) = refusing(Family::Ipv6);
    let closed = format!("https://{closed}/");
    let with = |more: &[&'static str]| [&trust[..], more].concat();
    let at_accept = resetting(false).urls("https")[0].clone();
    let untrusted = stranger.url(Family::Ipv6, "/bytes/10");
    let tls_to_plain = plain.url(Family::Ipv6, "/").replace("http:", "https:");
    let busy = origin.url(Family::Ipv6, "/status/503");
    let issuer = "the certificate is not accepted: ";
    let silent = UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).unwrap();
    let hole = format!("https://{}/", silent.local_addr().unwrap());
    let short = ["--http3", "--timeout", "500ms"];
    check_all(&[
        dead([&closed, &fine], &trust, "connection refused; nothing listens there"),
        dead([&closed, &fine], &with(&["--http2"]), "connection refused; nothing listens there"),
        dead([&closed, &fine], &with(&["--http3"]), "nothing listens there"),
        dead([&at_accept, &fine], &trust, "reset"),
        dead([&untrusted, &fine], &trust, issuer),
        dead([&untrusted, &fine], &with(&["--http2", "--rate", "200"]), issuer),
        dead([&untrusted, &fine], &with(&["--http3"]), issuer),
        dead([&tls_to_plain, &fine], &trust, "perhaps that port does not use TLS"),
        dead([&hole, &fine], &with(&short), "a firewall may drop UDP"),
        dead([&busy, &fine], &with(&["--http2"]), "IPv6 answers 503 to every request; IPv4 200."),
        dead([&busy, &fine], &with(&["--http3"]), "IPv6 answers 503 to every request; IPv4 200."),
    ]);
}

#[test]
fn quiet_prints_the_failure_reason_to_standard_error() {
    let origin = Origin::start();
    let (_kept, closed) = refusing(Family::Ipv6);
    let fine = origin.url(Family::Ipv4, "/bytes/10");
    let output =
        sixmark(&["compare", "-q", "--block", "50ms", &format!("http://{closed}/"), &fine]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    let line =
        format!("sixmark: no answer over IPv6 ({closed}): connection refused; nothing listens");
    assert!(said.starts_with(&line) && said.lines().count() == 1, "{said}");
}

#[test]
fn refuses_to_compare_a_name_with_addresses_of_only_one_family() {
    let output = sixmark(&["compare", "http://v4.test:9/", "--resolve", "v4.test:9:127.0.0.1"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("over IPv4 alone has no second side"), "{said}");
}

#[test]
fn does_not_compare_goodput_of_different_paths_but_reports_their_sizes() {
    let origin = Origin::start();
    let [a, b] = ["/bytes/5536", "/bytes/6"].map(|path| origin.url(Family::Ipv4, path));
    let load = ["compare", "--store", "none", "-n", "60", "-c", "2", "--warmup", "0"];
    let names = ["--name-a", "large", "--name-b", "small", "--blocks", "6"];
    let output = sixmark(&[&load[..], &names, &["--json", "-"], &[&a, &b]].concat());
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let metrics = document["comparison"]["metrics"].as_array().unwrap();
    let goodput = metrics.iter().find(|of| of["metric"] == "goodput").unwrap();
    assert_eq!(goodput["verdict"], "not_comparable", "{goodput:#}");
    assert!(goodput["ratio"].is_null(), "{goodput:#}");
    let speed = metrics.iter().find(|of| of["metric"] == "response.p50").unwrap();
    assert_ne!(speed["verdict"], "not_comparable", "{speed:#}");
    for first in [&[][..], &["--metric", "goodput"]] {
        let output = sixmark(&[&load[..], &names, first, &[&a, &b]].concat());
        let report = in_one_line(&output.stdout);
        let sizes = "the requests differ, and large sends 5,536 bytes per response, small 6";
        assert_eq!(report.matches(sizes).count(), 1, "{report}");
        assert!(!report.contains("better in: goodput"), "{report}");
        assert_eq!(output.status.code(), Some(0), "{report}");
    }
}

#[test]
fn notes_that_all_responses_are_redirects_and_suggests_location() {
    let origin = Origin::start();
    let urls = origin.urls("/status/301");
    let [v6, v4] = &urls;
    let short = ["--store", "none", "-n", "60", "-c", "2", v6, v4];
    for command in [&["compare", "--blocks", "6"][..], &["run"]] {
        let report = in_one_line(&sixmark(&[command, &short].concat()).stdout);
        let said = "All responses over IPv6 and IPv4 are redirects (301), and";
        assert!(report.contains(said), "{report}");
        assert!(report.contains("--location"), "{report}");
    }
}
