//! What a program does with answers of name servers of every kind. The programs for both libraries
//! of C have to pass it: their resolvers differ.

use std::net::UdpSocket;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;

use serde_json::Value;
use sixmark_origin::Options;

use crate::name_server::{ResolverFiles, within_names};
use crate::{Origin, finish};

/// A run, and what it must do.
struct LookedUp {
    /// The options, of which one is the name.
    words: &'static str,
    status: i32,
    /// What the document says of IPv6 and of IPv4: how many addresses, or what there was instead; `-`
    /// if the family was not asked for.
    found: [&'static str; 2],
    /// A part of standard error.
    said: &'static str,
}

const fn case(
    words: &'static str,
    status: i32,
    found: [&'static str; 2],
    said: &'static str,
) -> LookedUp {
    LookedUp { words, status, found, said }
}

const ADDRESSES: &str = "addresses";
const ABSENT: &str = "no_address";
const UNKNOWN: &str = "no_such_name";
const FAILED: &str = "failed";
const NOT_ASKED: &str = "-";

/// Names whose first label says what there is for A, then for AAAA.
const CASES: [LookedUp; 16] = [
    case("ok-ok", 0, [ADDRESSES, ADDRESSES], ""),
    case(
        "ok-servfail",
        3,
        [FAILED, ADDRESSES],
        "IPv6 addresses of ok-servfail.example failed (127.0.0.1 answers SERVFAIL)",
    ),
    case("ok-refused", 3, [FAILED, ADDRESSES], "(127.0.0.1 answers REFUSED)"),
    case("ok-formerr", 3, [FAILED, ADDRESSES], "(127.0.0.1 answers FORMERR)"),
    case("ok-silent", 3, [FAILED, ADDRESSES], "(no answer from 127.0.0.1 within 1 s)"),
    case(
        "servfail-ok",
        3,
        [ADDRESSES, FAILED],
        "IPv4 addresses of servfail-ok.example failed (127.0.0.1 answers SERVFAIL)",
    ),
    case("silent-ok", 3, [ADDRESSES, FAILED], "load IPv6 alone with -6"),
    case("ok-nodata", 0, [ABSENT, ADDRESSES], "the targets have no IPv6 address"),
    case("ok-nxdomain", 0, [UNKNOWN, ADDRESSES], "the targets have no IPv6 address"),
    case("nodata-ok", 0, [ADDRESSES, ABSENT], "the targets have no IPv4 address"),
    case("ok-truncated", 0, [ADDRESSES, ADDRESSES], ""),
    case("truncated-ok", 0, [ADDRESSES, ADDRESSES], ""),
    case("-4 ok-silent", 0, [NOT_ASKED, ADDRESSES], ""),
    case("-6 servfail-ok", 0, [ADDRESSES, NOT_ASKED], ""),
    case("--ratio 0:1 ok-refused", 0, [NOT_ASKED, ADDRESSES], ""),
    case("--ratio 1:0 refused-ok", 0, [ADDRESSES, NOT_ASKED], ""),
];

/// Commands that can't measure, and the whole reason.
const REFUSED: [(&str, &str); 8] = [
    (
        "run -n 1 -6 http://ok-servfail.example/",
        "can't resolve 'ok-servfail.example': IPv6: 127.0.0.1 answers SERVFAIL; check the name \
         servers (/etc/resolv.conf), or use --resolve",
    ),
    (
        "run -n 1 http://nowhere.example/",
        "can't resolve 'nowhere.example': no such name (127.0.0.1 answers NXDOMAIN); check the \
         name, or use --resolve",
    ),
    (
        "run -n 1 http://refused-silent.example/",
        "can't resolve 'refused-silent.example': IPv6: no answer from 127.0.0.1 within 1 s; IPv4: \
         127.0.0.1 answers REFUSED; check the name servers (/etc/resolv.conf), or use --resolve",
    ),
    (
        "run -n 1 --ratio 1:1 http://ok-servfail.example/",
        "the look-up of IPv6 addresses of ok-servfail.example failed (127.0.0.1 answers SERVFAIL); \
         check the name servers (/etc/resolv.conf), or give addresses with --resolve",
    ),
    (
        "compare --blocks 2 http://ok-servfail.example/",
        "the look-up of IPv6 addresses of ok-servfail.example failed (127.0.0.1 answers SERVFAIL); \
         check the name servers (/etc/resolv.conf), or give addresses with --resolve",
    ),
    (
        "compare --blocks 2 http://ok-nodata.example/",
        "ok-nodata.example has no IPv6 address (127.0.0.1 has no AAAA record of ok-nodata.example): \
         over IPv4 alone there is no second side; give two URLs, name the sides (--a, --b), or add \
         an IPv6 address (--resolve)",
    ),
    (
        "compare --blocks 2 http://nxdomain-ok.example/",
        "nxdomain-ok.example has no IPv4 address (127.0.0.1 answers NXDOMAIN): over IPv6 alone \
         there is no second side; give two URLs, name the sides (--a, --b), or add an IPv4 address \
         (--resolve)",
    ),
    (
        "traffic --to ok-refused.example:5777 --rate 1M -d 1s",
        "the look-up of IPv6 addresses of ok-refused.example failed (127.0.0.1 answers REFUSED); \
         check the name servers, give the addresses, or send over IPv4 alone with --ipv6 0",
    ),
];

/// Runs the program with these words, of which none contains a space.
fn start(program: &Path, words: &str) -> Output {
    let mut command = Command::new(program);
    command.env("SIXMARK_STORE", "none").args(words.split(' '));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    finish(command.spawn().unwrap())
}

/// Starts an origin at port 80 of both families.
fn origin() -> Origin {
    let listen = vec!["[::1]:80".parse().unwrap(), "127.0.0.1:80".parse().unwrap()];
    Origin::with(Options { listen, ..Options::default() })
}

/// Checks what `run` finds for each name, its exit status and what it says.
pub fn check_each_answer(program: &Path) {
    within_names(&ResolverFiles::default(), || {
        let _origin = origin();
        let run = |case: &'static LookedUp| check_case(program, case);
        thread::scope(|scope| CASES.iter().for_each(|case| drop(scope.spawn(move || run(case)))));
        for (words, why) in REFUSED {
            let output = start(program, words);
            assert_eq!(crate::complaint(&output, 3), format!("sixmark: {why}"), "{words}");
        }
    });
}

fn check_case(program: &Path, case: &LookedUp) {
    let words = format!("run -n 8 -c 2 -q --json - {}.example", case.words);
    let (options, name) = words.rsplit_once(' ').unwrap();
    let output = start(program, &format!("{options} http://{name}/"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(case.status), "{words}: {said}");
    assert!(said.contains(case.said), "{words}: {said}");
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    crate::check(&result);
    let dns = &result["dns"][0];
    for (family, found) in ["ipv6", "ipv4"].into_iter().zip(case.found) {
        let of = &dns["by_family"][family];
        assert_eq!(of["found"].as_str().unwrap_or(NOT_ASKED), found, "{words}: {dns}");
        let loaded = result["families"][family]["requests"]["sent"].as_u64().unwrap_or(0);
        assert_eq!(loaded > 0, found == ADDRESSES, "{words}: {family}");
        assert_eq!(of["said"].is_string(), ![ADDRESSES, NOT_ASKED].contains(&found), "{dns}");
        assert_eq!(dns[family].as_u64() > Some(0), found == ADDRESSES, "{words}: {dns}");
    }
}

/// Checks what the screen says of a family that is not there.
pub fn check_screen(program: &Path) {
    within_names(&ResolverFiles::default(), || {
        let _origin = origin();
        for (name, shown) in [
            (
                "ok-servfail",
                &["FAILED: the look-up of IPv6 addresses", "IPv6 was not measured: the look-up"][..],
            ),
            ("ok-nodata", &["IPv6 was not measured: the targets have no IPv6 address."]),
            ("nodata-ok", &["IPv4 was not measured: the targets have no IPv4 address."]),
        ] {
            let output = start(program, &format!("run -n 8 -c 2 http://{name}.example/"));
            let text =
                String::from_utf8_lossy(&output.stdout).replace("\n    ", " ").replace('\n', " ");
            for part in shown {
                assert!(text.contains(part), "{name}: {text}");
            }
            assert!(text.contains("requests/s"), "{name}: what was measured is shown: {text}");
        }
    });
}

/// Checks the answer if name servers are dead, or if a short name is searched for.
pub fn check_resolver_files(program: &Path) {
    let dead = ResolverFiles {
        resolv_conf: "nameserver 127.0.0.2\nnameserver 127.0.0.1\nnameserver 127.0.0.3\n\
                      options timeout:1 attempts:1\nsearch ok-nodata.example nodata-ok.example\n",
        hosts: "127.0.0.1 localhost four\n::1 localhost\n",
        servers: &["127.0.0.1:53", "127.0.0.3:53"],
    };
    within_names(&dead, || {
        let _origin = origin();
        let _silent = UdpSocket::bind("127.0.0.2:53").unwrap();
        let all = "no answer from 127.0.0.2 within 1 s, 127.0.0.1 answers SERVFAIL, 127.0.0.3 answers SERVFAIL";
        for (name, status, said) in [
            ("ok-ok.example", 0, [None, None]),
            ("ok-servfail.example", 3, [Some(all), None]),
            // The second domain has an IPv6 address, of another host.
            ("www", 0, [Some("www.ok-nodata.example"), None]),
            ("four", 0, [Some("/etc/hosts has only IPv4"), None]),
        ] {
            let output = start(program, &format!("run -n 8 -c 2 -q --json - http://{name}/"));
            let text = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(status), "{name}: {text}");
            let result: Value = serde_json::from_slice(&output.stdout).unwrap();
            let dns = &result["dns"][0]["by_family"];
            for (family, said) in ["ipv6", "ipv4"].into_iter().zip(said) {
                let found = dns[family]["said"].as_str();
                let as_expected = match said {
                    Some(said) => found.is_some_and(|found| found.contains(said)),
                    None => found.is_none(),
                };
                assert!(as_expected, "{name}: {dns}");
            }
        }
    });
}
