//! The CI action's description: it is well formed, its inputs reach the scripts as variables only, and the page of
//! docs/ names them all. What the scripts do is tested in `lab`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn read(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The keys of the action's file with their values, each with its path. It is YAML of nothing but maps, lists of
/// maps and scalars on one line.
///
/// # Panics
/// A line is something else.
fn action() -> Vec<(Vec<String>, String)> {
    let name = "action/action.yml";
    let mut path: Vec<(usize, String)> = Vec::new();
    let mut found = Vec::new();
    for (number, line) in read(name).lines().enumerate() {
        let text = line.trim_start();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let wrong = |why: &str| format!("{name}:{}: {why}: {line}", number + 1);
        assert!(!line.contains('\t') && !line.ends_with(' '), "{}", wrong("white space"));
        let item = text.strip_prefix("- ");
        let indent = line.len() - item.unwrap_or(text).len();
        assert!(indent.is_multiple_of(2), "{}", wrong("indented unevenly"));
        let (key, value) =
            item.unwrap_or(text).split_once(':').unwrap_or_else(|| panic!("{}", wrong("no key")));
        let value = value.trim();
        let quoted = value.starts_with('\'') && value.ends_with('\'');
        let plain = !value.contains(": ")
            && !value.contains(" #")
            && !value.starts_with(['{', '[', '"', '&', '*', '!', '|', '>', '%', '@', '`']);
        assert!(quoted || plain, "{}", wrong("this must be quoted"));
        path.retain(|(of, _)| *of < indent);
        path.push((indent, key.to_owned()));
        let keys = path.iter().map(|(_, key)| key.clone()).collect();
        found.push((keys, value.trim_matches('\'').to_owned()));
    }
    found
}

/// The names below a key at the top: the inputs or the outputs.
fn names_below(top: &str) -> BTreeSet<String> {
    let all = action().into_iter().filter(|(path, _)| path.len() == 2 && path[0] == top);
    all.map(|(path, _)| path[1].clone()).collect()
}

fn variable(input: &str) -> String {
    format!("INPUT_{}", input.to_uppercase().replace('-', "_"))
}

#[test]
fn scripts_contain_no_workflow_expressions() {
    for (path, value) in action() {
        let last = path.last().unwrap();
        if last == "run" {
            let script =
                value.strip_prefix("\"$ACTION_PATH/").and_then(|rest| rest.strip_suffix('"'));
            let script = script.unwrap_or_else(|| panic!("more than a script: {value}"));
            assert!(!read(&format!("action/{script}")).contains("${{"), "{script}");
        } else if value.contains("${{") {
            let place = path.iter().map(String::as_str).collect::<Vec<_>>();
            let allowed = ["env", "with", "value", "default"];
            assert!(place.iter().any(|key| allowed.contains(key)), "{place:?}: {value}");
        }
    }
}

#[test]
fn the_step_that_runs_the_service_has_no_token() {
    let (mut step, mut seen) = (String::new(), 0);
    for (path, value) in action() {
        match path.last().unwrap().as_str() {
            "run" => step = value,
            _ if value.contains("token") && path.iter().any(|key| key == "env") => {
                assert!(step.contains("/comment"), "{step}: {value}");
                seen += 1;
            }
            _ => {}
        }
    }
    assert_eq!(seen, 1);
}

#[test]
fn every_input_reaches_a_script_and_is_described() {
    let text = read("action/action.yml");
    let page = read("docs/ci.md");
    let scripts = ["common", "comment", "install", "measure", "services", "summary"]
        .map(|script| read(&format!("action/{script}")))
        .concat();
    // These decide about steps.
    let not_for_scripts = ["artifact", "comment"];
    for input in names_below("inputs") {
        let variable = variable(&input);
        assert!(page.contains(&format!("`{input}`")), "docs/ci.md does not name {input}");
        if not_for_scripts.contains(&&*input) {
            continue;
        }
        let passed =
            [format!("{variable}: ${{{{ inputs.{input} }}}}"), format!("{variable}: ${{{{ steps.")];
        assert!(passed.iter().any(|line| text.contains(line)), "{input} is not passed");
        assert!(scripts.contains(&variable), "no script reads {variable}");
    }
    for output in names_below("outputs") {
        assert!(page.contains(&format!("`{output}`")), "docs/ci.md does not name {output}");
        assert!(text.contains(&format!("steps.measure.outputs.{output} ")), "{output}");
    }
    // No script reads an input that the action does not have, except the folder for results.
    let known: BTreeSet<String> =
        names_below("inputs").iter().map(|input| variable(input)).collect();
    for word in scripts.split(|c: char| !c.is_ascii_uppercase() && !c.is_ascii_digit() && c != '_')
    {
        let is_input = word.starts_with("INPUT_") && word != "INPUT_" && word != "INPUT_OUT";
        assert!(!is_input || known.contains(word), "the action has no input for {word}");
    }
}

#[test]
fn ci_recipes_use_known_inputs_and_persist_no_credentials() {
    let known: BTreeSet<String> =
        names_below("inputs").iter().map(|input| variable(input)).collect();
    let recipe = read("action/gitlab-ci.yml");
    for (name, _) in recipe.lines().filter_map(|line| line.trim().split_once(": ")) {
        let is_input = name.starts_with("INPUT_") && name != "INPUT_OUT";
        assert!(!is_input || known.contains(name), "{name}");
    }
    let page = read("docs/ci.md");
    let workflow = page.split("```yaml").nth(1).unwrap().split("```").next().unwrap();
    assert!(workflow.contains("on: pull_request\n") && !workflow.contains("pull_request_target"));
    assert_eq!(
        workflow.matches("persist-credentials: false").count(),
        workflow.matches("actions/checkout@").count()
    );
}
