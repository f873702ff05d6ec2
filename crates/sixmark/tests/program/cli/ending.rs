//! When a run ends, and before it begins to count.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Output};
use std::time::Instant;

use serde_json::json as value;
use sixmark_testkit::times::assert_with_enough_time;
use sixmark_testkit::{
    DEADLINE, Origin, Server, check, command, document, finish, json, script, signal, sixmark,
};

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
        assert_eq!(output.status.code(), Some(130), "{name}");
        let result = document(&output);
        assert_eq!(result["ended"], "interrupted");
        let outcome = |name: &str| result["total"]["outcomes"][name].as_u64().unwrap_or(0);
        // By how old they are, which depends on the machine.
        let in_flight = outcome("ABANDONED") + outcome("UNANSWERED");
        assert_eq!((outcome("NORMAL"), in_flight), (20, 4), "{name}");
        let warnings = result["warnings"].as_array().unwrap();
        assert!(warnings.iter().any(|warning| warning["code"] == "interrupted"), "{warnings:?}");
    }
}

/// A shell tells its jobs of a terminal that is gone, after the kernel has.
#[test]
fn repeated_hangups_end_a_run_once() {
    let server = Server::answering(20);
    let [v6, v4] = server.urls("/");
    let load = ["run", "-q", "--json", "-", "-d", "1h", "--timeout", "1h", "-c", "4", &v6, &v4];
    let child = command(&load).spawn().unwrap();
    server.next(24);
    for _ in 0..20 {
        signal(child.id(), "HUP");
    }
    assert_eq!(document(&finish(child))["ended"], "interrupted");
}

/// nohup(1) ignores the one, a shell the other in what it starts in the background.
#[test]
fn a_signal_that_the_parent_ignores_stays_ignored() {
    for name in ["HUP", "INT"] {
        let server = Server::start();
        let [v6, v4] = server.urls("/");
        let text = format!(
            "trap '' {name}; \"$1\" run -q --json - -n 400 --rate 400 '{v6}' '{v4}' & \
             kill -{name} $!; wait $!"
        );
        let output = script(&["sh"], &text);
        assert_eq!(document(&output)["ended"], "complete", "{name}");
    }
}

#[test]
fn a_duration_ends_a_run() {
    let server = Server::start();
    let [v6, v4] = server.urls("/");
    let result = json(&["-d", "1s", "-c", "4", &v6, &v4]);
    assert_eq!(result["ended"], "complete");
    assert_eq!(result["plan"]["load"]["requests"], value!(null));
    // How even the ratio is while a server is slow is shown in `sim`.
    let sent = [0, 1].map(|at| result["ratio"]["sent"][at].as_u64().unwrap());
    assert!(sent.iter().all(|&sent| sent > 0), "{sent:?}");
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

/// A pipeline that looks at the status and one that looks at JUnit's file are told the same.
#[test]
fn interrupted_commands_exit_with_130_and_junit_reports_a_failure() {
    let cases: [(&[&str], &str); 3] = [
        (&["run", "-d", "1h"], "-"),
        (&["run", "-d", "1h", "--fail-if", "total.sent > 1"], "-"),
        (&["compare", "--block", "1h", "--warmup", "0"], "-"),
    ];
    for (words, junit) in cases {
        let server = Server::answering(20);
        let [v6, v4] = server.urls("/");
        let options = ["-q", "--timeout", "1h", "-c", "4", "--junit", junit, &v6, &v4];
        let child = command(&[words, &options].concat()).spawn().unwrap();
        server.next(20);
        signal(child.id(), "INT");
        let output = finish(child);
        assert_eq!(output.status.code(), Some(130), "{words:?}: {}", said(&output));
        let xml = String::from_utf8_lossy(&output.stdout);
        assert!(xml.contains("name=\"could be measured\"") && xml.contains("<failure"), "{xml}");
    }
}

/// What nobody had the time for is no reason to ask for more of it.
#[test]
fn no_advice_to_load_longer_comes_after_a_signal() {
    for words in [&["run", "-d", "1h"][..], &["compare", "--block", "1h", "--warmup", "0"]] {
        let server = Server::answering(0);
        let [v6, v4] = server.urls("/");
        let options = ["-q", "--timeout", "1h", "-c", "2", &v6, &v4];
        let child = command(&[words, &options].concat()).spawn().unwrap();
        server.next(1);
        signal(child.id(), "INT");
        let output = finish(child);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(130), "{words:?}: {said}");
        assert!(said.contains("a signal ended the run"), "{words:?}: {said}");
        assert!(!said.contains("give it"), "{words:?}: {said}");
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A shell's own `kill`, so that no program has to be started between two of them.
fn signals(pid: u32, names: &[&str]) {
    let text: Vec<String> = names.iter().map(|name| format!("kill -{name} {pid}")).collect();
    assert!(Command::new("sh").args(["-c", &text.join("; ")]).status().unwrap().success());
}

/// Ctrl-C is often pressed twice, and a supervisor signals a process and then its group.
#[test]
fn a_signal_that_comes_again_at_once_loses_no_document() {
    let server = Server::answering(20);
    let [v6, v4] = server.urls("/");
    let file = tempfile::NamedTempFile::new().unwrap();
    let to = file.path().to_str().unwrap();
    let load = ["run", "-q", "--json", to, "-d", "1h", "--timeout", "1h", "-c", "4", &v6, &v4];
    let child = command(&load).spawn().unwrap();
    server.next(24);
    signals(child.id(), &["INT", "INT", "TERM", "INT"]);
    let output = finish(child);
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let document = serde_json::from_slice(&std::fs::read(to).unwrap()).unwrap();
    check(&document);
    assert_eq!(document["ended"], "interrupted");
}

/// Nobody reads what is to be written.
#[test]
fn a_later_signal_ends_a_command_that_is_blocked_on_output() {
    let server = Server::answering(20);
    let [v6, v4] = server.urls("/");
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let to = pipe.to_str().unwrap();
    let load = ["run", "-q", "--json", to, "-d", "1h", "--timeout", "1h", "-c", "4", &v6, &v4];
    let mut child = command(&load).spawn().unwrap();
    server.next(24);
    let began = Instant::now();
    let status = loop {
        signals(child.id(), &["INT"]);
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        assert!(began.elapsed() < DEADLINE, "it does not end");
    };
    assert_eq!(status.signal(), Some(2), "{status}");
}

/// A response may be here before anybody looks at the clock.
#[test]
fn a_response_that_is_complete_after_its_deadline_is_a_timeout() {
    for options in [&["--driver", "epoll"][..], &["--driver", "auto"], &["--http2-prior-knowledge"]]
    {
        let origin = sixmark_testkit::Origin::start();
        let [v6, v4] = origin.urls("/delay/4");
        let load = ["-n", "40", "-c", "2", "--timeout", "1ms", &v6, &v4];
        let result = json(&[options, &load].concat());
        let outcomes = &result["total"]["outcomes"];
        let count = |name: &str| outcomes[name].as_u64().unwrap_or(0);
        let [normal, timeout, local] = ["NORMAL", "TIMEOUT", "LOCAL"].map(count);
        assert_eq!((normal, timeout + local), (0, 40), "{options:?}: {outcomes}");
        // The only reason not to blame the server.
        assert!(local == 0 || result["generator"]["stalls"] != 0, "{options:?}: {outcomes}");
    }
}

#[test]
fn the_statuses_are_in_the_help() {
    let output = sixmark(&["--help"]);
    let help = String::from_utf8_lossy(&output.stdout);
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("3 could not measure, 130 interrupted by a signal"), "{help}");
}

/// Two in flight for as long, of which the server answers none after these many.
fn frozen_after(answered: usize, duration: &str, options: &[&str]) -> (serde_json::Value, Output) {
    let server = Server::answering(answered);
    let [v6, v4] = server.urls("/");
    let usual = ["run", "--json", "-", "-d", duration, "-c", "2"];
    let output = sixmark(&[&usual[..], options, &[&v6, &v4]].concat());
    // A gate that failed ends with a status of its own.
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    check(&result);
    (result, output)
}

/// On a slow machine the freeze has to be longer to be told from what was slow before.
#[test]
fn reports_a_server_freeze_at_the_end_as_a_failure_everywhere() {
    let expected =
        (value!({"NORMAL": 20, "UNANSWERED": 2}), (true, true), (true.into(), Some(1)), 2);
    assert_with_enough_time(&expected, "two are not answered", |duration| {
        let options = ["--timeout", "1h", "--fail-if", "total.failures > 1%", "--full"];
        let (result, output) = frozen_after(20, duration, &options);
        let total = &result["total"];
        let is_old = total["oldest_unanswered_s"].as_f64() > Some(0.0);
        let told = (is_old, total["response_us"]["at_least"].is_number());
        let warned = result["warnings"].as_array().unwrap().iter();
        let warned = warned.filter(|of| of["code"] == "unanswered").count();
        let gate = (result["gates"][0]["failed"].clone(), output.status.code());
        (total["outcomes"].clone(), told, gate, warned)
    });
}

/// How often a run is repeated that a busy machine disturbed.
const TRIES: usize = 10;

/// The wait is no part of the time, which would else be longer than the timeout. A run that stood still
/// meanwhile is no evidence.
#[test]
fn a_drained_run_counts_unanswered_requests_as_timeouts() {
    let drained = || frozen_after(20, "100ms", &["--timeout", "400ms", "--drain", "10s"]).0;
    let stood_still = |result: &serde_json::Value| {
        result["generator"]["stalls"] != 0 || result["elapsed_s"].as_f64() >= Some(0.4)
    };
    // Both places had a request in flight when the server froze.
    let froze = |result: &serde_json::Value| {
        result["total"]["outcomes"]["NORMAL"] == 20 && result["total"]["requests"]["sent"] == 22
    };
    let mut runs = (0..TRIES).map(|_| drained()).filter(|result| froze(result));
    let result = runs.find(|result| !stood_still(result)).expect("a run that did not stand still");
    assert_eq!(result["total"]["outcomes"], value!({"NORMAL": 20, "TIMEOUT": 2}));
}

/// Where the server is late with the last responses, these may be older than those before: such a run is
/// another matter.
#[test]
fn requests_cut_off_at_the_end_fail_no_gate() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/delay/100");
    let gate = ["--fail-if", "total.failures > 0%"];
    let load = ["run", "--json", "-", "-d", "350ms", "-c", "4", "--timeout", "1h", &v6, &v4];
    let mut runs = (0..TRIES).map(|_| sixmark(&[&load[..], &gate].concat()));
    let result =
        |output: &Output| -> serde_json::Value { serde_json::from_slice(&output.stdout).unwrap() };
    let has = |output: &Output, outcome: &str| {
        result(output)["total"]["outcomes"][outcome].as_u64() > Some(0)
    };
    let is_usual = |output: &Output| has(output, "ABANDONED") && !has(output, "UNANSWERED");
    let output = runs.find(is_usual).expect("a run whose end cuts off nothing old");
    let total = &document(&output)["total"];
    assert_eq!(output.status.code(), Some(0), "{total}");
    assert_eq!(total["requests"]["carried"], 0);
}
