//! What every command prints, on a terminal of 80 columns.

use sixmark_testkit::{Origin, TestScreen, skipped};

/// The number of columns.
const WIDTH: u16 = 80;
/// The commands that have a help.
const COMMANDS: [&str; 39] = [
    "",
    "run",
    "compare",
    "history",
    "history list",
    "history show",
    "history export",
    "history delete",
    "history import",
    "report",
    "origin",
    "study",
    "study run",
    "study list",
    "study show",
    "study import",
    "study check",
    "study reanalyse",
    "study claims",
    "lab",
    "lab up",
    "lab exec",
    "lab status",
    "lab down",
    "lab check",
    "lab diagram",
    "traffic",
    "watch",
    "vitals",
    "doctor",
    "agent",
    "fleet",
    "fleet init",
    "fleet status",
    "fleet abort",
    "fleet collect",
    "demo",
    "completions",
    "man",
];
/// The built-in studies, all of which have a lab.
const STUDIES: [&str; 8] =
    ["anma", "apache", "blackhole", "dell", "ipv6-only", "nat64", "regensburg", "towson"];

/// Returns lines that a shell executes, for servers at these URLs.
fn lines([v6, v4]: &[String; 2]) -> Vec<String> {
    let urls = format!("{v6} {v4}");
    let of_study = |study| {
        ["study show", "lab check", "lab diagram", "study reanalyse"]
            .map(|command| format!("sixmark {command} {study}"))
    };
    let own = [
        format!("sixmark run -d 1s -c 4 --json run.json {urls}"),
        format!("sixmark run -n 40 --full {urls}"),
        format!("sixmark run -n 40 --csv run.csv {urls} --fail-if 'ipv6.response.p50 > 1us'"),
        "sixmark run -n 4 'http://[::1]:1/'".to_owned(),
        format!("sixmark run --find-max 'response.p99 < 300us' --rate 1k -d 200ms {urls}"),
        format!("sixmark compare --block 50ms --blocks 6 -c 2 --json compared.json {urls}"),
        format!("sixmark compare --block 50ms --blocks 1 -c 2 --calibrate {urls}"),
        "sixmark report --text run.json compared.json".to_owned(),
        "sixmark history".to_owned(),
        "sixmark history show last".to_owned(),
        "sixmark study list".to_owned(),
        "sixmark study claims".to_owned(),
        "sixmark vitals -d 300ms".to_owned(),
        "sixmark doctor".to_owned(),
        "sixmark doctor --full".to_owned(),
        "sixmark demo".to_owned(),
        "sixmark rn".to_owned(),
        format!("sixmark run --rate much {urls}"),
    ];
    own.into_iter().chain(STUDIES.into_iter().flat_map(of_study)).collect()
}

/// Returns true if a line of output does not fit. The line that was typed may be longer.
fn is_too_wide(line: &str) -> bool {
    line.chars().count() > usize::from(WIDTH) && !line.starts_with("$ ")
}

#[test]
fn command_output_fits_80_columns() {
    if skipped("tmux") {
        return;
    }
    let origin = Origin::start();
    let folder = tempfile::tempdir().unwrap();
    let screen = TestScreen::start(WIDTH, 50);
    screen.enter(&format!("cd {} && export SIXMARK_STORE=store", folder.path().display()));
    let helps = COMMANDS.map(|of| format!("sixmark {of} --help; sixmark {of} -h"));
    let wide: Vec<String> = helps
        .into_iter()
        .chain(lines(&origin.urls("/bytes/1000")))
        .flat_map(|line| {
            let text = screen.output_of(&line);
            let wide = text.lines().filter(|line| is_too_wide(line));
            wide.map(|wide| format!("{line}: {wide}")).collect::<Vec<_>>()
        })
        .collect();
    assert!(wide.is_empty(), "{}", wide.join("\n"));
}
