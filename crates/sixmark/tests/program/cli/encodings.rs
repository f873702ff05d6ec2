//! Text files as editors and shells of other systems write them: with a byte order mark, with CRLF,
//! in UTF-16.

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json as value};
use sixmark_testkit::{Origin, command, complaint, document, finish, sixmark};

use super::mix::{ask, files};
use crate::site::{Over, Site};
use crate::store::RUN;

/// A text in each form that it may have: the plain one first.
fn forms(text: &str) -> [Vec<u8>; 5] {
    let lines = text.replace('\n', "\r\n");
    let wide = |bytes: fn(u16) -> [u8; 2]| {
        format!("\u{feff}{lines}").encode_utf16().flat_map(bytes).collect::<Vec<u8>>()
    };
    [
        text.into(),
        lines.clone().into(),
        format!("\u{feff}{lines}").into(),
        wide(u16::to_le_bytes),
        wide(u16::to_be_bytes),
    ]
}

/// A folder whose files have these texts, each in the same form.
fn folders(all: &[(&str, &str)]) -> Vec<tempfile::TempDir> {
    let form = |number: usize| {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in all {
            std::fs::write(folder.path().join(name), &forms(text)[number]).unwrap();
        }
        folder
    };
    (0..forms("").len()).map(form).collect()
}

fn in_folder(folder: &Path, words: &[&str]) -> Output {
    finish(command(words).current_dir(folder).spawn().unwrap())
}

/// The plan of a run in this folder, which succeeds.
fn plan(folder: &Path, words: &[&str]) -> Value {
    let run = ["run", "--quiet", "--json", "-", "-n", "4"];
    document(&in_folder(folder, &[&run[..], words].concat()))["plan"].clone()
}

#[test]
fn reads_target_lists_in_every_text_encoding() {
    let origin = Origin::start();
    let list = format!("# both\n{} weight=2\n{}\n", origin.urls("/a")[0], origin.urls("/b")[1]);
    for folder in folders(&[("targets", &list)]) {
        let plan = plan(folder.path(), &["--targets", "targets"]);
        let targets: Vec<_> = plan["targets"].as_array().unwrap().iter().collect();
        assert_eq!(targets.len(), 2);
        assert_eq!(targets[0]["url"], value!(origin.urls("/a")[0]));
        assert_eq!([&targets[0]["weight"], &targets[1]["weight"]], [2, 1]);
    }
}

#[test]
fn reads_request_files_in_every_text_encoding() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/");
    let mix = "[[request]]\npath = \"/bytes/{{line sizes 1}}\"\n\
               [[request]]\nbody_file = \"body\"\ntemplates = true\npath = \"/sink\"\n";
    let request = value!({"method": "GET", "url": v6, "headers": []});
    let har = value!({"log": {"entries": [{"request": request}]}}).to_string();
    let log = "::1 - - [10/Oct/2000:13:55:36 -0700] \"GET /bytes/1 HTTP/1.1\" 200 1\n";
    let json = "{\"time\":\"2024-01-02T03:04:05Z\",\"request\":\"GET /bytes/1 HTTP/1.1\"}\n";
    let iis = "#Fields: date time cs-method cs-uri-stem\n2024-01-02 03:04:05 GET /bytes/1\n";
    let all = [
        ("mix", mix, 2),
        ("har", har.as_str(), 1),
        ("log", log, 1),
        ("json", json, 1),
        ("iis", iis, 1),
    ];
    for (name, text, number) in all {
        let sizes = ("sizes", "10,a\n20,b\n");
        for folder in folders(&[(name, text), sizes, ("body", "{{seq}}")]) {
            let plan = plan(folder.path(), &["--requests", name, &v6, &v4]);
            assert_eq!(plan["requests"]["number"], number, "{name}");
            assert!(plan["requests"]["shown"][0]["path"] != value!(null), "{name}");
        }
    }
}

#[test]
fn reads_labs_studies_results_and_certificates_in_every_encoding() {
    let lab = "name = \"small\"\n[hosts]\na = {}\n";
    let study = include_str!("../../../../../experiments/blackhole/study.toml");
    let of_study = include_str!("../../../../../experiments/blackhole/lab.toml");
    let origin = Origin::secure();
    let pem = std::fs::read_to_string(origin.authority()).unwrap();
    for folder in folders(&[
        ("small.toml", lab),
        ("study.toml", study),
        ("lab.toml", of_study),
        ("script.mgn", "# nothing\n"),
        ("run.json", RUN),
        ("ca.pem", &pem),
    ]) {
        let done = |words: &[&str]| {
            let output = in_folder(folder.path(), words);
            assert_eq!(output.status.code(), Some(0), "{words:?}: {output:?}");
            output.stdout
        };
        done(&["lab", "check", "small.toml"]);
        done(&["study", "check", "study.toml"]);
        done(&["report", "run.json"]);
        done(&["history", "import", "run.json", "--store", "store"]);
        let kept = done(&["history", "export", "1", "--store", "store"]);
        assert!(kept.starts_with(b"{"), "{}", String::from_utf8_lossy(&kept));
        let said = complaint(&in_folder(folder.path(), &["traffic", "script.mgn"]), 2);
        assert!(said.contains("neither sends nor listens"), "{said}");
        let [v6, v4] = origin.urls("/bytes/10");
        plan(folder.path(), &["--cacert", "ca.pem", &v6, &v4]);
    }
}

#[test]
fn sends_body_files_unchanged() {
    let site = Site::start(Over::Http1);
    let body = "\u{feff}a\r\n";
    let mix = "[[request]]\nbody_file = \"body\"\n";
    let (folder, path) = files(&[("mix", mix), ("body", body)]);
    let file = folder.path().join("body").to_str().unwrap().to_owned();
    for options in [["--requests", &path], ["--body-file", &file]] {
        let asked = ask(&site, Over::Http1, &[&["-n", "2"], &options[..]].concat());
        assert!(asked.iter().all(|asked| asked.body == body), "{asked:?}");
    }
}

#[test]
fn reports_the_line_of_invalid_utf8() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("targets").to_str().unwrap().to_owned();
    std::fs::write(&path, b"# a\nhttp://\xe4/\n").unwrap();
    let said = complaint(&sixmark(&["run", "--targets", &path]), 2);
    assert!(said.contains("targets': it is not UTF-8 text (line 2)"), "{said}");
}
