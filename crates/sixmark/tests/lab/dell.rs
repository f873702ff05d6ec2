//! The study of blocks with and without offload, cut down to what shows its form.

use serde_json::Value;
use sixmark_testkit::forms::STUDY as FORM;
use sixmark_testkit::lab::{Lab, without};
use sixmark_testkit::study::{StudyFixture, assert_complete, fine, read, said};
use sixmark_testkit::{command, sixmark, skipped};

const STUDY: &str = include_str!("../../../../experiments/dell/study.toml");
const LAB: &str = include_str!("../../../../experiments/dell/lab.toml");
const PUBLISHED: &str = include_str!("../../../../experiments/dell/published.toml");

/// HTTP alone, everything once. The other groups have no cells.
const TABLES: &str = r#"
[quick]
repetitions = 1
options = { duration = "3s" }
[quick.factors]
workload = [{ name = "http", server = "http", concurrency = 8 }]
block = [{ name = "256K", bytes = 262144 }]
[quick.groups]
unfragmented.workload = "nbd"
fixed.workload = "nbd"
fragments.workload = "nbd"
receiver.workload = "nbd"
nat.workload = "nbd"
initiators.workload = "nbd"
"#;

/// Reads over HTTP by the offload of sender and receiver.
const RECEIVER: &str = r#"
[quick]
repetitions = 1
options = { duration = "2s" }
[quick.factors]
workload = [{ name = "http", server = "http", concurrency = 8 }]
[quick.groups]
paper.workload = "nbd"
unfragmented.workload = "nbd"
fixed.workload = "nbd"
fragments.workload = "nbd"
receiver = { workload = "http", offload = "all", pmtu = "discovery" }
nat.workload = "nbd"
initiators.workload = "nbd"
"#;

/// Reads over NBD from one host and from two.
const INITIATORS: &str = r#"
[quick]
repetitions = 1
options = { duration = "2s" }
[quick.factors]
workload = [{ name = "nbd", server = "nbd", client = "fio", path = "/disk", depth = 8, size = "64m" }]
[quick.groups]
paper.workload = "http"
unfragmented.workload = "http"
fixed.workload = "http"
fragments.workload = "http"
receiver.workload = "http"
nat.workload = "http"
initiators = { offload = "on", initiators = "all" }
"#;

/// Reads of blocks over NBD at a fixed rate, with offload and without.
const FIXED: &str = r#"
[quick]
repetitions = 1
options = { duration = "3s" }
[quick.factors]
workload = [{ name = "nbd", server = "nbd", client = "fio", path = "/disk", depth = 8, size = "64m" }]
[quick.groups]
paper.workload = "http"
unfragmented.workload = "http"
fixed = { workload = "nbd", block = "64K", offload = ["off", "on"], pmtu = "discovery", load = "fixed" }
fragments.workload = "http"
receiver.workload = "http"
nat.workload = "http"
initiators.workload = "http"
"#;

/// The study with another short form.
fn cut_down(form: &str) -> StudyFixture {
    let (before, rest) = STUDY.split_once("[quick]\n").unwrap();
    let (_, after) = rest.split_once("# Random, and no holes").unwrap();
    let fixture = StudyFixture::alone(&format!("{before}{form}\n#{after}"));
    std::fs::write(fixture.path("lab.toml"), LAB).unwrap();
    std::fs::write(fixture.path("published.toml"), PUBLISHED).unwrap();
    fixture
}

#[test]
fn tables_show_percent_improvements_and_the_interaction_is_tested() {
    if ["netns", "bird2", "nftables"].into_iter().any(skipped) {
        return;
    }
    let fixture = cut_down(TABLES);
    let text = fine(&fixture.run(&["--quick"]));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let document = fixture.document();
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
    assert!(text.contains("with no offload vs both offloads"), "{text}");
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
    let [machine, programs] = ["machine_cpu_share", "programs_cpu_share"].map(of);
    assert!(machine > 0.0 && machine <= 1.0 && programs > 0.0, "{machine}, {programs}");
    assert!(of("segments_in_per_mib") > 0.0);
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
fn reanalysis_keeps_the_published_figures_and_their_misprint() {
    let text = fine(&sixmark(&["study", "reanalyse", "dell"]));
    for part in ["2,153.88", "confounded", "2,188"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// A program in the place of fio, which tells of these engines.
fn fio(fixture: &StudyFixture, engines: &str) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let path = fixture.path("fio");
    std::fs::write(&path, format!("#!/bin/sh\necho '{engines}'\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

#[test]
fn omits_storage_that_fio_lacks_and_refuses_to_run_without_nbd() {
    if ["netns", "fio"].into_iter().any(skipped) {
        return;
    }
    let fixture = cut_down(TABLES);
    let nbd_alone = fio(&fixture, "Available IO engines:\n\tnbd");
    let output = command(&["study", "show", "dell"]).env("SIXMARK_FIO", nbd_alone).output();
    let text = fine(&output.unwrap());
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for service in ["nfs", "iscsi", "nvme"] {
        assert!(text.contains(&format!("{service} is omitted")), "{service}: {text}");
    }
    assert!(text.contains("scripts/install-fio"), "{text}");
    let none = fio(&fixture, "Available IO engines:\n\tlibaio");
    let words = ["study", "run", &fixture.file(), "--out", &fixture.out()];
    let output = command(&words).env("SIXMARK_FIO", none).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let lines = said(&output);
    let line = lines.lines().last().unwrap();
    assert!(line.contains("engine nbd") && line.contains("scripts/install-fio"), "{lines}");
    assert!(fixture.cells().is_empty());
    assert!(read_or_null(&fixture).is_null(), "nothing was begun");
}

/// A figure of the cell at these levels.
fn figure(document: &Value, levels: &[(&str, &str)], family: &str, name: &str) -> f64 {
    let has = |cell: &Value, (factor, level): &(&str, &str)| {
        let at = cell["levels"].as_array().unwrap();
        at.iter().any(|at| at["factor"] == *factor && at["level"] == *level)
    };
    let cells = document["cells"].as_array().unwrap().iter();
    let mut found = cells.filter(|cell| {
        levels.iter().all(|level| has(cell, level)) && !cell["families"][family].is_null()
    });
    let cell = found.next().unwrap_or_else(|| panic!("{levels:?}, {family}: {document}"));
    cell["families"][family][name].as_f64().unwrap_or_else(|| panic!("{name}: {cell}"))
}

#[test]
fn gro_at_the_receiver_joins_the_segments_of_reads() {
    if ["netns", "bird2", "nftables"].into_iter().any(skipped) {
        return;
    }
    let fixture = cut_down(RECEIVER);
    let text = fine(&fixture.run(&["--quick"]));
    let document = fixture.document();
    assert_complete(&document);
    for family in ["ipv6", "ipv4"] {
        let segments = |offload: &str| {
            figure(&document, &[("offload", offload)], family, "segments_in_per_mib")
        };
        // A MiB in packets of 1500 bytes is over 700 of them.
        let [off, tso] = ["off", "tso"].map(segments);
        assert!(off > 700.0 && tso > 700.0, "{family}: {off}, {tso}");
        // With the sender's offload and without.
        let [gro, on] = ["gro", "on"].map(segments);
        assert!(gro < off / 2.0 && on < tso / 2.0, "{family}: {gro} of {off}, {on} of {tso}");
        // Without fragments offload gains over both families. How much of it is the receiver's
        // depends on the machine: the busier end decides.
        let iops = |offload: &str| figure(&document, &[("offload", offload)], family, "iops");
        let [off, gro, on] = ["off", "gro", "on"].map(iops);
        println!(
            "{family}: {off:.0} IOPS, {gro:.0} with the receiver's offload, {on:.0} with both"
        );
        assert!(on > 1.2 * off, "{family}: {off}, {gro}, {on}");
    }
    let tables = document["tables"].as_array().unwrap();
    assert_eq!(tables.len(), 1, "the groups without cells have none");
    assert_eq!(tables[0]["rows"].as_array().unwrap().len(), 8);
    assert!(text.contains("segments/MiB"), "{text}");
}

#[test]
fn never_exceeds_fixed_iops_and_measures_cpu_per_block() {
    if ["netns", "bird2", "nftables", "fio"].into_iter().any(skipped) {
        return;
    }
    let fixture = cut_down(FIXED);
    fine(&fixture.run(&["--quick"]));
    let document = fixture.document();
    assert_complete(&document);
    for family in ["ipv6", "ipv4"] {
        for offload in ["off", "on"] {
            let of = |name| figure(&document, &[("offload", offload)], family, name);
            let iops = of("iops");
            // A busy machine reaches fewer, none more.
            assert!(iops > 0.0 && iops < 1.05 * 1_200.0, "{family}, {offload}: {iops}");
            let (share, each_us) = (of("machine_cpu_share"), of("machine_cpu_per_request"));
            assert!(share > 0.0 && each_us > 0.0, "{family}, {offload}: {share}, {each_us}");
        }
    }
}

#[test]
fn two_initiators_read_one_array_at_once() {
    if ["netns", "bird2", "nftables", "fio"].into_iter().any(skipped) {
        return;
    }
    let fixture = cut_down(INITIATORS);
    fine(&fixture.run(&["--quick"]));
    let document = fixture.document();
    assert_complete(&document);
    assert_eq!(document["cells"].as_array().unwrap().len(), 4);
    for cell in fixture.cells().iter().map(|cell| read(cell)) {
        let levels = cell["cell"]["levels"].to_string();
        let others = cell["other_outputs"].as_array().map_or(0, Vec::len);
        let are_two = levels.contains(r#""initiators","level":"2""#);
        assert_eq!(others, usize::from(are_two), "{levels}");
        let families = cell["cell"]["families"].as_object().unwrap();
        let figures = families.values().find(|figures| !figures.is_null()).unwrap();
        let of = |name: &str| figures[name].as_f64().unwrap_or_else(|| panic!("{name}: {cell}"));
        assert_eq!(figures["response.p99"].is_null(), are_two, "{levels}");
        assert!(of("response.min") <= of("response.mean") && of("segments_in_per_mib") > 0.0);
        // Each reads for the whole time.
        let read: f64 = [&cell["output"]]
            .into_iter()
            .chain(cell["other_outputs"].as_array().into_iter().flatten())
            .map(blocks_of_fio)
            .sum();
        assert_eq!(of("completed"), read, "{levels}");
    }
}

/// The blocks that an fio says it has read.
fn blocks_of_fio(output: &Value) -> f64 {
    let said = output["stdout"].as_str().unwrap();
    let said: Value = serde_json::from_str(&said[said.find("{\n").unwrap()..]).unwrap();
    said["jobs"][0]["read"]["total_ios"].as_f64().unwrap()
}

#[test]
fn the_nat_of_the_lab_can_be_switched_off() {
    if without(&["bird2", "nftables", "curl"]) {
        return;
    }
    for (nat, masked) in [("on", true), ("off", false)] {
        let choice = format!("nat={nat}");
        let lab = Lab::up(&format!("nat-{nat}"), LAB, &[&choice]);
        // Without NAT, BGP tells the way back to the client.
        let url = "http://10.0.5.2/bytes/10";
        let words =
            ["curl", "-sS", "--max-time", "60", "-o", "/dev/null", "-w", "%{http_code}", url];
        assert_eq!(lab.says("client", &words), "200", "{nat}");
        let rules = lab.says("r1", &["nft", "list", "ruleset"]);
        assert_eq!(rules.contains("masquerade"), masked, "{nat}: {rules}");
    }
}

fn read_or_null(fixture: &StudyFixture) -> Value {
    let path = fixture.path("out/study.json");
    if path.exists() { read(&path) } else { Value::Null }
}
