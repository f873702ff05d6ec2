//! Commands that are no clients, or bad ones: each is told in one line, and nothing is left of it.

use std::fs;

use sixmark_eyes::clause::ClauseState;
use sixmark_testkit::complaint;
use sixmark_testkit::eyes_client::EyesClient;
use sixmark_testkit::lab::without;
use tempfile::TempDir;

use super::super::traces::{Machine, until};
use super::{case, read, watch, words};

/// A command that fails, and what is said of it: also in the document, if it was started.
struct BadCommand {
    words: &'static [&'static str],
    status: i32,
    says: &'static str,
    /// The code of the warning in the document.
    code: Option<&'static str>,
}

/// A time that no other process sleeps for, by which what is left is found.
const MARK: &str = "86397.25";

const BAD: [BadCommand; 10] = [
    BadCommand {
        words: &["no-such-client"],
        status: 2,
        says: "no program 'no-such-client' is there",
        code: None,
    },
    BadCommand {
        words: &["/no/such/client"],
        status: 2,
        says: "no program '/no/such/client' is there",
        code: None,
    },
    BadCommand {
        words: &["/etc/passwd"],
        status: 2,
        says: "'/etc/passwd' is no program that can be executed",
        code: None,
    },
    BadCommand {
        words: &["true"],
        status: 3,
        says: "ended with status 0 before it tried to connect",
        code: Some("client_silent"),
    },
    BadCommand {
        words: &["sh", "-c", "echo first >&2; echo no such option >&2; exit 7"],
        status: 3,
        says: "ended with status 7 before it tried to connect (no such option)",
        code: Some("client_silent"),
    },
    BadCommand {
        words: &["sh", "-c", "exec sleep 86397.25"],
        status: 3,
        says: "did not try to connect until its time was over",
        code: Some("client_silent"),
    },
    BadCommand {
        words: &["sh", "-c", "trap '' TERM HUP; setsid sleep 86397.25 & sleep 86397.25 & exit 0"],
        status: 3,
        says: "ended with status 0 before it tried to connect",
        code: Some("client_left_processes"),
    },
    BadCommand {
        words: &["sh", "-c", "kill -KILL 0"],
        status: 3,
        says: "was ended by signal 9 before it tried to connect",
        code: Some("client_silent"),
    },
    BadCommand {
        words: &["sh", "-c", "sleep 86397.25 & kill -KILL $PPID; exec sleep 86397.25"],
        status: 3,
        says: "killed by signal 9",
        code: None,
    },
    BadCommand {
        words: &[
            "curl",
            "-s",
            "-o",
            "/dev/null",
            "http://203.0.113.77:8080/",
            "--next",
            "file:///{url}",
        ],
        status: 3,
        says: "203.0.113.77, port 8080 (TCP)",
        code: Some("client_elsewhere"),
    },
];

/// The processes that still sleep.
fn sleepers() -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| fs::read_to_string(entry.path().join("cmdline")).ok());
    lines.filter(|line| line.starts_with("sleep\0") && line.contains(MARK)).collect()
}

#[test]
fn a_bad_command_is_told_in_one_line_and_leaves_nothing() {
    if without(&["curl"]) {
        return;
    }
    let before = Machine::now();
    for bad in &BAD {
        let output = watch(&["--cases", "healthy", "--patience", "1"], &words(bad.words));
        let line = complaint(&output, bad.status);
        assert!(line.contains(bad.says), "{:?}: {line}", bad.words);
        match bad.code {
            Some(code) => {
                let result = read(&output);
                // It is not tried further.
                assert_eq!(case(&result, "healthy").starts.len(), 1, "{:?}", bad.words);
                let codes: Vec<_> = result.warnings.iter().map(|of| of.code.as_str()).collect();
                assert!(codes.contains(&code), "{:?}: {:?}", bad.words, result.warnings);
            }
            None => assert!(output.stdout.is_empty(), "{:?}", bad.words),
        }
        until("what it started is gone", sleepers);
        before.has_nothing_new();
    }
}

#[test]
fn a_client_that_asks_another_name_server_is_told_in_one_line() {
    if without(&["python3"]) {
        return;
    }
    let client = EyesClient::write();
    let output =
        watch(&["--cases", "healthy", "--patience", "1"], &client.command(&["server=192.0.2.99"]));
    let line = complaint(&output, 3);
    assert!(line.contains("192.0.2.99, port 53 (UDP)"), "{line}");
    let codes: Vec<_> = read(&output).warnings.into_iter().map(|of| of.code).collect();
    assert!(codes.contains(&"client_elsewhere".to_owned()), "{codes:?}");
}

/// A script whose interpreter is not there can't be started, though it may be executed.
#[test]
fn a_client_that_the_kernel_refuses_is_told_in_one_line() {
    if without(&[]) {
        return;
    }
    use std::os::unix::fs::PermissionsExt as _;
    let dir = TempDir::new().unwrap();
    let script = dir.path().join("client");
    fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let output = watch(&["--cases", "healthy"], &words(&[&script.display().to_string()]));
    let line = complaint(&output, 3);
    assert!(line.contains("the client can't be started"), "{line}");
}

/// Returns the codes of the warnings about a client that gets the content.
fn warnings_of(client: &[&str]) -> Vec<String> {
    let output = watch(&["--cases", "healthy", "--repeat", "1", "--patience", "5"], &words(client));
    let result = read(&output);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{client:?}: {said}");
    assert_eq!(case(&result, "healthy").figures.survived, 1, "{client:?}: {said}");
    assert_eq!(said.lines().count(), result.warnings.len(), "{client:?}: {said}");
    result.warnings.into_iter().map(|of| of.code).collect()
}

#[test]
fn odd_clients_are_watched_all_the_same() {
    if without(&["curl", "python3"]) {
        return;
    }
    const CURL: &str = "curl -s -o /dev/null {url}";
    // The URL is put behind a command that has no place for it.
    assert!(warnings_of(&["curl", "-s", "-o", "/dev/null"]).is_empty());
    // What connects is not the program that was started, which ends at once.
    let apart = format!("setsid {CURL} &");
    assert!(warnings_of(&["sh", "-c", &apart]).len() <= 1);
    let behind = format!("({CURL}) & exit 0");
    assert!(warnings_of(&["sh", "-c", &behind]).len() <= 1);
    // More output than there is memory for.
    let loud =
        format!("head -c 2000000000 /dev/zero; head -c 200000000 /dev/zero >&2; exec {CURL}");
    assert!(warnings_of(&["sh", "-c", &loud]).is_empty());
    let before = Machine::now();
    let left = format!("setsid sleep {MARK} & exec {CURL}");
    assert_eq!(warnings_of(&["sh", "-c", &left]), ["client_left_processes"]);
    until("what it started is gone", sleepers);
    before.has_nothing_new();
    let client = EyesClient::write();
    let many = client.command(&["times=1000"]);
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(warnings_of(&many), ["attempts_uncounted"]);
}

#[test]
fn a_client_that_rejects_the_certificate_is_not_judged_for_want_of_connections() {
    if without(&["curl"]) {
        return;
    }
    // No authority is known to it.
    let client = words(&[
        "curl",
        "-sS",
        "-o",
        "/dev/null",
        "--cacert",
        "/dev/null",
        "--capath",
        "/dev/null",
    ]);
    let result = read(&watch(&["--https", "--repeat", "1", "--cases", "dead-ipv6"], &client));
    let found = |clause: &str| result.clauses.iter().find(|of| of.clause == clause).unwrap().state;
    assert_eq!(found("all-addresses"), ClauseState::NotShown, "{:?}", result.cases);
    assert!(result.warnings.iter().any(|of| of.code == "client_without_content"));
    assert_eq!(case(&result, "dead-ipv6").figures.survived, 0);
}
