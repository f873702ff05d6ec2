//! Where results go, and how they look.

use std::process::Output;

use sixmark_testkit::{Origin, check, command, complaint, document, finish, script, sixmark};
use sixmark_units::family::Family;

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A short run with these options besides.
fn run(origin: &Origin, options: &[&str]) -> Output {
    let [v6, v4] = origin.urls("/bytes/10");
    sixmark(&[&["run", "-n", "20", "-c", "2"], options, &[&v6, &v4]].concat())
}

#[test]
fn replaces_the_output_file_atomically() {
    let origin = Origin::start();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("result.json");
    std::fs::write(&file, "old").unwrap();
    // Were the file written in place, this second name would see it.
    let other = folder.path().join("other");
    std::fs::hard_link(&file, &other).unwrap();
    let output = run(&origin, &["--json", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("requests sent"), "the table comes all the same");
    check(&serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap());
    assert_eq!(std::fs::read_to_string(&other).unwrap(), "old");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "no draft is left");
}

#[test]
fn writes_only_the_document_to_standard_output() {
    let origin = Origin::start();
    let output = run(&origin, &["--json", "-"]);
    assert_eq!(document(&output)["total"]["requests"]["sent"], 20);
}

/// As the shell's `--json >(jq .)` names it.
#[test]
fn a_document_can_go_into_a_pipe() {
    let origin = Origin::start();
    let output = run(&origin, &["--quiet", "--json", "/dev/fd/1"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(document(&output)["total"]["requests"]["sent"], 20);
}

/// /dev/full is a disk without room.
#[test]
fn saves_the_document_in_tmpdir_when_the_disk_is_full() {
    let origin = Origin::start();
    let folder = tempfile::tempdir().unwrap();
    let [v6, v4] = origin.urls("/bytes/10");
    let load = ["run", "-n", "20", "-c", "2", "--json", "/dev/full", &v6, &v4];
    let output = finish(command(&load).env("TMPDIR", folder.path()).spawn().unwrap());
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    let kept = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    assert!(said.contains(kept.to_str().unwrap()), "{said}");
    check(&serde_json::from_slice(&std::fs::read(kept).unwrap()).unwrap());
    assert!(text(&output.stdout).contains("requests sent"), "the table comes all the same");
}

/// As where TMPDIR names a folder that is gone.
#[test]
fn saves_the_document_elsewhere_when_tmpdir_does_not_exist() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/10");
    let load = ["run", "-q", "-n", "20", "-c", "2", "--json", "/dev/full", &v6, &v4];
    let output = finish(command(&load).env("TMPDIR", "/nonexistent").spawn().unwrap());
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    let kept = said.split("saved as '").nth(1).and_then(|rest| rest.split('\'').next());
    let kept = kept.unwrap_or_else(|| panic!("{said}"));
    check(&serde_json::from_slice(&std::fs::read(kept).unwrap()).unwrap());
    std::fs::remove_file(kept).unwrap();
}

/// A limit on the size of files is a full disk, not the end of the process.
#[test]
fn reports_the_file_size_limit_as_a_write_error() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/10");
    let line = format!(
        "ulimit -f 4; cd \"$2\"; TMPDIR=\"$2\" \"$1\" run -n 20 -c 2 --json document '{v6}' '{v4}'"
    );
    let output = script(&["sh"], &line);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("can't write 'document': File too large"), "{said}");
    assert!(text(&output.stdout).contains("requests sent"), "the table comes all the same");
}

#[test]
fn refuses_to_write_to_a_closed_standard_output_before_the_load() {
    for load in [
        "run -n 1 http://[::1]:9/ --json -",
        "run -n 1 http://127.0.0.1:9/ --html -",
        "compare -n 1 http://[::1]:9/ http://127.0.0.1:9/ --json -",
        "vitals -d 50ms --jsonl -",
    ] {
        let said = complaint(&script(&["sh"], &format!("\"$1\" {load} >&-")), 2);
        assert!(said.contains("standard output is closed"), "{load}: {said}");
    }
}

/// Its reader goes away, or it is on a disk without room.
#[test]
fn saves_the_document_elsewhere_when_standard_output_fails() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/10");
    for to in ["| :", ">/dev/full"] {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().display();
        let line = format!(
            "mkfifo '{at}/status'
             {{ TMPDIR='{at}' \"$1\" run -q -n 20 -c 2 --json - '{v6}' '{v4}'; echo $? >'{at}/status' & }} {to}
             exit $(cat '{at}/status')"
        );
        let output = script(&["sh"], &line);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{to}: {said}");
        assert!(said.contains("can't write to standard output"), "{said}");
        let kept = said.split('\'').nth(2).unwrap_or_else(|| panic!("{said}"));
        check(&serde_json::from_slice(&std::fs::read(kept).unwrap()).unwrap());
    }
}

/// A terminal that is gone, say.
#[test]
fn writes_the_document_even_if_the_table_cannot_be_printed() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/10");
    let pages = format!("'{v6}' '{v4}'");
    for load in [
        format!("run -n 20 -c 2 {pages}"),
        format!("compare --blocks 2 -n 20 -c 2 {pages}"),
        "vitals -d 50ms --interval 10ms".to_owned(),
    ] {
        let text = format!(
            "\"$1\" {load} --json \"$2/document\" >/dev/full; echo $?; cat \"$2/document\""
        );
        let output = script(&["sh"], &text);
        let (status, document) = text_of_status(&output.stdout);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(status, "3", "{load}: {said}");
        assert!(said.contains("can't write to standard output"), "{load}: {said}");
        assert!(document["schema"].is_string(), "{load}");
    }
}

fn text_of_status(stdout: &[u8]) -> (String, serde_json::Value) {
    let all = text(stdout);
    let (status, document) = all.split_once('\n').unwrap();
    (status.to_owned(), serde_json::from_str(document).unwrap())
}

#[test]
fn new_files_follow_umask_or_stay_private_and_old_ones_keep_their_mode() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let origin = Origin::start();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (json, csv, html) = (at("a.json"), at("a.csv"), at("a.html"));
    std::fs::write(&csv, "").unwrap();
    std::fs::set_permissions(&csv, std::fs::Permissions::from_mode(0o604)).unwrap();
    let output = run(&origin, &["--json", &json, "--csv", &csv, "--html", &html]);
    assert_eq!(output.status.code(), Some(0));
    let modes = [&json, &csv, &html].map(|path| std::fs::metadata(path).unwrap().mode() & 0o777);
    // As any other new file, by this process's umask.
    let usual = at("usual");
    std::fs::write(&usual, "").unwrap();
    let usual = std::fs::metadata(&usual).unwrap().mode() & 0o777;
    assert_eq!(modes, [usual, 0o604, usual]);
    let (kept, page, copy) = (at("kept.json"), at("kept.html"), at("copy.html"));
    let secret = ["-H", "Authorization: Basic eA==", "--keep-secrets"];
    run(&origin, &[&secret[..], &["--json", &kept, "--html", &page]].concat());
    let report = sixmark(&["report", "--html", &copy, &kept]);
    assert_eq!(report.status.code(), Some(0));
    for path in [&kept, &page, &copy] {
        assert_eq!(std::fs::metadata(path).unwrap().mode() & 0o777, 0o600, "{path}");
    }
}

#[test]
fn rejects_conflicting_output_files_before_the_load() {
    let folder = tempfile::tempdir().unwrap();
    let same = folder.path().join("same").to_str().unwrap().to_owned();
    let link = folder.path().join("link").to_str().unwrap().to_owned();
    std::os::unix::fs::symlink("same", &link).unwrap();
    for (options, why) in [
        (["--json", &same, "--csv", &same], "two documents can't both be written to"),
        (["--json", &same, "--html", &link], "two documents can't both be written to"),
        (["--json", "-", "--csv", "-"], "two documents can't both go to standard output"),
        (["--json", "", "-c", "1"], "the name of an output file is empty"),
    ] {
        let load = ["-n", "1", "http://[::1]:9/"];
        let said = complaint(&sixmark(&[&["run"], &options[..], &load].concat()), 2);
        assert!(said.contains(why), "{options:?}: {said}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "the link alone");
}

/// Control characters of a peer and of a document are shown, not obeyed.
#[test]
fn escapes_control_characters_from_peers_and_documents() {
    let mut document = sixmark_testkit::documents::real_run().clone();
    let evil = "x\u{1b}[2J\u{9b}31m\u{202e}moc.live";
    document["warnings"] = serde_json::json!([{ "code": "evil", "message": evil }]);
    document["plan"]["targets"][0] = serde_json::json!(format!("http://[::1]:1/{evil}"));
    let folder = tempfile::tempdir().unwrap();
    let file = sixmark_testkit::documents::kept(folder.path(), "run.json", &document);
    let shown = "x\\u{1b}[2J\\u{9b}31m\\u{202e}moc.live";
    for form in [&[][..], &["--md"]] {
        let output = sixmark(&[&["report", file.to_str().unwrap()], form].concat());
        let [said, table] = [&output.stderr, &output.stdout].map(|bytes| text(bytes));
        let hidden = |text: &str| text.contains(sixmark_units::visible::is_hidden);
        assert!(!hidden(&said) && !hidden(&table), "{said}{table}");
        assert!(said.contains(shown) || table.contains(shown), "{form:?}: {said}{table}");
    }
    // What was typed is said as it would look.
    let said = complaint(&sixmark(&["run", "http://\u{1b}]0;owned\u{7}/"]), 2);
    assert!(!said.contains('\u{1b}'), "{said}");
}

#[test]
fn csv_has_a_line_for_each_family_and_one_for_both() {
    let origin = Origin::start();
    let output = text(&run(&origin, &["--csv", "-"]).stdout);
    let rows: Vec<Vec<&str>> =
        output.split_terminator("\r\n").map(|r| r.split(',').collect()).collect();
    assert_eq!(
        rows.iter().map(|row| row[0]).collect::<Vec<_>>(),
        ["family", "ipv6", "ipv4", "total"]
    );
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{output}");
    let column = |name: &str| rows[0].iter().position(|&column| column == name).unwrap();
    for (name, expected) in [("sent", ["10", "10", "20"]), ("NORMAL", ["10", "10", "20"])] {
        let at = column(name);
        assert_eq!(rows[1..].iter().map(|row| row[at]).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn a_quiet_run_prints_only_warnings() {
    let origin = Origin::start();
    let output = run(&origin, &["--quiet", "--full"]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), String::new()));
    let said = text(&output.stderr);
    assert!(said.lines().all(|line| line.starts_with("sixmark: warning: ")), "{said}");
    assert!(said.contains("[few_samples]"), "{said}");
    let brief = text(&run(&origin, &["--quiet"]).stderr);
    assert!(brief.contains("10 responses over each family") && !brief.contains('['), "{brief}");
}

#[test]
fn the_table_is_at_most_80_columns_wide() {
    let origin = Origin::start();
    for (path, options) in [
        ("/bytes/100000", &["-n", "2000"][..]),
        ("/reset", &["-n", "2000"]),
        ("/stall", &["-n", "100", "--timeout", "100ms", "--ratio", "4:1"]),
    ] {
        let [v6, v4] = origin.urls(path);
        for detail in [&["--full"][..], &[]] {
            let load = ["run", "-c", "50", "-t", "2"];
            let all = [&load[..], detail, options, &[&v6, &v4]].concat();
            let table = text(&sixmark(&all).stdout);
            let words = table.split_whitespace().collect::<Vec<_>>().join(" ");
            // Without responses there is no difference to be careful with.
            let advised = words.contains("For a verdict, use sixmark compare");
            assert_eq!(advised, path == "/bytes/100000", "{table}");
            assert!(!table.contains("to IPv4"), "{table}");
            for line in table.lines().filter(|line| !line.contains("http://")) {
                assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
            }
        }
    }
}

/// What came first, and the lines from the sentence on.
#[test]
fn a_run_ends_with_at_most_14_lines_and_no_row_of_zero_failures() {
    let origin = Origin::start();
    for path in ["/bytes/10", "/status/404", "/reset"] {
        let [v6, v4] = origin.urls(path);
        let table = text(&sixmark(&["run", "-n", "40", "-c", "2", &v6, &v4]).stdout);
        let parts: Vec<&str> = table.split("\n\n").collect();
        assert_eq!(parts.len(), 3, "{table}");
        assert!(parts[2].lines().count() <= 14, "{table}");
        let failed = parts[2].contains("requests failed");
        assert_eq!(failed, path != "/bytes/10", "no row of zeros: {table}");
        assert_eq!(parts[1].contains("no request failed"), !failed, "{table}");
    }
}

#[test]
fn the_table_lists_status_codes_unless_all_are_200() {
    let origin = Origin::start();
    let [good, bad] = [Family::Ipv6, Family::Ipv4].map(|family| {
        let path = if family == Family::Ipv6 { "/bytes/1" } else { "/status/503" };
        origin.url(family, path)
    });
    let table = text(&sixmark(&["run", "-n", "20", "-c", "2", &good, &bad]).stdout);
    let row = |label: &str| {
        let line = table.lines().find(|line| line.trim_start().starts_with(label));
        line.unwrap().split_whitespace().skip(2).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        (row("status 200"), row("status 503")),
        (vec!["10".into(), "0".into()], vec!["0".into(), "10".into()])
    );
    assert!(!text(&run(&origin, &[]).stdout).contains("status"));
}

#[test]
fn the_table_shows_the_dns_resolution_time() {
    let origin = Origin::start();
    let url = origin.url(Family::Ipv4, "/bytes/1").replace("127.0.0.1", "localhost");
    let table = text(&sixmark(&["run", "--full", "-4", "-n", "20", "-c", "2", &url]).stdout);
    let (_, found) = table.split_once("Name resolution").unwrap();
    assert!(found.lines().any(|line| line.starts_with("localhost ")), "{table}");
}

#[test]
fn help_and_version_exit_with_status_0() {
    for arguments in [&["--help"][..], &["--version"], &["run", "--help"]] {
        let output = sixmark(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(!output.stdout.is_empty() && output.stderr.is_empty(), "{arguments:?}");
    }
}
