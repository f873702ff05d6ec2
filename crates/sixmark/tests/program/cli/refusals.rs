//! What can't be done: one line that says why, and the exit status.

use sixmark_testkit::{Origin, complaint, refusing, sixmark, words_of};
use sixmark_units::family::Family;

const URL: &str = "http://127.0.0.1:1/";
const SECURE: &str = "https://127.0.0.1:1/";

/// Arguments of a run, and what the complaint about them must hold.
const WRONG: &[(&[&str], &str)] = &[
    (&["--no-such-option", URL], "--no-such-option"),
    (&["--no-such-option", URL], "see `sixmark run --help`"),
    (&[], "URL"),
    (&["--ratio", "0:0", URL], "0:0"),
    (&["--ratio", "4", URL], "4:1"),
    (&["-4", "-6", URL], "cannot be used with"),
    (&["-4", "--ratio", "1:1", URL], "cannot be used with"),
    (&["-n", "0", URL], "of 1 or more"),
    (&["-n", "-1", URL], "-1"),
    (&["-c", "0", URL], "of 1 or more"),
    (&["-d", "0s", URL], "above 0"),
    (&["-d", "soon", URL], "10s"),
    (&["--timeout", "0", URL], "above 0"),
    (&["http://127.0.0.1:1/a b"], "%20"),
    (&["--http2", URL], "--http2-prior-knowledge"),
    (&["--http3", URL], "needs https://"),
    (&["--http3", URL, SECURE], "needs https://"),
    (&["--http3", "--http2", SECURE], "cannot be used with"),
    (&["--http3", "--http2-prior-knowledge", SECURE], "cannot be used with"),
    (&["--http3", "--tls", "1.2", SECURE], "omit --tls 1.2"),
    (&["--http3", "--ciphers", "ECDHE-ECDSA-AES128-GCM-SHA256", SECURE], "TLS 1.3"),
    (&["--http3", "--close", "rst", SECURE], "omit it"),
    (&["--http3", "--timestamps", "kernel", SECURE], "omit it for HTTP/3"),
    (&["--http3", "--no-keep-alive", "--streams", "2", SECURE], "--no-keep-alive"),
    (&["--streams", "2", URL], "needs --http2"),
    (&["--cacert", "ca.pem", URL], "--cacert needs an https:// target"),
    (&["--cert", "own.pem", URL], "--cert needs an https:// target"),
    (&["--sni", "a.example", URL], "--sni needs an https:// target"),
    (&["--tls", "1.3", URL], "--tls needs an https:// target"),
    (&["--alpn", "h2", URL], "--alpn needs an https:// target"),
    (&["--ciphers", "RC4", URL], "--ciphers needs an https:// target"),
    (&["--groups", "x25519", URL], "--groups needs an https:// target"),
    (&["--resume", "0.5", URL], "--resume needs an https:// target"),
    (&["--key", "own.key", SECURE], "--cert"),
    (&["--tls", "1.1", SECURE], "1.2 or 1.3"),
    (&["--resume", "80%", SECURE], "0 to 1"),
    (&["--alpn", "h2,,", SECURE], "commas"),
    (&["--alpn", "h2", SECURE], "--alpn h2 needs --http2"),
    (&["--alpn", "http/1.1,h2", SECURE], "--alpn http/1.1,h2 needs --http2"),
    (&["--alpn", "h3", SECURE], "--alpn h3 needs --http3"),
    (&["--http2", "--alpn", "none", SECURE], "--http2 needs h2 in --alpn"),
    (&["--http2", "--alpn", "http/1.1", SECURE], "--http2 needs h2 in --alpn"),
    (&["--http3", "--alpn", "h2", SECURE], "--http3 needs h3 in --alpn"),
    (&["--http3", "--alpn", "none", SECURE], "--http3 needs h3 in --alpn"),
    (&["--resume", "-1", SECURE], "a share from 0 to 1, on or off"),
    (&["--resume", "yes", SECURE], "a share from 0 to 1, on or off"),
    (&["-k", "--cacert", "ca.pem", SECURE], "cannot be used with"),
    (&["--ciphers", "RC4", SECURE], "TLS_AES_128_GCM_SHA256"),
    (&["--groups", "P-1", SECURE], "x25519"),
    (&["--cacert", "/no/such/file", SECURE], "/no/such/file"),
    (&["--cert", "/no/such/file", "-k", SECURE], "/no/such/file"),
    (&["--sni", "a b", SECURE], "--sni"),
    (&["http://[fe80::1%nowhere0]/"], "nowhere0"),
    (&["http://[fe80::1%4294967295]/"], "no interface with the number '4294967295'"),
    (&["http://[fe80::1%0]/"], "no interface with the number '0'"),
    (&["http://[::1%lo]/"], "only link-local addresses (fe80::/10) have a zone; write [::1]"),
    (&["http://0x7f.1/"], "write 127.0.0.1"),
    (&["http://0x7f000001.:8080/"], "write 127.0.0.1"),
    (&["http://127.1/"], "write 127.0.0.1"),
    (&["http://0177.0.0.1/"], "four numbers from 0 to 255"),
    (&["http://example.1/"], "four numbers from 0 to 255"),
    (&["http:/example.com/"], "write http://example.com/"),
    (&["http:///example.com/"], "write http://example.com/"),
    (&["http://./"], "http://example.com/"),
    (&["http://::1/"], "http://[::1]"),
    (&["--rate", "fast", URL], "200/s"),
    (&["--rate", "0", URL], "above 0"),
    (&["--rate", "2000M", URL], "1,000,000,000"),
    (&["--rate", "5", "--ramp", "1:2:3s", URL], "cannot be used with"),
    (&["--ramp", "1:2:3s", "--steps", "1:2s", URL], "cannot be used with"),
    (&["--ramp", "1:2:3s", "-d", "3s", URL], "cannot be used with"),
    (&["--steps", "1:2s", "-d", "3s", URL], "cannot be used with"),
    (&["--ramp", "1:2", URL], "FROM:TO:DURATION"),
    (&["--ramp", "0:0:1s", URL], "above 0"),
    (&["--ramp", "0:1:0s", URL], "above 0"),
    (&["--ramp", "0:9:1s", "--warmup", "1s", URL], "--warmup"),
    (&["--steps", "100,200", URL], "RATE:DURATION"),
    (&["--steps", "100:0s", URL], "above 0"),
    (&["--steps", "0:1s,0:2s", URL], "above 0"),
    (&["--arrivals", "poisson", URL], "--rate, --ramp or --steps"),
    (&["--overload", "drop", URL], "--rate, --ramp or --steps"),
    (&["--spin", "50us", URL], "--rate, --ramp or --steps"),
    (&["--rate", "5", "--arrivals", "uniform", URL], "constant or poisson"),
    (&["--rate", "5", "--overload", "queue", URL], "wait or drop"),
    (&["--driver", "select", URL], "auto, uring or epoll"),
    (&["--driver", "uring", "--timestamps", "kernel", URL], "omit --driver uring"),
    (&["--timestamps", "kernel", "--linger", "50us", URL], "omit one"),
    (&["--rate", "5", "--linger", "50us", URL], "cannot be used with"),
    (&["--linger", "10ns", URL], "expected 0 or a time from 1us to 1s"),
    (&["--preopen", "--no-keep-alive", URL], "cannot be used with"),
    (&["--find-max", "response.p98 < 1ms", URL], "p98"),
    (&["--find-max", "response.p99", URL], "response.p99 < 10ms"),
    (&["--find-max", "failures < 1%", "--ratio", "1:1", URL], "cannot be used with"),
    (&["--find-max", "failures < 1%", "-n", "9", URL], "cannot be used with"),
    (&["--find-max", "failures < 1%", "--ramp", "1:2:3s", URL], "cannot be used with"),
    (&["--find-max", "failures < 1%", "--steps", "1:2s", URL], "cannot be used with"),
    (&["--find-max", "failures < 1%", "--overload", "drop", URL], "--overload drop"),
    (&["--find-max", "failures < 1%", "--rate", "4/s", URL], "increase -d"),
    (&["--find-max", "failures < 1%", "--rate", "0", URL], "above 0"),
    (&["--find-max", "connect.p99 < 1ms", URL], "--no-keep-alive"),
    (&["--find-max", "tls.p99 < 1ms", SECURE], "--no-keep-alive"),
    (&["--find-max", "tls.p99 < 1ms", "--no-keep-alive", URL], "no target is https://"),
    (&["--source", "127.0.0.1/40", URL], "is 0 to 32"),
    (&["--source", "nowhere0", URL], "nowhere0"),
    (&["--resolve", "a:b", URL], "HOST:PORT:ADDR"),
    (&["--close", "maybe", URL], "fin or rst"),
    (&["--timestamps", "hardware", URL], "user or kernel"),
    (&["-X", "A B", URL], "method"),
    (&["-H", "no colon", URL], "colon"),
    (&["-H", "Content-Length: 3", URL], "Content-Length is set by sixmark"),
    (&["-H", "transfer-encoding: chunked", URL], "is set by sixmark"),
    (&["--http2-prior-knowledge", "-H", "content-length: 3", URL], "is set by sixmark"),
    (&["--requests", "100", URL], "use -n 100"),
    (&["--requests", "a", "--requests-format", "csv", URL], "toml, har or log"),
    (&["--requests", "a", "-X", "PUT", URL], "cannot be used with"),
    (&["--requests", "a", "--body", "x", URL], "cannot be used with"),
    (&["--requests", "a", "--replay=fast", URL], "--replay=2x"),
    (&["--requests", "a", "--replay", "2x", URL], "--replay=2x"),
    (&["--requests", "a", "--replay", "--rate", "5", URL], "cannot be used with"),
    (&["--replay", URL], "--requests"),
    (&["--requests", "a", "--log-format", "clf", URL], "expected one of combined, caddy, traefik"),
    (&["--log-format", "json", URL], "--requests"),
    (&["--har-host", "a", URL], "--requests"),
    (&["--unsafe-methods", URL], "--requests"),
    (&["--expect", "state=200", URL], "status=200"),
    (&["--expect", "body~(", URL], "unclosed group"),
    (&["--expect", "status=999", URL], "from 200 to 599"),
    (&["--no-keep-alive", "--requests-per-connection", "2", URL], "cannot be used with"),
    (&["--json", "-", "--csv", "-", URL], "standard output"),
];

/// A run is refused, for a reason that holds `part`.
fn refused(arguments: &[&str], part: &str) {
    let output = sixmark(&[&["run"], arguments].concat());
    let said = complaint(&output, 2);
    assert!(said.contains(part), "{arguments:?}: {said}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
}

#[test]
fn rejects_wrong_usage_in_one_line_with_status_2() {
    WRONG.iter().for_each(|(arguments, part)| refused(arguments, part));
}

#[test]
fn rejects_invalid_pauses_of_the_origin() {
    for (pause, part) in [("5s/1s", "shorter"), ("500ms", "500ms/5s"), ("0s/5s", "must be above 0")]
    {
        let said = complaint(&sixmark(&["origin", "--pause", pause]), 2);
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn a_file_that_can_not_be_read_or_written_is_refused_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    let missing = &*format!("{folder}/none/file");
    refused(&["--targets", missing], missing);
    refused(&["--targets", folder], folder);
    refused(&["--body-file", missing, URL], missing);
    refused(&["--json", missing, URL], missing);
    refused(&["--csv", folder, URL], "folder");
}

#[test]
fn a_family_without_an_address_can_not_be_measured() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/");
    for (options, url, part) in [
        (&["--ratio", "1:1"][..], &v4, "no IPv6 address"),
        (&["--ratio", "1:1"], &v6, "no IPv4 address"),
        (&["-6"], &v4, "no IPv6 address"),
        (&["-4"], &v6, "no IPv4 address"),
    ] {
        let said = complaint(&sixmark(&[&["run", "-n", "4"], options, &[url]].concat()), 3);
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn a_name_without_addresses_can_not_be_measured() {
    let said = complaint(&sixmark(&["run", "http://no-such-name.invalid/"]), 3);
    assert!(said.contains("no-such-name.invalid"), "{said}");
}

#[test]
fn reports_refused_connections_of_all_families_in_one_line() {
    let (_held6, v6) = refusing(Family::Ipv6);
    let (_held4, v4) = refusing(Family::Ipv4);
    let [url6, url4] = [v6, v4].map(|address| format!("http://{address}/"));
    for urls in [&[&*url6][..], &[&url4], &[&url6, &url4]] {
        let said = complaint(&sixmark(&[&["run", "-n", "100", "-c", "4"], urls].concat()), 3);
        assert!(said.contains("connection refused"), "{said}");
        for url in urls {
            let address = url.trim_start_matches("http://").trim_end_matches('/');
            assert!(said.contains(address), "{said}");
        }
    }
}

/// Half of the comparison is none, but what was measured is shown.
#[test]
fn a_run_fails_if_one_family_refuses_connections() {
    let origin = Origin::start();
    let (_held, v6) = refusing(Family::Ipv6);
    let url6 = format!("http://{v6}/");
    let url4 = origin.url(Family::Ipv4, "/bytes/10");
    let output = sixmark(&["run", "-n", "20", "-c", "2", &url6, &url4]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{said}");
    let last = said.lines().last().unwrap();
    assert!(last.starts_with(&format!("sixmark: no answer over IPv6 ({v6})")), "{said}");
    let table = String::from_utf8(output.stdout).unwrap();
    let words = words_of(&table);
    assert!(words.contains("REFUSED in connect 10 0"), "{table}");
}
