//! What is shown of documents, word for word. After a wanted change: `INSTA_UPDATE=always cargo test -p
//! sixmark --test rendered`, then read the difference.

#![allow(clippy::unwrap_used, clippy::panic)]

mod rendered {
    pub(crate) mod documents;
    pub(crate) mod instruments;
    pub(crate) mod pages;
}

use insta::assert_snapshot;
use serde_json::json;
use sixmark::report::documents::Document;
use sixmark::report::sheet::Named;
use sixmark::report::{document_text, junit, long, markdown_page, verdicts_page};
use sixmark_check::check_result::SiteResult;
use sixmark_check::sheet::over_time::{SiteHistory, SiteMoment, history_sheet};
use sixmark_check::site_finding::FindingState;
use sixmark_check::site_verdict::SiteVerdict;
use sixmark_compare::comparison_result::BlockOrder;
use sixmark_design::study_result::{ReanalysedStudy, StudyResult};
use sixmark_report::csv;
use sixmark_report::text::Detail;
use sixmark_sheet::{markdown, terminal};
use sixmark_study::sheet::{
    papers_markdown, papers_text, published_markdown, published_text, study_markdown, study_text,
};
use sixmark_vitals::live_line::live_line;

use rendered::documents::{self, Verdicts};
use rendered::{instruments, pages};

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
    assert_snapshot!(format!("{name}.md"), markdown_page(&[Named { name, document }]));
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
fn renders_runs_over_both_families() {
    whole("run-both", &documents::recorded("run-both"));
    without_page("run-quic", &documents::recorded("run-quic"));
}

#[test]
fn renders_a_mix_of_requests() {
    whole("run-mix", &documents::recorded("run-mix"));
    let comparison = documents::compared_mix();
    let md = markdown_page(&[Named { name: "mix", document: &comparison }]);
    let at = md.find("**Response time of each request").unwrap();
    let end = md[at..].find("<details>").unwrap();
    assert_snapshot!("comparison-mix.md", &md[at..at + end]);
    let document = documents::recorded("run-mix");
    let csv = long::csv_of_figures(&[Named { name: "run-mix", document: &document }]);
    let of_requests = csv.lines().filter(|line| line.contains(",request,"));
    assert_snapshot!("run-mix.csv", of_requests.collect::<Vec<_>>().join("\n"));
}

#[test]
fn renders_a_run_with_several_rate_steps() {
    whole("run-steps", &documents::stepped());
}

#[test]
fn renders_a_run_over_one_family() {
    whole("run-one", &documents::recorded("run-one"));
}

#[test]
fn renders_runs_with_failures() {
    whole("run-failing", &documents::recorded("run-failing"));
    whole("run-crowded", &documents::crowded());
    whole("run-fleet", &documents::of_a_fleet());
    without_page("run-silent", &documents::silent());
}

#[test]
fn renders_a_search_for_the_highest_rate() {
    whole("find-max", &documents::recorded("find-max"));
}

#[test]
fn renders_a_watch_of_captured_packets() {
    whole("watch", &documents::recorded("watch"));
    whole("watch-hidden", &documents::recorded("watch-hidden"));
    whole("watch-secure", &documents::watched_secure());
}

#[test]
fn renders_the_doctor_report() {
    whole("doctor", &documents::recorded("doctor"));
}

#[test]
fn renders_a_check() {
    whole("check", &documents::recorded("check"));
}

#[test]
fn renders_what_a_client_does() {
    whole("eyes", &documents::recorded("eyes"));
    let Document::Eyes(result) = documents::recorded("eyes") else { panic!("it is of a client") };
    assert_snapshot!("eyes.xml", junit::of_eyes(&result));
}

#[test]
fn renders_where_a_program_works() {
    whole("only6", &documents::recorded("only6"));
    let Document::Only6(result) = documents::recorded("only6") else {
        panic!("it is of a program")
    };
    assert_snapshot!("only6.xml", junit::of_only6(&result));
}

/// One site twice, the first time without a difference, and another one once.
#[test]
fn renders_checks_over_time() {
    let Document::Check(last) = documents::recorded("check") else { panic!("it is a check") };
    let last = &last.sites[0];
    let mut first = last.clone();
    (first.verdict, first.since) = (SiteVerdict::AsGood, None);
    first.sentence = "www.test is as good over IPv6 as over IPv4.".to_owned();
    first.findings.retain(|of| of.state == FindingState::Same);
    let moment = |id: &str, started: &str, began_s: f64, site: &SiteResult| {
        SiteMoment::new(id.to_owned(), started, began_s, site)
    };
    let before = moment("17", "2026-11-26T14:03:12.345Z", 1_795_701_792.0, &first);
    let after = moment("21", "2026-11-28T14:57:37.855Z", 1_795_877_857.0, last);
    let site = |url: &str, checks: Vec<SiteMoment>| SiteHistory { url: url.to_owned(), checks };
    let twice = site(&last.url, vec![before.clone(), after]);
    let once = site("https://www.example.net/", vec![before]);
    for (name, sites) in [("checks", vec![twice.clone()]), ("checks-two", vec![twice, once])] {
        let sheet = history_sheet(&sites);
        let text = terminal::sheet_text(&sheet);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert_snapshot!(format!("{name}.text"), text);
        assert_snapshot!(format!("{name}.md"), markdown::markdown_page(&[sheet]));
    }
}

#[test]
fn renders_a_comparison() {
    whole("comparison", &documents::recorded("comparison"));
}

#[test]
fn renders_a_comparison_with_each_verdict() {
    for (name, result) in Verdicts::all() {
        without_page(&format!("comparison-{name}"), &result);
    }
}

#[test]
fn renders_the_verdicts_of_several_comparisons() {
    let results = Verdicts::all().into_iter().map(|(_, document)| match document {
        Document::Comparison(mut result) => {
            result.schedule.order = BlockOrder::Random;
            *result
        }
        _ => panic!("no comparison"),
    });
    let results: Vec<_> = results.collect();
    assert_snapshot!("verdicts.md", verdicts_page(&results.iter().collect::<Vec<_>>()));
}

#[test]
fn renders_a_study() {
    let document = documents::recorded("study");
    whole("study", &document);
    let Document::Study(result) = document else { panic!("not a study") };
    assert_eq!(study_text(&result), document_text(&Document::Study(result.clone()), Detail::Full));
    assert!(study_markdown(&result).starts_with("### Study, quick form: Two sizes"));
    whole("study-turned", &Document::Study(documents::turned(*result).into()));
}

#[test]
fn renders_a_study_with_instruments() {
    let Document::Study(study) = documents::recorded("study") else { panic!("not a study") };
    let study = instruments::with_instruments(*study);
    whole("study-instruments", &Document::Study(study.into()));
}

#[test]
fn the_headline_of_a_study_summarises_its_claims() {
    let Document::Study(study) = documents::recorded("study") else { panic!("not a study") };
    let said = |claims: &[serde_json::Value]| documents::headline(&study, claims);
    let of = documents::claim;
    let unlike = documents::unlike_claim();
    let sentence = |said: &str| json!({"said": said});
    let text = |text: &str| json!({"text": text});
    let published = || json!({"source": "table 2"});
    let few = |blocks| documents::undecided("they are too few", blocks, json!({}));
    for (claims, headline) in [
        (
            vec![of("holds", sentence("small ones came")), of("holds", text("Large ones"))],
            "Small ones came; large ones.",
        ),
        (
            vec![of("does_not_hold", sentence("large ones came")), of("does_not_hold", json!({}))],
            "Large ones came; does not hold: IPv6 is faster.",
        ),
        (
            vec![
                of("holds", published()),
                of("does_not_hold", published()),
                of("does_not_hold", published()),
                documents::undecided("it varies", 5, published()),
                of("does_not_hold", text("Nothing else matters")),
            ],
            "1 of 4 claims of the paper holds, 2 do not hold, 1 is undecided. Does not hold: nothing \
             else matters. The paper's claim that holds: IPv6 is faster. The paper's claims that do not \
             hold: IPv6 is faster; IPv6 is faster.",
        ),
        (
            vec![
                of("holds", published()),
                documents::undecided("--quick omits size 7", 5, published()),
            ],
            "1 of 2 claims of the paper holds, 1 is undecided. The paper's claim that holds: IPv6 is \
             faster. --quick can't decide 1 claim: it omits levels that it needs.",
        ),
        (
            vec![of("holds", text("It is so")), unlike.clone()],
            "It is so. Not comparable: IPv6 is faster (statuses differ).",
        ),
        (vec![unlike.clone(), unlike], "NOT COMPARABLE: statuses differ."),
        (vec![few(2); 2], "2 repetitions are too few for a result; run without --quick."),
        (vec![few(0)], "No claim has figures yet."),
    ] {
        assert_eq!(said(&claims), headline);
    }
}

#[test]
fn renders_a_published_study() {
    let Document::Study(result) = documents::recorded("study") else { panic!("not a study") };
    let turned = documents::turned(*result);
    assert_snapshot!("papers.text", papers_text(&[turned.clone(), turned.clone()]));
    assert_snapshot!("papers.md", papers_markdown(std::slice::from_ref(&turned)));
    let StudyResult { published, claims, .. } = turned;
    let published = ReanalysedStudy { published: published.unwrap(), claims };
    assert_snapshot!("published.text", published_text(&published));
    assert_snapshot!("published.md", published_markdown(&published));
}

#[test]
fn renders_several_documents_on_one_page() {
    let all = ["run-failing", "comparison-worse", "study"];
    let found = [
        documents::recorded("run-failing"),
        Verdicts::all().into_iter().find(|(name, _)| *name == "worse").unwrap().1,
        documents::recorded("study"),
    ];
    let both = all.iter().zip(&found);
    let named: Vec<Named<'_>> = both.map(|(name, document)| Named { name, document }).collect();
    assert_snapshot!("overview.html", pages::overview(&named));
    // A release changes nothing but the version.
    let own = concat!("sixmark ", env!("CARGO_PKG_VERSION"));
    assert_snapshot!("frame.html", pages::frame(&named).replace(own, "sixmark VERSION"));
}

#[test]
fn renders_the_vitals_of_a_machine() {
    let document = documents::recorded("vitals");
    whole("vitals", &document);
    let Document::Vitals(result) = document else { panic!("not vitals") };
    assert_snapshot!("vitals.live", live_line(&result.change));
}

#[test]
fn renders_traffic_between_two_hosts() {
    whole("traffic", &documents::recorded("traffic"));
}

#[test]
fn renders_figures_as_csv() {
    let Document::Run(run) = documents::recorded("run-both") else { panic!("not a run") };
    assert_snapshot!("run-both.csv", csv::csv_of_families(&*run));
    let names = ["run-one", "comparison-better", "study"];
    let better = Verdicts::all().into_iter().find(|(name, _)| *name == "better").unwrap().1;
    let found = [documents::recorded("run-one"), better, documents::recorded("study")];
    let both = names.iter().zip(&found);
    let named: Vec<Named<'_>> = both.map(|(name, document)| Named { name, document }).collect();
    assert_snapshot!("all.csv", long::csv_of_figures(&named));
    let found = [documents::recorded("vitals"), documents::recorded("traffic")];
    let both = ["vitals", "traffic"].into_iter().zip(&found);
    let named: Vec<Named<'_>> = both.map(|(name, document)| Named { name, document }).collect();
    assert_snapshot!("machines.csv", long::csv_of_figures(&named));
}

#[test]
fn renders_gates_as_junit_xml() {
    let Document::Run(run) = documents::recorded("run-both") else { panic!("not a run") };
    assert_snapshot!("run-both.xml", junit::of_run(&run, &run.gates));
    for name in ["run-failing", "watch-hidden"] {
        let xml = match documents::recorded(name) {
            Document::Run(run) => junit::of_run(&run, &run.gates),
            Document::Watch(watch) => junit::of_watch(&watch, &watch.gates),
            other => panic!("{name} is a {}", other.schema()),
        };
        assert_snapshot!(format!("{name}.xml"), xml);
    }
    let Document::Comparison(result) = documents::recorded("comparison") else {
        panic!("not a comparison")
    };
    assert_snapshot!("comparison.xml", junit::of_comparison(&result));
}
