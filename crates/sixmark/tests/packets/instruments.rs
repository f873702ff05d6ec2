//! The instruments beside a study's client on loopback.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;
use sixmark_testkit::forms::STUDY as FORM;
use sixmark_testkit::study::{StudyFixture, assert_complete, fine, read};
use sixmark_testkit::{script, skipped};

const STUDY: &str = r#"
name = "three"
path = "/bytes/4096"
repetitions = 2
instruments = ["packets", "kernel"]

[options]
count = 60
concurrency = 4
no-keep-alive = true

[factors]
ratio = ["1:1", "1:0"]
"#;

/// The codes of a cell's warnings.
fn codes(cell: &Value) -> Vec<&str> {
    let warnings = cell["warnings"].as_array().unwrap();
    warnings.iter().map(|warning| warning["code"].as_str().unwrap()).collect()
}

#[test]
fn client_packet_and_kernel_instruments_agree_on_connections() {
    if skipped("netns") {
        return;
    }
    let fixture = StudyFixture::new(STUDY);
    let text = fine(&fixture.run(&[]));
    assert!(text.contains("THREE INSTRUMENTS"), "{text}");
    let document = fixture.document();
    FORM.check(&document);
    assert_complete(&document);
    for cell in document["cells"].as_array().unwrap() {
        assert!(!codes(cell).contains(&"instruments_disagree"), "{cell}");
        assert!(!codes(cell).contains(&"instrument_missing"), "{cell}");
        let instruments = &cell["instruments"];
        let packets = &instruments["packets"];
        assert_eq!(packets["interfaces"][0], "lo");
        assert_eq!(packets["dropped"], 0);
        let ends = instruments["kernel"].as_array().unwrap();
        assert_eq!(ends.len(), 1, "one machine is read once");
        assert_eq!(ends[0]["end"], "both");
        assert!(ends[0]["opened"].as_u64() >= Some(60), "{cell}");
        let alone = cell["levels"][0]["level"] == "1:0";
        for (family, count) in [("ipv6", if alone { 60 } else { 30 }), ("ipv4", 30)] {
            if alone && family == "ipv4" {
                assert!(packets["families"][family].is_null(), "{cell}");
                continue;
            }
            for of in [&instruments["client"][family], &packets["families"][family]] {
                assert_eq!(of["connections"], count, "{cell}");
                assert!(of["establishment_us"].as_f64() > Some(0.0), "{cell}");
                assert!(of["continuation_us"].as_f64() > Some(0.0), "{cell}");
            }
            let kernel = &ends[0]["connections"][family];
            assert_eq!(kernel["connections"].is_null(), !alone, "{cell}");
            assert!(kernel["establishment_us"].is_null(), "{cell}");
            let passed = ends[0]["families"][family]["packets_in"].as_u64();
            assert!(passed > Some(count), "{cell}");
        }
        let last = cell["repetition"] == 2;
        assert_eq!(ends[0]["over_time"].is_object(), last, "{cell}");
        let kept = |of: &Value| read(&fixture.path("out").join(of["document"].as_str().unwrap()));
        assert_eq!(kept(packets)["schema"], "sixmark.watch/1");
        assert_eq!(kept(&ends[0])["schema"], "sixmark.vitals/1");
    }
}

#[test]
fn a_study_without_cap_net_raw_continues_and_warns_of_missing_packets() {
    if skipped("setpriv") {
        return;
    }
    let fixture = StudyFixture::new(STUDY);
    let out = fixture.path("");
    for path in [out.as_path(), out.parent().unwrap_or(Path::new("/"))] {
        if path.starts_with(std::env::temp_dir()) && path != std::env::temp_dir() {
            fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
        }
    }
    let as_nobody = ["setpriv", "--reuid=65534", "--clear-groups", "sh"];
    let run = format!("exec $1 study run {} --quiet --out {}", fixture.file(), fixture.out());
    fine(&script(&as_nobody, &run));
    let document = fixture.document();
    assert_complete(&document);
    for cell in document["cells"].as_array().unwrap() {
        assert!(cell["instruments"]["packets"].is_null(), "{cell}");
        assert_eq!(cell["instruments"]["kernel"].as_array().unwrap().len(), 1, "{cell}");
        let warnings = cell["warnings"].as_array().unwrap();
        let missing = warnings.iter().find(|warning| warning["code"] == "instrument_missing");
        let message = missing.map(|warning| warning["message"].to_string()).unwrap_or_default();
        assert!(message.contains("the packets instrument is missing"), "{cell}");
        assert!(message.contains("CAP_NET_RAW"), "what to do: {message}");
    }
}
