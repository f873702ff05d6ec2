//! `sixmark history`, and what the other commands keep.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use rusqlite::Connection;
use serde_json::Value;
use sixmark_testkit::{Origin, Server, check, command, complaint, finish, signal};
use sixmark_units::family::Family;
use tempfile::TempDir;

use crate::store::{RUN, comparison};

/// A folder with a store, an origin to measure, and the program that keeps what it measures there.
struct Site {
    folder: TempDir,
    origin: Origin,
}

impl Site {
    fn new() -> Site {
        Site { folder: tempfile::tempdir().unwrap(), origin: Origin::start() }
    }

    fn file(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = command(words);
        command.env("SIXMARK_STORE", self.file("results.sqlite")).current_dir(self.folder.path());
        command
    }

    fn does(&self, words: &[&str]) -> Output {
        finish(self.command(words).spawn().unwrap())
    }

    /// What a command that succeeds says.
    fn says(&self, words: &[&str]) -> String {
        let output = self.does(words);
        let wrong = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {wrong}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Keeps a run of 20 requests over both families.
    fn run(&self, options: &[&str]) -> String {
        let [v6, v4] = self.origin.urls("/bytes/10");
        self.says(&[&["run", "-n", "20", "-c", "2"], options, &[&v6, &v4]].concat())
    }

    fn history(&self, words: &[&str]) -> String {
        self.says(&[&["history"], words].concat())
    }

    fn entries(&self, words: &[&str]) -> Vec<Value> {
        let lines = self.history(&[words, &["--json"]].concat());
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Imports a document.
    fn import(&self, name: &str, document: &str) {
        fs::write(self.file(name), document).unwrap();
        self.history(&["import", name]);
    }
}

#[test]
fn stores_a_run_whole_and_shows_it_unchanged() {
    let site = Site::new();
    let table = site.run(&["--label", "two words", "--json", "result.json"]);
    let written = fs::read_to_string(site.file("result.json")).unwrap();
    assert_eq!(site.history(&["show", "1", "--json"]), written);
    assert_eq!(site.history(&["export", "last"]), written);
    let shown = site.history(&["show", "last"]);
    assert!(shown.ends_with(&table), "{shown}");
    assert!(shown.contains("$ sixmark run -n 20 -c 2 --label 'two words' --json"), "{shown}");
    let entry = &site.entries(&[])[0];
    assert_eq!(entry["label"], "two words");
    assert_eq!(entry["command"][1], "run");
    let sides = entry["sides"].as_array().unwrap();
    let requests = sides.iter().map(|side| (&side["name"], &side["requests"], &side["failed"]));
    let whole = |name| (Value::from(name), Value::from(10), Value::from(0));
    let wanted = [whole("ipv6"), whole("ipv4")];
    assert!(requests.eq(wanted.iter().map(|(a, b, c)| (a, b, c))), "{entry}");
}

#[test]
fn a_search_is_listed_with_the_rates_that_it_found() {
    let site = Site::new();
    site.import("search.json", include_str!("../../data/find-max.json"));
    let list = site.history(&[]);
    assert!(list.contains("  max 4,340 / 51,200/s "), "{list}");
    let wide = site.history(&["--wide"]);
    assert!(wide.contains("  held 4,340/s, did not hold 4,530/s\n"), "{wide}");
    assert!(wide.contains("  held 51,200/s, did not hold 53,500/s\n"), "{wide}");
    let sides = &site.entries(&[])[0]["sides"];
    assert_eq!([&sides[0]["holds_per_s"], &sides[1]["fails_per_s"]], [4340.0, 53_500.0]);
}

/// They are sent, and neither document nor page nor store shows them, unless that is asked for.
#[test]
fn credentials_are_sent_and_not_kept() {
    const SECRETS: [&str; 4] = ["b3arer", "pr0xy", "c00kie", "t0ken"];
    let fields = ["Authorization: Bearer b3arer", "proxy-authorization: pr0xy", "Cookie: a=c00kie"];
    let requests = "[[request]]\nheaders = { X-Token = \"t0ken\", X-Open = \"open\" }\n\
                    secret = [\"x-token\"]\n";
    for keep in [false, true] {
        let (site, server) = (Site::new(), Server::start());
        fs::write(site.file("requests.toml"), requests).unwrap();
        let [v6, v4] = server.urls("/");
        let fields = fields.iter().flat_map(|field| ["-H", field]);
        let wanted: &[&str] = if keep { &["--keep-secrets"] } else { &[] };
        let load = ["run", "-n", "4", "-c", "2", "--json", "run.json", "--html", "run.html"];
        let rest = ["--requests", "requests.toml", &v6, &v4];
        let line: Vec<&str> = load.into_iter().chain(rest).chain(fields).collect();
        let table = site.says(&[&line, wanted].concat());
        let sent = server.next(1)[0].head.clone();
        assert!(SECRETS.iter().all(|secret| sent.contains(secret)), "{sent}");
        let read = |name: &str| fs::read_to_string(site.file(name)).unwrap();
        let kept = site.history(&["export", "1"]);
        let command = site.entries(&[])[0]["command"].to_string();
        for (place, text) in [("document", read("run.json")), ("store", kept)] {
            let shown = SECRETS.map(|secret| text.contains(secret));
            assert_eq!(shown, [keep; 4], "{place}");
            assert!(text.contains("open") && text.contains("[redacted]") != keep, "{place}");
        }
        for (place, text) in [("page", read("run.html")), ("table", table), ("command", command)] {
            let shown = SECRETS.iter().any(|secret| text.contains(secret));
            assert!(keep || !shown, "{place}: {text}");
        }
    }
}

/// Sides of a comparison have options of their own, which are part of the document.
#[test]
fn credentials_of_a_side_are_not_kept() {
    let site = Site::new();
    let [v6, v4] = site.origin.urls("/bytes/10");
    let (a, b) =
        (format!("-H 'Authorization: b3arer' {v6}"), format!("-H \"Cookie: c00kie\" {v4}"));
    let sides = ["--a", &a, "--b", &b, "--json", "both.json"];
    site.says(&[&["compare", "-q", "--blocks", "2", "-n", "8", "-c", "2"], &sides[..]].concat());
    let text =
        fs::read_to_string(site.file("both.json")).unwrap() + &site.history(&["export", "1"]);
    let command = site.entries(&[])[0]["command"].to_string();
    for secret in ["b3arer", "c00kie"] {
        assert!(!text.contains(secret) && !command.contains(secret), "{secret}");
    }
    assert!(text.contains("-H 'Authorization: [redacted]'"), "{text}");
}

/// The command of each cell is part of a study's document.
#[test]
fn credentials_in_the_options_of_a_study_are_not_kept() {
    let (site, server) = (Site::new(), Server::start());
    let [v6, v4] = server.urls("/").map(|url| url.trim_end_matches('/').to_owned());
    let text = format!(
        "name = 'x'\ntargets = ['{v6}', '{v4}']\npath = '/'\nrepetitions = 1\n\
         [options]\ncount = 4\nconcurrency = 2\nheader = 'Authorization: b3arer'\n\
         [factors]\nfamily = ['ipv6', 'ipv4']\n"
    );
    fs::write(site.file("study.toml"), text).unwrap();
    site.says(&["study", "run", "study.toml", "--quiet", "--out", "out"]);
    assert!(server.next(1)[0].head.contains("b3arer"));
    let document = fs::read_to_string(site.file("out/study.json")).unwrap();
    assert!(document.contains("--header=Authorization: [redacted]"), "{document}");
    for text in [document, site.history(&["export", "1"])] {
        assert!(!text.contains("b3arer"), "{text}");
    }
}

#[test]
fn a_run_that_measured_nothing_or_was_interrupted_is_kept_too() {
    let site = Site::new();
    let broken = site.origin.url(Family::Ipv6, "/reset");
    assert_eq!(site.does(&["run", "-q", "-n", "20", "-c", "2", &broken]).status.code(), Some(3));
    let server = Server::answering(20);
    let [v6, v4] = server.urls("/");
    let endless = ["run", "-q", "-d", "1h", "--timeout", "1h", "-c", "4", &v6, &v4];
    let child = site.command(&endless).spawn().unwrap();
    server.next(24);
    signal(child.id(), "INT");
    assert_eq!(finish(child).status.code(), Some(130));
    let entries = site.entries(&[]);
    let said: Vec<_> = entries.iter().map(|entry| (&entry["ended"], &entry["sides"][0])).collect();
    assert_eq!(said[0].0, "interrupted");
    assert_eq!((said[1].0.as_str(), &said[1].1["failed"]), (Some("complete"), &20.into()));
    assert!(site.history(&[]).contains("interrupted"));
}

#[test]
fn stores_nothing_with_store_none_or_for_a_demo() {
    let site = Site::new();
    site.run(&["--store", "none"]);
    site.says(&["demo", "-d", "100ms"]);
    assert!(!Path::new(&site.file("results.sqlite")).exists());
    let said = complaint(&site.does(&["history", "--store", "none"]), 2);
    assert!(said.contains("--store PATH"), "{said}");
}

#[test]
fn the_default_store_is_below_xdg_data_home() {
    let site = Site::new();
    let [v6, v4] = site.origin.urls("/bytes/10");
    let run = ["run", "-q", "-n", "20", "-c", "2", &v6, &v4];
    let mut usual = site.command(&run);
    usual.env_remove("SIXMARK_STORE").env("XDG_DATA_HOME", site.file("data"));
    assert_eq!(finish(usual.spawn().unwrap()).status.code(), Some(0));
    let store = site.file("data/sixmark/results.sqlite");
    assert_eq!(site.entries(&["--store", &store]).len(), 1);
}

/// A user who never asked for a store is not kept from measuring.
#[test]
fn warns_if_the_default_store_fails_but_rejects_a_broken_named_one() {
    let site = Site::new();
    let [v6, v4] = site.origin.urls("/bytes/10");
    let run = ["run", "-q", "-n", "20", "-c", "2", &v6, &v4];
    let mut usual = site.command(&run);
    usual.env_remove("SIXMARK_STORE").env("XDG_DATA_HOME", "/dev/null");
    let output = finish(usual.spawn().unwrap());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("warning: the result will not be kept: can't open"), "{said}");
    fs::create_dir(site.file("results.sqlite")).unwrap();
    for asked in [&[][..], &["--store", "missing/results.sqlite"], &["--store", ""]] {
        let said = complaint(&site.does(&[&run, asked].concat()), 2);
        assert!(said.contains("store"), "{said}");
    }
}

/// The store opens and then has no room.
#[test]
fn saves_an_unstorable_result_elsewhere_and_exits_with_3() {
    let site = Site::new();
    site.run(&[]);
    let full = "CREATE TRIGGER full BEFORE INSERT ON document \
        BEGIN SELECT RAISE(ABORT, 'no room'); END";
    Connection::open(site.file("results.sqlite")).unwrap().execute_batch(full).unwrap();
    let [v6, v4] = site.origin.urls("/bytes/10");
    let run = ["run", "-q", "-n", "200", "-c", "2", &v6, &v4];
    let temporary = tempfile::tempdir().unwrap();
    let child = site.command(&run).env("TMPDIR", temporary.path()).spawn().unwrap();
    let output = finish(child);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    let kept = fs::read_dir(temporary.path()).unwrap().next().unwrap().unwrap().path();
    assert!(said.contains("no room") && said.contains(kept.to_str().unwrap()), "{said}");
    check(&serde_json::from_slice(&fs::read(kept).unwrap()).unwrap());

    let output = site.does(&[&run[..], &["--json", "result.json"]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("no room; the document is in 'result.json'"), "{said}");
    assert_eq!(site.entries(&[]).len(), 1, "nothing of it is there by half");
}

#[test]
fn a_list_is_filtered_fits_80_columns_and_says_what_it_omits() {
    let site = Site::new();
    let path = "long/".repeat(40);
    site.import("a.json", &RUN.replace("bytes/100", &path).replace("2026-", "2006-"));
    site.import("b.json", &comparison());
    site.run(&["--label", &"label ".repeat(30)]);
    let list = site.history(&[]);
    assert_eq!(list, site.history(&["list"]));
    assert!(list.lines().all(|line| line.chars().count() <= 80), "{list}");
    for part in ["compare: interrupted", "run", "33.3 us / 24.1 us", "2006-11", "just now"] {
        assert!(list.contains(part), "{part}: {list}");
    }
    let ends: Vec<_> = list.lines().filter_map(|line| line.trim().split(' ').next()).collect();
    assert_eq!(ends, ["ID", "1", "2", "3"], "newest last: {list}");
    assert!(site.history(&["--limit", "1"]).contains("2 older not shown: use --limit 3"));
    let wide = site.history(&["--wide"]);
    for part in ["IPv6", "IPv4", "response.p50 worse", "p99", "comparison"] {
        assert!(wide.contains(part), "{part}: {wide}");
    }
    let count = |words: &[&str]| site.entries(words).len();
    assert_eq!(count(&["--kind", "comparison"]), 1);
    assert_eq!(count(&["list", "--target", "LONG/LONG"]), 1);
    assert_eq!(count(&["--since", "1h", "--kind", "run", "--limit", "0"]), 1);
    assert_eq!(count(&["--until", "2026-07-31", "--since", "2026-07-31"]), 1);
    assert_eq!(count(&["--label", "none such"]), 0);
    assert!(site.history(&["--label", "none such"]).contains("no matching results"));
}

#[test]
fn exports_and_imports_documents_unchanged() {
    let site = Site::new();
    site.import("a.json", RUN);
    site.import("b.json", &comparison());
    site.history(&["export", "1", "2", "--out", "out"]);
    assert_eq!(fs::read_to_string(site.file("out/1.json")).unwrap(), RUN);
    assert_eq!(fs::read_to_string(site.file("out/2.json")).unwrap(), comparison());
    site.history(&["export", "2", "--out", "one.json"]);
    assert_eq!(fs::read_to_string(site.file("one.json")).unwrap(), comparison());
    // What standard output has is one file of several documents.
    fs::write(site.file("all.json"), site.history(&["export", "1", "2"])).unwrap();
    let other = ["--store", "other.sqlite"];
    let said = site.history(&[&["import", "all.json", "--label", "moved"][..], &other].concat());
    assert!(said.contains("as 1") && said.contains("as 2"), "{said}");
    assert_eq!(site.history(&[&["export", "1"][..], &other].concat()), RUN);
    assert_eq!(site.entries(&[&["--label", "moved"][..], &other].concat()).len(), 2);
    let shown = site.history(&[&["show", "2"][..], &other].concat());
    assert!(shown.contains("'moved'") && shown.contains("10 and 10 requests"), "{shown}");
}

#[test]
fn delete_removes_entries_and_reports_them() {
    let site = Site::new();
    for at in 1..=4 {
        site.import("a.json", &RUN.replace("2026-", &format!("200{at}-")));
    }
    let said = site.history(&["delete", "2", "last"]);
    assert!(said.contains("deleted 2  2002-") && said.contains("deleted 4  2004-"), "{said}");
    let said = site.history(&["delete", "--before", "2003-01-01"]);
    assert!(said.contains("deleted 1  2001-") && said.lines().count() == 1, "{said}");
    assert_eq!(site.history(&["delete", "--before", "2003-01-01"]), "no result is older\n");
    let ids: Vec<_> = site.entries(&[]).iter().map(|entry| entry["id"].clone()).collect();
    assert_eq!(ids, [3]);
}

#[test]
fn rejects_invalid_history_commands_in_one_line() {
    let site = Site::new();
    let said = complaint(&site.does(&["history", "show", "last", "--store", "nix"]), 2);
    assert!(said.contains("'nix'"), "{said}");
    site.import("a.json", RUN);
    fs::write(site.file("har.json"), "{\"schema\": \"har\"}").unwrap();
    fs::write(site.file("half.json"), &RUN[..RUN.len() / 2]).unwrap();
    let odd = RUN.replace("2026-", "someday-");
    fs::write(site.file("odd.json"), format!("{RUN}{odd}")).unwrap();
    for (words, why) in [
        (&["show", "9"][..], "there is no 9"),
        (&["show", "nine"], "last"),
        (&["show", "0"], "last"),
        (&["export", "1", "7", "8"], "there is no 7"),
        (&["delete", "1", "8", "9"], "there are no 8, 9"),
        (&["delete"], "--before"),
        (&["delete", "1", "--before", "2d"], "--before"),
        (&["--since", "yesterday"], "2026-07-31"),
        (&["--kind", "test"], "comparison"),
        (&["import", "missing.json"], "'missing.json'"),
        (&["import", "har.json"], "'har'"),
        (&["import", "half.json"], "'half.json'"),
        (&["import", "odd.json"], "not a valid start time"),
        (&["export", "1", "--out", "no/such.json"], "no/such.json"),
    ] {
        let said = complaint(&site.does(&[&["history"], words].concat()), 2);
        assert!(said.contains(why), "{words:?}: {said}");
    }
    assert_eq!(site.entries(&[]).len(), 1, "all or nothing");
    let [v6, _] = site.origin.urls("/bytes/10");
    complaint(&site.does(&["run", "--label", "two\nlines", &v6]), 2);
}

/// A store has what others imported, and a terminal obeys what it is sent.
#[test]
fn replaces_control_characters_of_documents_in_lists() {
    let site = Site::new();
    let url = "http://[::1]:18083/\\u001b[2J\\u0007";
    site.import("a.json", &RUN.replace("http://[::1]:18083/bytes/100", url));
    assert!(site.history(&["--json"]).contains("\\u001b"));
    for list in [site.history(&[]), site.history(&["--wide"])] {
        assert!(!list.contains('\u{1b}') && !list.contains('\u{7}'), "{list:?}");
    }
    assert!(site.history(&["--wide"]).contains("?[2J?"));
}

#[test]
fn rejects_a_label_when_nothing_is_stored() {
    let output = sixmark_testkit::sixmark(&[
        "run",
        "--store",
        "none",
        "--label",
        "x",
        "-n",
        "1",
        "http://[::1]:1/",
    ]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("--label") && said.lines().count() == 1, "{said}");
}

#[test]
fn resuming_a_complete_study_does_not_store_it_again() {
    let site = Site::new();
    let address = site.origin.address(Family::Ipv6);
    let text = format!(
        "name = \"done\"\npath = \"/bytes/10\"\ntargets = [\"http://{address}\"]\n[options]\n\
         count = 5\nconcurrency = 1\n[factors]\nthreads = [1]\n"
    );
    fs::write(site.file("study.toml"), text).unwrap();
    site.says(&["study", "run", "study.toml", "--quiet", "--out", "out"]);
    let document = fs::read(site.file("out/study.json")).unwrap();
    assert_eq!(site.entries(&[]).len(), 1);
    let said = site.says(&["study", "run", "--resume", "out"]);
    assert!(said.contains("done"), "the report comes all the same: {said}");
    assert_eq!(site.entries(&[]).len(), 1);
    assert_eq!(fs::read(site.file("out/study.json")).unwrap(), document, "as it was");
}

#[test]
fn rejects_imports_of_documents_that_are_not_kept() {
    let site = Site::new();
    site.run(&[]);
    for kind in ["vitals", "traffic", "eyes"] {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
        let file = format!("{folder}/{kind}.json");
        let said = complaint(&site.does(&["history", "import", &file]), 2);
        let why = format!("is a sixmark.{kind}/1, which the store does not keep");
        assert!(said.contains(&why), "{said}");
        assert!(said.contains("sixmark report FILE"), "{said}");
    }
    assert_eq!(site.entries(&[]).len(), 1);
}
