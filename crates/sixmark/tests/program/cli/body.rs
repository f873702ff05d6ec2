//! Requests with content.

use serde_json::json as value;
use sixmark_testkit::{Origin, json};

#[test]
fn request_bodies_arrive_whole() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/sink");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("body");
    let size: usize = 100_000;
    std::fs::write(&file, vec![0xff; size]).unwrap();
    let file = file.to_str().unwrap();
    for (option, content, length) in [("--body", "a=1&b=2", 7), ("--body-file", file, size)] {
        for method in [&["-X", "PUT"][..], &[]] {
            let options = ["-n", "20", "-c", "4", option, content];
            let result = json(&[&options[..], method, &[&v6, &v4]].concat());
            assert_eq!(result["total"]["status"], value!({"200": 20}));
            assert_eq!(result["plan"]["requests"]["shown"][0]["body"], length, "the size alone");
            // The origin answers {"received":LENGTH} and a line feed at most.
            let answer = result["total"]["bytes"]["body"].as_u64().unwrap() / 20;
            let expected = format!("{{\"received\":{length}}}").len() as u64;
            assert!((expected..=expected + 1).contains(&answer), "{answer}");
            assert!(result["total"]["bytes"]["sent"].as_u64().unwrap() > 20 * length as u64);
        }
    }
}

#[test]
fn twenty_megabytes_go_up_over_both_families() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/sink");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("body");
    let size: u64 = 20_000_000;
    std::fs::write(&file, vec![b'x'; size as usize]).unwrap();
    let file = file.to_str().unwrap();
    let result = json(&["-n", "4", "-c", "2", "--timeout", "60s", "--body-file", file, &v6, &v4]);
    for family in ["ipv6", "ipv4"] {
        let figures = &result["families"][family];
        assert_eq!(figures["status"], value!({"200": 2}));
        let sent = figures["bytes"]["sent"].as_u64().unwrap();
        assert!((2 * size..2 * size + 2_000).contains(&sent), "{sent}");
    }
}
