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

/// How often each program is run: once, or as often as `SIXMARK_ONLY6_RUNS` says.
fn count_runs() -> usize {
    std::env::var("SIXMARK_ONLY6_RUNS").map_or(1, |text| text.parse().unwrap())
}

/// Returns what is wrong with the answer about a program: that it is another than what is known of it, or that it
/// differs between runs.
fn find_mistakes(program: &Only6Program, runs: usize) -> Vec<String> {
    let expected = EXPECTED.iter().find(|of| of.0 == program.name).map_or(&[][..], |of| of.1);
    assert_eq!(expected.is_empty(), program.fault.is_none(), "{}", program.name);
    let mut mistakes = Vec::new();
    let mut first = None;
    for number in 1..=runs {
        let document = run(program, &[]);
        ONLY6.check(&document);
        let verdicts: Vec<[Value; 3]> = document["scenarios"]
            .as_array()
            .unwrap()
            .iter()
            .map(|of| ["scenario", "backend", "verdict"].map(|key| of[key].clone()))
            .collect();
        let found = faults(&document);
        if found != expected.iter().copied().collect() {
            let findings = &document["findings"];
            mistakes.push(format!("{}, run {number}: {found:?}: {findings:#}", program.name));
        }
        let fails: Vec<_> = verdicts.iter().filter(|of| of[2] != "works").collect();
        if fails.is_empty() != expected.is_empty() {
            mistakes.push(format!("{}, run {number}: fails in {fails:?}", program.name));
        }
        if *first.get_or_insert_with(|| verdicts.clone()) != verdicts {
            mistakes.push(format!("{}, run {number}: other verdicts: {verdicts:?}", program.name));
        }
    }
    mistakes
}

#[test]
fn each_fault_is_named_and_clean_programs_work_everywhere() {
    if without(&["tayga", "unbound", "nft"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let programs = build_programs(folder.path());
    let runs = count_runs();
    // Many runs would take an hour, most of it waiting.
    let at_a_time = if runs > 1 { programs.len().div_ceil(4) } else { programs.len() };
    let judge = |some: &[Only6Program]| -> Vec<String> {
        let of_each = some.iter().flat_map(|program| {
            let mistakes = find_mistakes(program, runs);
            eprintln!("{}: {runs} runs, {} mistakes", program.name, mistakes.len());
            mistakes
        });
        of_each.collect()
    };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let parts: Vec<_> =
            programs.chunks(at_a_time).map(|some| scope.spawn(|| judge(some))).collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
