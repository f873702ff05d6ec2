//! What `sixmark only6` writes: the document, the folder that can be filed, and the check of it.

use std::fs;
use std::path::Path;

use serde_json::Value;
use sixmark_testkit::forms::ONLY6;
use sixmark_testkit::lab::without;
use sixmark_testkit::{complaint, sixmark};

/// Returns the lines that a check of a folder prints, with its status.
fn verify(folder: &Path) -> (Option<i32>, String) {
    let output = sixmark(&["verify", folder.to_str().unwrap()]);
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn a_folder_is_filed_and_each_change_in_it_is_found() {
    if without(&["tayga", "unbound", "nft", "curl"]) {
        return;
    }
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("filed");
    let begin = ["only6", "--client", "curl -sSf -o /dev/null", "--product", "curl"];
    let scenarios = ["--scenarios", "dual-to-ipv6,ipv4-to-dual", "--repeat", "2"];
    let end = ["--output", folder.to_str().unwrap()];
    let output = sixmark(&[&begin[..], &scenarios, &end].concat());
    let said = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}{errors}");
    assert!(said.contains("It works in 2 of 2 scenarios."), "{said}");
    let document = fs::read_to_string(folder.join("only6.json")).unwrap();
    ONLY6.check(&serde_json::from_str::<Value>(&document).unwrap());
    for name in ["only6.html", "only6.md", "captures/dual-to-ipv6-2.pcap"] {
        assert!(folder.join(name).is_file(), "{name}");
    }
    let (status, said) = verify(&folder);
    assert_eq!(status, Some(0), "{said}");
    change_each_part(&folder, &document);
    let again = sixmark(&[&begin[..], &scenarios, &end].concat());
    assert!(complaint(&again, 2).contains("is not empty"));
}

fn change_each_part(folder: &Path, document: &str) {
    let capture = folder.join("captures/ipv4-to-dual-1.pcap");
    let kept = fs::read(&capture).unwrap();
    let mut changed = kept.clone();
    *changed.last_mut().unwrap() ^= 1;
    fs::write(&capture, &changed).unwrap();
    let (status, said) = verify(folder);
    assert_eq!(status, Some(1));
    assert!(said.contains("captures/ipv4-to-dual-1.pcap: its content was changed"), "{said}");
    fs::write(&capture, &kept).unwrap();
    // Whoever makes the hashes anew has changed no packet.
    let place = folder.join("only6.json");
    let other = document.replacen("\"verdict\": \"works\"", "\"verdict\": \"fails\"", 1);
    assert_ne!(other, document);
    fs::write(&place, other).unwrap();
    let sums = fs::read_to_string(folder.join("SHA256SUMS")).unwrap();
    let (status, said) = verify(folder);
    assert_eq!(status, Some(1));
    assert!(said.contains("only6.json: its content was changed"), "{said}");
    assert!(
        said.contains("only6.json: /scenarios/0/verdict is \"fails\", the captures show \"works\""),
        "{said}"
    );
    fs::write(&place, document).unwrap();
    let page = folder.join("only6.html");
    let shown = fs::read_to_string(&page).unwrap();
    fs::write(&page, shown.replace("works", "is fine")).unwrap();
    make_sums(folder, "only6.html");
    let (status, said) = verify(folder);
    assert_eq!(status, Some(1));
    assert!(said.starts_with("only6.html: does not show what only6.json says\n"), "{said}");
    fs::write(&page, shown).unwrap();
    // A client that ran has packets.
    fs::write(&capture, "").unwrap();
    make_sums(folder, "captures/ipv4-to-dual-1.pcap");
    assert!(verify(folder).1.contains("captures/ipv4-to-dual-1.pcap: is too short"));
    fs::write(&capture, &kept).unwrap();
    fs::write(folder.join("SHA256SUMS"), &sums).unwrap();
    fs::write(folder.join("more"), "x").unwrap();
    assert!(verify(folder).1.contains("more: has no hash in SHA256SUMS"));
    fs::remove_file(folder.join("more")).unwrap();
    fs::remove_file(&capture).unwrap();
    assert!(verify(folder).1.contains("captures/ipv4-to-dual-1.pcap: is missing"));
    fs::write(&capture, &kept).unwrap();
    fs::write(folder.join("SHA256SUMS"), format!("{sums}x\n")).unwrap();
    let output = sixmark(&["verify", folder.to_str().unwrap()]);
    assert!(complaint(&output, 2).contains("is not a hash and a path"));
    fs::write(folder.join("SHA256SUMS"), sums).unwrap();
    assert_eq!(verify(folder).0, Some(0));
}

/// Makes the hash of a file anew.
fn make_sums(folder: &Path, path: &str) {
    let place = folder.join("SHA256SUMS");
    let bytes = fs::read(folder.join(path)).unwrap();
    let sums = fs::read_to_string(&place).unwrap();
    let line = |line: &str| match line.ends_with(&format!("  {path}")) {
        true => format!("{}  {path}\n", sixmark_only6::filed_folder::hash_bytes(&bytes)),
        false => format!("{line}\n"),
    };
    fs::write(place, sums.lines().map(line).collect::<String>()).unwrap();
}

#[test]
fn bad_input_is_refused_in_one_line_before_anything_is_started() {
    let refused = |words: &[&str], expected: &str| {
        let said = complaint(&sixmark(words), 2);
        assert!(said.contains(expected), "{said}");
    };
    refused(&["only6", "--client", "/no/such/client"], "no program '/no/such/client' is there");
    refused(&["only6", "--client", "curl 'x"], "closed quotes");
    refused(&["only6", "--client", ""], "a command");
    refused(&["only6", "--server", "true"], "--port");
    refused(&["only6"], "--client");
    let words = ["only6", "--server", "true", "--port", "80"];
    refused(&[&words[..], &["--path", "x"]].concat(), "--path 'x'");
    refused(&[&words[..], &["--scenarios", "broken-to-dual"]].concat(), "is for clients");
    refused(&["only6", "--server", "true", "--port", "53"], "--port 53: packets of this port");
    let words = ["only6", "--client", "true", "--output", "filed", "--json", "filed/x.json"];
    refused(&words, "--json filed/x.json: is in the folder of --output");
    refused(&["verify", "/no/such/folder"], "is it a folder of sixmark only6 --output?");
}

#[test]
fn a_client_with_its_own_server_and_one_whose_server_never_listens() {
    if without(&["tayga", "unbound", "nft", "curl", "python3"]) {
        return;
    }
    let run = |server: &str, scenarios: &str| -> Value {
        let words = ["only6", "--client", "curl -sSf -o /dev/null", "--server", server];
        let more = ["--port", "8080", "--scenarios", scenarios, "--json", "-"];
        serde_json::from_slice(&sixmark(&[&words[..], &more].concat()).stdout).unwrap()
    };
    // The server explains what the client does not.
    for (server, scenario, code) in [
        ("python3 -m http.server --bind 0.0.0.0 {port}", "ipv6-to-dual", "binds-ipv4"),
        ("python3 -m http.server --bind ::1 {port}", "dual-to-dual", "binds-loopback"),
    ] {
        let document = run(server, scenario);
        let codes: Vec<&Value> =
            document["findings"].as_array().unwrap().iter().map(|of| &of["code"]).collect();
        assert_eq!(codes, [code]);
    }
    let both = "ipv6-to-ipv6,clat-to-ipv4";
    let document = run("python3 -m http.server --bind :: {port}", both);
    let verdicts: Vec<&Value> =
        document["scenarios"].as_array().unwrap().iter().map(|of| &of["verdict"]).collect();
    // The host of the other scenario has no stack of IPv6.
    assert_eq!(verdicts, ["works", "fails"], "{:#}", document["findings"]);
    assert_eq!(document["findings"][0]["code"], "never-listens");
    let document = run("true", both);
    assert_eq!(document["findings"][0]["code"], "never-listens");
    assert_eq!(document["findings"][0]["scenarios"].as_array().unwrap().len(), 2);
}

/// Runs a server with `--cost` in one scenario. Returns the document, and the exit status.
fn cost(server: &str, folder: &Path) -> (Value, Option<i32>) {
    let words = ["only6", "--server", server, "--port", "8080", "--scenarios", "dual-to-dual"];
    let more = ["--cost", "--output", folder.to_str().unwrap()];
    let output = sixmark(&[&words[..], &more].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    let document =
        fs::read_to_string(folder.join("only6.json")).unwrap_or_else(|_| panic!("{said}"));
    (serde_json::from_str(&document).unwrap(), output.status.code())
}

#[test]
fn each_way_to_a_server_is_compared_with_native_ipv6() {
    if without(&["tayga", "unbound", "nft", "python3"]) {
        return;
    }
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("filed");
    let (document, status) = cost("python3 -m http.server --bind :: {port}", &folder);
    assert_eq!(status, Some(0), "{:#}", document["warnings"]);
    ONLY6.check(&document);
    let ways: Vec<&Value> =
        document["costs"].as_array().unwrap().iter().map(|of| &of["way"]).collect();
    assert_eq!(ways, ["ipv4", "nat64", "clat", "siit_dc"]);
    for of in document["costs"].as_array().unwrap() {
        let file = folder.join(of["file"].as_str().unwrap());
        let compared: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        assert_eq!(compared["schema"], "sixmark.comparison/1");
        assert!(!of["sentence"].as_str().unwrap().is_empty());
    }
    assert_eq!(verify(&folder).0, Some(0));
    let one = folder.join("cost-nat64.json");
    fs::copy(folder.join("cost-ipv4.json"), &one).unwrap();
    make_sums(&folder, "cost-nat64.json");
    let (status, said) = verify(&folder);
    assert_eq!(status, Some(1));
    assert!(said.contains("only6.json: does not say what cost-nat64.json says"), "{said}");
}
