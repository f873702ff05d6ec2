//! Studies in labs.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Output};

use serde_json::Value;
use sixmark_testkit::forms::STUDY as FORM;
use sixmark_testkit::lab::without;
use sixmark_testkit::{command, finish, signal, sixmark};
use tempfile::TempDir;

use super::traces::{Tree, until};

const LAB: &str = r#"
name = "wire"
[hosts]
client = { offloads = { tso = false, gso = false, gro = false } }
server = { offloads = { tso = false, gso = false, gro = false } }
[links]
wire = { between = ["client", "server"], delay = "1ms", ipv6 = { delay = "1ms", loss = "30%" }, mechanism = "emulator" }
[variants.loss.no.links.wire]
ipv6 = { loss = "0%" }
[services.web]
host = "server"
command = ["{sixmark}", "origin", "--listen", "[::]:80", "--listen", "0.0.0.0:80"]
urls = ["http://[{server.ipv6}]", "http://{server.ipv4}"]
"#;

const STUDY: &str = r#"
name = "wire"
path = "/bytes/20000"
repetitions = 2
[lab]
file = "lab.toml"
anew = true
capture = { at = "server", interface = "client" }
[options]
from = "client"
count = 5
concurrency = 1
no-keep-alive = true
lab-loss = "no"
[factors]
traffic = [{ name = "none", traffic = "" }, "some"]
family = ["ipv6", "ipv4"]
[traffic]
near = { ipv6 = "client", ipv4 = "client" }
far = { ipv6 = "server", ipv4 = "server" }
before = "100ms"
[traffic.mixes.some]
rate = "1M"
tcp = 50
ipv6 = 50
flows = 4
"#;

/// Ten answers of 20 ms each, so that one is under way when it is ended.
const SLOW: &str = r#"
name = "slow"
path = "/delay/20"
repetitions = 4
[lab]
file = "lab.toml"
[options]
from = "client"
count = 10
concurrency = 1
lab-loss = "no"
[factors]
family = ["ipv6", "ipv4"]
"#;

/// Connections that end only after the load has, because of the link's delay.
const WITH_INSTRUMENTS: &str = r#"
name = "three"
path = "/bytes/1000"
instruments = ["kernel", "packets"]
[lab]
file = "lab.toml"
[options]
from = "client"
count = 40
concurrency = 10
no-keep-alive = true
lab-loss = "no"
[factors]
ratio = ["1:1"]
"#;

const LOSSY: &str = r#"
name = "lossy"
path = "/bytes/1000"
repetitions = 3
[lab]
file = "lab.toml"
anew = true
[options]
from = "client"
count = 8
concurrency = 8
no-keep-alive = true
[factors]
family = ["ipv6", "ipv4"]
"#;

struct Fixture(TempDir);

impl Fixture {
    fn new(study: &str) -> Fixture {
        let dir = TempDir::new().unwrap();
        fs::write(dir.path().join("lab.toml"), LAB).unwrap();
        fs::write(dir.path().join("study.toml"), study).unwrap();
        Fixture(dir)
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    fn begin(&self) -> Child {
        let (file, out) = (self.path("study.toml"), self.path("out"));
        command(&["study", "run", &file, "--quiet", "--out", &out]).spawn().unwrap()
    }

    fn resume(&self) -> Output {
        sixmark(&["study", "run", "--quiet", "--resume", &self.path("out")])
    }

    fn cells(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path("out/cells")).into_iter().flatten().flatten();
        let cells = entries.map(|entry| entry.path());
        cells.filter(|path| path.extension().is_some_and(|ending| ending == "json")).collect()
    }

    fn document(&self) -> Value {
        let document =
            serde_json::from_str(&fs::read_to_string(self.path("out/study.json")).unwrap());
        let document = document.unwrap();
        FORM.check(&document);
        document
    }
}

fn fine(output: &Output) {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

fn figure(cell: &Value, family: &str, name: &str) -> f64 {
    let found = cell["families"][family][name].as_f64();
    found.unwrap_or_else(|| panic!("no {name} over {family}: {cell}"))
}

#[test]
fn cells_report_background_traffic_packet_figures_and_link_counts() {
    if without(&[]) {
        return;
    }
    let fixture = Fixture::new(STUDY);
    fine(&finish(fixture.begin()));
    let document = fixture.document();
    assert_eq!(document["ended"], "complete");
    assert_eq!(document["lab"]["name"], "wire");
    let cells = document["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 8);
    for cell in cells {
        let family = cell["families"].as_object().unwrap().keys().next().unwrap();
        // The link's delay there and back, in each of them.
        assert!(figure(cell, family, "delay.min") >= 1_000.0, "{cell}");
        assert!(figure(cell, family, "connect.min") >= 2_000.0, "{cell}");
        assert!(figure(cell, family, "throughput") > 0.0, "{cell}");
        assert!(figure(cell, family, "server_cpu") >= 0.0, "{cell}");
        figure(cell, family, "retransmitted");
        let around = cell["levels"][0]["level"].as_str().unwrap();
        assert_eq!(cell["traffic"].is_null(), around == "none", "{cell}");
        if around != "none" {
            assert_eq!(cell["traffic"]["flows"], 4);
            assert!(cell["traffic"]["received_bits_per_s"].as_f64() > Some(0.0), "{cell}");
        }
        let way = &cell["links"][0]["b_to_a"];
        assert_eq!(way["mechanism"], "emulator");
        assert!(way["frames"][family]["arrived"].as_u64() > Some(0), "{way}");
        assert_eq!(way["frames"][family]["lost"], 0, "{way}");
        assert_eq!(way["unread"], 0, "{way}");
    }
    // Names of settings, programs and measures, and families as far as there are any.
    let free =
        ["/sysctls", "/programs", "/families", "/given", "/accounts", "/status", "/ipv6", "/ipv4"];
    FORM.knows_every_field(&document, |path| {
        free.iter().any(|end| path.ends_with(end)) && !path.contains("/frames/")
    });
}

#[test]
fn mgen_sends_the_traffic_that_sixmark_plans() {
    if without(&["mgen"]) {
        return;
    }
    let more = "flows = 8\ndirection = \"both\"\ngenerator = \"mgen\"\n";
    let study = STUDY.replace("flows = 4\n", more).replace("\"100ms\"", "\"1s\"");
    let fixture = Fixture::new(&study);
    fine(&finish(fixture.begin()));
    let document = fixture.document();
    assert!(document["programs"]["mgen"].as_str().unwrap().contains("version 5"), "{document}");
    let cells = document["cells"].as_array().unwrap().iter();
    let traffic: Vec<&Value> =
        cells.map(|cell| &cell["traffic"]).filter(|traffic| !traffic.is_null()).collect();
    assert_eq!(traffic.len(), 4);
    for traffic in traffic {
        let of = |key: &str| traffic[key].as_f64().unwrap();
        assert_eq!((&traffic["generator"], &traffic["flows"]), (&"mgen".into(), &8.into()));
        assert!(traffic["retransmitted"].is_null(), "{traffic}");
        let share = of("received_bits_per_s") / of("offered_bits_per_s");
        assert!((0.5..2.0).contains(&share), "{traffic}");
    }
}

#[test]
fn instruments_at_both_ends_count_the_connections_of_the_client() {
    if without(&[]) {
        return;
    }
    let fixture = Fixture::new(WITH_INSTRUMENTS);
    fine(&finish(fixture.begin()));
    let document = fixture.document();
    let cell = &document["cells"][0];
    let instruments = &cell["instruments"];
    let ends = instruments["kernel"].as_array().unwrap();
    let names: Vec<&Value> = ends.iter().flat_map(|end| [&end["end"], &end["host"]]).collect();
    assert_eq!(names, ["client", "client", "server", "server"]);
    assert_eq!((&ends[0]["opened"], &ends[1]["accepted"]), (&40.into(), &40.into()), "{cell}");
    assert!(ends[0]["server_share"].is_null() && ends[1]["server_share"].is_number(), "{cell}");
    for family in ["ipv6", "ipv4"] {
        let client = &instruments["client"][family];
        let packets = &instruments["packets"]["families"][family];
        assert_eq!((&client["connections"], &packets["connections"]), (&20.into(), &20.into()));
        // The round trip of the link, seen from either end.
        for of in [client, packets] {
            assert!(of["establishment_us"].as_f64() >= Some(2_000.0), "{cell}");
            assert!(of["continuation_us"].as_f64() >= Some(2_000.0), "{cell}");
        }
    }
    assert_eq!(instruments["packets"]["dropped"], 0, "{cell}");
    let document = instruments["packets"]["document"].as_str().unwrap();
    let watch = fs::read_to_string(fixture.path("out") + "/" + document).unwrap();
    let watch: Value = serde_json::from_str(&watch).unwrap();
    for family in ["ipv6", "ipv4"] {
        assert_eq!(watch["watched"]["families"][family]["closures"]["NORMAL"], 20, "{watch}");
    }
}

#[test]
fn counts_link_loss_only_for_the_lossy_family() {
    if without(&[]) {
        return;
    }
    let fixture = Fixture::new(LOSSY);
    fine(&finish(fixture.begin()));
    let document = fixture.document();
    let lost = |cell: &Value, family: &str| {
        let ways = [&cell["links"][0]["a_to_b"], &cell["links"][0]["b_to_a"]];
        ways.iter().map(|way| way["frames"][family]["lost"].as_u64().unwrap()).sum::<u64>()
    };
    let cells = document["cells"].as_array().unwrap();
    assert!(cells.iter().all(|cell| lost(cell, "ipv4") == 0), "{document}");
    assert!(cells.iter().map(|cell| lost(cell, "ipv6")).sum::<u64>() > 0, "{document}");
}

#[test]
fn a_killed_study_goes_on_in_a_lab_built_anew() {
    if without(&[]) {
        return;
    }
    let fixture = Fixture::new(SLOW);
    let mut child = fixture.begin();
    until("cells are kept", || match fixture.cells().len() {
        0 | 1 => vec!["too few".to_owned()],
        _ => Vec::new(),
    });
    let tree = Tree::of(child.id());
    signal(child.id(), "KILL");
    child.wait().unwrap();
    tree.is_gone();
    let before = fixture.cells();
    assert!(before.len() < 8, "{before:?}");
    fine(&fixture.resume());
    let document = fixture.document();
    assert_eq!(document["ended"], "complete");
    assert_eq!(document["resumed"][0]["cells"], before.len());
    assert_eq!(document["cells"].as_array().unwrap().len(), 8);
}

const TWO_PATHS: &str = r#"
name = "paths"
path = "/bytes/1000"
repetitions = 5
[lab]
file = "lab.toml"
[options]
from = "client"
count = 20
lab-loss = "no"
[factors]
concurrency = [1, 2]
family = ["ipv6", "ipv4"]
[[comparisons]]
name = "rate"
measure = "requests_per_s"
by = ["concurrency"]
[[comparisons]]
name = "time"
measure = "response.p50"
by = ["concurrency"]
"#;

/// IPv6's path takes 4 ms longer there and back, and nothing else differs.
#[test]
fn a_study_names_the_round_trip_as_the_cause_at_each_level() {
    if without(&[]) {
        return;
    }
    let fixture = Fixture::new(TWO_PATHS);
    let lab = LAB.replace("delay = \"1ms\", loss", "delay = \"3ms\", loss");
    fs::write(fixture.0.path().join("lab.toml"), lab).unwrap();
    fine(&finish(fixture.begin()));
    let document = fixture.document();
    for comparison in document["comparisons"].as_array().unwrap() {
        let entries = comparison["entries"].as_array().unwrap();
        assert_eq!(entries.len(), 2, "{comparison:#}");
        for entry in entries {
            let why = &entry["why"];
            let parts = why["parts"].as_array().unwrap_or_else(|| panic!("{entry:#}"));
            let cause = parts.iter().find(|part| part["is_cause"] == true);
            let cause = cause.unwrap_or_else(|| panic!("{why:#}"));
            assert_eq!(cause["part"], "round_trips", "{why:#}");
            let us = |of: &Value| of["difference_us"]["value"].as_f64().unwrap();
            assert!((us(cause) / 4_000.0 - 1.0).abs() < 0.25, "{why:#}");
            let sum: f64 = parts.iter().map(us).sum();
            assert!((sum - us(why)).abs() < 1.0, "the means of parts add up: {why:#}");
        }
    }
}
