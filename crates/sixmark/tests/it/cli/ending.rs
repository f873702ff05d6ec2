//! When a run ends, and before it begins to count.

use serde_json::json as value;

use crate::support::{Server, command, document, finish, json, script, signal};

#[test]
fn an_interrupted_run_reports_what_it_did() {
    for name in ["INT", "TERM", "HUP"] {
        let server = Server::answering(20);
        let [v6, v4] = server.urls("/");
        let options = ["run", "-q", "--json", "-", "-d", "1h", "--timeout", "1h", "-c", "4"];
        let child = command(&[&options[..], &[&v6, &v4]].concat()).spawn().unwrap();
        // The four in flight are those that will not be answered.
        server.next(24);
        signal(child.id(), name);
        let output = finish(child);
        assert_eq!(output.status.code(), Some(0), "{name}");
        let result = document(&output);
        assert_eq!(result["ended"], "interrupted");
        assert_eq!(result["total"]["outcomes"], value!({"ABANDONED": 4, "NORMAL": 20}));
        let warnings = result["warnings"].as_array().unwrap();
        assert!(warnings.iter().any(|warning| warning["code"] == "interrupted"), "{warnings:?}");
    }
}

/// A shell tells its jobs of a terminal that is gone, after the kernel has.
#[test]
fn a_terminal_that_goes_twice_ends_a_run_once_and_nohup_keeps_it() {
    let server = Server::answering(20);
    let [v6, v4] = server.urls("/");
    let load = ["run", "-q", "--json", "-", "-d", "1h", "--timeout", "1h", "-c", "4", &v6, &v4];
    let child = command(&load).spawn().unwrap();
    server.next(24);
    for _ in 0..20 {
        signal(child.id(), "HUP");
    }
    assert_eq!(document(&finish(child))["ended"], "interrupted");
    let server = Server::start();
    let [v6, v4] = server.urls("/");
    let text = format!(
        "trap '' HUP; \"$1\" run -q --json - -n 400 --rate 400 '{v6}' '{v4}' & kill -HUP $!; wait $!"
    );
    let output = script(&["sh"], &text);
    assert_eq!(document(&output)["ended"], "complete");
}

#[test]
fn a_duration_ends_a_run() {
    let server = Server::start();
    let [v6, v4] = server.urls("/");
    let result = json(&["-d", "1s", "-c", "4", &v6, &v4]);
    assert_eq!(result["ended"], "complete");
    assert_eq!(result["plan"]["load"]["requests"], value!(null));
    let sent = result["total"]["requests"]["sent"].as_u64().unwrap();
    assert!(sent > 0);
    let [over_v6, over_v4] = [0, 1].map(|at| result["ratio"]["sent"][at].as_i64().unwrap());
    // Each of the workers is at most one request off an even ratio.
    let threads = result["generator"]["threads"].as_i64().unwrap();
    assert!((over_v6 - over_v4).abs() <= threads, "{over_v6} : {over_v4}");
}

#[test]
fn a_warm_up_is_seen_by_the_server_but_not_counted() {
    let server = Server::start();
    let [v6, v4] = server.urls("/");
    let result = json(&["-n", "50", "-c", "4", "--warmup", "300ms", &v6, &v4]);
    assert_eq!(result["ratio"]["sent"], value!([25, 25]));
    assert_eq!(result["total"]["outcomes"], value!({"NORMAL": 50}));
    assert!(server.seen().len() > 50);
}

/// A response may be here before anybody looks at the clock.
#[test]
fn a_response_that_is_complete_after_its_deadline_is_a_timeout() {
    for options in [&["--driver", "epoll"][..], &["--driver", "auto"], &["--http2-prior-knowledge"]]
    {
        let origin = crate::support::Origin::start();
        let [v6, v4] = origin.urls("/delay/4");
        let load = ["-n", "40", "-c", "2", "--timeout", "1ms", &v6, &v4];
        let result = json(&[options, &load].concat());
        let outcomes = &result["total"]["outcomes"];
        assert_eq!(*outcomes, value!({"NORMAL": 0, "TIMEOUT": 40}), "{options:?}");
    }
}
