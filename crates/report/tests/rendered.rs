//! What is shown of documents, word for word. After a wanted change: `INSTA_UPDATE=always cargo test -p
//! sixmark-report --test rendered`, then read the difference.

#![allow(clippy::unwrap_used, clippy::panic)]

mod rendered {
    pub(crate) mod documents;
    pub(crate) mod pages;
}

use insta::assert_snapshot;
use sixmark_model::document::Document;
use sixmark_model::study::result::StudyResult;
use sixmark_model::vitals::result::VitalsResult;
use sixmark_report::sheet::Named;
use sixmark_report::text::Detail;
use sixmark_report::{csv, document_text, junit, long, markdown, vitals};
use sixmark_report::{published_markdown, published_text, study_markdown, study_text};

use rendered::documents::{self, Verdicts};
use rendered::pages;

fn text(name: &str, document: &Document) {
    assert_snapshot!(format!("{name}.text"), document_text(document, Detail::Full));
    if matches!(document, Document::Run(_)) {
        let answer = document_text(document, Detail::Answer);
        check_length(&answer);
        assert_snapshot!(format!("{name}.answer"), answer);
    }
}

/// A sentence of at most three lines, then at most 14 lines of evidence, none wider than a terminal but
/// for URLs. Parts that were asked for (a search, checks of the clock, gates) follow an empty line.
fn check_length(answer: &str) {
    let blocks: Vec<&str> = answer.split("\n\n").collect();
    assert!(blocks[1].lines().count() <= 3, "{answer}");
    assert!(blocks[2].lines().count() <= 14, "{answer}");
    let wide = |line: &&str| line.chars().count() > 80 && !line.contains("://");
    assert_eq!(answer.lines().find(wide), None, "{answer}");
}

fn page_of_markdown(name: &str, document: &Document) {
    assert_snapshot!(format!("{name}.md"), markdown::markdown_page(&[Named { name, document }]));
}

fn page_of_html(name: &str, document: &Document) {
    assert_snapshot!(format!("{name}.html"), pages::body(&[Named { name, document }]));
}

/// In each form.
fn whole(name: &str, document: &Document) {
    text(name, document);
    page_of_markdown(name, document);
    page_of_html(name, document);
}

fn without_page(name: &str, document: &Document) {
    text(name, document);
    page_of_markdown(name, document);
}

#[test]
fn a_run_over_both_families() {
    whole("run-both", &documents::recorded("run-both"));
    without_page("run-quic", &documents::recorded("run-quic"));
}

#[test]
fn a_run_over_one_family() {
    whole("run-one", &documents::recorded("run-one"));
}

#[test]
fn a_run_with_failures() {
    whole("run-failing", &documents::recorded("run-failing"));
    whole("run-crowded", &documents::crowded());
    without_page("run-silent", &documents::silent());
}

#[test]
fn a_search_for_the_highest_rate() {
    whole("find-max", &documents::recorded("find-max"));
}

#[test]
fn a_watch() {
    whole("watch", &documents::recorded("watch"));
    whole("watch-hidden", &documents::recorded("watch-hidden"));
}

#[test]
fn a_comparison() {
    whole("comparison", &documents::recorded("comparison"));
}

#[test]
fn a_comparison_of_each_verdict() {
    for (name, result) in Verdicts::all() {
        without_page(&format!("comparison-{name}"), &result);
    }
}

#[test]
fn a_study() {
    let document = documents::recorded("study");
    whole("study", &document);
    let Document::Study(result) = document else { panic!("not a study") };
    assert_eq!(study_text(&result), document_text(&Document::Study(result.clone()), Detail::Full));
    assert!(study_markdown(&result).starts_with("### Study, quick form: Two sizes"));
    whole("study-turned", &Document::Study(documents::turned(*result).into()));
}

#[test]
fn a_published_study() {
    let Document::Study(result) = documents::recorded("study") else { panic!("not a study") };
    let StudyResult { published, .. } = documents::turned(*result);
    let published = published.unwrap();
    assert_snapshot!("published.text", published_text(&published));
    assert_snapshot!("published.md", published_markdown(&published));
}

#[test]
fn several_documents_on_one_page() {
    let all = ["run-failing", "comparison-worse", "study"];
    let found = [
        documents::recorded("run-failing"),
        Verdicts::all().into_iter().find(|(name, _)| *name == "worse").unwrap().1,
        documents::recorded("study"),
    ];
    let both = all.iter().zip(&found);
    let named: Vec<Named<'_>> = both.map(|(name, document)| Named { name, document }).collect();
    assert_snapshot!("overview.html", pages::overview(&named));
    assert_snapshot!("frame.html", pages::frame(&named));
}

#[test]
fn vitals_of_a_machine() {
    let result: VitalsResult = serde_json::from_str(documents::VITALS).unwrap();
    assert_snapshot!("vitals.text", vitals::vitals_text(&result));
    assert_snapshot!("vitals.live", vitals::live(7, &result.change));
}

#[test]
fn figures_for_spreadsheets() {
    let Document::Run(run) = documents::recorded("run-both") else { panic!("not a run") };
    assert_snapshot!("run-both.csv", csv::csv_of_families(&*run));
    let names = ["run-one", "comparison-better", "study"];
    let better = Verdicts::all().into_iter().find(|(name, _)| *name == "better").unwrap().1;
    let found = [documents::recorded("run-one"), better, documents::recorded("study")];
    let both = names.iter().zip(&found);
    let named: Vec<Named<'_>> = both.map(|(name, document)| Named { name, document }).collect();
    assert_snapshot!("all.csv", long::csv_of_figures(&named));
}

#[test]
fn gates_for_build_servers() {
    let Document::Run(run) = documents::recorded("run-both") else { panic!("not a run") };
    assert_snapshot!("run-both.xml", junit::of_measurement(&*run, &run.gates));
    for name in ["run-failing", "watch-hidden"] {
        let xml = match documents::recorded(name) {
            Document::Run(run) => junit::of_measurement(&*run, &run.gates),
            Document::Watch(watch) => junit::of_measurement(&*watch, &watch.gates),
            other => panic!("{name} is a {}", other.schema()),
        };
        assert_snapshot!(format!("{name}.xml"), xml);
    }
    let Document::Comparison(result) = documents::recorded("comparison") else {
        panic!("not a comparison")
    };
    assert_snapshot!("comparison.xml", junit::of_comparison(&result));
}
