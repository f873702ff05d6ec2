//! A study of which a family is down.

use sixmark_testkit::study::{StudyFixture, assert_complete, fine};
use sixmark_testkit::{Origin, refusing};
use sixmark_units::family::Family;

/// Each family by itself, and both together.
const DEAD: &str = r#"
name = "dead"
path = "/bytes/10"

[options]
count = 20
concurrency = 2

[factors]
load = [
    { name = "apart", family = "ipv6" },
    { name = "other", family = "ipv4" },
    { name = "mixed" },
]
"#;

#[test]
fn each_cell_of_a_dead_family_has_one_no_response_warning() {
    let origin = Origin::start();
    let (_kept, closed) = refusing(Family::Ipv6);
    let fine_url = origin.url(Family::Ipv4, "");
    let targets =
        format!("targets = [\"http://{closed}\", \"{}\"]\n", fine_url.trim_end_matches('/'));
    let fixture = StudyFixture::alone(&format!("{targets}{DEAD}"));
    fine(&fixture.run(&["--quiet"]));
    let document = fixture.document();
    assert_complete(&document);
    let why = format!("no answer over IPv6 ({closed}): connection refused; nothing listens there");
    for cell in document["cells"].as_array().unwrap() {
        let level = cell["levels"][0]["level"].as_str().unwrap();
        let warnings = cell["warnings"].as_array().unwrap();
        let of = |code: &str| warnings.iter().filter(|of| of["code"] == code).count();
        let dead = usize::from(level != "other");
        assert_eq!(of("no_response"), dead, "{level}: {warnings:?}");
        assert_eq!(of("hopeless") + of("family_fell_away"), 0, "{level}: {warnings:?}");
        let said = warnings.iter().filter(|of| of["message"].as_str().unwrap().starts_with(&why));
        assert_eq!(said.count(), dead, "{level}: {warnings:?}");
    }
}
