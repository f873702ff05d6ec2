//! Studies that use other programs as clients.

use crate::skipped;
use crate::study::{StudyFixture, assert_complete, fine, read};

/// Runs a study of one client over both families and checks its document.
pub fn loads_with(client: &str, options: &str) {
    if skipped(client) {
        return;
    }
    let fixture = StudyFixture::new(&format!(
        "name = \"clients\"\npath = \"/bytes/5000\"\n[options]\n{options}\n\
         [factors]\nclient = [\"{client}\"]\nfamily = [\"ipv6\", \"ipv4\"]\n"
    ));
    fine(&fixture.run(&["--quiet"]));
    let document = fixture.document();
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
    let kept = read(&fixture.cells()[0]);
    let status = kept["output"]["status"].as_str().unwrap();
    assert!(kept["result"].is_null() && (status.contains('0') || status == "runs on"));
}
