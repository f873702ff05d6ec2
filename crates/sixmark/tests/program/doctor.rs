//! What a machine allows, beside facts that are read independently.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use sixmark_doctor::judge::CHECK_NAMES;
use sixmark_doctor::purpose::Purpose;
use sixmark_sys::refusal::{RefusedCall, refuse_calls};
use sixmark_testkit::forms::DOCTOR;
use sixmark_testkit::{command, complaint, finish, sixmark};

const PAGE: &str = include_str!("../../../../docs/doctor.md");

/// The document of a doctor who is started by this shell command, of which `"$0"` is the program.
fn started_by(line: &str) -> (Output, Value) {
    let mut command = Command::new("sh");
    command.args(["-c", line, env!("CARGO_BIN_EXE_sixmark")]).env("SIXMARK_STORE", "none");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = finish(command.spawn().unwrap());
    let document = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {output:?}"));
    DOCTOR.check(&document);
    (output, document)
}

fn check<'a>(document: &'a Value, name: &str) -> &'a Value {
    let checks = document["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("no {name}"))
}

fn found<'a>(document: &'a Value, name: &str) -> &'a str {
    check(document, name)["found"].as_str().unwrap()
}

fn text(path: &str) -> String {
    fs::read_to_string(path).unwrap().trim().to_owned()
}

/// Whether a capability of this process, which its children inherit, is in effect.
fn has_capability(bit: u32) -> bool {
    let status = text("/proc/self/status");
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap();
    u64::from_str_radix(line.trim(), 16).unwrap() >> bit & 1 == 1
}

#[test]
fn schema_and_documentation_cover_every_field() {
    let (_, mut good) = started_by("exec \"$0\" doctor --json -");
    // One of each is there to be left out.
    good["checks"][0]["mend"] = json!([{"where": "root", "command": "true", "advice": null}]);
    DOCTOR.knows_every_field(&good, |path| path.ends_with("sysctls"));
    let schema = DOCTOR.schema();
    let shared = ["Environment", "RouteTaken", "Tool"];
    let defs = schema["$defs"].as_object().unwrap().iter();
    let own = defs.filter(|(name, _)| !shared.contains(&name.as_str())).map(|(_, def)| def);
    let all = own.chain([&schema]).filter_map(|def| def["properties"].as_object());
    let fields: BTreeSet<&String> = all.flat_map(serde_json::Map::keys).collect();
    assert!(fields.len() > 15, "{fields:?}");
    for field in fields {
        assert!(PAGE.contains(&format!("| `{field}` |")), "docs/doctor.md lacks {field}");
    }
}

#[test]
fn the_page_explains_every_check_and_every_purpose() {
    for name in CHECK_NAMES.into_iter().chain(Purpose::ALL.map(Purpose::name)) {
        assert!(PAGE.contains(&format!("| `{name}` |")), "docs/doctor.md lacks {name}");
    }
}

#[test]
fn findings_match_the_kernel_settings() {
    let (output, document) = started_by("exec \"$0\" doctor --json -");
    let works =
        check(&document, "ipv6")["state"] == "ok" && check(&document, "ipv4")["state"] == "ok";
    assert_eq!(output.status.code(), Some(i32::from(!works)));
    let port = |at| {
        text("/proc/sys/net/ipv4/ip_local_port_range").split_whitespace().nth(at).map(str::to_owned)
    };
    let ports = format!("{} to {}", port(0).unwrap(), port(1).unwrap());
    assert!(found(&document, "ports").starts_with(&ports), "{}", found(&document, "ports"));
    let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    if let Ok(source) = fs::read_to_string(source) {
        assert!(found(&document, "clock").starts_with(source.trim()));
    }
    let congestion = text("/proc/sys/net/ipv4/tcp_congestion_control");
    assert!(found(&document, "congestion-control").starts_with(&congestion));
    let names: Vec<&str> = document["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    let known: Vec<&str> = CHECK_NAMES.into_iter().filter(|name| names.contains(name)).collect();
    assert_eq!(names, known, "a check is missing from the list of names, or has another place");
    for one in document["checks"].as_array().unwrap() {
        let is_well = one["state"] == "ok";
        assert!(!is_well || one["mend"] == json!([]) && one["prevents"] == json!([]), "{one}");
    }
    assert_eq!(document["required"], json!(["run", "compare"]));
}

/// A child with fewer open files.
#[test]
fn reports_a_low_open_files_limit_and_how_to_raise_it() {
    let (_, document) = started_by("ulimit -n 300 && exec \"$0\" doctor --json -");
    let files = check(&document, "open-files");
    let said = files["found"].as_str().unwrap();
    assert!(said.starts_with("soft limit 300, hard limit 300"), "{said}");
    // CAP_SYS_RESOURCE.
    if has_capability(24) {
        assert_eq!(files["state"], "ok", "{files}");
        return;
    }
    assert_eq!((&files["state"], &files["prevents"]), (&json!("limited"), &json!(["many"])));
    let means = files["means"].as_str().unwrap();
    assert!(means.contains("10,064 open files. At most 236 fit"), "{means}");
    let command = files["mend"][0]["command"].as_str().unwrap();
    assert!(command.contains("65536"), "{command}");
}

/// A filter refuses system calls as those of containers do.
#[test]
fn reports_only_io_uring_as_missing_if_seccomp_blocks_it() {
    let refused = |errno: i32| {
        let number = libc::SYS_io_uring_setup;
        refuse_calls(&[RefusedCall { number, only: None, errno: errno.try_into().unwrap() }])
    };
    for errno in [libc::EPERM, libc::ENOSYS] {
        let work = || {
            refused(errno).unwrap();
            started_by("exec \"$0\" doctor --json - --require timestamps,uring")
        };
        let (output, document) = std::thread::scope(|scope| scope.spawn(work).join().unwrap());
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert_eq!(document["unmet"], json!(["uring"]));
        let uring = check(&document, "io-uring");
        assert_eq!(uring["state"], "missing");
        let said = uring["found"].as_str().unwrap();
        let error = std::io::Error::from_raw_os_error(errno).to_string();
        assert!(said.contains(&error) && said.contains("seccomp"), "{said}");
        assert!(!uring["mend"].as_array().unwrap().is_empty(), "{uring}");
    }
}

#[test]
fn exits_with_status_1_if_a_requirement_is_missing() {
    // Nothing can be found on an empty path, and daemons in /usr/sbin are not browsers.
    let line = "PATH=/nowhere; export PATH; exec \"$0\" doctor --json - --require ";
    let (output, document) = started_by(&format!("{line}browsers,fleet,ports"));
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(document["unmet"], json!(["browsers", "fleet"]));
    assert_eq!(document["required"], json!(["browsers", "fleet", "ports"]));
    let browsers = check(&document, "browsers");
    assert_eq!(browsers["state"], "missing");
    let (output, document) = started_by(&format!("{line}ports,congestion-control"));
    assert_eq!((output.status.code(), &document["unmet"]), (Some(0), &json!([])), "{output:?}");
}

#[test]
fn rejects_an_unknown_requirement_in_one_line() {
    let said = complaint(&sixmark(&["doctor", "--require", "run,wings"]), 2);
    assert!(said.contains("'wings'") && said.ends_with("see `sixmark doctor --help`"), "{said}");
}

#[test]
fn checks_the_store_without_creating_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    let store_of = |data: &Path, options: &[&str]| {
        let mut doctor = command(&[&["doctor", "--json", "-"], options].concat());
        let output =
            finish(doctor.env_remove("SIXMARK_STORE").env("XDG_DATA_HOME", data).spawn().unwrap());
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        check(&document, "store").clone()
    };
    // Folders are made for the usual place only.
    let usual = store_of(folder.path(), &[]);
    let said = usual["found"].as_str().unwrap();
    assert!(said.starts_with(folder.path().to_str().unwrap()), "{said}");
    assert!(said.contains("not made yet") && usual["state"] == "ok", "{usual}");
    let below = folder.path().join("below/results.sqlite");
    let named = store_of(folder.path(), &["--store", below.to_str().unwrap()]);
    assert_eq!(named["state"], "missing", "{named}");
    let under_a_file = store_of(file.path(), &[]);
    assert_eq!(under_a_file["state"], "missing", "{under_a_file}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// What needs attention comes first, each with its command on a line of its own, then a line for each of
/// the others.
#[test]
fn the_text_shows_every_check_and_remedy_of_the_document() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("doctor.json");
    let output = sixmark(&["doctor", "--json", file.to_str().unwrap()]);
    let text = String::from_utf8(output.stdout).unwrap();
    let document: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    DOCTOR.check(&document);
    let fine = text.split("\nIN ORDER\n").nth(1).unwrap();
    for one in document["checks"].as_array().unwrap() {
        let name = one["name"].as_str().unwrap();
        let is_fine = fine.lines().any(|line| line.split(' ').next() == Some(name));
        assert_eq!(is_fine, one["state"] == "ok", "{name}: {text}");
        for mend in one["mend"].as_array().unwrap() {
            let Some(command) = mend["command"].as_str() else { continue };
            assert!(text.contains(&format!("\n$ {command}\n")), "{command}: {text}");
        }
    }
    let shown = sixmark(&["report", "--text", file.to_str().unwrap()]);
    assert_eq!(String::from_utf8(shown.stdout).unwrap(), text);
    for (option, expected) in [("--md", "### Doctor"), ("--csv", ",doctor,")] {
        let output = sixmark(&["report", option, file.to_str().unwrap()]);
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.contains(expected), "{option}: {said}");
    }
}
