use super::*;
use sixmark_http::HttpVersion;
use sixmark_tally::counted::family_result;
use sixmark_tally::outcome::{Failure, FailurePhase};
use sixmark_tally::tally::FamilyTally;

use crate::sheet::side::Side;

#[test]
fn shows_the_name_of_a_failure_code() {
    let mut tally = FamilyTally::default();
    let failure = Failure { code: Some(120), ..Failure::new(Outcome::Tls, FailurePhase::Tls) };
    tally.failures.add(failure, 3);
    let figures = family_result(&tally, Vec::new(), 1.0, false);
    let side = Side {
        place: 0,
        name: "IPv6".to_owned(),
        figures: &figures,
        version: HttpVersion::Http1,
        hidden: false,
    };
    let part = outcomes_part(&Sides { all: vec![side], both: None, watched: false }).unwrap();
    let shown = format!("{part:?}");
    assert!(shown.contains("alert 120 no_application_protocol"), "{shown}");
}
