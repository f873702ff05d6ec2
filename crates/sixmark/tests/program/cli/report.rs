//! Documents shown again.

use std::path::Path;
use std::process::Output;

use serde_json::Value;
use sixmark_testkit::documents::{comparison, kept, real_run, study, traffic, vitals};
use sixmark_testkit::{Origin, command, complaint, finish, sixmark};

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn shown(folder: &Path, document: &Value, how: &[&str]) -> String {
    let file = kept(folder, "document.json", document);
    text(&sixmark(&[&["report", file.to_str().unwrap()], how].concat()))
}

#[test]
fn report_prints_the_same_table_as_the_run() {
    let origin = Origin::start();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("result.json");
    let [v6, v4] = origin.urls("/bytes/10");
    let file = file.to_str().unwrap();
    let run = sixmark(&["run", "-n", "200", "-c", "2", "--json", file, &v6, &v4]);
    for how in [&["report", file][..], &["report", "--text", file]] {
        let report = sixmark(how);
        assert_eq!(text(&report), text(&run));
        assert_eq!(report.stderr, run.stderr, "warnings as well");
    }
    let piped = command(&["report", "-"]).stdin(std::fs::File::open(file).unwrap()).spawn();
    assert_eq!(text(&finish(piped.unwrap())), text(&run));
}

#[test]
fn renders_every_document_kind_as_text_html_markdown_and_csv() {
    let folder = tempfile::tempdir().unwrap();
    for document in [real_run(), &comparison(), &study(), &vitals(), &traffic()] {
        let schema = &document["schema"];
        let page = shown(folder.path(), document, &["--html", "-"]);
        assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"), "{schema}");
        let markdown = shown(folder.path(), document, &["--md"]);
        assert!(markdown.starts_with("### ") && markdown.contains("| --- |"), "{schema}");
        assert!(!shown(folder.path(), document, &[]).is_empty(), "{schema}");
        let csv = shown(folder.path(), document, &["--csv"]);
        let mut lines = csv.split_terminator("\r\n");
        let header = "document,kind,started,part,number,side,metric,value";
        assert_eq!(lines.next(), Some(header), "{schema}");
        assert!(lines.all(|line| line.split(',').count() == 8), "{schema}: {csv}");
    }
}

#[test]
fn csv_uses_the_field_names_and_values_of_the_document() {
    let folder = tempfile::tempdir().unwrap();
    let run = real_run();
    let csv = shown(folder.path(), run, &["--csv"]);
    let sent = &run["families"]["ipv6"]["requests"]["sent"];
    let p99 = &run["families"]["ipv4"]["response_us"]["p99"];
    let first = &run["intervals"][1]["families"]["ipv6"]["completed"];
    for line in [
        format!(",run,,ipv6,requests.sent,{sent}\r\n"),
        format!(",run,,ipv4,response_us.p99,{p99}\r\n"),
        format!(",second,1,ipv6,completed,{first}\r\n"),
    ] {
        assert!(csv.contains(&line), "{line}");
    }
    let csv = shown(folder.path(), &comparison(), &["--csv"]);
    assert!(csv.contains(",compared,,ipv6,response.p50.verdict,worse\r\n"), "{csv}");
    assert!(csv.contains(",block,3,ipv6,requests.sent,402\r\n"), "{csv}");
}

#[test]
fn prometheus_output_uses_base_units_and_replaces_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let run = real_run();
    let file = folder.path().join("sixmark.prom");
    let printed = shown(folder.path(), run, &["--prometheus", file.to_str().unwrap()]);
    assert_eq!(printed, "");
    let page = std::fs::read_to_string(&file).unwrap();
    let sent = &run["families"]["ipv6"]["requests"]["sent"];
    let seconds = run["families"]["ipv4"]["response_us"]["p99"].as_f64().unwrap() / 1e6;
    for end in
        [format!("side=\"ipv6\"}} {sent}"), format!("side=\"ipv4\",quantile=\"0.99\"}} {seconds}")]
    {
        assert!(page.lines().any(|line| line.ends_with(&end)), "{end}: {page}");
    }
    let text = shown(folder.path(), run, &["--prometheus", file.to_str().unwrap(), "--text"]);
    assert!(text.contains("Median response time"), "{text}");
    let page = shown(folder.path(), &comparison(), &["--prometheus", "-"]);
    let worse = "metric=\"response.p50\",verdict=\"worse\"} 1\n";
    assert!(page.contains(worse), "{page}");
}

#[test]
fn markdown_states_the_verdict_in_plain_words() {
    let folder = tempfile::tempdir().unwrap();
    let markdown = shown(folder.path(), &comparison(), &["--md"]).replace('\u{a0}', " ");
    assert!(markdown.contains("**WORSE** – IPv6 takes 10"), "{markdown}");
    assert!(
        markdown.contains(" % more time than IPv4 (median response; 95 % interval"),
        "{markdown}"
    );
    let markdown = shown(folder.path(), real_run(), &["--md"]);
    assert!(markdown.contains("For a verdict, use `sixmark compare"), "{markdown}");
    assert!(!markdown.contains("IPv6 to IPv4"), "{markdown}");
}

#[test]
fn verdicts_option_lists_verdicts_and_rejects_documents_without_any() {
    let folder = tempfile::tempdir().unwrap();
    let markdown = shown(folder.path(), &comparison(), &["--verdicts"]).replace('\u{a0}', " ");
    assert!(markdown.starts_with("### Comparison: IPv6 vs IPv4, http"), "{markdown}");
    assert!(markdown.contains("| response median | worse |"), "{markdown}");
    assert!(
        markdown.ends_with("not comparable.\n") || markdown.contains("not known"),
        "{markdown}"
    );
    let file = kept(folder.path(), "run.json", real_run());
    let said = complaint(&sixmark(&["report", file.to_str().unwrap(), "--verdicts"]), 2);
    assert!(said.contains("is a sixmark.result/1 and has no verdicts"), "{said}");
}

#[test]
fn renders_several_documents_on_one_html_page() {
    let folder = tempfile::tempdir().unwrap();
    let files = [("a.json", real_run()), ("b.json", &comparison())]
        .map(|(name, document)| kept(folder.path(), name, document));
    let page = folder.path().join("page.html");
    let [a, b] = files.each_ref().map(|file| file.to_str().unwrap());
    let output = sixmark(&["report", a, b, "--html", page.to_str().unwrap()]);
    assert_eq!(text(&output), "");
    let page = std::fs::read_to_string(&page).unwrap();
    assert!(page.contains("<h1>2 results</h1>"));
    assert_eq!(page.matches("<article").count(), 2);
}

#[test]
fn rejects_unreadable_documents_and_option_conflicts_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("text"), "hello").unwrap();
    std::fs::write(path("har"), "{\"schema\":\"har\"}").unwrap();
    std::fs::write(path("future"), "{\"schema\":\"sixmark.result/2\"}").unwrap();
    std::fs::write(path("part"), "{\"schema\":\"sixmark.result/1\"}").unwrap();
    std::fs::write(path("binary"), [0xff, 0xff]).unwrap();
    let lines = "{\"schema\":\"sixmark.vitals/1\"}\n{\"at_us\":1}\n";
    std::fs::write(path("lines"), lines).unwrap();
    kept(folder.path(), "study", &study());
    let fine = kept(folder.path(), "fine", real_run()).to_str().unwrap().to_owned();
    for (arguments, why) in [
        (vec![path("none")], "can't read"),
        (vec![path("text")], "is not a document of sixmark"),
        (vec![path("har")], "'har', not one of sixmark's documents"),
        (vec![path("future")], "does not read"),
        (vec![path("part")], "missing field"),
        (vec![path("lines")], "without --jsonl"),
        (vec![path("binary")], "can't read"),
        (vec![folder.path().to_str().unwrap().to_owned()], "can't read"),
        (vec![fine.clone(), path("text")], "is not a document"),
        (vec!["-".into(), "-".into()], "only once"),
        (vec![fine.clone(), "--html".into(), "-".into(), "--md".into()], "standard output"),
        (vec![fine.clone(), "--csv".into(), "--md".into()], "cannot be used with"),
        (
            vec![fine.clone(), "--prometheus".into(), "-".into(), "--csv".into()],
            "--prometheus a file",
        ),
        (
            ["--prometheus", "-", "--html", "-"]
                .map(str::to_owned)
                .into_iter()
                .chain([fine.clone()])
                .collect(),
            "standard output",
        ),
        (vec![fine.clone(), fine.clone(), "--prometheus".into(), "-".into()], "have the labels"),
        (vec![path("study"), "--prometheus".into(), "-".into()], "needs documents of"),
        (vec![fine, "--html".into(), path("no/such/page.html")], "can't write"),
    ] {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let said = complaint(&sixmark(&[&["report"], &words[..]].concat()), 2);
        assert!(said.contains(why), "{arguments:?}: {said}");
    }
}

/// Its histograms are read with care: wrong ones are told of, the rest is shown.
#[test]
fn an_unreadable_histogram_leaves_the_other_charts_intact() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = real_run().clone();
    run["families"]["ipv6"]["wait_us"]["hdr"] = "AAAA".into();
    let page = shown(folder.path(), &run, &["--html", "-"]);
    assert!(page.contains("Wait, IPv6: a histogram can’t be read"), "it says so");
    assert!(page.contains("Response: percentiles"));
}
