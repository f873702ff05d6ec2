//! Clients whose Happy Eyeballs are known are watched, and what is found of them is that.

mod agreement;
mod behaviours;
mod commands;
mod curl;
mod killed;

use std::process::Output;

use sixmark_eyes::clause::ClauseState;
use sixmark_eyes::eyes_result::{CaseResult, EyesResult};
use sixmark_testkit::sixmark;

/// How often something is watched anew that a busy machine may have disturbed.
const TRIES: usize = 3;

/// Watches a client with these options, and returns all that the program said.
fn watch(options: &[&str], client: &[String]) -> Output {
    let client = client.iter().map(String::as_str);
    let words: Vec<&str> = ["eyes", "--json", "-"]
        .into_iter()
        .chain(options.iter().copied())
        .chain(["--"])
        .chain(client)
        .collect();
    sixmark(&words)
}

/// Returns the document of a command that has succeeded, or has found nothing to measure.
fn read(output: &Output) -> EyesResult {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Watches a client until what was found is as it should be.
fn try_watching(
    options: &[&str],
    client: &[String],
    mistakes: impl Fn(&EyesResult) -> Vec<String>,
) {
    let mut found = Vec::new();
    for _ in 0..TRIES {
        found = mistakes(&read(&watch(options, client)));
        if found.is_empty() {
            return;
        }
    }
    panic!("{client:?}: {found:#?}");
}

fn case<'a>(result: &'a EyesResult, name: &str) -> &'a CaseResult {
    result.cases.iter().find(|of| of.case == name).unwrap()
}

/// Returns the names of the clauses that are not met.
fn not_met(result: &EyesResult) -> Vec<&str> {
    let all = result.clauses.iter().filter(|of| of.state == ClauseState::NotMet);
    all.map(|of| of.clause.as_str()).collect()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}
