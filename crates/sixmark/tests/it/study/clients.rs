//! Other programs as clients, for real, over both families.

use super::{Bench, assert_complete, fine};
use crate::support::skipped;

/// A study of one client over both families.
fn with(client: &str, options: &str) {
    if skipped(client) {
        return;
    }
    let bench = Bench::new(&format!(
        "name = \"clients\"\npath = \"/bytes/5000\"\n[options]\n{options}\n\
         [factors]\nclient = [\"{client}\"]\nfamily = [\"ipv6\", \"ipv4\"]\n"
    ));
    fine(&bench.run(&["--quiet"]));
    let document = bench.document();
    assert_complete(&document);
    assert!(document["programs"][client].as_str().unwrap().len() > 2);
    for cell in document["cells"].as_array().unwrap() {
        let family = cell["levels"][1]["level"].as_str().unwrap();
        let figures = cell["families"][family].as_object().unwrap();
        let of =
            |name: &str| figures[name].as_f64().unwrap_or_else(|| panic!("{name}: {figures:?}"));
        assert!(of("completed") >= 1.0 && of("failed") == 0.0, "{figures:?}");
        assert!(of("requests_per_s") > 0.0 && of("elapsed") > 0.0 && of("cpu") >= 0.0);
        assert!(figures.contains_key("goodput") || figures.contains_key("transfer_rate"));
        assert_eq!(cell["client"], client);
        assert_eq!(cell["warnings"].as_array().unwrap().len(), 0, "{cell}");
    }
    let kept = super::read(&bench.cells()[0]);
    assert!(kept["result"].is_null() && kept["output"]["status"].as_str().unwrap().contains('0'));
}

#[test]
fn curl_loads() {
    with("curl", "count = 3");
}

#[test]
fn wget_loads() {
    with("wget", "count = 3");
}

#[test]
fn ab_loads() {
    with("ab", "count = 50\nconcurrency = 2");
}

#[test]
fn wrk_loads() {
    with("wrk", "duration = \"1s\"\nconcurrency = 2");
}

#[test]
fn h2load_loads() {
    with("h2load", "count = 50\nconcurrency = 2\nprotocol = \"http/1.1\"");
}
