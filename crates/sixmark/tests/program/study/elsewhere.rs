//! Studies of servers that run elsewhere: sixmark's own test server stands for the other machine.

use std::fs;
use std::net::TcpListener;

use serde_json::{Value, json};
use sixmark_testkit::Origin;
use sixmark_testkit::complaint;
use sixmark_testkit::study::{StudyFixture, assert_complete, fine};
use sixmark_units::family::Family;

/// A study with a lab, which varies what only the lab can set up.
const IN_LAB: &str = r#"
name = "far"
path = "/bytes/{size}"
repetitions = 3

[lab]
file = "lab.toml"

[options]
count = 5
concurrency = 1
from = "client"

[factors]
server = ["web", "other"]
size = [10]
offload = [
    { name = "on", lab-offload = "" },
    { name = "off", lab-offload = "off" },
]
family = ["ipv6", "ipv4"]

[[claims]]
id = "offload-helps"
text = "Offload helps"
kind = "higher"
measure = "requests_per_s"
a = { offload = "on" }
b = { offload = "off" }
"#;

const LAB: &str = r#"
name = "far"
[hosts.client]
sysctls = { "net.ipv4.ip_default_ttl" = "77" }
[hosts.server]
sysctls = { "net.core.somaxconn" = "4321" }
[links]
link = ["client", "server"]
[variants.offload.off.hosts.client.offloads]
gro = false
[services.web]
host = "server"
command = ["no-such-server"]
[services.other]
host = "server"
command = ["no-such-server"]
urls = ["http://[{server.ipv6}]:81", "http://{server.ipv4}:81"]
"#;

fn in_lab() -> StudyFixture {
    let fixture = StudyFixture::alone(IN_LAB);
    fs::write(fixture.path("lab.toml"), LAB).unwrap();
    fixture
}

/// Returns the options that name this server for a service.
fn targets(service: &str, origin: &Origin) -> Vec<String> {
    let of = |family| {
        [
            "--target".to_owned(),
            format!("{service}={}", origin.url(family, "").trim_end_matches('/')),
        ]
    };
    Family::BOTH.into_iter().flat_map(of).collect()
}

fn words<'a>(all: &[&'a [String]], more: &[&'a str]) -> Vec<&'a str> {
    let given = all.iter().flat_map(|words| words.iter().map(String::as_str));
    given.chain(more.iter().copied()).collect()
}

#[test]
fn a_lab_study_of_external_servers_reports_uncontrolled_settings() {
    let (fixture, origin) = (in_lab(), Origin::start());
    let web = targets("web", &origin);
    let run = |more: &[&str]| fixture.run(&words(&[&web], more));

    let line = complaint(&run(&[]), 2);
    assert!(
        line.contains("the levels of offload (on, off) are set up by the study's lab"),
        "{line}"
    );
    assert!(line.contains("--level offload=LEVEL"), "{line}");
    for (level, wrong) in [("speed=1", "no factor 'speed'"), ("offload=up", "no level 'up'")] {
        let line = complaint(&run(&["--level", level]), 2);
        assert!(line.contains(wrong), "{line}");
    }
    assert!(!fixture.path("out").exists());

    let report = fine(&run(&["--level", "offload=off"]));
    let document = fixture.document();
    assert_complete(&document);
    assert_eq!(document["cells_planned"], 6, "one server, one level, two families, three times");
    assert!(document["lab"].is_null());
    assert_eq!(document["targets"]["web"].as_array().unwrap().len(), 2);
    let omitted = &document["omitted"][0];
    assert_eq!(omitted["service"], "other");
    assert_eq!(omitted["reason"], "no target given: --target other=URL");

    let found = |name: &str| -> &Value {
        let all = document["uncontrolled"].as_array().unwrap();
        all.iter().find(|setting| setting["name"] == name).unwrap()
    };
    let ttl = fs::read_to_string("/proc/sys/net/ipv4/ip_default_ttl").unwrap();
    let of_ttl = json!({ "place": "client", "name": "net.ipv4.ip_default_ttl", "wanted": "77",
                         "levels": [], "found": ttl.trim() });
    assert_eq!(found("net.ipv4.ip_default_ttl"), &of_ttl);
    assert_eq!(found("net.core.somaxconn")["found"], Value::Null, "nobody looked there");
    assert_eq!(found("rx-gro")["wanted"], "off");
    assert_eq!(found("lab-offload")["place"], "network");
    let warnings = document["warnings"].as_array().unwrap();
    let otherwise = warnings.iter().filter(|one| one["code"] == "not_as_the_level_says");
    let otherwise: Vec<&str> = otherwise.map(|one| one["message"].as_str().unwrap()).collect();
    let of_ttl =
        format!("client: net.ipv4.ip_default_ttl is {}, and the study says 77", ttl.trim());
    assert!(otherwise.contains(&of_ttl.as_str()), "{otherwise:?}");
    assert_eq!(document["claims"][0]["measured"]["answer"], "not_tested");
    let flat = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains("The study did not start its servers. It loaded web: http://"),
        "{report}"
    );

    // It goes on with the servers and levels that it began with, and says if they are others.
    fs::remove_file(fixture.path("out/cells/c002-r3.json")).unwrap();
    let elsewhere = Origin::start();
    let others = targets("web", &elsewhere);
    let changed = fixture.resume(&words(&[&others], &["--level", "offload=off", "--quiet"]));
    let line = complaint(&changed, 2);
    assert!(line.contains("the targets was web=http://"), "{line}");
    fine(&fixture.resume(&["--quiet"]));
    assert_complete(&fixture.document());
}

/// A study of a generated file, whose service would be started here.
const OF_FILE: &str = r#"
name = "file"
path = "/bytes/{size}"
repetitions = 3

[options]
count = 5
concurrency = 1

[factors]
size = [10, 20]
family = ["ipv6", "ipv4"]

[[files]]
path = "bytes/{size}"
size = "{size}"

[services.web]
command = ["no-such-server"]
"#;

#[test]
fn rejects_unsuitable_targets_before_the_first_cell() {
    let (fixture, origin) = (StudyFixture::alone(OF_FILE), Origin::start());
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (six, four) = (origin.url(Family::Ipv6, ""), format!("http://{gone}"));
    let line = complaint(&fixture.run(&["--target", &six, "--target", &four]), 3);
    assert!(line.contains(&format!("{four}/bytes/10 can't be reached")), "{line}");
    let line = complaint(&fixture.run(&["--target", &six]), 2);
    assert!(line.contains("has no URL of the family that it loads"), "{line}");
    let line = complaint(&fixture.run(&["--target", "wob=http://127.0.0.1:1"]), 2);
    assert!(line.contains("no service 'wob'; it has: web"), "{line}");
    let line = complaint(&fixture.run(&["--target", &format!("{six}/path")]), 2);
    assert!(line.contains("omit the path"), "{line}");
    let line = complaint(&fixture.run(&["--level", "size=10"]), 2);
    assert!(line.contains("add --target"), "{line}");

    for (path, wrong) in
        [("/status/404", "answers 404"), ("/bytes/3", "has 3 bytes, the study's file 10")]
    {
        let text = OF_FILE.replace("/bytes/{size}", path).replace("bytes/{size}", &path[1..]);
        let text = text.replace("size = \"{size}\"", "size = 10").replace("[10, 20]", "[10]");
        fs::write(fixture.path("study.toml"), text).unwrap();
        let four = origin.url(Family::Ipv4, "");
        let line = complaint(&fixture.run(&["--target", &six, "--target", &four]), 3);
        assert!(line.contains(wrong), "{line}");
    }
    assert!(!fixture.path("out").exists(), "nothing was begun");
}

#[test]
fn resuming_without_the_server_fails_and_keeps_the_cells() {
    let fixture = StudyFixture::alone(OF_FILE);
    let origin = Origin::start();
    let four = origin.url(Family::Ipv4, "");
    let six = origin.url(Family::Ipv6, "");
    fine(&fixture.run(&["--quiet", "--target", &six, "--target", &four]));
    assert_complete(&fixture.document());
    fs::remove_file(fixture.path("out/cells/c001-r1.json")).unwrap();
    drop(origin);
    let line = complaint(&fixture.resume(&["--quiet"]), 3);
    assert!(line.contains("can't be reached"), "{line}");
    assert_eq!(fixture.cells().len(), 11, "nothing is lost");
}
