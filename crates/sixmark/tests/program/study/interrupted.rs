//! Studies that end before their end, and go on.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpStream;
use std::process::Child;
use std::thread::yield_now;
use std::time::Instant;

use serde_json::json;
use sixmark_testkit::study::{StudyFixture, assert_complete, fine, read, said};
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
fn started(fixture: &StudyFixture, cells: usize) -> Child {
    let (file, out) = (fixture.file(), fixture.out());
    let child = command(&["study", "run", &file, "--out", &out, "--quiet"]).spawn().unwrap();
    until(|| fixture.cells().len() >= cells);
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
fn service_is_gone(fixture: &StudyFixture) {
    let log = fs::read_to_string(fixture.path("out/logs/origin.log")).unwrap();
    let urls: Vec<_> = log.lines().filter_map(|line| line.strip_prefix("http://")).collect();
    assert_eq!(urls.len(), 2, "{log}");
    for url in urls {
        until(|| TcpStream::connect(url.trim_end_matches('/')).is_err());
    }
}

/// What the files of cells hold, by their names.
fn contents(fixture: &StudyFixture) -> BTreeMap<String, Vec<u8>> {
    let name = |path: &std::path::Path| path.file_name().unwrap().to_string_lossy().into_owned();
    fixture.cells().iter().map(|path| (name(path), fs::read(path).unwrap())).collect()
}

#[test]
fn a_killed_study_goes_on_with_no_cell_lost_and_none_run_twice() {
    let fixture = StudyFixture::new(SLOW);
    let child = started(&fixture, 3);
    signal(child.id(), "KILL");
    assert!(!finish(child).status.success());
    service_is_gone(&fixture);
    let left = fs::read_to_string(fixture.path("out/work")).unwrap();
    let before = contents(&fixture);
    assert!(before.len() >= 3 && before.len() < 8, "{}", before.len());
    // What is there is whole, and the document is a cell behind at most.
    let document = fixture.document();
    assert!(document["ended"].is_null());
    assert!(document["cells"].as_array().unwrap().len() + 1 >= before.len());
    // A cell that was being written is no cell.
    fs::write(fixture.path("out/cells/c002-r4.draft"), "{\"cell\":").unwrap();

    fine(&fixture.resume(&["--quiet"]));
    let after = contents(&fixture);
    assert!(before.iter().all(|(name, bytes)| after.get(name) == Some(bytes)), "as they were");
    assert_eq!(after.len(), 8);
    let document = fixture.document();
    assert_complete(&document);
    let started = |cell: &serde_json::Value| cell["started"].as_str().unwrap().to_owned();
    let cells = document["cells"].as_array().unwrap();
    assert!(cells.iter().map(started).is_sorted());
    for cell in cells {
        let file = format!("{}.json", cell["id"].as_str().unwrap());
        let kept = read(&fixture.path(&format!("out/cells/{file}")));
        assert_eq!(&kept["cell"], cell);
    }
    assert_eq!(document["resumed"][0]["cells"], before.len());
    assert!(!std::path::Path::new(left.trim()).exists(), "what the killed one left is gone");
}

#[test]
fn a_signal_ends_a_study_cleanly_and_suggests_resume() {
    for name in ["INT", "TERM"] {
        let fixture = StudyFixture::new(SLOW);
        let child = started(&fixture, 1);
        signal(child.id(), name);
        let line = complaint(&finish(child), 130);
        assert!(line.contains("interrupted") && line.contains("--resume"), "{line}");
        assert!(line.contains(&format!("{} of 8 cells", fixture.cells().len())), "{line}");
        service_is_gone(&fixture);
        assert!(!fixture.path("out/work").exists());
        assert_eq!(fixture.document()["ended"], "interrupted");
        fine(&fixture.resume(&["--quiet"]));
        assert_complete(&fixture.document());
    }
}

/// A study of four cells, of which only the first is left.
fn half_done() -> StudyFixture {
    let short = "name = \"short\"\npath = \"/bytes/10\"\nrepetitions = 2\n\
        [options]\ncount = 5\nconcurrency = 1\n[factors]\nfamily = [\"ipv6\", \"ipv4\"]\n";
    let fixture = StudyFixture::new(short);
    fine(&fixture.run(&["--quiet"]));
    for cell in &fixture.cells()[1..] {
        fs::remove_file(cell).unwrap();
    }
    fixture
}

fn change(fixture: &StudyFixture, path: &str, value: serde_json::Value) {
    let mut document = fixture.document();
    *document.pointer_mut(path).unwrap() = value;
    fs::write(fixture.path("out/study.json"), document.to_string()).unwrap();
}

#[test]
fn refuses_to_resume_on_a_changed_machine_without_force() {
    let fixture = half_done();
    change(&fixture, "/environment/kernel", json!("Linux 1.0"));
    let line = complaint(&fixture.resume(&["--quiet"]), 2);
    assert!(line.contains("kernel was Linux 1.0, is Linux") && line.contains("--force"), "{line}");
    assert_eq!(fixture.cells().len(), 1, "nothing was run");
    fine(&fixture.resume(&["--force", "--quiet"]));
    let document = fixture.document();
    assert_complete(&document);
    assert_eq!(document["resumed"][0]["changes"][0]["what"], "kernel");
    assert_eq!(document["warnings"].as_array().unwrap().len(), 2, "{}", document["warnings"]);
}

#[test]
fn refuses_to_resume_with_a_changed_study_file() {
    let fixture = half_done();
    let text = fs::read_to_string(fixture.path("study.toml")).unwrap();
    fs::write(fixture.path("study.toml"), text.replace("count = 5", "count = 6")).unwrap();
    let line = complaint(&fixture.resume(&["--quiet"]), 2);
    assert!(line.contains("the study's file (SHA-256)"), "{line}");
    // Where the file is gone, its copy does.
    fs::remove_file(fixture.path("study.toml")).unwrap();
    fine(&fixture.resume(&["--quiet"]));
    assert_complete(&fixture.document());
}

#[test]
fn cells_of_another_study_are_refused() {
    let fixture = half_done();
    let mut kept = read(&fixture.cells()[0]);
    kept["cell"]["levels"][0]["level"] = json!("ipv5");
    fs::write(&fixture.cells()[0], kept.to_string()).unwrap();
    let line = complaint(&fixture.resume(&["--quiet"]), 2);
    assert!(line.contains("no longer has cell c001-r1"), "{line}");
}

#[test]
fn refuses_a_second_process_in_the_same_study_folder() {
    let fixture = StudyFixture::new(SLOW);
    let child = started(&fixture, 1);
    let line = complaint(&fixture.resume(&["--quiet"]), 2);
    assert!(line.contains("another sixmark is using"), "{line}");
    signal(child.id(), "INT");
    finish(child);
}

#[test]
fn refuses_to_resume_a_folder_without_a_study() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().to_str().unwrap();
    let output = sixmark_testkit::sixmark(&["study", "run", "--resume", folder]);
    assert!(complaint(&output, 2).contains("study.json"), "{}", said(&output));
}

/// Killed in its first milliseconds.
#[test]
fn restarts_a_study_killed_before_it_wrote_its_document() {
    let short = "name = \"short\"\npath = \"/bytes/10\"\n[options]\ncount = 5\nconcurrency = 1\n\
        [factors]\nfamily = [\"ipv6\", \"ipv4\"]\n";
    for left in
        [&["cells/", "logs/"][..], &["cells/", "logs/", "lock", "study.toml", "study.draft"]]
    {
        let fixture = StudyFixture::new(short);
        for name in left {
            let path = fixture.path(&format!("out/{name}"));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            if name.ends_with('/') {
                fs::create_dir_all(path).unwrap()
            } else {
                fs::write(path, "").unwrap()
            }
        }
        let line = complaint(&fixture.resume(&["--quiet"]), 2);
        assert!(line.contains("start it again with --out"), "{line}");
        fine(&fixture.run(&["--quiet"]));
        assert_complete(&fixture.document());
    }
}

#[test]
fn refuses_to_start_a_study_in_a_folder_with_other_files() {
    for other in ["notes", "cells/c001-r1.json", "logs/origin.log"] {
        let fixture = StudyFixture::new(SLOW);
        for folder in ["out/cells", "out/logs"] {
            fs::create_dir_all(fixture.path(folder)).unwrap();
        }
        fs::write(fixture.path(&format!("out/{other}")), "").unwrap();
        assert!(complaint(&fixture.run(&["--quiet"]), 2).contains("is not empty"), "{other}");
    }
}
