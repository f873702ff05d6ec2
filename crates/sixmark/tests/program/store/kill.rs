//! A writer that is killed at any moment loses nothing that it had reported, and breaks nothing.

use std::collections::BTreeMap;
use std::hint::spin_loop;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use sixmark::store::{Id, NewEntry};
use sixmark_testkit::signal;

use super::{RUN, headline, open};

/// How often the writer is killed.
const ROUNDS: u64 = 60;
/// What the writer is told.
const FILE: &str = "SIXMARK_TEST_STORE";
/// Makes a document span many pages.
const PADDING: usize = 20_000;

/// Keeps and renews for ever, and tells of each when it is done.
#[test]
#[ignore = "the process that the next one kills"]
fn writes_until_it_is_killed() {
    let Some(file) = std::env::var_os(FILE) else { return };
    let mut store = open(Path::new(&file));
    let headline = headline(RUN, "2026-07-01T00:00:00Z");
    let text = |state: u64| format!("{{\"state\": {state}}}{}", " ".repeat(PADDING));
    let texts = [0, 1, 2, 3].map(text);
    let entry = |state: usize| NewEntry {
        headline: &headline,
        document: &texts[state],
        command: &[],
        label: None,
    };
    loop {
        let id = store.keep(&entry(0)).unwrap();
        println!("\nkept {id} 0");
        for state in 1..4 {
            store.renew(id, &entry(state)).unwrap();
            println!("\nkept {id} {state}");
        }
    }
}

#[test]
fn kill_9_at_any_moment_loses_nothing_that_was_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("results.sqlite");
    let mut reported = BTreeMap::new();
    for round in 0..ROUNDS {
        // Anywhere within the next change or two, which take some hundred microseconds.
        let later = Duration::from_micros(round * 7_919 % 1_500);
        killed(&file, round % 7, later, &mut reported);
        check(&file, &reported);
    }
    assert!(reported.len() as u64 >= ROUNDS / 2, "{}", reported.len());
}

/// Kills a writer so long after it has reported so much, and takes down what it reported by then.
fn killed(file: &Path, reports: u64, later: Duration, reported: &mut BTreeMap<Id, u64>) {
    let mut writer = writer(file);
    let lines = BufReader::new(writer.stdout.take().unwrap()).lines();
    let mut left = reports;
    for line in lines {
        let line = line.unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        let ["kept", id, state] = words[..] else { continue };
        reported.insert(id.parse().unwrap(), state.parse().unwrap());
        if left == 0 {
            let begin = Instant::now();
            while begin.elapsed() < later {
                spin_loop();
            }
            signal(writer.id(), "KILL");
        }
        left = left.wrapping_sub(1);
    }
    writer.wait().unwrap();
}

fn writer(file: &Path) -> Child {
    let name = "store::kill::writes_until_it_is_killed";
    let mut this = Command::new(std::env::current_exe().unwrap());
    this.args(["--ignored", "--exact", "--nocapture", "--test-threads=1", name]).env(FILE, file);
    this.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// The file is whole, so is every entry, and each is what was last reported of it, or the next.
fn check(file: &Path, reported: &BTreeMap<Id, u64>) {
    let connection = Connection::open(file).unwrap();
    let text = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, String>(0));
    assert_eq!(text("PRAGMA integrity_check").unwrap(), "ok");
    assert!(text("PRAGMA foreign_key_check").is_err(), "no rows");
    let torn = "SELECT count(*) FROM entry WHERE kind = '' \
        OR (SELECT count(*) FROM target WHERE entry = id) <> 2 \
        OR (SELECT count(*) FROM side WHERE entry = id) <> 2 \
        OR NOT EXISTS (SELECT 1 FROM document WHERE entry = id)";
    assert_eq!(connection.query_row(torn, [], |row| row.get(0)), Ok(0));
    let store = open(file);
    for (&id, &state) in reported {
        let document = store.document(id).unwrap();
        let found: serde_json::Value = serde_json::from_str(&document).unwrap();
        let found = found["state"].as_u64().unwrap();
        assert!(found == state || found == state + 1, "{id}: {found}, {state} was reported");
        assert!(document.len() > PADDING);
    }
}
