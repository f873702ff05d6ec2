//! Documents and stores that earlier versions wrote are read by this one. `tests/data` has a folder for
//! each version that changed their form, such as `0.1`; the files there never change.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde_json::{Value, json};
use sixmark_testkit::{Origin, complaint, sixmark};
use tempfile::TempDir;

/// The folders of earlier versions.
fn versions() -> Vec<PathBuf> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let folders = fs::read_dir(data).unwrap().map(|entry| entry.unwrap().path());
    let is_version = |path: &PathBuf| path.join("results.sqlite.gz").exists();
    let versions: Vec<PathBuf> = folders.filter(is_version).collect();
    assert!(!versions.is_empty());
    versions
}

/// A folder with the uncompressed files of a version.
fn unpack(version: &Path) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(version).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "gz") {
            let mut content = Vec::new();
            GzDecoder::new(File::open(&path).unwrap()).read_to_end(&mut content).unwrap();
            fs::write(folder.path().join(path.file_stem().unwrap()), content).unwrap();
        }
    }
    folder
}

/// The documents of an unpacked version: path and content.
fn documents(folder: &TempDir) -> Vec<(String, Value)> {
    let paths = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let documents = paths.filter(|path| path.extension().is_some_and(|end| end == "json"));
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        (path.to_str().unwrap().to_owned(), serde_json::from_str(&text).unwrap())
    };
    documents.map(read).collect()
}

fn fine(words: &[&str]) -> String {
    let output = sixmark(words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The numbers of a store's entries, and the schemas of these.
fn listed(store: &str) -> Vec<(String, String)> {
    let list = fine(&["history", "--json", "--limit", "0", "--store", store]);
    let entries = list.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let words = |entry: Value| (entry["id"].to_string(), entry["schema"].to_string());
    entries.map(words).collect()
}

#[test]
fn documents_of_earlier_versions_are_reported_in_every_form() {
    for version in versions() {
        let folder = unpack(&version);
        let documents = documents(&folder);
        assert!(documents.len() >= 6, "{version:?}");
        for (path, document) in &documents {
            let report = |how: &[&str]| fine(&[&["report", path.as_str()], how].concat());
            assert!(!report(&[]).is_empty(), "{path}");
            assert!(!report(&["--full"]).is_empty(), "{path}");
            let markdown = report(&["--md"]);
            assert!(markdown.starts_with("### "), "{path}");
            let page = report(&["--html", "-"]);
            assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"), "{path}");
            let made_by = format!("sixmark {}", document["tool"]["version"].as_str().unwrap());
            assert!(page.contains(&made_by) && markdown.contains(&made_by), "{path}");
            let csv = report(&["--csv"]);
            assert!(csv.starts_with("document,kind,") && csv.lines().count() > 1, "{path}");
        }
    }
}

#[test]
fn lists_stores_of_earlier_versions_and_exports_documents_unchanged() {
    for version in versions() {
        let folder = unpack(&version);
        let path = folder.path().join("results.sqlite");
        let store = path.to_str().unwrap();
        let written: Vec<Value> = documents(&folder).into_iter().map(|(_, value)| value).collect();
        let entries = listed(store);
        assert!(entries.len() >= 4, "{version:?}: {entries:?}");
        assert_eq!(fine(&["history", "--store", store]).lines().count(), entries.len() + 1);
        for (id, schema) in entries {
            assert!(!fine(&["history", "show", &id, "--full", "--store", store]).is_empty());
            let exported: Value =
                serde_json::from_str(&fine(&["history", "export", &id, "--store", store])).unwrap();
            assert!(written.contains(&exported), "{version:?}: {id} {schema}");
        }
    }
}

/// A store that was upgraded takes what this version measures, and both are on one page.
#[test]
fn an_upgraded_store_takes_new_runs_and_reports_old_and_new_together() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/100");
    for version in versions() {
        let folder = unpack(&version);
        let path = folder.path().join("results.sqlite");
        let store = path.to_str().unwrap();
        let before = listed(store);
        let run = before.iter().find(|(_, schema)| schema.contains("sixmark.result/")).unwrap();
        fine(&["run", "-n", "40", "-c", "2", "-q", "--store", store, &v6, &v4]);
        assert_eq!(listed(store).len(), before.len() + 1);
        let report =
            |how: &[&str]| fine(&[&["report", &run.0, "last", "--store", store], how].concat());
        assert!(report(&["--md"]).contains(&v6) && report(&["--html", "-"]).contains(&v6));
        let csv = report(&["--csv"]);
        let names = csv.lines().skip(1).filter_map(|line| line.split(',').next());
        assert_eq!(names.collect::<BTreeSet<_>>().len(), 2, "{csv}");
        // Documents on their own are imported, too.
        let documents = documents(&folder);
        let comparison = documents.iter().find(|(path, _)| path.ends_with("comparison.json"));
        fine(&["history", "import", &comparison.unwrap().0, "--store", store]);
        assert_eq!(listed(store).len(), before.len() + 2);
    }
}

/// Whoever changes the form of a document keeps documents of it: `scripts/keep-documents`.
#[test]
fn test_data_covers_every_current_schema_and_store_version() {
    let unpacked: Vec<TempDir> = versions().iter().map(|version| unpack(version)).collect();
    let kept: BTreeSet<String> = unpacked
        .iter()
        .flat_map(documents)
        .map(|(_, document)| document["schema"].as_str().unwrap().to_owned())
        .collect();
    let written: BTreeSet<String> = [
        sixmark_result::result::SCHEMA,
        sixmark_check::check_result::SCHEMA,
        sixmark_compare::comparison_result::SCHEMA,
        sixmark_doctor::doctor_result::SCHEMA,
        sixmark_design::study_result::SCHEMA,
        sixmark_traffic::traffic_result::SCHEMA,
        sixmark_vitals::vitals_result::SCHEMA,
        sixmark_watch::watch_result::SCHEMA,
    ]
    .map(str::to_owned)
    .into();
    let missing: Vec<_> = written.difference(&kept).collect();
    assert!(
        missing.is_empty(),
        "no document of {missing:?} is kept: run scripts/keep-documents SIXMARK crates/sixmark/tests/data/VERSION"
    );
    let new = unpacked[0].path().join("new.sqlite");
    let document = unpacked[0].path().join("run.json");
    fine(&["history", "import", document.to_str().unwrap(), "--store", new.to_str().unwrap()]);
    let versions: Vec<u32> = unpacked
        .iter()
        .map(|folder| version_of_store(&folder.path().join("results.sqlite")))
        .collect();
    assert!(
        versions.contains(&version_of_store(&new)),
        "no store of this form is kept ({versions:?}): run scripts/keep-documents"
    );
}

/// `PRAGMA user_version`, which is in the header of an SQLite file.
fn version_of_store(path: &Path) -> u32 {
    let content = fs::read(path).unwrap();
    u32::from_be_bytes(content[60..64].try_into().unwrap())
}

#[test]
fn rejects_a_later_schema_version_and_names_the_supported_one() {
    let folder = unpack(&versions()[0]);
    for (path, mut document) in documents(&folder) {
        let schema = document["schema"].as_str().unwrap().to_owned();
        let later = format!("{}/9", schema.split('/').next().unwrap());
        document["schema"] = json!(later);
        fs::write(&path, document.to_string()).unwrap();
        let store = folder.path().join("results.sqlite");
        let store = store.to_str().unwrap();
        for words in [
            vec!["report", &path],
            vec!["report", "--csv", &path],
            vec!["history", "import", &path, "--store", store],
        ] {
            let said = complaint(&sixmark(&words), 2);
            let expected = format!("is a {later}, which this version does not read");
            assert!(said.contains(&expected) && said.contains(&schema), "{words:?}: {said}");
        }
    }
}
