//! Results of runs and watches, and the invariants that each of them satisfies.

use std::process::Output;

use serde_json::Value;

use crate::forms;
use crate::program::sixmark;

/// Returns the result of `sixmark run` with these arguments. The run may have measured (status 0),
/// have been unable to (status 3), or have been interrupted (status 130).
pub fn json(arguments: &[&str]) -> Value {
    let all = [&["run", "--quiet", "--json", "-"], arguments].concat();
    document(&sixmark(&all))
}

/// Returns the result document on a run's standard output, after checking it and the exit status.
pub fn document(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    let document: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("no document ({error}): {said}"));
    let statuses = if document["ended"] == "interrupted" { [130, 130] } else { [0, 3] };
    let status = output.status.code();
    assert!(statuses.iter().any(|known| status == Some(*known)), "{:?}: {said}", output.status);
    check(&document);
    document
}

/// Asserts the invariants of every result of a run or a watch: it conforms to the published schema,
/// and each request that was sent ended in exactly one way and in exactly one second.
pub fn check(document: &Value) {
    match document["schema"].as_str() {
        Some("sixmark.watch/1") => forms::WATCH.check(document),
        _ => forms::RESULT.check(document),
    }
    let families = document["families"].as_object().unwrap().iter();
    let open = document["plan"]["load"]["pace"]["mode"] == "open";
    let mut sums = [0, 0];
    for (name, figures) in families {
        let [sent, completed] = accounted(name, figures);
        if open {
            let counts = ["slip_us", "service_us"].map(|what| &figures[what]["count"]);
            let untimed = figures["requests"]["untimed"].as_u64().unwrap();
            assert_eq!(counts, [&Value::from(sent), &Value::from(completed - untimed)], "{name}");
        }
        let sum = |of: &str, what: &str| -> u64 {
            let all = document[of].as_array().into_iter().flatten();
            all.map(|one| one["families"][name][what].as_u64().unwrap()).sum()
        };
        const COUNTS: [&str; 3] = ["sent", "completed", "failed"];
        let in_seconds = COUNTS.map(|what| sum("intervals", what));
        if document["tenths"].as_array().is_some_and(|all| !all.is_empty()) {
            assert_eq!(COUNTS.map(|what| sum("tenths", what)), in_seconds, "{name} by tenths");
        }
        // Exchanges that the end of the run cut off have not failed; those with a status that is not
        // accepted have.
        let cut_off = figures["outcomes"]["ABANDONED"].as_u64().unwrap_or(0);
        let unaccepted = figures["requests"]["unaccepted"].as_u64().unwrap();
        let failed = sent - completed - cut_off + unaccepted;
        assert_eq!(in_seconds, [sent, completed, failed], "{name} by seconds");
        sums = [sums[0] + sent, sums[1] + completed];
    }
    assert_eq!(accounted("total", &document["total"]), sums);
}

fn accounted(name: &str, figures: &Value) -> [u64; 2] {
    let count = |value: &Value| value.as_u64().unwrap();
    let [sent, completed] = ["sent", "completed"].map(|which| count(&figures["requests"][which]));
    let outcomes = figures["outcomes"].as_object().unwrap();
    assert_eq!(outcomes.values().map(count).sum::<u64>(), sent, "{name}: {outcomes:?}");
    assert_eq!(outcomes["NORMAL"], completed, "{name}: {outcomes:?}");
    let failures = figures["failures"].as_array().unwrap();
    let failed = failures.iter().map(|failure| count(&failure["count"])).sum::<u64>();
    assert_eq!(failed, sent - completed, "{name}: {failures:?}");
    assert_account_adds_up(name, figures);
    [sent, completed]
}

/// Asserts that the parts of each response time add up to it, and that it is the figure of the summary.
fn assert_account_adds_up(name: &str, figures: &Value) {
    // The summary counts exchanges without an answer by how long they had none.
    let unanswered = figures["outcomes"]["UNANSWERED"].as_u64().unwrap_or(0);
    let Some(account) = figures["account"].as_object() else {
        // A worker records both, or neither.
        let timed = figures["response_us"]["count"].as_u64().unwrap();
        assert!(timed <= unanswered, "{name} has no account of {timed} responses");
        return;
    };
    for of in ["mean", "p50", "p99"] {
        let found = &account[of];
        let response_us = found["response_us"].as_f64().unwrap();
        let parts = found["parts_us"].as_object().unwrap();
        let sum: f64 = parts.values().map(|part| part.as_f64().unwrap()).sum();
        let near = |us: f64| (us - response_us).abs() <= 1e-6 * response_us + 1e-6;
        assert!(near(sum), "{name}, {of}: {parts:?} are {sum}, not {response_us}");
        if unanswered > 0 {
            continue;
        }
        let summary = figures["response_us"][of].as_f64().unwrap();
        assert!(near(summary), "{name}, {of}: {summary}, not {response_us}");
    }
}
