//! Browsers as clients of studies, for real, over both families.

use std::collections::BTreeSet;
use std::fs;

use sixmark_testkit::clients::loads_with;
use sixmark_testkit::study::{StudyFixture, assert_complete, fine};
use sixmark_testkit::{command, skipped};

/// A browser's cells: with kept connections and without.
fn with_browser(client: &str) {
    loads_with(client, "count = 3\ntimeout = \"60s\"");
    if skipped(client) {
        return;
    }
    let fixture = StudyFixture::new(&format!(
        "name = \"clients\"\n[options]\ncount = 2\ntimeout = \"60s\"\n\
         [factors]\nclient = [\"{client}\"]\nfamily = [\"ipv6\", \"ipv4\"]\n\
         path = [\"/bytes/320000\", \"/status/404\"]\nno-keep-alive = [true, false]\n"
    ));
    fine(&fixture.run(&["--quiet"]));
    let document = fixture.document();
    assert_complete(&document);
    for cell in document["cells"].as_array().unwrap() {
        let level = |at: usize| cell["levels"][at]["level"].as_str().unwrap();
        let of = |name: &str| cell["families"][level(1)][name].as_f64().unwrap();
        let opened = if level(3) == "true" { 2.0 } else { 1.0 };
        assert_eq!((of("completed"), of("opened")), (2.0, opened), "{cell}");
        assert!(of("wait.mean") > 0.0 && of("response.mean") > of("wait.mean"), "{cell}");
        assert!(of("connect.mean") > 0.0 && of("cpu") > 0.0, "{cell}");
        let goodput = of("goodput") * of("elapsed");
        assert!(level(2) != "/bytes/320000" || (goodput - 640_000.0).abs() < 1.0, "{cell}");
        assert!(of("transfer_rate") > of("goodput"), "{cell}");
        let refused = cell["warnings"].as_array().unwrap().len();
        assert_eq!(refused, usize::from(level(2) == "/status/404"), "{cell}");
    }
}

/// One whose connections are reset: nothing came, and the study goes on.
fn with_browser_in_vain(client: &str) {
    if skipped(client) {
        return;
    }
    let fixture = StudyFixture::new(&format!(
        "name = \"clients\"\npath = \"/reset\"\n[options]\ncount = 1\n\
         [factors]\nclient = [\"{client}\"]\nfamily = [\"ipv6\", \"ipv4\"]\n"
    ));
    fine(&fixture.run(&["--quiet"]));
    for cell in fixture.document()["cells"].as_array().unwrap() {
        let family = cell["levels"][1]["level"].as_str().unwrap();
        let figures = &cell["families"][family];
        assert_eq!((&figures["completed"], &figures["failed"]), (&0.0.into(), &1.0.into()));
    }
}

#[test]
fn counts_a_failure_when_the_browsers_connection_is_reset() {
    with_browser_in_vain("chromium");
    with_browser_in_vain("firefox");
}

/// The accounts of the processes whose command names this folder.
fn accounts_of(folder: &str) -> BTreeSet<u32> {
    let all = fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path()));
    let mut accounts = BTreeSet::new();
    for process in all {
        let command = fs::read(process.join("cmdline")).unwrap_or_default();
        let status = fs::read_to_string(process.join("status")).unwrap_or_default();
        let uid = status.lines().find_map(|line| line.strip_prefix("Uid:"));
        let uid = uid.and_then(|line| line.split_whitespace().next()?.parse::<u32>().ok());
        if String::from_utf8_lossy(&command).contains(folder) {
            accounts.extend(uid);
        }
    }
    accounts
}

/// Foreign code runs in it: it is nobody, or who started it if that is not root.
fn browser_is_not_root(client: &str) {
    if skipped(client) {
        return;
    }
    let fixture = StudyFixture::new(&format!(
        "name = \"clients\"\npath = \"/delay/20\"\n[options]\ncount = 10\n\
         [factors]\nclient = [\"{client}\"]\nfamily = [\"ipv6\", \"ipv4\"]\n"
    ));
    let (file, out) = (fixture.file(), fixture.out());
    let arguments = ["study", "run", &file, "--out", &out, "--quiet"];
    let mut study = command(&arguments).spawn().unwrap();
    let mut accounts = BTreeSet::new();
    let status = loop {
        if let Ok(note) = fs::read_to_string(fixture.path("out/work")) {
            accounts.extend(accounts_of(&format!("{}/browsers", note.trim())));
        }
        if let Some(status) = study.try_wait().unwrap() {
            break status;
        }
    };
    assert!(status.success());
    assert!(!accounts.is_empty() && !accounts.contains(&0), "{client} ran as {accounts:?}");
}

#[test]
fn a_browser_is_not_root() {
    browser_is_not_root("chromium");
    browser_is_not_root("firefox");
}

#[test]
fn chromium_loads_pages_over_both_families() {
    with_browser("chromium");
}

#[test]
fn firefox_loads_pages_over_both_families() {
    with_browser("firefox");
}
