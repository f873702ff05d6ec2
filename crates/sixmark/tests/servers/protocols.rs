//! Each server speaks what it is said to speak, at all its addresses, and nothing else.

use sixmark_testkit::client::{Protocol, Wish, ask};
use sixmark_testkit::nginx::NGINX;
use sixmark_testkit::process::program;
use sixmark_testkit::skipped;
use sixmark_testkit::web_server::{SIZE, ServerKind, ServerSettings, WebServer};
use sixmark_units::family::Family;

use super::apache::APACHE;
use super::caddy::CADDY;
use super::nghttpd::NGHTTPD;

fn speaks_what_it_says(kind: &ServerKind) {
    if skipped(kind.skip) {
        return;
    }
    let server = WebServer::start(kind, &ServerSettings::default());
    let authority = std::fs::read_to_string(server.authority()).unwrap();
    for family in Family::BOTH {
        let (plain, secure) = (server.address(family), server.secure_address(family));
        for protocol in Protocol::ALL {
            for (offered, address, authority) in
                [(kind.plain, plain, None), (kind.secure, secure, Some(&authority[..]))]
            {
                // Nobody says no over UDP: who has not got it would be waited for.
                if protocol == Protocol::Http3 && !offered.contains(&protocol) {
                    continue;
                }
                let answer = ask(protocol, address, authority, Wish("GET", "/4k", b""));
                let whole = answer
                    .as_ref()
                    .is_ok_and(|answer| answer.status == 200 && answer.body.len() as u64 == SIZE);
                let said = offered.contains(&protocol);
                assert_eq!(whole, said, "{protocol:?} at {address}: {answer:?}");
            }
        }
    }
}

/// curl decides by itself, and trusts nobody but whom it is told to.
fn is_trusted_by_its_authority(kind: &ServerKind) {
    if skipped(kind.skip) {
        return;
    }
    let server = WebServer::start(kind, &ServerSettings::default());
    for url in server.secure_urls("/4k") {
        let mut curl = program("curl");
        let output = curl.args(["-q", "-sS", "-g", "--noproxy", "*", "--cacert"]);
        let output = output.arg(server.authority()).arg(&url).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.stdout.len() as u64, SIZE, "{url}: {said}");
    }
}

#[test]
fn curl_verifies_each_server_with_its_ca_certificate() {
    [NGINX, APACHE, NGHTTPD, CADDY].iter().for_each(is_trusted_by_its_authority);
}

#[test]
fn nginx_speaks_exactly_its_declared_protocols() {
    speaks_what_it_says(&NGINX);
}

#[test]
fn apache_speaks_exactly_its_declared_protocols() {
    speaks_what_it_says(&APACHE);
}

#[test]
fn nghttpd_speaks_exactly_its_declared_protocols() {
    speaks_what_it_says(&NGHTTPD);
}

#[test]
fn caddy_speaks_exactly_its_declared_protocols() {
    speaks_what_it_says(&CADDY);
}
