//! What a machine lacks: a family, an address, a route, ports, open files, threads.

use sixmark_testkit::{check, complaint, document, script, skipped};

#[test]
fn reports_a_family_that_the_host_lacks_in_one_line() {
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
fn reports_an_impossible_calibration_in_one_line() {
    if skipped("netns") {
        return;
    }
    let without_localhost = "ip link set lo up && ip addr add fd00::2/128 dev lo && \
                             ip addr del ::1/128 dev lo || exit 99
                             while ip -6 addr show dev lo tentative | grep -q fd00; do :; done
                             exec \"$1\" run -n 1 --calibrate 'http://[fd00::2]:1/'";
    let output = script(&["unshare", "-n", "sh"], without_localhost);
    let said = complaint(&output, 3);
    assert!(said.contains("--calibrate: can't listen on [::1]:0"), "{said}");
}

/// The ports that one worker takes must not make another one give its requests up.
#[test]
fn counts_exhausted_ports_and_continues_the_run() {
    if skipped("netns") {
        return;
    }
    let few_ports = "ip link set lo up && \
                     echo 40000 40019 >/proc/sys/net/ipv4/ip_local_port_range || exit 99
                     \"$1\" origin --json --listen 127.0.0.1:81 --listen '[::1]:81' >\"$2/up\" &
                     until [ -s \"$2/up\" ]; do :; done
                     \"$1\" run -n 300 -c 100 -t 2 --no-keep-alive --quiet --full --json - \\
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
fn distinguishes_a_removed_source_address_from_exhausted_ports() {
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
fn a_run_succeeds_despite_addresses_without_a_route() {
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
        }
        let line = format!("|{name}: {} failed 10 of 10, and 1 other address failed|", gone[0]);
        assert!(table.contains(&line), "{line} in {table}");
        assert!(said.contains(&format!("this host can't send to {} over {name}", gone[0])));
        assert!(said.contains("nor to 1 other address"), "{said}");
    }
    assert_eq!(said.matches("this host can't send to").count(), 2, "{said}");
}

/// A queue before the interface that has no room for what eight connections send at once.
#[test]
fn counts_tcp_retransmissions_and_warns_about_them() {
    if skipped("netns") {
        return;
    }
    let narrow = "ip link set lo mtu 1500 up && \
                  tc qdisc add dev lo root tbf rate 200mbit burst 20kb limit 30000 || exit 99
                  head -c 100000 /dev/zero >\"$2/body\"
                  \"$1\" origin --json --listen 127.0.0.1:81 --listen '[::1]:81' >\"$2/up\" &
                  until [ -s \"$2/up\" ]; do :; done
                  for clock in user kernel; do
                      \"$1\" run -n 400 -c 8 --timeout 60s --quiet --full --timestamps $clock --json \"$2/$clock\" \\
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
fn reports_a_low_open_file_limit_before_the_run() {
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
fn reports_a_low_thread_limit_in_one_line() {
    if skipped("setpriv") {
        return;
    }
    for (limit, words) in [
        (1, "origin"),
        (3, "origin --threads 8"),
        (1, "origin --turbo"),
        (2, "run -n 20 -c 20 -t 4 http://[::1]:1/ http://127.0.0.1:1/"),
        (1, "run -n 10 -t 1 http://[::1]:1/"),
        (1, "compare -q -n 10 http://[::1]:1/ http://127.0.0.1:1/"),
        (1, "vitals -d 1h --prometheus 0"),
        (2, "demo"),
    ] {
        // An account that nobody else is.
        let wrapper = ["setpriv", "--reuid=64651", "--clear-groups", "prlimit"];
        let limit = format!("--nproc={limit}");
        let wrapper = [&wrapper[..], &[&limit, "sh"]].concat();
        let said = complaint(&script(&wrapper, &format!("exec \"$1\" {words}")), 3);
        assert!(said.contains("can't create a thread") && said.contains("ulimit -u"), "{said}");
    }
}
