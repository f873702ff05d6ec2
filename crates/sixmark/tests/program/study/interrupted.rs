//! Studies that end before their end, and go on.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpStream;
use std::process::Child;
use std::thread::yield_now;
use std::time::Instant;

use serde_json::json;
use sixmark_testkit::study::{StudyBench, assert_complete, fine, read, said};
use sixmark_testkit::{DEADLINE, command, complaint, finish, signal};

/// Cells long enough that one is under way when the study is ended: 10 answers of 20 ms each.
const SLOW: &str = r#"
name = "slow"
path = "/delay/20"
repetitions = 4

[options]
count = 10
concurrency = 1

[factors]
family = ["ipv6", "ipv4"]
threads = [1]
"#;

/// Starts the study and waits until some cells are kept.
fn started(bench: &StudyBench, cells: usize) -> Child {
    let (file, out) = (bench.file(), bench.out());
    let child = command(&["study", "run", &file, "--out", &out, "--quiet"]).spawn().unwrap();
    until(|| bench.cells().len() >= cells);
    child
}

fn until(mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < DEADLINE, "waited in vain");
        yield_now();
    }
}

/// The service of a study that is no more refuses connections.
fn service_is_gone(bench: &StudyBench) {
    let log = fs::read_to_string(bench.path("out/logs/origin.log")).unwrap();
    let urls: Vec<_> = log.lines().filter_map(|line| line.strip_prefix("http://")).collect();
    assert_eq!(urls.len(), 2, "{log}");
    for url in urls {
        until(|| TcpStream::connect(url.trim_end_matches('/')).is_err());
    }
}

/// What the files of cells hold, by their names.
fn contents(bench: &StudyBench) -> BTreeMap<String, Vec<u8>> {
    let name = |path: &std::path::Path| path.file_name().unwrap().to_string_lossy().into_owned();
    bench.cells().iter().map(|path| (name(path), fs::read(path).unwrap())).collect()
}

#[test]
fn a_killed_study_goes_on_with_no_cell_lost_and_none_run_twice() {
    let bench = StudyBench::new(SLOW);
    let child = started(&bench, 3);
    signal(child.id(), "KILL");
    assert!(!finish(child).status.success());
    service_is_gone(&bench);
    let left = fs::read_to_string(bench.path("out/work")).unwrap();
    let before = contents(&bench);
    assert!(before.len() >= 3 && before.len() < 8, "{}", before.len());
    // What is there is whole, and the document is a cell behind at most.
    let document = bench.document();
    assert!(document["ended"].is_null());
    assert!(document["cells"].as_array().unwrap().len() + 1 >= before.len());
    // A cell that was being written is no cell.
    fs::write(bench.path("out/cells/c002-r4.draft"), "{\"cell\":").unwrap();

    fine(&bench.resume(&["--quiet"]));
    let after = contents(&bench);
    assert!(before.iter().all(|(name, bytes)| after.get(name) == Some(bytes)), "as they were");
    assert_eq!(after.len(), 8);
    let document = bench.document();
    assert_complete(&document);
    let started = |cell: &serde_json::Value| cell["started"].as_str().unwrap().to_owned();
    let cells = document["cells"].as_array().unwrap();
    assert!(cells.iter().map(started).is_sorted());
    for cell in cells {
        let file = format!("{}.json", cell["id"].as_str().unwrap());
        let kept = read(&bench.path(&format!("out/cells/{file}")));
        assert_eq!(&kept["cell"], cell);
    }
    assert_eq!(document["resumed"][0]["cells"], before.len());
    assert!(!std::path::Path::new(left.trim()).exists(), "what the killed one left is gone");
}

#[test]
fn a_signal_ends_a_study_in_order_and_says_how_to_go_on() {
    for name in ["INT", "TERM"] {
        let bench = StudyBench::new(SLOW);
        let child = started(&bench, 1);
        signal(child.id(), name);
        let line = complaint(&finish(child), 130);
        assert!(line.contains("interrupted") && line.contains("--resume"), "{line}");
        assert!(line.contains(&format!("{} of 8 cells", bench.cells().len())), "{line}");
        service_is_gone(&bench);
        assert!(!bench.path("out/work").exists());
        assert_eq!(bench.document()["ended"], "interrupted");
        fine(&bench.resume(&["--quiet"]));
        assert_complete(&bench.document());
    }
}

/// A study of four cells, of which only the first is left.
fn half_done() -> StudyBench {
    let short = "name = \"short\"\npath = \"/bytes/10\"\nrepetitions = 2\n\
        [options]\ncount = 5\nconcurrency = 1\n[factors]\nfamily = [\"ipv6\", \"ipv4\"]\n";
    let bench = StudyBench::new(short);
    fine(&bench.run(&["--quiet"]));
    for cell in &bench.cells()[1..] {
        fs::remove_file(cell).unwrap();
    }
    bench
}

fn change(bench: &StudyBench, path: &str, value: serde_json::Value) {
    let mut document = bench.document();
    *document.pointer_mut(path).unwrap() = value;
    fs::write(bench.path("out/study.json"), document.to_string()).unwrap();
}

#[test]
fn a_changed_machine_is_told_and_forced() {
    let bench = half_done();
    change(&bench, "/environment/kernel", json!("Linux 1.0"));
    let line = complaint(&bench.resume(&["--quiet"]), 2);
    assert!(line.contains("kernel was Linux 1.0, is Linux") && line.contains("--force"), "{line}");
    assert_eq!(bench.cells().len(), 1, "nothing was run");
    fine(&bench.resume(&["--force", "--quiet"]));
    let document = bench.document();
    assert_complete(&document);
    assert_eq!(document["resumed"][0]["changes"][0]["what"], "kernel");
    assert_eq!(document["warnings"].as_array().unwrap().len(), 2, "{}", document["warnings"]);
}

#[test]
fn a_changed_study_is_told() {
    let bench = half_done();
    let text = fs::read_to_string(bench.path("study.toml")).unwrap();
    fs::write(bench.path("study.toml"), text.replace("count = 5", "count = 6")).unwrap();
    let line = complaint(&bench.resume(&["--quiet"]), 2);
    assert!(line.contains("the study's file (SHA-256)"), "{line}");
    // Where the file is gone, its copy does.
    fs::remove_file(bench.path("study.toml")).unwrap();
    fine(&bench.resume(&["--quiet"]));
    assert_complete(&bench.document());
}

#[test]
fn cells_of_another_study_are_refused() {
    let bench = half_done();
    let mut kept = read(&bench.cells()[0]);
    kept["cell"]["levels"][0]["level"] = json!("ipv5");
    fs::write(&bench.cells()[0], kept.to_string()).unwrap();
    let line = complaint(&bench.resume(&["--quiet"]), 2);
    assert!(line.contains("no longer has cell c001-r1"), "{line}");
}

#[test]
fn two_at_once_in_one_folder_are_refused() {
    let bench = StudyBench::new(SLOW);
    let child = started(&bench, 1);
    let line = complaint(&bench.resume(&["--quiet"]), 2);
    assert!(line.contains("another sixmark is using"), "{line}");
    signal(child.id(), "INT");
    finish(child);
}

#[test]
fn what_is_no_study_can_not_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().to_str().unwrap();
    let output = sixmark_testkit::sixmark(&["study", "run", "--resume", folder]);
    assert!(complaint(&output, 2).contains("study.json"), "{}", said(&output));
}

/// Killed in its first milliseconds.
#[test]
fn a_study_that_was_killed_before_its_document_is_begun_again() {
    let short = "name = \"short\"\npath = \"/bytes/10\"\n[options]\ncount = 5\nconcurrency = 1\n\
        [factors]\nfamily = [\"ipv6\", \"ipv4\"]\n";
    for left in
        [&["cells/", "logs/"][..], &["cells/", "logs/", "lock", "study.toml", "study.draft"]]
    {
        let bench = StudyBench::new(short);
        for name in left {
            let path = bench.path(&format!("out/{name}"));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            match name.ends_with('/') {
                true => fs::create_dir_all(path).unwrap(),
                false => fs::write(path, "").unwrap(),
            }
        }
        let line = complaint(&bench.resume(&["--quiet"]), 2);
        assert!(line.contains("start it again with --out"), "{line}");
        fine(&bench.run(&["--quiet"]));
        assert_complete(&bench.document());
    }
}

#[test]
fn a_folder_with_files_of_somebody_is_not_taken_for_a_study_that_was_killed() {
    for other in ["notes", "cells/c001-r1.json", "logs/origin.log"] {
        let bench = StudyBench::new(SLOW);
        for folder in ["out/cells", "out/logs"] {
            fs::create_dir_all(bench.path(folder)).unwrap();
        }
        fs::write(bench.path(&format!("out/{other}")), "").unwrap();
        assert!(complaint(&bench.run(&["--quiet"]), 2).contains("is not empty"), "{other}");
    }
}
