//! docs/quickstart.md: every command works as it stands, in the order of the page, in a network that has nothing else.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sixmark_testkit::lab::without;

const PAGE: &str = include_str!("../../../../docs/quickstart.md");

/// Commands that the page has its reader start in a terminal of their own, where they stay.
const STAY: [&str; 3] =
    ["sixmark origin ", "sixmark vitals --prometheus ", "sixmark traffic --listen "];

/// What lets a command end with status 1: its gate may fail.
const GATE: &str = "--fail-if ";

/// Runs that print no sentence about failures.
const RUNS_WITHOUT_A_HEADLINE: [&str; 2] = ["--csv -", "--find-max "];

/// Returns what stands behind prompts, in order.
fn commands() -> Vec<&'static str> {
    let blocks = PAGE.split("```console\n").skip(1);
    let shown = blocks.filter_map(|block| block.split("```").next());
    shown.flat_map(str::lines).filter_map(|line| line.strip_prefix("$ ")).collect()
}

/// Returns a script that runs the commands and leaves of each `NUMBER.out`, `.said` and `.status`. Only the waiting for
/// a server to say where it listens is added to the page.
fn script_of(commands: &[&str]) -> String {
    let mut script = "ip link set lo up\n".to_owned();
    for (number, command) in commands.iter().enumerate() {
        if STAY.iter().any(|begin| command.starts_with(begin)) {
            script += &format!("{{ {command}\n}} >{number}.out 2>&1 &\n");
            script += &format!(
                "until [ -s {number}.out ] || ! kill -0 $!; do sleep 0.02; done; echo 0 >{number}.status\n"
            );
        } else {
            script += &format!("( {command}\n) >{number}.out 2>{number}.said </dev/null\n");
            script += &format!("echo $? >{number}.status\n");
        }
    }
    script + "exit 0\n"
}

fn read(folder: &Path, number: usize, what: &str) -> String {
    let text = fs::read(folder.join(format!("{number}.{what}"))).unwrap_or_default();
    String::from_utf8_lossy(&text).into_owned()
}

#[test]
fn every_quickstart_command_works_in_page_order() {
    if without(&["tayga", "curl"]) {
        return;
    }
    let commands = commands();
    assert!(commands.len() > 40, "{commands:?}");
    let folder = tempfile::tempdir().unwrap();
    let program = PathBuf::from(env!("CARGO_BIN_EXE_sixmark"));
    let path =
        format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    // What is left when the script ends, such as the servers, ends with its namespace.
    let namespaces = ["--net", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c"];
    let output = Command::new("unshare")
        .args(namespaces)
        .arg(script_of(&commands))
        .current_dir(folder.path())
        .env("PATH", path)
        .env("SIXMARK_STORE", folder.path().join("results.sqlite"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "this needs root, unshare and ip: {output:?}");
    let mut wrong = Vec::new();
    for (number, command) in commands.iter().enumerate() {
        let status = read(folder.path(), number, "status");
        let allowed = if command.contains(GATE) { &["0\n", "1\n"][..] } else { &["0\n"] };
        let (out, said) = (read(folder.path(), number, "out"), read(folder.path(), number, "said"));
        if !allowed.contains(&status.as_str()) {
            wrong.push(format!("$ {command}\nstatus {status}{out}{said}"));
        }
        // That nothing answers, or with an error, is a result, and the status is the same.
        let run = command.contains("sixmark run ")
            && !RUNS_WITHOUT_A_HEADLINE.iter().any(|of| command.contains(of));
        let words: Vec<&str> = out.split_whitespace().collect();
        let fine = !run || words.join(" ").contains("no request failed");
        if !fine || out.contains("NOT COMPARABLE") {
            wrong.push(format!("$ {command}\n{out}{said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
