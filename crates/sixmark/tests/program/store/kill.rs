//! A writer that is killed at any moment loses nothing that it had reported, and breaks nothing.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use rusqlite::Connection;
use sixmark::store::{Id, NewEntry};
use sixmark_testkit::signal;

use super::{RUN, headline, open};

/// How often the writer is killed.
const ROUNDS: u64 = 21;
/// How many limits on the size of files end it, above those that end the making of the store.
const SIZES: usize = 40;
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
fn sigkill_at_any_moment_loses_no_reported_entry() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("results.sqlite");
    let mut reported = BTreeMap::new();
    for round in 0..ROUNDS {
        let ended = follow(writer(&file, None), Some(round % 7), &mut reported);
        assert_eq!(ended.signal(), Some(libc::SIGKILL));
        check(&file, &reported);
    }
    assert!(reported.len() as u64 >= ROUNDS, "{}", reported.len());
}

/// Whoever kills from outside seldom hits a write. Here the kernel does, by the limit on the size of files:
/// it ends the writer in the write that goes beyond it, of which only the part below is done. Each round's
/// limit is a page and a half above the last one's: it cuts the log in the middle of changes of each
/// kind, and first of all the making of the store.
#[test]
fn sigxfsz_in_the_middle_of_a_write_loses_no_reported_entry() {
    let mut changes = BTreeMap::new();
    for blocks in (1..=20).chain((64..).step_by(12).take(SIZES)) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("results.sqlite");
        let mut reported = BTreeMap::new();
        let ended = follow(writer(&file, Some(blocks)), None, &mut reported);
        assert_eq!(ended.signal(), Some(libc::SIGXFSZ), "{blocks} blocks: {ended}");
        check(&file, &reported);
        let last = reported.last_key_value().map(|(_, state)| *state);
        *changes.entry(last).or_insert(0) += 1;
        // And it goes on from there.
        follow(writer(&file, None), Some(0), &mut reported);
        check(&file, &reported);
    }
    // After each report, and before the first.
    let after: Vec<Option<u64>> = changes.keys().copied().collect();
    assert_eq!(after, [None, Some(0), Some(1), Some(2), Some(3)], "{changes:?}");
}

/// Takes down what a writer reports until it ends. Kills it when it has reported so much.
fn follow(
    mut writer: Child,
    kill_after: Option<u64>,
    reported: &mut BTreeMap<Id, u64>,
) -> ExitStatus {
    let lines = BufReader::new(writer.stdout.take().unwrap()).lines();
    let mut reports = 0;
    for line in lines {
        let line = line.unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        let ["kept", id, state] = words[..] else { continue };
        reported.insert(id.parse().unwrap(), state.parse().unwrap());
        if kill_after == Some(reports) {
            signal(writer.id(), "KILL");
        }
        reports += 1;
    }
    writer.wait().unwrap()
}

/// A writer that may make no file larger than so many of the shell's blocks.
fn writer(file: &Path, blocks: Option<usize>) -> Child {
    let name = "store::kill::writes_until_it_is_killed";
    let limit = blocks.map_or("unlimited".to_owned(), |blocks| blocks.to_string());
    let mut this = Command::new("sh");
    this.args(["-c", "ulimit -c 0; ulimit -f \"$1\"; shift; exec \"$@\"", "sh", &limit]);
    this.arg(std::env::current_exe().unwrap());
    this.args(["--ignored", "--exact", "--nocapture", "--test-threads=1", name]).env(FILE, file);
    this.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// The file is whole, so is every entry, and each is what was last reported of it, or the next.
fn check(file: &Path, reported: &BTreeMap<Id, u64>) {
    // Makes what an end in the making left out.
    drop(open(file));
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
