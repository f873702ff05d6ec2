//! The study of blocks with and without offload, cut down to what shows its form.

use serde_json::Value;
use sixmark_testkit::forms::STUDY as FORM;
use sixmark_testkit::study::{StudyBench, assert_complete, fine, read};
use sixmark_testkit::{command, complaint, sixmark, skipped};

const STUDY: &str = include_str!("../../../../experiments/dell/study.toml");
const LAB: &str = include_str!("../../../../experiments/dell/lab.toml");
const PUBLISHED: &str = include_str!("../../../../experiments/dell/published.toml");

/// HTTP alone, IPv4 fragmented alone, everything once.
const LEVELS: &str = r#"
[quick.factors]
workload = [{ name = "http", server = "http", concurrency = 8 }]
pmtu = [{ name = "fragmented", lab-pmtu = "fragmented" }]
"#;

/// The study with other levels in its short form.
fn cut_down() -> StudyBench {
    let (before, rest) = STUDY.split_once("[quick.factors]").unwrap();
    let (levels, after) = rest.split_once("[[settings]]").unwrap();
    assert!(levels.contains("workload") && before.contains("repetitions = 2\n"));
    let before = before.replace("repetitions = 2\n", "repetitions = 1\n");
    // A SYN that is lost is sent again after a second (RFC 6298, 2.1): a cell lasts longer.
    assert!(before.contains("options = { duration = \"1s\" }"));
    let before = before.replace("duration = \"1s\"", "duration = \"3s\"");
    let block = levels.lines().find(|line| line.starts_with("block")).unwrap();
    let bench = StudyBench::alone(&format!("{before}{}{block}\n[[settings]]{after}", LEVELS));
    std::fs::write(bench.path("lab.toml"), LAB).unwrap();
    std::fs::write(bench.path("published.toml"), PUBLISHED).unwrap();
    bench
}

#[test]
fn its_tables_have_rows_of_percent_and_the_interaction_is_tested() {
    if ["netns", "bird2", "nftables"].into_iter().any(skipped) {
        return;
    }
    let bench = cut_down();
    let text = fine(&bench.run(&["--quick"]));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let document = bench.document();
    FORM.check(&document);
    assert_complete(&document);
    assert_eq!(document["cells"].as_array().unwrap().len(), 8);
    for cell in document["cells"].as_array().unwrap() {
        assert_cell(cell);
    }
    assert_tables(&document);
    let interaction = comparison(&document, "family-by-offload");
    assert_eq!(interaction["interaction"]["factor"], "offload");
    let entries = interaction["entries"].as_array().unwrap();
    assert_eq!((entries.len(), &entries[0]["pairs"]), (1, &2.into()), "reads and writes are pairs");
    let protocol = comparison(&document, "protocol")["entries"].as_array().unwrap();
    assert_eq!(protocol.len(), 2, "with offload and without");
    assert!(text.contains("% improvement") && text.contains("2,188"), "{text}");
    assert!(text.contains("with offload off vs on"), "{text}");
}

/// A response is a block; what is written counts as what is read does.
fn assert_cell(cell: &Value) {
    let families = cell["families"].as_object().unwrap();
    assert_eq!(families.len(), 1);
    let figures = families.values().next().unwrap();
    let of = |name: &str| figures[name].as_f64().unwrap_or_else(|| panic!("{name}: {cell}"));
    // What is under way at the end of its time is given up.
    assert!(of("completed") > 0.0 && of("failed") == of("ABANDONED"), "{cell}");
    assert_eq!(of("iops"), of("requests_per_s"));
    let block = of("content_rate") / of("iops");
    assert!((block / 262_144.0 - 1.0).abs() < 0.001, "{block} bytes a block: {cell}");
    assert!(of("cpu_share") > 0.0 && of("server_cpu_share") >= 0.0);
}

fn assert_tables(document: &Value) {
    let tables = document["tables"].as_array().unwrap();
    let names: Vec<_> = tables.iter().map(|table| table["name"].as_str().unwrap()).collect();
    let six = [
        "write-offload-off",
        "read-offload-off",
        "write-ipv6",
        "read-ipv6",
        "write-ipv4",
        "read-ipv4",
    ];
    assert_eq!(names, six);
    for table in tables {
        let rows = table["rows"].as_array().unwrap();
        let better = table["improvement"]["rows"].as_array().unwrap();
        assert_eq!((rows.len(), better.len()), (2, 1));
        let of = |row: usize, what: &str| {
            rows[row]["values"][0].pointer(what).unwrap().as_f64().unwrap()
        };
        let judged = table["improvement"]["of"].as_str().unwrap();
        let levels = |row: usize| rows[row]["levels"].as_array().unwrap();
        let [first, second] = if levels(0).last().unwrap() == judged { [0, 1] } else { [1, 0] };
        let percent = (of(first, "/measured") / of(second, "/measured") - 1.0) * 100.0;
        let said = |what: &str| better[0]["values"][0].pointer(what).unwrap().as_f64().unwrap();
        assert!((percent - said("/measured")).abs() < 1e-6, "{percent} {table}");
        let published = "/published/0/value";
        let percent = (of(first, published) / of(second, published) - 1.0) * 100.0;
        // The source cuts some percentages off.
        assert!((percent - said(published)).abs() < 0.01, "{percent} {table}");
    }
}

fn comparison<'a>(document: &'a Value, name: &str) -> &'a Value {
    let all = document["comparisons"].as_array().unwrap();
    all.iter().find(|one| one["name"] == name).unwrap()
}

#[test]
fn its_published_figures_are_kept_with_their_misprint() {
    let text = fine(&sixmark(&["study", "reanalyse", "dell"]));
    for part in ["2,153.88", "confounded", "2,188"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// A program in the place of fio, which tells of these engines.
fn fio(bench: &StudyBench, engines: &str) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let path = bench.path("fio");
    std::fs::write(&path, format!("#!/bin/sh\necho '{engines}'\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

#[test]
fn an_fio_without_nfs_is_told_before_anything_is_measured() {
    if ["netns", "fio"].into_iter().any(skipped) {
        return;
    }
    let bench = cut_down();
    let fio = fio(&bench, "Available IO engines:\n\tnbd");
    let words = ["study", "run", &bench.file(), "--out", &bench.out()];
    let output = command(&words).env("SIXMARK_FIO", fio).output().unwrap();
    let line = complaint(&output, 3);
    assert!(line.contains("engine nfs") && line.contains("scripts/install-fio"), "{line}");
    assert!(bench.cells().is_empty());
    assert!(read_or_null(&bench).is_null(), "nothing was begun");
}

fn read_or_null(bench: &StudyBench) -> Value {
    let path = bench.path("out/study.json");
    if path.exists() { read(&path) } else { Value::Null }
}
