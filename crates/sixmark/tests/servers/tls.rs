//! What the options of TLS do, as nginx saw it.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use sixmark_result::result::RunResult;
use sixmark_tally::family_result::FamilyResult;
use sixmark_tally::tls::TlsResult;
use sixmark_testkit::authority::Authority;
use sixmark_testkit::client::Protocol;
use sixmark_testkit::figures::{assert_normal, of, run};
use sixmark_testkit::nginx::NGINX;
use sixmark_testkit::process::program;
use sixmark_testkit::skipped;
use sixmark_testkit::web_server::{ServerKind, ServerSettings, ServerSite, WebServer};
use sixmark_units::family::Family;

/// One that has a server for each family, with keys of its own for tickets, and beside it one named
/// `sixmark.test` that wants to see certificates.
const TLS: ServerKind =
    ServerKind { plain: &[], secure: &[Protocol::Http1, Protocol::Http2], prepare, ..NGINX };

/// Who vouches for clients, and one of them.
const CLIENTS: &str = "clients.pem";
const CLIENT: &str = "client";

fn prepare(site: &ServerSite<'_>, _: &ServerSettings) -> Vec<Command> {
    let clients = Authority::create();
    fs::write(site.dir.join(CLIENTS), &clients.pem).unwrap();
    clients.issue(&["client.test"]).write(site.dir, CLIENT);
    let conf = site.dir.join("conf");
    fs::write(&conf, configuration(site)).unwrap();
    let mut command = program("nginx");
    command.arg("-p").arg(site.dir).args(["-e", "errors", "-c"]).arg(conf);
    vec![command]
}

fn configuration(site: &ServerSite<'_>) -> String {
    let dir = site.dir.display();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("{kind}_temp_path {dir}/{kind};\n"))
        .concat();
    let servers = [0, 1].map(|number| servers_of(site, number)).concat();
    format!(
        "daemon off;
         master_process off;
         pid {dir}/pid;
         error_log {dir}/errors;
         events {{ worker_connections 4096; }}
         http {{
             {temporary}
             log_format line '$arg_run $remote_addr $status $server_protocol $ssl_protocol '
                 '$ssl_cipher $ssl_curve $ssl_session_reused $ssl_server_name $ssl_client_verify '
                 '$http_host';
             access_log {dir}/log line;
             default_type text/plain;
             keepalive_requests 1000000;
             root {dir}/www;
             ssl_certificate {certificate};
             ssl_certificate_key {key};
             ssl_protocols TLSv1.2 TLSv1.3;
             ssl_ecdh_curve X25519:prime256v1;
             ssl_session_cache off;
             {servers}
         }}
         ",
        certificate = site.certificate().display(),
        key = site.key().display(),
    )
}

/// The two servers at an address, whose key for tickets no other address has.
fn servers_of(site: &ServerSite<'_>, number: u8) -> String {
    let key = site.dir.join(format!("ticket.{number}"));
    fs::write(&key, [number + 1; 80]).unwrap();
    let (address, key) = (site.secure[usize::from(number)], key.display());
    let dir = site.dir.display();
    format!(
        "server {{
             listen {address} ssl http2 backlog=4096;
             ssl_session_ticket_key {key};
         }}
         server {{
             listen {address} ssl http2;
             server_name sixmark.test;
             ssl_session_ticket_key {key};
             ssl_verify_client on;
             ssl_client_certificate {dir}/{CLIENTS};
         }}
         "
    )
}

/// A request as nginx logged it.
struct Entry {
    run: String,
    family: Family,
    status: u16,
    version: String,
    protocol: String,
    cipher: String,
    curve: String,
    resumed: bool,
    name: String,
    verified: String,
    host: String,
}

fn parse(line: &str) -> Option<Entry> {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let words: [String; 11] = words.try_into().unwrap_or_else(|_| panic!("log line {line:?}"));
    let [run, peer, status, version, protocol, cipher, curve, reused, name, verified, host] = words;
    // Those that asked whether the server is there have no name.
    (run != "-").then(|| Entry {
        run,
        family: Family::of(peer.parse().unwrap()),
        status: status.parse().unwrap(),
        version,
        protocol,
        cipher,
        curve,
        resumed: reused == "r",
        name,
        verified,
        host,
    })
}

/// nginx, and what was asked of it by the name of the run.
struct Stage(WebServer);

impl Stage {
    fn start() -> Option<Stage> {
        (!skipped(TLS.skip)).then(|| Stage(WebServer::start(&TLS, &ServerSettings::default())))
    }

    /// Loads both families; the server's certificate is trusted.
    fn run(&self, name: &str, options: &[&str]) -> RunResult {
        let authority = self.0.file("authority.pem");
        let [v6, v4] = self.0.secure_urls(&format!("/4k?run={name}"));
        let load = ["-c", "4", "--timeout", "60s", "--cacert", &authority];
        run(&[&load, options, &[&v6, &v4]].concat())
    }

    /// The same at a name that both families have.
    fn run_at(&self, name: &str, host: &str, options: &[&str]) -> Vec<RunResult> {
        let authority = self.0.file("authority.pem");
        let load = ["-c", "4", "--timeout", "60s", "--cacert", &authority];
        let of = |family| {
            let address = self.0.secure_address(family);
            let (ip, port) = (address.ip(), address.port());
            let resolve = format!("{host}:{port}:{ip}");
            let url = format!("https://{host}:{port}/4k?run={name}");
            run(&[&load, options, &["--resolve", &resolve, &url]].concat())
        };
        Family::BOTH.map(of).into()
    }

    fn log(self) -> BTreeMap<String, Vec<Entry>> {
        let mut log: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
        for entry in self.0.into_text().lines().filter_map(parse) {
            log.entry(entry.run.clone()).or_default().push(entry);
        }
        log
    }
}

fn tls(figures: &FamilyResult) -> &TlsResult {
    figures.tls.as_ref().unwrap()
}

fn only(counts: &BTreeMap<String, u64>) -> &str {
    assert_eq!(counts.len(), 1, "{:?}", counts.keys());
    counts.keys().next().unwrap()
}

/// Options, and the version, cipher and group that must come of them, in nginx's words and in
/// those of IANA.
const AGREED: [(&[&str], [&str; 3], [&str; 3]); 7] = [
    (
        &["--tls", "1.3"],
        ["TLSv1.3", "TLS_AES_256_GCM_SHA384", "X25519"],
        ["TLSv1.3", "TLS_AES_256_GCM_SHA384", "x25519"],
    ),
    (
        &["--tls", "1.2", "--http2"],
        ["TLSv1.2", "ECDHE-ECDSA-AES256-GCM-SHA384", "X25519"],
        ["TLSv1.2", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "x25519"],
    ),
    (
        &["--ciphers", "TLS_AES_128_GCM_SHA256"],
        ["TLSv1.3", "TLS_AES_128_GCM_SHA256", "X25519"],
        ["TLSv1.3", "TLS_AES_128_GCM_SHA256", "x25519"],
    ),
    (
        &["--ciphers", "ECDHE-ECDSA-CHACHA20-POLY1305"],
        ["TLSv1.2", "ECDHE-ECDSA-CHACHA20-POLY1305", "X25519"],
        ["TLSv1.2", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "x25519"],
    ),
    (
        &["--tls", "1.2", "--ciphers", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"],
        ["TLSv1.2", "ECDHE-ECDSA-AES128-GCM-SHA256", "X25519"],
        ["TLSv1.2", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "x25519"],
    ),
    (
        &["--groups", "P-256", "--http2"],
        ["TLSv1.3", "TLS_AES_256_GCM_SHA384", "prime256v1"],
        ["TLSv1.3", "TLS_AES_256_GCM_SHA384", "secp256r1"],
    ),
    (
        // The first is one that this server has not got: it asks for the second.
        &["--groups", "P-384,P-256"],
        ["TLSv1.3", "TLS_AES_256_GCM_SHA384", "prime256v1"],
        ["TLSv1.3", "TLS_AES_256_GCM_SHA384", "secp256r1"],
    ),
];

#[test]
fn reports_the_tls_parameters_that_nginx_logs() {
    let Some(stage) = Stage::start() else { return };
    for (number, (options, _, expected)) in AGREED.iter().enumerate() {
        let load = [&["-n", "8", "--no-keep-alive"], *options].concat();
        let result = stage.run(&number.to_string(), &load);
        for family in Family::BOTH {
            assert_normal(of(&result, family), 4);
            let tls = tls(of(&result, family));
            let found = [&tls.versions, &tls.ciphers, &tls.groups].map(only);
            assert_eq!(&found, expected, "{options:?}");
            let retried = if options.contains(&"P-384,P-256") { 4 } else { 0 };
            assert_eq!(tls.handshakes.retried, retried, "{options:?}");
        }
    }
    let log = stage.log();
    for (number, (options, expected, _)) in AGREED.iter().enumerate() {
        let entries = &log[&number.to_string()];
        assert_eq!(entries.len(), 8);
        for entry in entries {
            let found = [&entry.protocol, &entry.cipher, &entry.curve].map(|word| &word[..]);
            assert_eq!(&found, expected, "{options:?}");
            let http2 = options.contains(&"--http2");
            assert_eq!(entry.version, if http2 { "HTTP/2.0" } else { "HTTP/1.1" });
        }
    }
}

/// Options that ask for what nginx refuses, by an alert.
#[test]
fn reports_the_alert_of_a_failed_tls_negotiation() {
    let Some(stage) = Stage::start() else { return };
    for (options, alert) in [
        (&["--tls", "1.2", "--ciphers", "ECDHE-RSA-AES128-GCM-SHA256"], 40),
        (&["--tls", "1.3", "--groups", "P-384"], 40),
    ] {
        let result = stage.run("never", &[&["-n", "8"], &options[..]].concat());
        for family in Family::BOTH {
            let figures = of(&result, family);
            assert_eq!(figures.outcomes.get("TLS"), Some(&4), "{options:?}");
            let cause = &tls(figures).failures[0].cause;
            assert_eq!((cause.reason.to_string(), cause.alert), ("alert".into(), Some(alert)));
            assert_eq!(tls(figures).handshakes.failed, 4);
        }
    }
    assert!(!stage.log().contains_key("never"));
}

#[test]
fn resumes_the_given_share_of_tls_sessions_within_each_family() {
    let Some(stage) = Stage::start() else { return };
    let shares = ["0", "0.8", "1"];
    let versions = ["1.2", "1.3"];
    let mut expected = BTreeMap::new();
    for version in versions {
        for share in shares {
            let name = format!("{version}-{share}");
            let load = ["-n", "300", "-t", "1", "--no-keep-alive", "--tls", version];
            let result = stage.run(&name, &[&load[..], &["--resume", share]].concat());
            let counts = Family::BOTH.map(|family| resumed(of(&result, family), share));
            expected.insert(name, counts);
        }
    }
    for (name, entries) in stage.log() {
        let of = |family| {
            entries.iter().filter(|entry| entry.family == family && entry.resumed).count() as u64
        };
        assert_eq!(Family::BOTH.map(of), expected[&name], "{name}");
    }
}

/// How many resumed, of 150, which is as many as it should be. The keys that families have for
/// tickets differ: a ticket of the other one would be offered in vain.
fn resumed(figures: &FamilyResult, share: &str) -> u64 {
    assert_normal(figures, 150);
    let tls = tls(figures);
    let handshakes = tls.handshakes;
    assert_eq!(handshakes.full + handshakes.resumed, 150);
    assert_eq!(handshakes.offered, handshakes.resumed, "{share}");
    assert_eq!([tls.full_us.count, tls.resumed_us.count], [handshakes.full, handshakes.resumed]);
    let wanted = (150.0 * share.parse::<f64>().unwrap()) as u64;
    // Four handshakes may begin before the first has got its ticket.
    let least = wanted.saturating_sub(4);
    assert!((least..=wanted).contains(&handshakes.resumed), "{share}: {handshakes:?}");
    handshakes.resumed
}

#[test]
fn sends_the_client_certificate_that_nginx_requests() {
    let Some(stage) = Stage::start() else { return };
    let [certificate, key] =
        ["certificate", "key"].map(|what| stage.0.file(&format!("{CLIENT}.{what}.pem")));
    let given = ["-n", "4", "--cert", &certificate, "--key", &key];
    for version in ["1.2", "1.3"] {
        let version = ["--tls", version];
        let result = stage.run_at("given", "sixmark.test", &[&given, &version[..]].concat());
        assert!(result.iter().all(|result| result.total.status == [(200, 4)].into()));
        // nginx lets the handshake finish and says no in HTTP.
        let result = stage.run_at("none", "sixmark.test", &[&["-n", "4"], &version[..]].concat());
        assert!(result.iter().all(|result| result.total.status == [(400, 4)].into()));
    }
    let log = stage.log();
    assert!(log["given"].iter().all(|entry| entry.verified == "SUCCESS" && entry.status == 200));
    assert!(log["none"].iter().all(|entry| entry.verified == "NONE" && entry.status == 400));
}

#[test]
fn sends_sni_for_a_host_name_but_not_for_an_address() {
    let Some(stage) = Stage::start() else { return };
    for (name, options) in [
        ("address", &[][..]),
        ("sni", &["--sni", "localhost"]),
        ("sni-h2", &["--sni", "localhost", "--http2"]),
    ] {
        let result = stage.run(name, &[&["-n", "4"], options].concat());
        Family::BOTH.iter().for_each(|&family| assert_normal(of(&result, family), 2));
    }
    stage.run_at("url", "localhost", &["-n", "4"]);
    let log = stage.log();
    assert_eq!(log.values().map(Vec::len).collect::<Vec<_>>(), [4, 4, 4, 8]);
    for (name, entries) in log {
        let expected = if name == "address" { "-" } else { "localhost" };
        assert!(entries.iter().all(|entry| entry.name == expected), "{name}");
    }
}

#[test]
fn sends_the_given_host_header_as_the_http2_authority() {
    let Some(stage) = Stage::start() else { return };
    for (name, option) in [("h1", &[][..]), ("h2", &["--http2"])] {
        let options = ["-n", "4", "-H", "Host: other.test:1", "-H", "X-Some: Thing"];
        stage.run(name, &[&options[..], option].concat());
    }
    for (name, entries) in stage.log() {
        assert_eq!(entries.len(), 4);
        assert!(entries.iter().all(|entry| entry.host == "other.test:1"), "{name}");
    }
}
