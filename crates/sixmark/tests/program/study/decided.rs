//! Studies that go on until their claims are decided.

use serde_json::Value;
use sixmark_testkit::study::{StudyFixture, assert_complete, fine, read, said};

/// A claim that four repetitions decide, two that need the cells of 2 ms, of which the first takes
/// more exchanges than there is time for, and one without figures.
const CLAIMED: &str = r#"
name = "claimed"
path = "/delay/{ms}"
repetitions = 4

[options]
count = 4
concurrency = 1
threads = 1

[factors]
family = ["ipv6", "ipv4"]
ms = [1, 2, 20]

[[claims]]
id = "slower"
text = "20 ms take longer than 1 ms"
kind = "higher"
measure = "response.mean"
a = { ms = 20 }
b = { ms = 1 }

[[claims]]
id = "whole"
text = "Next to all responses are whole"
kind = "share"
measure = "NORMAL"
of = "sent"
at_least = 0.99999
a = {}
where = { ms = 2 }

[[claims]]
id = "same"
text = "Both families take exactly as long"
kind = "equal"
measure = "response.mean"
margin = 0.00001
a = { family = "ipv6" }
b = { family = "ipv4" }
where = { ms = 2 }

[[claims]]
id = "elsewhere"
text = "30 ms take longer"
kind = "higher"
measure = "response.mean"
a = { family = "ipv6" }
b = { family = "ipv4" }
not_here = "there is no such delay"
"#;

fn claim<'a>(document: &'a Value, id: &str) -> &'a Value {
    let claims = document["claims"].as_array().unwrap();
    &claims.iter().find(|claim| claim["id"] == id).unwrap()["measured"]
}

/// Returns the cells beyond the planned repetitions.
fn of_rounds(document: &Value) -> Vec<&Value> {
    let cells = document["cells"].as_array().unwrap();
    cells.iter().filter(|cell| cell["repetition"].as_u64().unwrap() > 4).collect()
}

#[test]
fn only_cells_that_undecided_claims_need_are_measured_again() {
    let fixture = StudyFixture::new(CLAIMED);
    let output = fixture.run(&["--until", "decided", "--at-most", "8s"]);
    let (text, progress) = (fine(&output), said(&output));
    assert!(progress.contains("after 4 repetitions 1 claim is decided, 2 undecided"), "{progress}");
    assert!(progress.contains("; 2 cells are measured again"), "{progress}");
    let document = fixture.document();
    assert_complete(&document);
    assert_eq!(document["cells_planned"], document["cells"].as_array().unwrap().len());
    let looks: Vec<u64> = document["until"]["looks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|n| n.as_u64().unwrap())
        .collect();
    assert!(looks.len() >= 2 && looks[0] == 4, "{looks:?}");
    let again = of_rounds(&document);
    assert!(again.len() >= 2, "{looks:?}");
    for cell in again {
        assert_eq!(cell["levels"][1]["level"], "2", "{cell}");
    }
    assert_eq!(claim(&document, "slower")["answer"], "holds");
    assert_eq!(claim(&document, "slower")["blocks"], 4);
    let whole = claim(&document, "whole");
    assert_eq!(whole["answer"], "undecided", "{whole}");
    assert_eq!(whole["blocks"], *looks.last().unwrap());
    assert_eq!(claim(&document, "elsewhere")["answer"], "not_tested");
    // When the time is up, what is still undecided is out of reach. A share has no forecast.
    let warnings = document["warnings"].as_array().unwrap();
    let warned: Vec<&str> = warnings
        .iter()
        .filter(|of| of["code"] == "out_of_reach")
        .map(|of| of["message"].as_str().unwrap())
        .collect();
    let open = claim(&document, "same")["answer"] == "undecided";
    assert_eq!(warned.iter().any(|said| said.starts_with("claim same is ")), open, "{warned:?}");
    assert!(text.replace('\n', " ").contains("until they are decided (at most 8 s)"), "{text}");
}

#[test]
fn resuming_with_more_time_keeps_the_cells_already_measured() {
    let fixture = StudyFixture::new(CLAIMED);
    // No round fits into this time.
    fine(&fixture.run(&["--until", "decided", "--at-most", "1ms", "--quiet"]));
    let before = fixture.document();
    assert_complete(&before);
    assert!(of_rounds(&before).is_empty());
    assert_eq!(before["until"]["looks"], serde_json::json!([4]));
    // Without more time it stays as it is.
    fine(&fixture.resume(&["--quiet"]));
    assert_eq!(fixture.document()["updated"], before["updated"]);
    fine(&fixture.resume(&["--until", "decided", "--at-most", "2s", "--quiet"]));
    let after = fixture.document();
    assert_complete(&after);
    assert!(!of_rounds(&after).is_empty());
    // What the first look decided stands.
    assert_eq!(claim(&after, "slower"), claim(&before, "slower"));
    let first = |document: &Value| document["cells"].as_array().unwrap()[..24].to_vec();
    assert_eq!(first(&after), first(&before), "no cell is measured twice");
    assert!(read(&fixture.cells()[0])["cell"].is_object());
    // Looks that can't have been would never end.
    let damaged = after.to_string().replace("\"looks\":[4,", "\"looks\":[4294967295,");
    assert_ne!(damaged, after.to_string());
    std::fs::write(fixture.path("out/study.json"), damaged).unwrap();
    let refused = fixture.resume(&["--until", "decided"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(said(&refused).contains("until.looks does not fit the "), "{}", said(&refused));
}

#[test]
fn rejects_invalid_uses_of_until_decided() {
    let fixture = StudyFixture::new(CLAIMED);
    fine(&fixture.run(&["--quiet"]));
    assert!(fixture.document()["until"].is_null());
    let refused = fixture.resume(&["--until", "decided"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(said(&refused).contains("was begun without --until decided"), "{}", said(&refused));
    let (of_claims, _) = CLAIMED.split_once("[[claims]]").unwrap();
    let none = StudyFixture::new(of_claims).run(&["--until", "decided"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(said(&none).contains("the study 'claimed' has no [[claims]]"), "{}", said(&none));
    let alone = StudyFixture::new(CLAIMED).run(&["--at-most", "1s"]);
    assert_eq!(alone.status.code(), Some(2));
    assert!(said(&alone).contains("--until"), "{}", said(&alone));
}
