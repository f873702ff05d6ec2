//! What is kept is found again, by many at once.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::thread;

use sixmark::report::headline::{DocumentKind, ListHeadline};
use sixmark::store::{Id, ListFilter, NewEntry, Store, StorePlace};
use sixmark_document::provenance::Ended;
use sixmark_document::verdict::Verdict;

use super::{RUN, comparison, headline, ids, open};

fn new<'a>(headline: &'a ListHeadline, document: &'a str, label: Option<&'a str>) -> NewEntry<'a> {
    NewEntry { headline, document, command: &[], label }
}

fn keep(store: &mut Store, document: &str, started: &str, label: Option<&str>) -> Id {
    store.keep(&new(&headline(document, started), document, label)).unwrap()
}

#[test]
fn returns_a_stored_document_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("results.sqlite");
    let command = ["sixmark", "run", "ü b"].map(str::to_owned);
    let headline = headline(RUN, "2026-07-31T12:00:00Z");
    let entry =
        NewEntry { headline: &headline, document: RUN, command: &command, label: Some("nightly") };
    let id = open(&file).keep(&entry).unwrap();
    let store = open(&file);
    assert_eq!(store.document(id).unwrap(), RUN);
    let found = store.entry(id).unwrap().unwrap();
    assert_eq!((found.command, found.label.as_deref()), (command.to_vec(), Some("nightly")));
    let started = "2026-07-31T12:00:00.000Z".to_owned();
    assert_eq!(found.headline, ListHeadline { started, ..headline });
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "header fields may be secret");
}

#[test]
fn ignores_the_verdict_of_a_stored_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder.path().join("results.sqlite"));
    let verdict = headline(&comparison(), "2026-07-31T12:00:00Z").verdict;
    assert!(verdict.is_some());
    let run = ListHeadline { verdict, ..headline(RUN, "2026-07-31T12:00:00Z") };
    let id = store.keep(&new(&run, RUN, None)).unwrap();
    assert_eq!(store.entry(id).unwrap().unwrap().headline.verdict, None);
}

#[test]
fn an_updated_entry_keeps_its_number_even_after_deletion() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder.path().join("results.sqlite"));
    let document = comparison();
    let done = headline(&document, "2026-07-31T12:00:00Z");
    let begun = ListHeadline { ended: None, verdict: None, sides: Vec::new(), ..done.clone() };
    let id = store.keep(&new(&begun, "{}", None)).unwrap();
    assert_eq!(store.entry(id).unwrap().unwrap().headline.ended, None);
    store.renew(id, &new(&done, &document, None)).unwrap();
    let found = store.entry(id).unwrap().unwrap().headline;
    assert_eq!((found.ended, found.sides.len()), (Some(Ended::Interrupted), 2));
    assert_eq!(found.verdict.unwrap().verdict, Verdict::Worse);
    store.delete(&[id]).unwrap();
    store.renew(id, &new(&done, &document, None)).unwrap();
    assert_eq!(store.document(id).unwrap(), document);
    assert_eq!(ids(&store, &ListFilter::default()), [id]);
}

#[test]
fn lists_the_entries_that_match_every_filter_newest_first() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder.path().join("results.sqlite"));
    let other = RUN.replace("/bytes/100", "/Other_100%");
    let old = keep(&mut store, RUN, "2026-07-01T00:00:00Z", Some("a"));
    let newest = keep(&mut store, &other, "2026-07-31T00:00:00Z", Some("b"));
    let middle = keep(&mut store, &comparison(), "2026-07-10T00:00:00Z", Some("a"));
    let all = ListFilter::default;
    let text = |of: &str| Some(of.to_owned());
    for (filter, fitting) in [
        (all(), &[newest, middle, old][..]),
        (ListFilter { kind: Some(DocumentKind::Run), ..all() }, &[newest, old]),
        (ListFilter { kind: Some(DocumentKind::Study), ..all() }, &[]),
        (ListFilter { since: text("2026-07-10T00:00:00.000Z"), ..all() }, &[newest, middle]),
        (ListFilter { until: text("2026-07-10T00:00:00.000Z"), ..all() }, &[middle, old]),
        (ListFilter { label: text("a"), ..all() }, &[middle, old]),
        (ListFilter { label: text("A"), ..all() }, &[]),
        (ListFilter { target: text("other_100%"), ..all() }, &[newest]),
        (ListFilter { target: text("BYTES"), kind: Some(DocumentKind::Run), ..all() }, &[old]),
        (ListFilter { target: text("%"), label: text("a"), ..all() }, &[]),
        (ListFilter { limit: Some(2), ..all() }, &[newest, middle]),
    ] {
        assert_eq!(ids(&store, &filter), fitting, "{filter:?}");
    }
    let limited = ListFilter { limit: Some(1), label: text("a"), ..all() };
    assert_eq!(store.list(&limited).unwrap().more, 1);
}

#[test]
fn deletion_shrinks_the_file_and_does_not_reuse_entry_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("results.sqlite");
    let large = format!("{RUN}{}", " ".repeat(1 << 20));
    let first = keep(&mut open(&file), &large, "2026-07-01T00:00:00Z", None);
    let size = || std::fs::metadata(&file).unwrap().len();
    assert!(size() > 1 << 20);
    open(&file).delete(&[first]).unwrap();
    assert!(size() < 1 << 18, "{}", size());
    let second = keep(&mut open(&file), RUN, "2026-07-01T00:00:00Z", None);
    assert!(second > first);
    let said = open(&file).delete(&[second, first]).unwrap_err().to_string();
    assert!(said.contains(&format!("no {first} in")), "{said}");
    assert_eq!(ids(&open(&file), &ListFilter::default()), [second], "all of them or none");
}

/// The file is not there when they begin.
#[test]
fn concurrent_writers_lose_no_entry() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("results.sqlite");
    let keeps = |_| {
        let mut store = open(&file);
        let one = |_| keep(&mut store, RUN, "2026-07-01T00:00:00Z", None);
        (0..20).map(one).collect::<Vec<_>>()
    };
    let mut kept: Vec<Id> = thread::scope(|scope| {
        let writers: Vec<_> = (0..6).map(|at| scope.spawn(move || keeps(at))).collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    kept.sort();
    kept.dedup();
    assert_eq!(kept.len(), 120);
    let mut found = ids(&open(&file), &ListFilter::default());
    found.sort();
    assert_eq!(found, kept);
}

#[test]
fn leaves_a_foreign_file_unchanged_and_reports_it_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let of = |name: &str| folder.path().join(name);
    std::fs::write(of("text"), "a diary, by far too long to be empty\n".repeat(200)).unwrap();
    sql(&of("foreign"), "CREATE TABLE bookmarks (url TEXT)");
    drop(open(&of("newer")));
    sql(&of("newer"), "PRAGMA user_version = 999");
    for (name, why) in [
        ("text", "not a SQLite database"),
        ("foreign", "another program's"),
        ("newer", "a newer sixmark wrote it (version 999"),
        ("missing/file", "No such file"),
        (".", "not a file"),
    ] {
        let before = std::fs::read(of(name)).ok();
        let place = StorePlace::Named(of(name), "--store");
        let error = Store::open(&place).unwrap_err();
        let said = error.to_string();
        assert!(said.contains(why) && said.contains(name) && !said.contains('\n'), "{said}");
        assert_eq!(error.status(), 2);
        assert_eq!(std::fs::read(of(name)).ok(), before, "{name}");
    }
}

fn sql(file: &Path, text: &str) {
    rusqlite::Connection::open(file).unwrap().execute_batch(text).unwrap();
}

#[test]
fn an_empty_file_becomes_a_store() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let id = keep(&mut open(file.path()), RUN, "2026-07-01T00:00:00Z", None);
    assert_eq!(ids(&open(file.path()), &ListFilter::default()), [id]);
}
