//! `sixmark study import`.

use std::fs;
use std::process::Output;

use sixmark_testkit::forms::STUDY;
use sixmark_testkit::sixmark;
use sixmark_testkit::study::{StudyFixture, fine, said};

/// A study of this machine, to which other systems can be added.
const SYSTEMS: &str = r#"
name = "systems"
title = "Systems"
path = "/bytes/{size}"
repetitions = 3
imports = "system"

[options]
count = 5
concurrency = 1

[factors]
size = [1000, 5000]
family = ["ipv6", "ipv4"]
system = [{ name = "this machine" }]

[[tables]]
name = "throughput"
title = "Throughput"
rows = ["size", "family"]
measures = [{ measure = "goodput", unit = "MiB/s" }]

[[figures]]
name = "throughput"
x = "size"
y = "goodput"
series = ["system", "family"]

[[comparisons]]
name = "families"
title = "Throughput"
measure = "goodput"
by = ["system"]
"#;

/// A log of Wget on Windows. Its rate is 7.25 MiB/s.
const WGET: &str = "--2026-11-26 10:00:01--  http://[2001:db8::1]/1000\r
Connecting to [2001:db8::1]:80... connected.\r
HTTP request sent, awaiting response... 200 OK\r
Length: 1000 [text/plain]\r
Saving to: 'NUL'\r
\r
\r100%[====================>] 1,000       7.25M/s   in 0s\r
\r
2026-11-26 10:00:02 (7.25 MB/s) - 'NUL' saved [1000/1000]\r
\r
";

const CURL: &str = r#"{"exitcode":0,"http_code":200,"num_connects":1,"remote_ip":"192.0.2.1","size_download":1000,"size_header":121,"time_appconnect":0,"time_connect":0.0001,"time_pretransfer":0.0001,"time_starttransfer":0.0002,"time_total":0.001,"curl_version":"libcurl/8.4.0 Schannel"}"#;

const IPERF3: &str = r#"{"start":{"version":"iperf 3.16","connected":[{"remote_host":"2001:db8::1"}],"test_start":{"protocol":"TCP","reverse":0}},"end":{"sum_received":{"seconds":1.0,"bits_per_second":80000000.0}}}"#;

struct ImportFixture(StudyFixture);

impl ImportFixture {
    fn new(text: &str) -> ImportFixture {
        let fixture = StudyFixture::new(text);
        fine(&fixture.run(&["--quiet"]));
        ImportFixture(fixture)
    }

    /// Writes a file and returns its path.
    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.path(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    fn import(&self, at: &str, files: &[&str]) -> Output {
        let out = self.0.out();
        sixmark(&[&["study", "import", &out, "--at", at][..], files].concat())
    }

    /// Checks that an import fails in one line, and leaves the document as it is.
    fn refuses(&self, output: impl FnOnce() -> Output, why: &str) {
        let document = || fs::read(self.0.path("out/study.json")).unwrap();
        let before = document();
        let output = output();
        let said = said(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(why) && said.lines().count() == 1, "{why}: {said}");
        assert_eq!(document(), before, "{why}");
    }
}

#[test]
fn imports_tool_output_of_other_systems_as_cells_of_a_new_level() {
    let fixture = ImportFixture::new(SYSTEMS);
    let before = fixture.0.document();
    let logs = [1, 2].map(|n| {
        let log = WGET.replace("10:00:01", &format!("10:00:0{n}"));
        fixture.file(&format!("wget-{n}.log"), &log)
    });
    let at = "system=windows-11,size=1000";
    let said = fine(&fixture.import(at, &[&logs[0], &logs[1]]));
    assert!(said.contains("imported 2 cells (i001-r1, i001-r2)"), "{said}");
    let curl = fixture.file("curl.json", CURL);
    fine(&fixture.import(at, &[&curl]));
    let iperf3 = fixture.file("iperf3.json", IPERF3);
    fine(&fixture.import("system=netbsd,size=5000", &[&iperf3]));

    let document = fixture.0.document();
    STUDY.check(&document);
    assert_eq!(document["ended"], "complete");
    assert_eq!(document["cells_planned"], before["cells_planned"]);
    let levels = &document["factors"][2]["levels"];
    assert_eq!(*levels, serde_json::json!(["this machine", "windows-11", "netbsd"]));
    let cells = document["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 16);
    let ids: Vec<&str> = cells[12..].iter().map(|cell| cell["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["i001-r1", "i001-r2", "i002-r1", "i003-r1"]);
    let from = &cells[14]["imported"];
    assert_eq!((&from["file"], &from["tool"]), (&"curl.json".into(), &"curl".into()));
    assert_eq!(from["version"], "libcurl/8.4.0 Schannel");
    let copy = fixture.0.path("out").join(from["copy"].as_str().unwrap());
    assert_eq!(fs::read_to_string(copy).unwrap(), CURL);
    let codes = document["warnings"].as_array().unwrap().iter().map(|w| w["code"].clone());
    assert!(codes.into_iter().any(|code| code == "imported_cells"));

    let shown = fine(&sixmark(&["study", "show", &fixture.0.out()]));
    let page = fs::read_to_string(fixture.0.path("out/report.html")).unwrap();
    for text in [&shown, &page] {
        for part in ["windows-11", "7.25", "libcurl/8.4.0", "12 of 12 cells"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        // A terminal has headings in capitals.
        assert!(text.to_lowercase().contains("imported cells"), "{text}");
    }
    let markdown = fine(&sixmark(&["study", "show", "--markdown", &fixture.0.out()]));
    assert!(markdown.contains("wget-1.log") && markdown.contains("4 imported cells"), "{markdown}");

    // A study that is resumed keeps them.
    let resumed = fixture.0.resume(&["--quiet"]);
    fine(&resumed);
    assert_eq!(fixture.0.document()["cells"], document["cells"]);
    fs::remove_file(fixture.0.path("out/cells/c001-r1.json")).unwrap();
    let interrupted = fs::read_to_string(fixture.0.path("out/study.json")).unwrap();
    let interrupted = interrupted
        .replace("\"ended\": \"complete\",\n  \"factors\"", "\"ended\": null,\n  \"factors\"");
    fs::write(fixture.0.path("out/study.json"), interrupted).unwrap();
    fine(&fixture.0.resume(&["--quiet"]));
    let again = fixture.0.document();
    assert_eq!(
        (again["cells"].as_array().unwrap().len(), &again["factors"]),
        (16, &document["factors"])
    );
    assert_eq!(again["ended"], "complete");
    assert_eq!(again["tables"].as_array().unwrap().len(), 3);
}

#[test]
fn rejects_bad_imports_in_one_line_and_changes_nothing() {
    let fixture = ImportFixture::new(SYSTEMS);
    let at = "system=windows-11,size=1000";
    let good = fixture.file("good.log", WGET);
    let mixed = format!("{WGET}{}", WGET.replace("[2001:db8::1]", "192.0.2.1"));
    let large = "x".repeat((16 << 20) + 1);
    for (name, text, why) in [
        ("empty", "", "'PATH' is empty"),
        ("other", "hello\n", "is not the output of a known tool"),
        ("mixed", &*mixed, "over IPv6 and over IPv4"),
        ("none", "--2026-11-26 10:00:01--  http://[::1]/\n", "no complete transfer"),
        ("version", &WGET.replace("MB/s)", "MB per s)"), "line 9: its output has"),
        ("large", &large, "is larger than 16 MiB"),
    ] {
        let path = fixture.file(name, text);
        let why = why.replace("PATH", &path);
        fixture.refuses(|| fixture.import(at, &[&good, &path]), &why);
    }
    let folder = fixture.0.path("").display().to_string();
    fixture.refuses(|| fixture.import(at, &[&folder]), "is not a regular file");
    fixture.refuses(|| fixture.import(at, &["nowhere.log"]), "can't be read");
    fixture.refuses(|| fixture.import(at, &[&good, &good]), "the same file was imported");
    fixture.refuses(|| fixture.import("size=1000", &[&good]), "needs a level of system");
    fixture.refuses(|| fixture.import("system=w", &[&good]), "needs a level of size (1000, 5000)");
    fixture.refuses(|| fixture.import("system=w,size=7", &[&good]), "'7' is not a level of size");
    let over4 = "system=w,size=1000,family=ipv4";
    fixture.refuses(|| fixture.import(over4, &[&good]), "but --at says IPv4");
    fixture.refuses(|| fixture.import("system=this machine,size=1000", &[&good]), "another name");
    fixture.refuses(|| fixture.import(at, &["--tool", "ab", &good]), "output of ab");
    assert!(!fixture.0.path("out/imports").exists(), "nothing was copied");

    fine(&fixture.import(at, &["--repetition", "2", &good]));
    fixture.refuses(|| fixture.import(at, &[&good]), "imported at these levels as i001-r2");
    let other = fixture.file("other.log", &format!("{WGET}\n"));
    fixture.refuses(
        || fixture.import(at, &["--repetition", "2", &other]),
        "repetition 2 was imported",
    );
}

#[test]
fn a_study_without_the_imports_key_explains_how_to_add_it() {
    let fixture = ImportFixture::new(&SYSTEMS.replace("imports = \"system\"\n", ""));
    let good = fixture.file("good.log", WGET);
    let at = "system=w,size=1000";
    fixture.refuses(|| fixture.import(at, &[&good]), "write imports = \"FACTOR\"");
    // With the key in the copy of its file it takes them, and the document says so.
    let copy = fixture.0.path("out/study.toml");
    let text = fs::read_to_string(&copy).unwrap();
    fs::write(&copy, text.replace("[options]", "imports = \"system\"\n[options]")).unwrap();
    fine(&fixture.import(at, &[&good]));
    let document = fixture.0.document();
    assert_eq!(document["resumed"][0]["changes"].as_array().unwrap().len(), 1);
    let wrong = StudyFixture::new(&SYSTEMS.replace("\"system\"\n", "\"family\"\n"));
    let output = sixmark(&["study", "check", &wrong.file()]);
    assert!(
        said(&output).contains("'family' is not a factor to which imports"),
        "{}",
        said(&output)
    );
}
