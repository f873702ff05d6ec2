//! `scripts/run-tests` beside a cargo that says what it is told: what fails runs once more, alone, and the end says
//! what passed only then.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// Says what the files beside it say, writes down how it was called, and lets a test pass alone if it is listed.
const CARGO: &str = r#"#!/bin/bash
here=$(dirname "$0")
echo "$*" >>"$here/calls"
case $* in
*--no-fail-fast*)
    cat "$here/said"
    exit "$(cat "$here/status")"
    ;;
esac
echo "running ${RUNNING-1} test"
grep -qxF -- "${*: -1}" "$here/passes"
"#;

const UNITS: &str =
    "     Running unittests src/lib.rs (target/debug/deps/sixmark_http-0123456789abcdef)\n";
const SIM: &str = "     Running tests/sim/main.rs (target/debug/deps/sim-0123456789abcdef)\n";
const OK: &str =
    "running 2 tests\ntest a ... ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored\n";

struct Ran {
    status: Option<i32>,
    /// Lines of the end: from the count of failures.
    end: Vec<String>,
    said: String,
    calls: Vec<String>,
}

/// Runs the script where cargo says `said` and exits with `status`.
fn run_script(said: &str, status: i32, passes: &[&str]) -> Ran {
    run_script_with(said, status, passes, "1")
}

fn run_script_with(said: &str, status: i32, passes: &[&str], running: &str) -> Ran {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let cargo = write("cargo", CARGO);
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
    write("said", said);
    write("status", &status.to_string());
    write("passes", &passes.iter().map(|name| format!("{name}\n")).collect::<String>());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/run-tests");
    let mut command = Command::new(script);
    command.args(["--lib --tests", "--doc"]).env("CARGO", &cargo).env("RUNNING", running);
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let end = said.lines().skip_while(|line| !line.ends_with("passed the second time"));
    let calls = fs::read_to_string(folder.path().join("calls")).unwrap();
    Ran {
        status: output.status.code(),
        end: end.map(str::to_owned).collect(),
        calls: calls.lines().map(str::to_owned).collect(),
        said,
    }
}

/// What a binary says of which these tests failed.
fn failed(names: &[&str]) -> String {
    let indented: String = names.iter().map(|name| format!("    {name}\n")).collect();
    let lines: String = names.iter().map(|name| format!("test {name} ... FAILED\n")).collect();
    let count = names.len();
    format!(
        "running {count} tests\n{lines}\nfailures:\n\n---- x stdout ----\nfailures:\n    no name\n\n\n\
         failures:\n{indented}\ntest result: FAILED. 5 passed; {count} failed; 0 ignored\n\n"
    )
}

/// What cargo says at the end if so many binaries failed.
fn targets(count: usize) -> String {
    let word = if count == 1 { "target" } else { "targets" };
    format!("error: {count} {word} failed:\n    `-p x --lib`\n")
}

#[test]
fn runs_each_test_set_once_when_all_tests_pass() {
    let ran = run_script(&[UNITS, OK, SIM, OK].concat(), 0, &[]);
    assert_eq!(ran.status, Some(0), "{}", ran.said);
    assert_eq!(ran.end, ["== 0 failed the first time, 0 of them passed the second time"]);
    let call = |set: &str| format!("test --workspace --no-fail-fast {set}");
    assert_eq!(ran.calls, [call("--lib --tests"), call("--doc")]);
    assert_eq!(ran.said.matches("test result: ok. 2 passed").count(), 4, "{}", ran.said);
}

#[test]
fn lists_a_test_that_passes_on_rerun_as_flaky_and_succeeds() {
    let said = [UNITS, &failed(&["a::b"]), SIM, &failed(&["c", "d"]), &targets(2)].concat();
    let ran = run_script(&said, 101, &["a::b", "c", "d"]);
    assert_eq!(ran.status, Some(0), "{}", ran.said);
    // Both sets say the same here.
    let of_each = ["flaky: a::b (--lib)", "flaky: c (--test sim)", "flaky: d (--test sim)"];
    assert_eq!(ran.end[0], "== 6 failed the first time, 6 of them passed the second time");
    assert_eq!(ran.end[1..], of_each.repeat(2));
    assert_eq!(ran.calls[2], "test --workspace --lib -- --exact a::b");
    assert_eq!(ran.calls[3], "test --workspace --test sim -- --exact c");
}

#[test]
fn a_test_that_fails_twice_fails_the_run() {
    let said = [UNITS, OK, SIM, &failed(&["c", "d"]), &targets(1)].concat();
    let ran = run_script(&said, 101, &["d"]);
    assert_eq!(ran.status, Some(1), "{}", ran.said);
    let flaky = ["flaky: d (--test sim)"; 2];
    let failed = ["failed: c (--test sim)"; 2];
    assert_eq!(ran.end[0], "== 4 failed the first time, 2 of them passed the second time");
    assert_eq!(ran.end[1..], [flaky, failed].concat());
}

#[test]
fn a_test_that_is_not_found_again_fails_the_run() {
    let said = [SIM, &failed(&["c"]), &targets(1)].concat();
    let ran = run_script_with(&said, 101, &["c"], "0");
    assert_eq!(ran.status, Some(1), "{}", ran.said);
    assert_eq!(ran.end[1], "failed: c (--test sim)");
}

#[test]
fn a_test_in_documentation_runs_again_with_its_file() {
    let name = "crates/http/src/url.rs - url::Url (line 3)";
    let said = ["   Doc-tests sixmark_http\n", OK, &failed(&[name]), &targets(1)].concat();
    let ran = run_script(&said, 101, &["crates/http/src/url.rs"]);
    assert_eq!(ran.status, Some(0), "{}", ran.said);
    assert_eq!(ran.end[1], format!("flaky: {name} (--doc)"));
    assert_eq!(ran.calls[2], "test --workspace --doc -- crates/http/src/url.rs");
}

#[test]
fn nothing_runs_again_where_a_binary_crashed_or_did_not_build() {
    let crashed = [UNITS, &failed(&["a"]), SIM, "running 2 tests\n", &targets(2)].concat();
    let crashed_alone = [UNITS, OK, SIM, "running 2 tests\n", &targets(1)].concat();
    let unbuilt = "error: could not compile `sixmark-http` (lib) due to 1 previous error\n";
    for said in [&crashed, &crashed_alone, unbuilt] {
        let ran = run_script(said, 101, &["a"]);
        assert_eq!(ran.status, Some(1), "{}", ran.said);
        assert_eq!(ran.calls.len(), 2, "{:?}", ran.calls);
        assert!(ran.said.contains("\nbroken: --lib --tests\nbroken: --doc\n"), "{}", ran.said);
        assert!(ran.end[0].ends_with(" 0 of them passed the second time"), "{:?}", ran.end);
    }
}

#[test]
fn nothing_runs_again_where_many_tests_failed() {
    let names: Vec<String> = (0..11).map(|number| format!("t{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let ran = run_script(&[SIM, &failed(&names), &targets(1)].concat(), 101, &names);
    assert_eq!(ran.status, Some(1), "{}", ran.said);
    assert_eq!((ran.calls.len(), ran.end.len()), (2, 23), "{}", ran.said);
}
