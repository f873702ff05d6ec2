//! What can't be done: one line that says why, and the exit status.

use sixmark_units::family::Family;

use crate::support::{Origin, check, complaint, document, refusing, script, sixmark, skipped};

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
    (&["-n", "0", URL], "from 1 up"),
    (&["-n", "-1", URL], "-1"),
    (&["-c", "0", URL], "from 1 up"),
    (&["-d", "0s", URL], "above 0"),
    (&["-d", "soon", URL], "10s"),
    (&["--timeout", "0", URL], "above 0"),
    (&["http://127.0.0.1:1/a b"], "%20"),
    (&["--http2", URL], "--http2-prior-knowledge"),
    (&["--http3", URL], "https:// alone"),
    (&["--http3", URL, SECURE], "https:// alone"),
    (&["--http3", "--http2", SECURE], "cannot be used with"),
    (&["--http3", "--http2-prior-knowledge", SECURE], "cannot be used with"),
    (&["--http3", "--tls", "1.2", SECURE], "leave --tls 1.2 out"),
    (&["--http3", "--ciphers", "ECDHE-ECDSA-AES128-GCM-SHA256", SECURE], "TLS 1.3"),
    (&["--http3", "--close", "rst", SECURE], "leave it out"),
    (&["--http3", "--timestamps", "kernel", SECURE], "leave it out for HTTP/3"),
    (&["--http3", "--no-keep-alive", "--streams", "2", SECURE], "--no-keep-alive"),
    (&["--streams", "2", URL], "needs --http2"),
    (&["--insecure", URL], "--insecure is for https://"),
    (&["--cacert", "ca.pem", URL], "--cacert is for https://"),
    (&["--cert", "own.pem", URL], "--cert is for https://"),
    (&["--sni", "a.example", URL], "--sni is for https://"),
    (&["--tls", "1.3", URL], "--tls is for https://"),
    (&["--alpn", "h2", URL], "--alpn is for https://"),
    (&["--ciphers", "RC4", URL], "--ciphers is for https://"),
    (&["--groups", "x25519", URL], "--groups is for https://"),
    (&["--resume", "0.5", URL], "--resume is for https://"),
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
    (&["127.0.0.1"], "http://127.0.0.1"),
    (&["http://[fe80::1%nowhere0]/"], "nowhere0"),
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
    (&["--driver", "uring", "--timestamps", "kernel", URL], "leave --driver uring out"),
    (&["--driver", "epoll", "--linger", "50us", URL], "needs io_uring"),
    (&["--timestamps", "kernel", "--linger", "50us", URL], "needs io_uring"),
    (&["--rate", "5", "--linger", "50us", URL], "cannot be used with"),
    (&["--linger", "10ns", URL], "from 1us to 1s"),
    (&["--preopen", "--no-keep-alive", URL], "cannot be used with"),
    (&["--find-max", "response.p98 < 1ms", URL], "p98"),
    (&["--find-max", "response.p99", URL], "response.p99 < 10ms"),
    (&["--find-max", "failures < 1%", "--ratio", "1:1", URL], "cannot be used with"),
    (&["--find-max", "failures < 1%", "-n", "9", URL], "cannot be used with"),
    (&["--find-max", "failures < 1%", "--ramp", "1:2:3s", URL], "cannot be used with"),
    (&["--find-max", "failures < 1%", "--steps", "1:2s", URL], "cannot be used with"),
    (&["--find-max", "failures < 1%", "--overload", "drop", URL], "--overload drop"),
    (&["--find-max", "failures < 1%", "--rate", "4/s", URL], "lengthen -d"),
    (&["--find-max", "failures < 1%", "--rate", "0", URL], "above 0"),
    (&["--find-max", "connect.p99 < 1ms", URL], "--no-keep-alive"),
    (&["--find-max", "tls.p99 < 1ms", SECURE], "--no-keep-alive"),
    (&["--find-max", "tls.p99 < 1ms", "--no-keep-alive", URL], "no target is https://"),
    (&["--source", "127.0.0.1/40", URL], "32 bits"),
    (&["--source", "nowhere0", URL], "nowhere0"),
    (&["--resolve", "a:b", URL], "HOST:PORT:ADDR"),
    (&["--close", "maybe", URL], "fin or rst"),
    (&["--timestamps", "hardware", URL], "user or kernel"),
    (&["-X", "A B", URL], "method"),
    (&["-H", "no colon", URL], "colon"),
    (&["-H", "Content-Length: 3", URL], "Content-Length is sixmark's to write"),
    (&["-H", "transfer-encoding: chunked", URL], "sixmark's to write"),
    (&["--http2-prior-knowledge", "-H", "content-length: 3", URL], "sixmark's to write"),
    (&["--requests", "100", URL], "use -n 100"),
    (&["--requests", "a", "--requests-format", "csv", URL], "toml, har or log"),
    (&["--requests", "a", "-X", "PUT", URL], "cannot be used with"),
    (&["--requests", "a", "--body", "x", URL], "cannot be used with"),
    (&["--requests", "a", "--replay=fast", URL], "--replay=2x"),
    (&["--requests", "a", "--replay", "2x", URL], "--replay=2x"),
    (&["--requests", "a", "--replay", "--rate", "5", URL], "cannot be used with"),
    (&["--replay", URL], "--requests"),
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
fn wrong_usage_is_one_line_and_status_2() {
    WRONG.iter().for_each(|(arguments, part)| refused(arguments, part));
}

#[test]
fn an_origin_that_would_always_stand_still_is_refused() {
    for (pause, part) in [("5s/1s", "shorter"), ("500ms", "500ms/5s"), ("0s/5s", "longer than 0")] {
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
fn a_port_that_refuses_is_one_line_for_all_families() {
    let (_held6, v6) = refusing(Family::Ipv6);
    let (_held4, v4) = refusing(Family::Ipv4);
    let [url6, url4] = [v6, v4].map(|address| format!("http://{address}/"));
    for urls in [&[&*url6][..], &[&url4], &[&url6, &url4]] {
        let said = complaint(&sixmark(&[&["run", "-n", "100", "-c", "4"], urls].concat()), 3);
        assert!(said.contains("REFUSED in connect"), "{said}");
        for url in urls {
            let address = url.trim_start_matches("http://").trim_end_matches('/');
            assert!(said.contains(address), "{said}");
        }
    }
}

/// Half of the comparison is none, but what was measured is shown.
#[test]
fn a_family_that_refuses_fails_the_run_beside_one_that_answers() {
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
    assert!(table.contains("IPv6: 10 REFUSED in connect"), "{table}");
}

#[test]
fn a_family_that_the_host_lacks_is_one_line() {
    if skipped("netns") {
        return;
    }
    let without_ipv6 = "ip link set lo up && \
                        echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6 || exit 99
                        exec \"$1\" run -n 1 ";
    let wrapper = ["unshare", "-n", "sh"];
    let output = script(&wrapper, &format!("{without_ipv6} -6 'http://[::1]:1/'"));
    assert!(complaint(&output, 3).contains("over IPv6"));
    // The other way round: a fresh namespace has no IPv4 until lo is up.
    let output = script(&wrapper, "exec \"$1\" run -n 1 -4 http://127.0.0.1:1/");
    assert!(complaint(&output, 3).contains("over IPv4"));
}

/// fd00::2 can be loaded, but nothing can listen on ::1.
#[test]
fn a_calibration_that_can_not_be_is_one_line() {
    if skipped("netns") {
        return;
    }
    let without_localhost = "ip link set lo up && ip addr add fd00::2/128 dev lo && \
                             ip addr del ::1/128 dev lo || exit 99
                             while ip -6 addr show dev lo tentative | grep -q fd00; do :; done
                             exec \"$1\" run -n 1 --calibrate 'http://[fd00::2]:1/'";
    let output = script(&["unshare", "-n", "sh"], without_localhost);
    let said = complaint(&output, 3);
    assert!(said.contains("--calibrate: cannot listen on [::1]:0"), "{said}");
}

/// The ports that one worker takes must not make another one give its requests up.
#[test]
fn ports_that_run_out_are_counted_and_the_run_goes_on() {
    if skipped("netns") {
        return;
    }
    let few_ports = "ip link set lo up && \
                     echo 40000 40019 >/proc/sys/net/ipv4/ip_local_port_range || exit 99
                     \"$1\" origin --json --listen 127.0.0.1:81 --listen '[::1]:81' >\"$2/up\" &
                     until [ -s \"$2/up\" ]; do :; done
                     \"$1\" run -n 300 -c 100 -t 2 --no-keep-alive --quiet --json - \\
                         http://127.0.0.1:81/delay/20 'http://[::1]:81/delay/20'
                     status=$?; kill $!; exit $status";
    let output = script(&["unshare", "-n", "sh"], few_ports);
    let result = document(&output);
    assert_eq!(result["ratio"]["sent"], serde_json::json!([150, 150]));
    assert!(result["total"]["outcomes"]["NO_PORT"].as_u64() > Some(0), "{}", result["total"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("[few_ports]") && said.contains("[no_port]"), "{said}");
}

/// The addresses that connections come from go away: that is no want of ports.
#[test]
fn a_source_address_that_goes_away_is_not_taken_for_used_up_ports() {
    if skipped("netns") {
        return;
    }
    let vanishing = "ip link set lo up && ip addr add fd00::9/128 dev lo nodad && \
                     ip addr add 10.9.9.9/32 dev lo || exit 99
                     \"$1\" origin --json --listen 127.0.0.1:81 --listen '[::1]:81' >\"$2/up\" &
                     server=$!; until [ -s \"$2/up\" ]; do :; done
                     \"$1\" run -n 2000 -c 8 --rate 100 --no-keep-alive --timeout 5s --quiet --json \"$2/run\" \
                         --source fd00::9 --source 10.9.9.9 http://127.0.0.1:81/ 'http://[::1]:81/' &
                     run=$!
                     until ss -Htan | grep -q 'fd00::9' && ss -Htan | grep -q '10.9.9.9'; do :; done
                     ip addr del fd00::9/128 dev lo; ip addr del 10.9.9.9/32 dev lo
                     wait $run; status=$?; kill $server; cat \"$2/run\"; exit $status";
    let output = script(&["unshare", "-n", "sh"], vanishing);
    let result = document(&output);
    for family in ["ipv6", "ipv4"] {
        let figures = &result["families"][family];
        let gone = serde_json::json!({
            "outcome": "LOCAL", "phase": "connect", "errno": 99, "code": null, "cause": "no_source",
            "count": figures["outcomes"]["LOCAL"]
        });
        let failures = figures["failures"].as_array().unwrap();
        assert!(failures.contains(&gone), "{family}: {failures:?}");
        assert_eq!(figures["outcomes"]["NO_PORT"], serde_json::Value::Null, "{family}");
    }
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("this host does not have the source address"), "{said}");
    assert!(!said.contains("ip_local_port_range"), "{said}");
}

/// Two of the addresses of each family have no route. The others are measured, and these are counted.
#[test]
fn an_address_without_a_route_does_not_refuse_the_run() {
    if skipped("netns") {
        return;
    }
    let partly = "ip link set lo up || exit 99
                  \"$1\" origin --json --listen 127.0.0.1:81 --listen '[::1]:81' >\"$2/up\" &
                  until [ -s \"$2/up\" ]; do :; done
                  a=a.test:81:[::1],[2001:db8::1],[2001:db8::2],127.0.0.1,192.0.2.1,192.0.2.2
                  \"$1\" run -n 60 -c 2 --json \"$2/run\" --resolve $a http://a.test:81/ >\"$2/table\"
                  status=$?; kill $!
                  printf '[%s,\"' \"$(cat \"$2/run\")\"; tr '\\n' '|' <\"$2/table\"; printf '\"]'
                  exit $status";
    let output = script(&["unshare", "-n", "sh"], partly);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let shown: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let (result, table) = (&shown[0], shown[1].as_str().unwrap());
    check(result);
    for (family, name, gone) in [
        ("ipv6", "IPv6", ["[2001:db8::1]:81", "[2001:db8::2]:81"]),
        ("ipv4", "IPv4", ["192.0.2.1:81", "192.0.2.2:81"]),
    ] {
        let all = result["families"][family]["by_address"].as_array().unwrap();
        for address in gone {
            let of = all.iter().find(|of| of["address"] == address).unwrap();
            assert_eq!((&of["ended"], &of["completed"]), (&10.into(), &0.into()), "{of}");
            assert_eq!(of["failures"][0]["outcome"], "UNREACHABLE");
            let line = format!("|{name}: {address} failed 10 of 10, UNREACHABLE in connect|");
            assert!(table.contains(&line), "{line} in {table}");
        }
        assert!(said.contains(&format!("this host can't send to {} over {name}", gone[0])));
        assert!(said.contains("nor to 1 other address"), "{said}");
    }
    assert_eq!(said.matches("[unroutable]").count(), 2, "{said}");
}

/// A queue before the interface that has no room for what eight connections send at once.
#[test]
fn what_tcp_sends_again_is_counted_and_said() {
    if skipped("netns") {
        return;
    }
    let narrow = "ip link set lo mtu 1500 up && \
                  tc qdisc add dev lo root tbf rate 200mbit burst 20kb limit 30000 || exit 99
                  head -c 100000 /dev/zero >\"$2/body\"
                  \"$1\" origin --json --listen 127.0.0.1:81 --listen '[::1]:81' >\"$2/up\" &
                  until [ -s \"$2/up\" ]; do :; done
                  for clock in user kernel; do
                      \"$1\" run -n 400 -c 8 --timeout 60s --quiet --timestamps $clock --json \"$2/$clock\" \\
                          --body-file \"$2/body\" http://127.0.0.1:81/sink 'http://[::1]:81/sink' || exit 99
                  done
                  kill $!; printf '[%s,%s]' \"$(cat \"$2/user\")\" \"$(cat \"$2/kernel\")\"";
    let output = script(&["unshare", "-n", "sh"], narrow);
    let results: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for result in results.as_array().unwrap() {
        check(result);
        for family in ["ipv6", "ipv4"] {
            let (tcp, mss) =
                (&result["families"][family]["tcp"], if family == "ipv6" { 1_428 } else { 1_448 });
            assert!(tcp["retransmitted"].as_u64() > Some(0), "{family}: {tcp}");
            assert_eq!(tcp["mss"][mss.to_string()], tcp["read"], "{tcp}");
        }
        // Each stamp is that of the first time, and none got lost.
        let stamps = &result["generator"]["timestamps"];
        assert_eq!((&stamps["missing"], &stamps["inverted"]), (&0.into(), &0.into()));
    }
    assert!(String::from_utf8_lossy(&output.stderr).contains("[retransmissions]"));
}

#[test]
fn too_few_open_files_are_said_before_the_run() {
    if skipped("setpriv") {
        return;
    }
    // Root could raise the limit again, but not without this capability.
    let limited = "ulimit -n 50 || exit 99
                   set -- \"$1\" run -c 1000 http://127.0.0.1:1/
                   [ \"$(id -u)\" = 0 ] || exec \"$@\"
                   exec setpriv --bounding-set=-sys_resource \"$@\"";
    let said = complaint(&script(&["sh"], limited), 3);
    assert!(said.contains("open files") && said.contains("50") && said.contains("-c"), "{said}");
}

/// As under `ulimit -u`, or in a container with few processes.
#[test]
fn too_few_threads_are_said_in_one_line() {
    if skipped("setpriv") {
        return;
    }
    for (limit, words) in [
        (1, "origin"),
        (3, "origin --threads 8"),
        (1, "origin --turbo"),
        (2, "run -n 20 -c 20 -t 4 http://[::1]:1/ http://127.0.0.1:1/"),
        (1, "run -n 10 -t 1 http://[::1]:1/"),
        (1, "compare -n 10 --blocks 2 http://[::1]:1/ http://127.0.0.1:1/"),
        (1, "vitals -d 1h --prometheus 0"),
        (2, "demo"),
    ] {
        // An account that nobody else is.
        let wrapper = ["setpriv", "--reuid=64651", "--clear-groups", "prlimit"];
        let limit = format!("--nproc={limit}");
        let wrapper = [&wrapper[..], &[&limit, "sh"]].concat();
        let said = complaint(&script(&wrapper, &format!("exec \"$1\" {words}")), 3);
        assert!(said.contains("no thread can be had") && said.contains("ulimit -u"), "{said}");
    }
}
