//! Bad input, in one line.

use std::net::TcpListener;

use sixmark_testkit::{complaint, sixmark};

#[test]
fn rejects_invalid_vitals_options_in_one_line() {
    for (words, why) in [
        (&["--interval", "1ms"][..], "from 10ms to 1h"),
        (&["--interval", "soon"], "not a time"),
        (&["--pid", "0"], "not a process ID"),
        (&["--pid", "nginx"], "--service"),
        (&["--pid", "2147483647"], "no such process"),
        (&["--service", "no such service"], "no process has this name"),
        (&["--cgroup", "/no/such/group"], "no control group"),
        (&["--prometheus", "localhost:1"], "not a port"),
        (&["--jsonl", "-", "--csv", "-"], "standard output"),
        (&["--jsonl", "/no/such/folder/file"], "can't write"),
        (&["--json", "/"], "is a folder"),
        (&["--lab", "x"], "--in"),
    ] {
        let line = complaint(&sixmark(&[&["vitals", "-d", "100ms"], words].concat()), 2);
        assert!(line.contains(why), "{words:?}: {line}");
    }
}

#[test]
fn names_a_metrics_port_already_in_use() {
    let holder = TcpListener::bind("[::1]:0").unwrap();
    let taken = holder.local_addr().unwrap().to_string();
    let line = complaint(&sixmark(&["vitals", "-d", "100ms", "--prometheus", &taken]), 2);
    assert!(line.contains(&taken) && line.contains("choose another port"), "{line}");
}

#[test]
fn rejects_an_unusable_vitals_source_before_the_load() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    drop(silent);
    let text = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(text.path(), "node_cpu 1\n").unwrap();
    let page = format!("http://127.0.0.1:{port}/metrics");
    for (from, status, why) in [
        ("/no/such/file", 2, "no such file"),
        (text.path().to_str().unwrap(), 2, "document, nor lines of one"),
        ("https://example.net/metrics", 2, "only over http://"),
        (page.as_str(), 3, "can't fetch metrics"),
        ("lab:no-such-lab/nobody", 2, "no lab 'no-such-lab' is up"),
    ] {
        let line = complaint(&sixmark(&["run", "--vitals-from", from, "http://[::1]:1/"]), status);
        assert!(line.contains(why), "{from}: {line}");
    }
}

/// The disk gets full: a process may write no file longer than this.
#[test]
fn a_failed_sample_file_does_not_stop_the_other_output() {
    let text = "trap '' XFSZ; cd \"$2\" || exit 99
        { (ulimit -f 32; exec \"$1\" vitals -d 2s --interval 20ms --jsonl lost --csv - --quiet \
            --json /dev/fd/3 3>&2 2>errors); echo \"status $?\" >>errors; } | tail -n +2 | wc -l
        cat errors";
    for (lost, kept) in [("--jsonl", "--csv"), ("--csv", "--jsonl")] {
        let text = text.replace("--jsonl lost --csv -", &format!("{lost} lost {kept} -"));
        let output = sixmark_testkit::script(&["sh"], &text);
        let document: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
        sixmark_testkit::forms::VITALS.check(&document);
        assert_eq!(document["warnings"][0]["code"], "file_incomplete", "{document:#}");
        let said = String::from_utf8_lossy(&output.stdout);
        let mut lines = said.lines();
        let whole: u64 = lines.next().unwrap().trim().parse().unwrap();
        assert_eq!(document["taken"], whole, "{said}");
        assert!(lines.next().unwrap().contains("can't write to 'lost'"), "{said}");
        assert_eq!(
            (said.matches("can't write").count(), lines.last()),
            (1, Some("status 3")),
            "{said}"
        );
    }
}
