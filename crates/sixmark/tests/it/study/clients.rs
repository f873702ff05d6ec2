//! Other programs as clients, for real, over both families.

use std::collections::BTreeSet;
use std::fs;

use super::{Bench, ORIGIN, assert_complete, fine};
use crate::support::{command, complaint, sixmark, skipped};

/// A study of one client over both families.
fn with(client: &str, options: &str) {
    if skipped(client) {
        return;
    }
    let bench = Bench::new(&format!(
        "name = \"clients\"\npath = \"/bytes/5000\"\n[options]\n{options}\n\
         [factors]\nclient = [\"{client}\"]\nfamily = [\"ipv6\", \"ipv4\"]\n"
    ));
    fine(&bench.run(&["--quiet"]));
    let document = bench.document();
    assert_complete(&document);
    assert!(document["programs"][client].as_str().unwrap().len() > 2);
    for cell in document["cells"].as_array().unwrap() {
        let family = cell["levels"][1]["level"].as_str().unwrap();
        let figures = cell["families"][family].as_object().unwrap();
        let of =
            |name: &str| figures[name].as_f64().unwrap_or_else(|| panic!("{name}: {figures:?}"));
        assert!(of("completed") >= 1.0 && of("failed") == 0.0, "{figures:?}");
        assert!(of("requests_per_s") > 0.0 && of("elapsed") > 0.0 && of("cpu") >= 0.0);
        assert!(figures.contains_key("goodput") || figures.contains_key("transfer_rate"));
        assert_eq!(cell["client"], client);
        assert_eq!(cell["warnings"].as_array().unwrap().len(), 0, "{cell}");
    }
    let kept = super::read(&bench.cells()[0]);
    let status = kept["output"]["status"].as_str().unwrap();
    assert!(kept["result"].is_null() && (status.contains('0') || status == "runs on"));
}

/// A browser's cells: with kept connections and without.
fn with_browser(client: &str) {
    with(client, "count = 3\ntimeout = \"60s\"");
    if skipped(client) {
        return;
    }
    let bench = Bench::new(&format!(
        "name = \"clients\"\n[options]\ncount = 2\ntimeout = \"60s\"\n\
         [factors]\nclient = [\"{client}\"]\nfamily = [\"ipv6\", \"ipv4\"]\n\
         path = [\"/bytes/320000\", \"/status/404\"]\nno-keep-alive = [true, false]\n"
    ));
    fine(&bench.run(&["--quiet"]));
    let document = bench.document();
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
    let bench = Bench::new(&format!(
        "name = \"clients\"\npath = \"/reset\"\n[options]\ncount = 1\n\
         [factors]\nclient = [\"{client}\"]\nfamily = [\"ipv6\", \"ipv4\"]\n"
    ));
    fine(&bench.run(&["--quiet"]));
    for cell in bench.document()["cells"].as_array().unwrap() {
        let family = cell["levels"][1]["level"].as_str().unwrap();
        let figures = &cell["families"][family];
        assert_eq!((&figures["completed"], &figures["failed"]), (&0.0.into(), &1.0.into()));
    }
}

#[test]
fn a_browser_that_gets_nothing_says_so() {
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
    let bench = Bench::new(&format!(
        "name = \"clients\"\npath = \"/delay/20\"\n[options]\ncount = 10\n\
         [factors]\nclient = [\"{client}\"]\nfamily = [\"ipv6\", \"ipv4\"]\n"
    ));
    let (file, out) = (bench.file(), bench.out());
    let arguments = ["study", "run", &file, "--out", &out, "--quiet"];
    let mut study = command(&arguments).spawn().unwrap();
    let mut accounts = BTreeSet::new();
    let status = loop {
        if let Ok(note) = fs::read_to_string(bench.path("out/work")) {
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
fn services_see_nothing_of_the_callers_environment() {
    let origin = ORIGIN
        .replace("[\"{sixmark}\"", "[\"sh\", \"-c\", 'env; exec \"$0\" \"$@\"', \"{sixmark}\"");
    let bench = Bench::alone(&format!("name = \"plain\"\n[options]\ncount = 1\n{origin}"));
    let arguments = ["study", "run", &bench.file(), "--out", &bench.out(), "--quiet"];
    let mut study = command(&arguments);
    study.env("API_TOKEN", "not for others").env("LANG", "de_DE.UTF-8");
    fine(&study.output().unwrap());
    let log = fs::read_to_string(bench.path("out/logs/origin.log")).unwrap();
    assert!(log.contains("PATH=") && log.contains("LC_ALL=C"), "{log}");
    assert!(!log.contains("API_TOKEN") && !log.contains("LANG="), "{log}");
}

#[test]
fn chromium_loads() {
    with_browser("chromium");
}

#[test]
fn firefox_loads() {
    with_browser("firefox");
}

#[test]
fn curl_loads() {
    with("curl", "count = 3");
}

#[test]
fn wget_loads() {
    with("wget", "count = 3");
}

#[test]
fn ab_loads() {
    with("ab", "count = 50\nconcurrency = 2");
}

#[test]
fn wrk_loads() {
    with("wrk", "duration = \"1s\"\nconcurrency = 2");
}

#[test]
fn h2load_loads() {
    with("h2load", "count = 50\nconcurrency = 2\nprotocol = \"http/1.1\"");
}

/// Blocks, from and to a file behind qemu's NBD server, which listens to both families.
const BLOCKS: &str = r#"
name = "blocks"
path = "/disk"

[options]
client = "fio"
engine = "nbd"
depth = 4
size = "4m"

[factors]
operation = ["read", "write"]
block = ["64k", "256k"]
family = ["ipv6", "ipv4"]

[[files]]
path = "disk"
size = 4194304
random = true

[services.nbd]
command = ["qemu-nbd", "--bind", "::", "--port", "{port}", "--persistent", "--shared", "8", "--format", "raw",
           "--export-name", "disk", "{www}/disk"]
package = "qemu-utils"
urls = ["nbd://[::1]:{port}", "nbd://127.0.0.1:{port}"]
"#;

#[test]
fn fio_loads() {
    if skipped("fio") {
        return;
    }
    let bench = Bench::alone(BLOCKS);
    fine(&bench.run(&["--quiet"]));
    let document = bench.document();
    assert_complete(&document);
    assert!(document["programs"]["fio"].as_str().unwrap().starts_with("fio-"));
    let cells = document["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 8);
    for cell in cells {
        let [block, family] = [1, 2].map(|place| cell["levels"][place]["level"].as_str().unwrap());
        let figures = &cell["families"][family];
        let blocks = if block == "64k" { 64.0 } else { 16.0 };
        assert_eq!(figures["completed"].as_f64(), Some(blocks), "{cell}");
        for name in ["iops", "goodput", "response.p99", "cpu"] {
            assert!(figures[name].as_f64() > Some(0.0), "{name}: {cell}");
        }
    }
}

#[test]
fn blocks_are_for_fio_alone_and_fio_for_blocks() {
    for (options, part) in [
        ("depth = 2", "depth: is for client = \"fio\" alone"),
        ("client = 'curl'\noperation = 'read'", "operation: is for client = \"fio\" alone"),
        (
            "client = 'fio'\noperation = 'read'\nblock = '64k'\nsize = '1m'",
            "nbd://, nfs:// or iscsi://",
        ),
        ("client = 'fio'\nrate = '5/s'", "rate: is an option of sixmark run"),
    ] {
        let text = format!("name = \"x\"\n[options]\n{options}\n[factors]\nfamily = [\"ipv6\"]\n");
        let bench = Bench::new(&text);
        let line = complaint(&sixmark(&["study", "check", &bench.file()]), 2);
        assert!(line.contains(part), "{options}: {line}");
    }
}
