//! The commands of the README and of the quickstart work.

use std::path::Path;
use std::process::{Command, Stdio};

use sixmark_testkit::Origin;

const README: &str = include_str!("../../../../README.md");
const QUICKSTART: &str = include_str!("../../../../docs/quickstart.md");
const MAKEFILE: &str = include_str!("../../../../Makefile");

/// What is tried; other tests carry studies out.
const TRIED: [&str; 7] = [
    "sixmark vitals",
    "sixmark run",
    "sixmark compare",
    "sixmark history",
    "sixmark report",
    "sixmark study list",
    "sixmark study reanalyse",
];

/// The commands that stand behind a prompt.
fn commands() -> impl Iterator<Item = &'static str> {
    let lines = README.lines().chain(QUICKSTART.lines());
    lines.filter_map(|line| line.strip_prefix("$ "))
}

/// A command of the README with the origins in place of the servers it names, and less patience.
fn here(command: &str, origin: &Origin, secure: &Origin) -> String {
    let [v6, v4] = origin.urls("");
    let both = |path: &str| format!("{v6}{path} {v4}{path}");
    let trusted = secure.urls("/bytes/100").join(" ");
    command
        .replace("--resolve 'staging.example.net:443:[::1],127.0.0.1' ", "")
        .replace("https://staging.example.net/", &trusted)
        .replace("https://www.example.net/", &format!("--cacert {} {trusted}", secure.authority()))
        .replace("--service nginx --jsonl", "-d 200ms --jsonl")
        .replace("run -6 ", "run ")
        .replace("--vitals-from http://www.example.net:9100/metrics ", "")
        .replace("-n 1000", "-n 100")
        .replace("http://[::1]:8080", &v6)
        .replace("http://127.0.0.1:8080", &v4)
        .replace("http://www.example.net/sink", &both("/sink"))
        .replace("http://www.example.net/", &both("/bytes/100"))
        .replace("--find-max 'response.p99 < 10ms'", "-d 100ms --find-max 'response.p99 < 1ns'")
        .replace("-d 10s", "-d 500ms")
        .replace("-c 100000 -t 6", "-c 50 -t 2")
        .replace("body~Welcome", "size=100")
        .replace(":1m ", ":100ms ")
        .replace("100:10s,200:10s,400:10s", "100:50ms,200:50ms,400:50ms")
        .replace("--warmup 1s", "--warmup 50ms")
        .replace("-n 10000 -c 1000", "-n 200 -c 20")
        .replace("compare ", "compare --blocks 6 -n 50 --warmup 5ms ")
        .replace("run http", "run -n 20 http")
        .replace("run --cacert", "run -n 20 --cacert")
        .replace("run --ratio", "run -n 20 --ratio")
}

fn shell(command: &str, folder: &Path) -> std::process::Output {
    let binary = Path::new(env!("CARGO_BIN_EXE_sixmark")).parent().unwrap().to_owned();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder).stdin(Stdio::null());
    shell.env("PATH", path).env("SIXMARK_STORE", folder.join("results.sqlite"));
    shell.output().unwrap()
}

#[test]
fn every_command_of_the_readme_and_the_quickstart_works() {
    let [origin, secure] = [Origin::start(), Origin::secure()];
    let folder = tempfile::tempdir().unwrap();
    let [v6, v4] = origin.urls("/");
    let list = format!("{v6} weight=2\n{v4}\n");
    std::fs::write(folder.path().join("targets.txt"), list).unwrap();
    let mix =
        "[[request]]\npath = '/bytes/{{rand 1 9}}'\n[[request]]\nbody = 'x'\npath = '/sink'\n";
    std::fs::write(folder.path().join("mix.toml"), mix).unwrap();
    let line = "::1 - - [10/Oct/2000:13:55:36 +0000] \"GET /bytes/9 HTTP/1.1\" 200 9\n";
    std::fs::write(folder.path().join("access.log"), line.repeat(9)).unwrap();
    let tried = |command: &&str| TRIED.iter().any(|begin| command.starts_with(begin));
    let runs: Vec<_> = commands().filter(tried).collect();
    assert!(runs.len() >= 6, "{runs:?}");
    for run in runs {
        let typed = here(run, &origin, &secure);
        let output = shell(&typed, folder.path());
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{typed}: {complaint}");
        assert!(!output.stdout.is_empty() || typed.contains("report.html"), "{typed}");
    }
    assert!(folder.path().join("result.json").exists());
}

#[test]
fn every_make_in_the_readme_has_its_target() {
    let mut targets = commands().filter_map(|command| command.strip_prefix("make ")).peekable();
    assert!(targets.peek().is_some());
    for target in targets {
        let rule = format!("\n{target}:");
        assert!(MAKEFILE.contains(&rule), "the Makefile has no {target}");
    }
}

#[test]
fn every_page_that_they_link_to_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (page, folder) in [(README, root.clone()), (QUICKSTART, root.join("docs"))] {
        let links = page.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for link in links.filter_map(|link| link.split('#').next()) {
            assert!(folder.join(link).exists(), "{link}");
        }
    }
}

#[test]
fn the_readme_is_read_in_a_few_minutes() {
    assert!(README.lines().count() <= 150, "{} lines", README.lines().count());
}
