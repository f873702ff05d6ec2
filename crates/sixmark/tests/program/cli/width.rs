//! No line of any command is wider than a terminal of 80 columns, apart from what cannot be broken: names of
//! files and URLs.

use std::fs;
use std::process::Output;

use sixmark_testkit::{Origin, command, finish};
use tempfile::TempDir;

const WIDTH: usize = 80;

/// A study of four cells.
const STUDY: &str = "name = 'narrow'\npath = '/bytes/10'\nrepetitions = 3\n\
    [options]\ncount = 20\n\
    [factors]\nfamily = ['ipv6', 'ipv4']\nconcurrency = [1, 2]\n";

/// Every command that does not wait for its user, with what it needs.
struct Place {
    folder: TempDir,
    origin: Origin,
}

impl Place {
    fn new() -> Place {
        let place = Place { folder: TempDir::new().unwrap(), origin: Origin::start() };
        let [v6, v4] = place.origin.urls("").map(|url| url.trim_end_matches('/').to_owned());
        let study = STUDY.replacen("path", &format!("targets = ['{v6}', '{v4}']\npath"), 1);
        fs::write(place.folder.path().join("study.toml"), study).unwrap();
        place
    }

    fn does(&self, words: &[&str]) -> Output {
        let store = self.folder.path().join("store");
        let mut command = command(words);
        command.current_dir(self.folder.path()).env("SIXMARK_STORE", store);
        finish(command.spawn().unwrap())
    }

    /// The lines on standard output that are too wide, each with its command. Commands to paste, behind a
    /// prompt, are not broken; warnings and errors take a line each where standard error is no terminal.
    fn too_wide(&self, words: &[&str]) -> Vec<String> {
        let output = self.does(words);
        assert_ne!(output.status.code(), Some(2), "{words:?}: {output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.is_empty(), "{words:?}");
        let wide = text.lines().filter(|line| line.chars().count() > WIDTH);
        let wide = wide.filter(|line| !line.starts_with("$ "));
        // A word that fills the line alone.
        let breakable =
            wide.filter(|line| line.split_whitespace().all(|word| word.len() < WIDTH / 2));
        breakable.map(|line| format!("{}: {line}", words.join(" "))).collect()
    }
}

#[test]
fn no_help_is_wider_than_a_terminal() {
    let place = Place::new();
    let mut wide = Vec::new();
    let mut paths: Vec<Vec<String>> = vec![Vec::new()];
    while let Some(path) = paths.pop() {
        let words: Vec<&str> = path.iter().map(String::as_str).collect();
        for help in ["-h", "--help"] {
            wide.extend(place.too_wide(&[&words[..], &[help]].concat()));
        }
        let help = place.does(&[&words[..], &["--help"]].concat());
        let help = String::from_utf8(help.stdout).unwrap();
        let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
        let commands = commands.take_while(|line| !line.is_empty());
        let names = commands.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        for name in names.filter_map(|line| line.split_whitespace().next()) {
            if name != "help" {
                paths.push(path.iter().cloned().chain([name.to_owned()]).collect());
            }
        }
    }
    assert!(wide.is_empty(), "{wide:#?}");
}

#[test]
fn no_result_is_wider_than_a_terminal() {
    let place = Place::new();
    let [v6, v4] = place.origin.urls("/bytes/10");
    let [bad, worse] = place.origin.urls("/status/503");
    let mut wide = Vec::new();
    for (words, urls) in [
        ("run -n 100 -c 2", [&v6, &v4]),
        ("run -n 100 -c 2 --full --no-keep-alive", [&v6, &v4]),
        ("run -n 100 -c 2 --full --label nightly", [&bad, &worse]),
        ("run -n 100 -c 2 --full --fail-if ipv6.failures>1%", [&bad, &v4]),
        ("run -d 100ms --find-max response.p99<1ns", [&v6, &v4]),
        ("run -n 100 --rate 2000 --full --calibrate", [&v6, &v4]),
        ("run -n 100 --timestamps kernel --http1.0 --full", [&v6, &v4]),
        ("compare -n 20 -c 2 --blocks 2", [&v6, &v4]),
        ("compare -n 20 -c 2 --blocks 6 --calibrate", [&v6, &v4]),
        ("compare -n 20 -c 2 --blocks 6 --fail-if ipv6.failures>1%", [&bad, &v4]),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        wide.extend(place.too_wide(&[&words[..], &[urls[0], urls[1]]].concat()));
    }
    for words in [
        "study run study.toml --out out",
        "study show out",
        "study show study.toml",
        "study check study.toml",
        "study list",
        "study show anma",
        "study reanalyse anma",
        "vitals -d 200ms --interval 50ms",
        "doctor",
        "doctor --full",
        "demo -d 100ms",
        "history",
        "history --wide --kind study",
        "history show 1 --full",
        "history show 9",
        "report 1 2",
        "report out",
        "report --text 1 9",
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        wide.extend(place.too_wide(&words));
    }
    assert!(wide.is_empty(), "{wide:#?}");
}
