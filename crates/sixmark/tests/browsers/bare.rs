//! Firefox and the server without the kernel's TCP, in a lab, with a capture between them.

use std::fs;

use sixmark_testkit::skipped;
use sixmark_testkit::study::{StudyFixture, assert_complete, fine};

const LAB: &str = r#"
name = "bare"
[hosts]
client = { offloads = { tso = false, gso = false, gro = false } }
[bridges.switch]
[links.wire]
between = ["client", "switch"]
delay = "1ms"
at.client.addresses = ["10.0.40.1/24", "fd00:0:0:40::1/64"]
[services.plain]
host = "switch"
command = [
    "{sixmark}", "origin", "--stack", "bare", "--tap", "plain", "--bridge", "br0",
    "--address", "10.0.40.9/24", "--address", "fd00:0:0:40::9/64",
]
urls = ["http://[fd00:0:0:40::9]:80", "http://10.0.40.9:80"]
ready = { line = "Ctrl-C ends it." }
[services.optimised]
host = "switch"
command = [
    "{sixmark}", "origin", "--stack", "bare", "--tap", "optimised", "--bridge", "br0",
    "--congestion", "cubic", "--sack", "--address", "10.0.40.10/24", "--address", "fd00:0:0:40::a/64",
]
urls = ["http://[fd00:0:0:40::a]:80", "http://10.0.40.10:80"]
ready = { line = "Ctrl-C ends it." }
"#;

const STUDY: &str = r#"
name = "bare"
path = "/bytes/327680"
[lab]
file = "lab.toml"
capture = { at = "switch", interface = "client" }
[options]
from = "client"
client = "firefox"
count = 1
no-keep-alive = true
timeout = "60s"
[factors]
server = ["plain", "optimised"]
family = ["ipv6", "ipv4"]
"#;

/// The capture measures its loads over both families.
#[test]
fn firefox_loads_from_the_bare_server() {
    if skipped("netns") || skipped("firefox") {
        return;
    }
    let fixture = StudyFixture::alone(STUDY);
    fs::write(fixture.path("lab.toml"), LAB).unwrap();
    fine(&fixture.run(&["--quiet"]));
    let document = fixture.document();
    assert_complete(&document);
    let cells = document["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 4);
    for cell in cells {
        let family = cell["levels"][1]["level"].as_str().unwrap();
        let of = |name: &str| cell["families"][family][name].as_f64().unwrap();
        assert_eq!((of("completed"), of("opened")), (1.0, 1.0), "{cell}");
        // The link's delay there and back, at least for the first window.
        let (delay, throughput) = (of("delay.mean"), of("throughput"));
        assert!(delay > 2_000.0 && delay < of("response.mean"), "{cell}");
        assert!(throughput > 327_680.0 / (delay / 1e6), "the headers too: {cell}");
        assert!(cell["warnings"].as_array().unwrap().is_empty(), "{cell}");
    }
}
