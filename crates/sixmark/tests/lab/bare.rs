//! The bare origin in a network of its own, beside the kernel's end of its TAP device.

use serde_json::Value;
use sixmark_testkit::{check, complaint, script, sixmark, skipped};

/// Starts it with `$options` at fd00::2 and 10.0.0.2; what follows is done while it is there, and
/// what it says at its end stands in `$2/up`, the first line being where it is.
const STAGE: &str = "ip link set lo up
    \"$1\" origin --stack bare --json --tap bare0 --address fd00::2/64 --address 10.0.0.2/24 $options >\"$2/up\" &
    bare=$!
    trap 'kill $bare 2>/dev/null' EXIT
    until [ -s \"$2/up\" ]; do kill -0 $bare || exit 99; done
    ip address add 10.0.0.1/24 dev bare0 && ip address add fd00::1/64 dev bare0 nodad &&
        ip link set bare0 up || exit 99
    end() { kill -TERM $bare; wait $bare || exit 99; tail -n 1 \"$2/up\"; }
    ";

/// In that network, the lines of standard output as JSON.
fn stage(options: &str, work: &str) -> Vec<Value> {
    let text = format!("options='{options}'\n{STAGE}{work}");
    let output = script(&["unshare", "-n", "sh"], &text);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let out = String::from_utf8(output.stdout).unwrap();
    out.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{out}{said}")))
        .collect()
}

#[test]
fn answers_over_both_families_and_counts_requests() {
    if skipped("netns") || skipped("curl") {
        return;
    }
    let ask = "head -n 1 \"$2/up\"
        for host in '[fd00::2]' 10.0.0.2; do
            curl -s -g -f -o \"$2/a\" \"http://$host/bytes/327680\" || exit 99
            curl -s -g -f -0 -o \"$2/b\" \"http://$host/bytes/327680\" \"http://$host/\" -o - >\"$2/c\" || exit 99
            cmp \"$2/a\" \"$2/b\" && [ \"$(cat \"$2/c\")\" = 'hello, world' ] || exit 99
            printf '{\"code\": %s}\\n' \"$(curl -s -g -o /dev/null -w '%{http_code}' \"http://$host/none\")\"
        done
        end \"$@\"";
    let said = stage("", ask);
    let urls: Vec<_> =
        said[0]["addresses"].as_array().unwrap().iter().map(|one| &one["url"]).collect();
    assert_eq!(urls, ["http://[fd00::2]:80/", "http://10.0.0.2:80/"]);
    assert_eq!((&said[1]["code"], &said[2]["code"]), (&404.into(), &404.into()));
    // HTTP/1.0 ends each connection, and curl has one a call else.
    assert_eq!((&said[3]["connections"], &said[3]["requests"]), (&8.into(), &8.into()));
}

#[test]
fn serves_every_request_of_many_connections() {
    if skipped("netns") {
        return;
    }
    let load = "for keep in '' --no-keep-alive; do
            \"$1\" run -n 1000 -c 32 -q $keep --json \"$2/run\" 'http://[fd00::2]:8080/bytes/20000' \\
                http://10.0.0.2:8080/bytes/20000 || exit 99
            tr -d '\\n' <\"$2/run\"; echo
        done
        end \"$@\"";
    let said = stage("--port 8080 --congestion reno --buffer 30000", load);
    for run in &said[..2] {
        check(run);
        assert_eq!(run["total"]["outcomes"]["NORMAL"], 1000, "{}", run["total"]);
    }
    assert!(said[2]["connections"].as_u64() >= Some(1_002), "{}", said[2]);
    assert_eq!(said[2]["requests"], 2_000);
}

#[test]
fn refuses_connections_beyond_its_sockets_and_serves_the_rest() {
    if skipped("netns") {
        return;
    }
    let load = "\"$1\" run -n 400 -c 16 -q --json \"$2/run\" 'http://[fd00::2]/bytes/9' http://10.0.0.2/bytes/9
        tr -d '\\n' <\"$2/run\"; echo
        end \"$@\"";
    let said = stage("--sockets 4", load);
    check(&said[0]);
    let outcomes = &said[0]["total"]["outcomes"];
    assert!(
        outcomes["REFUSED"].as_u64() > Some(0) && outcomes["NORMAL"].as_u64() > Some(0),
        "{outcomes}"
    );
}

/// Loses the twenty-first and the twenty-third segment of each family. Those after them bring
/// duplicate acknowledgements.
const LOSE: &str = "nft -f - <<END || exit 99
        table inet loss { chain in { type filter hook input priority 0
            meta nfproto ipv6 tcp sport 80 numgen inc mod 100000 { 20, 22 } counter drop
            meta nfproto ipv4 tcp sport 80 numgen inc mod 100000 { 20, 22 } counter drop
        }
        }
END
        for host in '[fd00::2]' 10.0.0.2; do
            curl -s -g -f -o \"$2/$host\" \"http://$host/bytes/327680\" || exit 99
        done
        cmp \"$2/[fd00::2]\" \"$2/10.0.0.2\" && [ \"$(wc -c <\"$2/10.0.0.2\")\" = 327680 ] || exit 99
        [ \"$(nft list ruleset | grep -c 'packets 2 ')\" = 2 ] || exit 99
        end \"$@\"";

/// What it counts where two segments of each family are lost: timeouts, fast retransmits, segments
/// that it sent again, and hidden duplicate acknowledgements.
fn after_losses(options: &str) -> [u64; 4] {
    let counted = &stage(options, LOSE)[0];
    ["timeouts", "fast_retransmits", "segments_sent_again", "duplicate_acks_hidden"]
        .map(|what| counted[what].as_u64().unwrap())
}

#[test]
fn without_sack_recovers_from_loss_by_timeouts_and_resends_all() {
    if skipped("netns") || skipped("curl") {
        return;
    }
    let [timeouts, fast, again, hidden] = after_losses("");
    assert!(timeouts >= 2 && fast == 0 && again > 6 && hidden >= 6, "{timeouts} {again} {hidden}");
}

/// With selective acknowledgements nothing that arrived is sent again, and no timer is waited for.
#[test]
fn with_sack_resends_lost_segments_without_timeouts() {
    if skipped("netns") || skipped("curl") {
        return;
    }
    for congestion in ["none", "reno", "cubic"] {
        let counted = after_losses(&format!("--sack --congestion {congestion}"));
        assert_eq!(counted[..3], [0, 2, 4], "{congestion}");
    }
}

#[test]
fn exits_with_one_line_when_its_tap_device_disappears() {
    if skipped("netns") {
        return;
    }
    let away = "ip link set lo up
        \"$1\" origin --stack bare --tap bare0 --address fd00::2/64 >\"$2/up\" &
        bare=$!
        until [ -s \"$2/up\" ]; do kill -0 $bare || exit 99; done
        ip link delete bare0; wait $bare";
    let said = complaint(&script(&["unshare", "-n", "sh"], away), 3);
    assert!(said.contains("TAP device is gone"), "{said}");
}

#[test]
fn rejects_unsupported_options_in_one_line() {
    let bare = ["--stack", "bare", "--tap", "x", "--address", "fd00::2/64"];
    for (arguments, named) in [
        (&["--stack", "bare"][..], "--tap"),
        (&["--stack", "bare", "--tap", "x"], "--address"),
        (&["--tap", "x"], "--stack bare"),
        (&["--port", "80"], "--stack bare"),
        (&["--congestion", "reno"], "--stack bare"),
        (&["--fast-retransmit"], "--stack bare"),
        (&["--sack"], "--stack bare"),
        (&[&bare[..], &["--listen", "[::1]:0"]].concat(), "--listen"),
        (&[&bare[..], &["--threads", "1"]].concat(), "--threads"),
        (&[&bare[..], &["--pause", "1s/5s"]].concat(), "--pause"),
        (&[&bare[..], &["--tls"]].concat(), "--tls"),
        (&[&bare[..], &["--streams", "9"]].concat(), "--streams"),
        (&[&bare[..], &["--goaway-after", "9"]].concat(), "--goaway-after"),
        (&[&bare[..], &["--turbo"]].concat(), "--turbo"),
        (
            &[&bare[..], &["--gateway", "fd00:1::1"]].concat(),
            "none of the networks of its addresses",
        ),
        (
            &[&bare[..], &["--gateway", "fd00::3", "--gateway", "fd00::4"]].concat(),
            "second one of its family",
        ),
        (&[&bare[..], &["--mac", "01:00:00:00:00:00"]].concat(), "group address"),
        (&[&bare[..], &["--mac", "2"]].concat(), "six bytes"),
        (&[&bare[..], &["--address", "10.0.0.2"]].concat(), "10.0.0.2/24"),
        (&[&bare[..], &["--congestion", "vegas"]].concat(), "none, reno, cubic"),
        (&[&bare[..], &["--port", "0"]].concat(), "--port"),
        (
            &["--stack", "bare", "--tap", "a-name-that-is-too-long", "--address", "fd00::2/64"],
            "1 to 15 bytes",
        ),
    ] {
        let line = complaint(&sixmark(&[&["origin"], arguments].concat()), 2);
        assert!(line.contains(named), "{arguments:?}: {line}");
    }
}
