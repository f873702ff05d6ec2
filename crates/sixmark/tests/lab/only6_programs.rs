//! `sixmark only6` names the fault of each program that has one, and nothing of those that have none.

use std::collections::BTreeSet;

use serde_json::Value;
use sixmark_testkit::forms::ONLY6;
use sixmark_testkit::lab::without;
use sixmark_testkit::only6_programs::{Only6Program, ProgramSide, build_programs};
use sixmark_testkit::sixmark;

/// What must be found of each program, besides notes.
const EXPECTED: [(&str, &[&str]); 10] = [
    ("literal.py", &["ipv4-literal"]),
    ("ipv4_any.js", &["binds-ipv4"]),
    ("v6only.c", &["binds-ipv6"]),
    ("first_address.py", &["first-address-only"]),
    // Neither knows addresses of IPv6 at all.
    ("gethostbyname.c", &["asks-a-only", "rejects-ipv6-literal"]),
    ("PreferIpv4.java", &["asks-a-only", "rejects-ipv6-literal"]),
    ("nginx_resolver.sh", &["asks-a-only"]),
    ("brackets.py", &["rejects-ipv6-literal"]),
    ("colon.js", &["rejects-ipv6-literal"]),
    ("allow_list.py", &["forbids-ipv4"]),
];

/// Returns the document of a program.
fn run(program: &Only6Program, more: &[&str]) -> Value {
    let quoted: Vec<String> = program.command.iter().map(|word| format!("'{word}'")).collect();
    let command = quoted.join(" ");
    let words = match program.side {
        ProgramSide::Client => vec!["only6", "--client", &command],
        ProgramSide::Server | ProgramSide::Proxy => {
            vec!["only6", "--server", &command, "--port", "8080"]
        }
    };
    let output = sixmark(&[&words[..], &["--json", "-"], more].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    let document: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{}: {error}: {said}", program.name));
    let fails = document["scenarios"].as_array().unwrap().iter().any(|of| of["verdict"] != "works");
    assert_eq!(output.status.code(), Some(i32::from(fails)), "{}: {said}", program.name);
    document
}

fn faults(document: &Value) -> BTreeSet<&str> {
    let all = document["findings"].as_array().unwrap().iter();
    all.filter(|of| of["weight"] == "fault").map(|of| of["code"].as_str().unwrap()).collect()
}

#[test]
fn each_fault_is_named_and_clean_programs_work_everywhere() {
    if without(&["tayga", "unbound", "nft"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let programs = build_programs(folder.path());
    let mut wrong = Vec::new();
    for program in &programs {
        let document = run(program, &[]);
        ONLY6.check(&document);
        let expected = EXPECTED.iter().find(|of| of.0 == program.name).map_or(&[][..], |of| of.1);
        assert_eq!(expected.is_empty(), program.fault.is_none(), "{}", program.name);
        let found = faults(&document);
        if found != expected.iter().copied().collect() {
            wrong.push(format!("{}: {found:?}: {:#}", program.name, document["findings"]));
        }
        let fails: Vec<&Value> = document["scenarios"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|of| of["verdict"] != "works")
            .map(|of| &of["scenario"])
            .collect();
        if fails.is_empty() != expected.is_empty() {
            wrong.push(format!("{}: fails in {fails:?}", program.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
