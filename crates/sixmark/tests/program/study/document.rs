//! The document of a study, and its published form.

use serde_json::{Value, json};
use sixmark::report::documents::Document;
use sixmark_testkit::forms::STUDY;
use sixmark_testkit::sixmark;
use sixmark_testkit::study::{StudyFixture, fine};

const SOME: &str = r#"
name = "some"
path = "/bytes/{size}"
repetitions = 2
published = "published.toml"

[options]
count = 5
concurrency = 1

[factors]
size = [10]
family = ["ipv6", "ipv4"]

[[tables]]
name = "t"
rows = ["size"]
measures = ["sent"]
where = { size = 10 }
published = "p"

[[figures]]
name = "f"
x = "size"
y = "goodput"

[[comparisons]]
name = "c"
measure = "goodput"
published = "A"
"#;

const PUBLISHED: &str = r#"
title = "T"
source = "S"

[[tables]]
name = "p"
factors = ["size"]
columns = [{ measure = "sent", family = "ipv6" }, { measure = "sent", family = "ipv4" }]
rows = [["10", 3, 4]]
remarks = { "10" = "A remark." }

[[analyses]]
title = "A"
kind = "ratio"
table = "p"
measure = "sent"

[[analyses]]
title = "B"
kind = "shares"
table = "p"
part = "sent"
whole = "sent"
pairs = [{ a = { family = "ipv6" }, b = { family = "ipv4" } }]
"#;

/// A document with something in every list.
fn sample() -> Value {
    let fixture = StudyFixture::new(SOME);
    std::fs::write(fixture.path("published.toml"), PUBLISHED).unwrap();
    fine(&fixture.run(&["--quiet"]));
    std::fs::remove_file(&fixture.cells()[0]).unwrap();
    let mut document = fixture.document();
    document["environment"]["cpu"] = json!("Another");
    std::fs::write(fixture.path("out/study.json"), document.to_string()).unwrap();
    fine(&fixture.resume(&["--quiet", "--force"]));
    let mut document = fixture.document();
    // A cell has warnings only where something is doubtful.
    document["cells"][0]["warnings"] = json!([{ "code": "x", "message": "X" }]);
    document["programs"] = json!({ "ab": "2.3" });
    document
}

#[test]
fn a_study_document_fits_its_schema_and_survives_a_round_trip() {
    let (schema, validator) = (STUDY.schema(), STUDY.validator());
    assert!(jsonschema::meta::is_valid(&schema));
    let good = sample();
    STUDY.check(&good);
    // Which cell comes first is the seed's to say.
    let families = good["cells"][0]["families"].as_object().unwrap();
    let figures = format!("/cells/0/families/{}", families.keys().next().unwrap());
    for (path, wrong) in [
        ("/schema", json!("sixmark.study/2")),
        ("/order", json!("any")),
        ("/cells/0/id", json!("x")),
        ("/cells/0/families", json!({})),
        (&figures, json!({ "goodput": "fast" })),
        ("/tables/0/rows/0/values/0/measured", json!("5")),
        ("/comparisons/0/entries/0/finding", json!("maybe")),
        ("/published/tables/0/rows/0/values", json!(["-"])),
        ("/resumed/0/at", json!("yesterday")),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(path).unwrap_or_else(|| panic!("no {path}")) = wrong;
        assert!(!validator.is_valid(&bad), "{path}");
    }
    let Ok(Document::Study(read)) = Document::parse(&good.to_string()) else { panic!("{good}") };
    assert_eq!(serde_json::to_value(&read).unwrap(), good);
}

/// Takes each field of each object away, and adds one.
#[test]
fn the_schema_requires_every_field_and_rejects_unknown_ones() {
    let good = sample();
    // Names of settings, programs and measures, and families as far as there are any.
    let free =
        ["/sysctls", "/programs", "/families", "/given", "/accounts", "/status", "/ipv6", "/ipv4"];
    STUDY.knows_every_field(&good, |path| free.iter().any(|end| path.ends_with(end)));
}

#[test]
fn study_show_reprints_the_report_of_a_finished_study() {
    let fixture = StudyFixture::new(super::tiny::TINY);
    let text = fine(&fixture.run(&[]));
    assert_eq!(fine(&sixmark(&["study", "show", &fixture.out()])), text);
    let markdown = fine(&sixmark(&["study", "show", &fixture.out(), "--markdown"]));
    assert!(
        markdown.starts_with("### Study: A tiny study\n") && markdown.contains("| size |"),
        "{markdown}"
    );
}
