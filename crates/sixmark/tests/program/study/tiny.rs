//! One small study from its file to its report.

use sixmark_testkit::study::{StudyFixture, assert_complete, fine, read, said};

pub(super) const TINY: &str = r#"
name = "tiny"
title = "A tiny study"
path = "/bytes/{size}"
repetitions = 3

[options]
count = 20
concurrency = 2
threads = 1

[factors]
family = ["ipv6", "ipv4"]
size = [100, 2000]

[[tables]]
name = "rates"
title = "Responses"
rows = ["size"]
measures = ["NORMAL", { measure = "response.mean", unit = "us", label = "response" }]

[[figures]]
name = "rates"
x = "size"
y = "requests_per_s"

[[comparisons]]
name = "families"
title = "Requests a second"
measure = "requests_per_s"
by = ["size"]
"#;

#[test]
fn every_cell_comes_once_in_each_repetition_over_its_own_family() {
    let fixture = StudyFixture::new(TINY);
    let output = fixture.run(&["--seed", "7"]);
    let (text, progress) = (fine(&output), said(&output));
    assert_eq!(progress.lines().filter(|line| line.contains(": cell ")).count(), 12, "{progress}");
    assert!(progress.contains("requests_per_s ipv6/ipv4, "), "the estimate so far: {progress}");
    let document = fixture.document();
    assert_complete(&document);
    let cells = document["cells"].as_array().unwrap();
    assert_eq!((cells.len(), fixture.cells().len()), (12, 12));
    for (block, repetition) in cells.chunks(4).zip(1..) {
        assert!(block.iter().all(|cell| cell["repetition"] == repetition));
    }
    for cell in cells {
        let family = cell["levels"][0]["level"].as_str().unwrap();
        let families = cell["families"].as_object().unwrap();
        assert_eq!(families.keys().collect::<Vec<_>>(), [family]);
        assert_eq!(cell["families"][family]["NORMAL"], 20.0);
    }
    assert_eq!(document["tables"][0]["rows"][0]["values"][0]["measured"], 20.0);
    assert_eq!(document["tables"][0]["rows"][0]["values"][0]["n"], 3);
    assert_eq!(document["figures"][0]["series"].as_array().unwrap().len(), 2);
    assert_eq!(document["figures"][0]["series"][0]["points"][1]["x"], 2000.0);
    let comparison = &document["comparisons"][0];
    assert_eq!(comparison["paired_by"][0], "repetition");
    assert_eq!(comparison["entries"].as_array().unwrap().len(), 2);
    assert_eq!(comparison["entries"][0]["pairs"], 3);
    for part in ["A tiny study", "12 of 12 cells", "Responses", "Requests a second"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn the_seed_fixes_the_cell_order_and_each_cell_file_holds_its_run() {
    let order = |fixture: &StudyFixture| -> Vec<String> {
        let document = fixture.document();
        let cells = document["cells"].as_array().unwrap();
        cells.iter().map(|cell| cell["id"].as_str().unwrap().to_owned()).collect()
    };
    let benches = [StudyFixture::new(TINY), StudyFixture::new(TINY)];
    benches.iter().for_each(|fixture| drop(fine(&fixture.run(&["--seed", "3", "--quiet"]))));
    assert_eq!(order(&benches[0]), order(&benches[1]));
    let kept = read(&benches[0].cells()[0]);
    sixmark_testkit::check(&kept["result"]);
    assert_eq!(kept["cell"]["client"], "sixmark");
}

#[test]
fn a_finished_study_leaves_no_services_or_work_files() {
    let fixture = StudyFixture::new(TINY);
    fine(&fixture.run(&["--quiet"]));
    assert!(!fixture.path("out/work").exists(), "the folder for the time of the run is gone");
    let log = std::fs::read_to_string(fixture.path("out/logs/origin.log")).unwrap();
    let url = log.lines().find_map(|line| line.strip_prefix("http://")).unwrap();
    let address = url.trim_end_matches('/').to_owned();
    assert!(std::net::TcpStream::connect(address).is_err(), "the service has ended");
    let again = fixture.run(&[]);
    assert_eq!(again.status.code(), Some(2));
    assert!(said(&again).contains("--resume"), "{}", said(&again));
}

#[test]
fn hooks_receive_the_cell_and_after_study_runs_after_a_failure() {
    let hooks = "name = \"hooked\"\npath = \"/bytes/{size}\"\n\
        [options]\ncount = 2\nconcurrency = 1\n[factors]\nsize = [1, 2]\n[hooks]\n\
        before_study = [\"sh\", \"-c\", \"test -d {www}\"]\n\
        before_cell = [\"sh\", \"-c\", \"echo {size} $SIXMARK_CELL >>LOG\"]\n";
    let log = tempfile::NamedTempFile::new().unwrap();
    let hooks = hooks.replace("LOG", log.path().to_str().unwrap());
    fine(&StudyFixture::new(&hooks).run(&["--quiet"]));
    let told = std::fs::read_to_string(log.path()).unwrap();
    let mut lines: Vec<&str> = told.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["1 c001-r1", "2 c002-r1"]);
    let undone = tempfile::NamedTempFile::new().unwrap();
    let undo =
        format!("after_study = [\"sh\", \"-c\", \"echo undone >{}\"]\n", undone.path().display());
    let hooks = hooks + &undo;
    let failing = hooks.replace("echo {size}", "exit 9; echo {size}");
    let output = StudyFixture::new(&failing).run(&["--quiet"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(said(&output).contains("hook before_cell"), "{}", said(&output));
    assert_eq!(std::fs::read_to_string(undone.path()).unwrap(), "undone\n");
}

#[test]
fn a_cell_with_both_families_is_paired_within_itself() {
    let mixed = "name = \"mixed\"\npath = \"/bytes/100\"\nrepetitions = 2\n[options]\ncount = 40\n\
        concurrency = 4\n[factors]\nratio = [\"1:1\", \"3:1\", \"1:0\"]\n\
        [[tables]]\nname = \"t\"\nrows = [\"ratio\"]\nmeasures = [\"sent\"]\n\
        [[comparisons]]\nname = \"c\"\nmeasure = \"response.mean\"\nwhere = { ratio = \"1:1\" }\n";
    let fixture = StudyFixture::new(mixed);
    fine(&fixture.run(&["--quiet"]));
    let document = fixture.document();
    let sent = |row: usize, column: usize| {
        document["tables"][0]["rows"][row]["values"][column]["measured"].as_f64()
    };
    assert_eq!([sent(0, 0), sent(0, 1)], [Some(20.0), Some(20.0)]);
    assert_eq!([sent(1, 0), sent(1, 1)], [Some(30.0), Some(10.0)]);
    assert_eq!([sent(2, 0), sent(2, 1)], [Some(40.0), None]);
    assert_eq!(document["comparisons"][0]["entries"][0]["pairs"], 2);
}
