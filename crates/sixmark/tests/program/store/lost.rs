//! A store that is deleted or replaced while a command runs takes nothing with it.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use sixmark::report::documents::Document;
use sixmark::store::NewEntry;
use sixmark_testkit::{command, finish, signal};

use super::{RUN, headline, open};

/// What may happen to a store's file.
type Fate = fn(&Path);

const FATES: [(Fate, &str); 3] = [
    (|store| fs::remove_file(store).unwrap(), "deleted or moved"),
    (|store| fs::rename(store, store.with_extension("old")).unwrap(), "deleted or moved"),
    (
        |store| {
            let other = store.with_extension("new");
            fs::write(&other, "").unwrap();
            fs::rename(other, store).unwrap();
        },
        "replaced by another file",
    ),
];

#[test]
fn writing_fails_if_the_store_file_was_deleted_or_replaced() {
    let headline = headline(RUN, "2026-07-01T00:00:00Z");
    let entry = NewEntry { headline: &headline, document: RUN, command: &[], label: None };
    for (fate, why) in FATES {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("results.sqlite");
        let mut store = open(&file);
        let id = store.keep(&entry).unwrap();
        fate(&file);
        for done in [store.keep(&entry).map(drop), store.renew(id, &entry)] {
            let error = done.unwrap_err();
            assert!(error.status() == 3 && error.to_string().contains(why), "{error}");
        }
    }
}

/// The load hangs until the file is gone, then a signal ends it.
#[test]
fn saves_the_document_elsewhere_if_the_store_vanishes_during_a_run() {
    for (fate, why) in FATES {
        let folder = tempfile::tempdir().unwrap();
        let (file, aside) = (folder.path().join("results.sqlite"), folder.path().join("aside"));
        fs::create_dir(&aside).unwrap();
        let servers = ["[::1]:0", "127.0.0.1:0"].map(|at| TcpListener::bind(at).unwrap());
        let urls = servers.each_ref().map(|of| format!("http://{}/", of.local_addr().unwrap()));
        let mut load = command(&["run", "-q", "-d", "1h", &urls[0], &urls[1]]);
        load.env("TMPDIR", &aside).args(["--timeout", "1h", "--store"]).arg(&file);
        let load = load.spawn().unwrap();
        let _streams = servers.each_ref().map(|server| server.accept().unwrap());
        fate(&file);
        signal(load.id(), "INT");
        let output = finish(load);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains(why) && said.contains("it was saved as"), "{said}");
        let kept = fs::read_dir(&aside).unwrap().next().unwrap().unwrap().path();
        assert!(said.contains(kept.to_str().unwrap()), "{said}");
        Document::parse(&fs::read_to_string(kept).unwrap()).unwrap();
    }
}
