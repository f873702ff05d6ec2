//! Other programs as clients, for real, over both families.

use sixmark_testkit::clients::loads_with;
use sixmark_testkit::skipped;
use sixmark_testkit::study::{StudyFixture, assert_complete, fine};

#[test]
fn curl_runs_as_a_study_client_over_both_families() {
    loads_with("curl", "count = 3");
}

#[test]
fn wget_runs_as_a_study_client_over_both_families() {
    loads_with("wget", "count = 3");
}

#[test]
fn ab_runs_as_a_study_client_over_both_families() {
    loads_with("ab", "count = 50\nconcurrency = 2");
}

#[test]
fn wrk_runs_as_a_study_client_over_both_families() {
    loads_with("wrk", "duration = \"1s\"\nconcurrency = 2");
}

#[test]
fn h2load_runs_as_a_study_client_over_both_families() {
    loads_with("h2load", "count = 50\nconcurrency = 2\nprotocol = \"http/1.1\"");
}

/// Blocks, from and to a file behind qemu's NBD server, which listens to both families.
const BLOCKS: &str = r#"
name = "blocks"
path = "/disk"

[options]
client = "fio"
engine = "nbd"
depth = 4
size = "4m"

[factors]
operation = ["read", "write"]
block = ["64k", "256k"]
family = ["ipv6", "ipv4"]

[[files]]
path = "disk"
size = 4194304
random = true

[services.nbd]
command = ["qemu-nbd", "--bind", "::", "--port", "{port}", "--persistent", "--shared", "8", "--format", "raw",
           "--export-name", "disk", "{www}/disk"]
package = "qemu-utils"
urls = ["nbd://[::1]:{port}", "nbd://127.0.0.1:{port}"]
"#;

#[test]
fn fio_runs_as_a_study_client_over_both_families() {
    if skipped("fio") {
        return;
    }
    let fixture = StudyFixture::alone(BLOCKS);
    fine(&fixture.run(&["--quiet"]));
    let document = fixture.document();
    assert_complete(&document);
    assert!(document["programs"]["fio"].as_str().unwrap().starts_with("fio-"));
    let cells = document["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 8);
    for cell in cells {
        let [block, family] = [1, 2].map(|place| cell["levels"][place]["level"].as_str().unwrap());
        let figures = &cell["families"][family];
        let blocks = if block == "64k" { 64.0 } else { 16.0 };
        assert_eq!(figures["completed"].as_f64(), Some(blocks), "{cell}");
        for name in ["iops", "goodput", "response.p99", "cpu"] {
            assert!(figures[name].as_f64() > Some(0.0), "{name}: {cell}");
        }
    }
}
