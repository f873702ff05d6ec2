//! A family whose packets a filter drops.

use serde_json::Value;
use sixmark_testkit::incomparable::nothing_of_speed;
use sixmark_testkit::{script, skipped};

/// In a network of its own, in which what is sent to the server over IPv6 is dropped on its way, what
/// `load` of both families says: with its document and its page.
fn dropping(load: &str) -> (Option<i32>, Value, String) {
    let text = format!(
        "ip link set lo up || exit 99
        \"$1\" origin --json --listen '[::1]:8080' --listen 127.0.0.1:8080 >\"$2/up\" &
        origin=$!
        trap 'kill $origin' EXIT
        until [ -s \"$2/up\" ]; do kill -0 $origin || exit 99; done
        nft -f - <<END || exit 99
        table inet lose {{ chain in {{ type filter hook input priority 0
            ip6 daddr ::1 tcp dport 8080 counter drop
        }}
        }}
END
        \"$1\" {load} --timeout 100ms -q --json \"$2/document\" --html \"$2/page\" \\
            --fail-if 'ipv6.failures > 0.1%' \\
            'http://[::1]:8080/bytes/4096' http://127.0.0.1:8080/bytes/4096
        status=$?
        tr -d '\\n' <\"$2/document\"; echo; cat \"$2/page\"
        exit $status"
    );
    let output = script(&["unshare", "-n", "sh"], &text);
    let said = String::from_utf8(output.stdout).unwrap();
    let (document, page) = said.split_once('\n').unwrap_or_else(|| panic!("{:?}", output.stderr));
    (output.status.code(), serde_json::from_str(document).unwrap(), page.to_owned())
}

#[test]
fn reports_a_family_whose_packets_are_dropped_as_not_answering() {
    if skipped("netns") {
        return;
    }
    let verdict = "--fail-if 'verdict(response.p50) == worse'";
    // The first pair of blocks of a comparison is the last.
    let compared = format!("compare --blocks 6 -n 24 -c 4 --warmup 0 {verdict}");
    for (load, sameness, gates) in
        [("run -n 48 -c 4".to_owned(), "/sameness", 1), (compared, "/comparison/sameness", 2)]
    {
        let headline = "IPv6 does not answer: 0 of 24, no connection in time";
        let (status, document, page) = dropping(&load);
        let found = document.pointer(sameness).unwrap_or_else(|| panic!("{document:#}"));
        assert_eq!((&found["same"], &found["said"]), (&false.into(), &headline.into()), "{load}");
        assert_eq!(status, Some(3), "{load}");
        let judged = document["gates"].as_array().unwrap();
        assert_eq!(judged.len(), gates);
        assert!(judged.iter().all(|gate| gate["failed"] == true), "{load}: {judged:?}");
        assert!(page.contains("no connection in time"), "{load}");
        if gates == 2 {
            assert!(nothing_of_speed(&document), "{load}");
        }
    }
}
