//! Documents of earlier versions stay readable: the files were written by them and never change.

use std::fs;
use std::path::Path;

use serde_json::Value;
use sixmark::report::documents::Document;
use sixmark::report::headline::{DocumentKind, ListHeadline};
use sixmark_report::csv;
use sixmark_report::text;
use sixmark_report::text::Detail;
use sixmark_units::family::Family;

use super::comparison;

#[test]
fn documents_that_earlier_versions_wrote_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/data/result-1");
    let files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(files.len() >= 4, "{files:?}");
    for file in files {
        let written = fs::read_to_string(&file).unwrap();
        let plain: Value = serde_json::from_str(&written).unwrap();
        let document = Document::parse(&written);
        let Document::Run(result) = document.unwrap_or_else(|why| panic!("{file:?} {why}")) else {
            panic!("{file:?} is another kind");
        };
        for family in Family::BOTH {
            let sent = result.families.of(family).unwrap().requests.sent;
            let name = family.to_string().to_lowercase();
            assert_eq!(plain["families"][name]["requests"]["sent"], sent, "{file:?}");
        }
        assert!(
            text::run_text(&result, Detail::Full).contains("requests sent")
                && !csv::csv_of_families(&*result).is_empty()
        );
    }
}

#[test]
fn studies_that_earlier_versions_wrote_are_read() {
    let written = include_str!("../data/study-1/numbers.json");
    let Document::Study(study) = Document::parse(written).unwrap() else { panic!("not a study") };
    let published = &study.tables[0].rows[0].values[0].published;
    assert_eq!(published[0].as_ref().unwrap().value, Some(9_100.0));
    assert!(study.claims.is_empty() && study.cells.len() == 16);
}

#[test]
fn a_headline_has_the_figures_of_each_family_or_side() {
    let documents = [super::RUN, &comparison()].map(|text| Document::parse(text).unwrap());
    for (document, kind) in documents.iter().zip([DocumentKind::Run, DocumentKind::Comparison]) {
        let headline = ListHeadline::of(document).unwrap();
        assert_eq!((headline.kind, headline.schema.as_str()), (kind, document.schema()));
        let sides = headline.sides.iter();
        let found: Vec<_> = sides.map(|of| (of.name.as_str(), of.requests, of.failed)).collect();
        assert_eq!(found, [("ipv6", 10, 0), ("ipv4", 10, 0)]);
        assert!(headline.sides.iter().all(|of| of.response_p50_us <= of.response_p99_us));
        assert_eq!(headline.targets.len(), 2, "each URL once");
        assert_eq!(headline.verdict.is_some(), kind == DocumentKind::Comparison);
    }
}

#[test]
fn a_headline_does_not_count_abandoned_requests_as_failed() {
    let mut document: Value = serde_json::from_str(super::RUN).unwrap();
    let of = &mut document["families"]["ipv6"];
    of["requests"]["sent"] = 15.into();
    of["outcomes"]["ABANDONED"] = 3.into();
    of["outcomes"]["RESET"] = 2.into();
    let headline = ListHeadline::of(&Document::parse(&document.to_string()).unwrap()).unwrap();
    assert_eq!((headline.sides[0].requests, headline.sides[0].failed), (15, 2));
}
