//! What becomes of what was watched.

use std::fs;
use std::process::Output;

use serde_json::Value;
use sixmark_testkit::forms::WATCH;
use sixmark_testkit::watch::watched;
use sixmark_testkit::wraps::{WRAPS, Wrap};
use sixmark_testkit::{complaint, sixmark, words_of};
use sixmark_units::family::Family;

use super::files::kept;
use super::frames::{BEGIN, Packet, encrypted, exchanges, pcap};

const DOCS: &str = include_str!("../../../../../docs/watch.md");

fn said(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_table_shows_packet_figures_of_both_families() {
    let (_folder, path) = kept(&pcap(&exchanges(3)));
    let table = said(&sixmark(&["watch", "-r", path.to_str().unwrap()]));
    let words = words_of(&table);
    for row in [
        "60 packets, 6 connections to any port",
        "requests sent 3 3",
        "Wait mean 2.00 ms 2.00 ms",
        "answered, median 1.00 ms 1.00 ms",
        "Connections by closure NORMAL 3 3",
    ] {
        assert!(words.contains(row), "{row}\n{table}");
    }
}

#[test]
fn watch_output_has_a_summary_and_omits_advice_for_runs() {
    let asked = |families: &[Family]| {
        let (_folder, path) = kept(&pcap(&encrypted(3, families)));
        let file = path.to_str().unwrap();
        let page = said(&sixmark(&["watch", "-r", file, "-q", "--html", "-"]));
        (said(&sixmark(&["watch", "-r", file])), page)
    };
    let (table, page) = asked(&[]);
    let answer = "IPv6: 3 requests answered, median 3.00 ms; IPv4: 3, median 3.00 ms.";
    assert!(words_of(&table).contains(answer), "{table}");
    assert!(page.replace('\u{a0}', " ").contains(answer), "{page}");
    assert!(page.contains("From the last packet of a request to the first packet of the response"));
    for of_runs in ["sixmark compare", "handed to the kernel", "when an exchange was due"] {
        assert!(!table.contains(of_runs) && !page.contains(of_runs), "{of_runs}");
    }
    let (table, _) = asked(&[Family::Ipv4]);
    let begin = "IPv6: 3 requests answered, median 3.00 ms; IPv4: 3 connections unread (TLS 3), ";
    assert!(words_of(&table).contains(begin), "{table}");
}

/// The packets of a connection of each family, of two in a VLAN and of two in a tunnel, and packets
/// that are of none.
fn tunnelled() -> Vec<Packet> {
    let [vlan, gre] =
        ["vlan", "GRE"].map(|name| WRAPS.into_iter().find(|wrap| wrap.name == name).unwrap());
    let wrapped = |wrap: Wrap| {
        let packets = exchanges(2).into_iter();
        packets.map(move |(at, frame)| (at, wrap.frame(&frame)))
    };
    let others = [&[0x08, 0x06][..], &[0x08, 0x06], &[0x88, 0xcc], &[0x88, 0xb5]];
    let others = others.map(|kind| (BEGIN, [&[2; 12][..], kind, &[0; 46]].concat()));
    let mut all: Vec<Packet> =
        others.into_iter().chain(exchanges(1)).chain(wrapped(vlan)).chain(wrapped(gre)).collect();
    all.sort_by_key(|(at, _)| *at);
    all
}

#[test]
fn reports_tunnels_and_unfollowed_packets_in_every_format() {
    let (folder, path) = kept(&pcap(&tunnelled()));
    let file = path.to_str().unwrap();
    let (document, _) = watched(&path, &["--port", "80"]);
    let seen = &document["watched"];
    let others = serde_json::json!({"ARP": 2, "EtherType 0x88b5": 1, "LLDP": 1});
    assert_eq!((&seen["not_followed"], &seen["followed"]), (&others, &100.into()));
    for family in ["ipv6", "ipv4"] {
        let via = serde_json::json!({"gre": 2, "vlan 46": 2});
        assert_eq!(seen["families"][family]["via"], via);
        assert_eq!(document["families"][family]["connect_us"]["max"], 2e3);
        assert_eq!(document["families"][family]["requests"]["completed"], 5);
    }
    let table = said(&sixmark(&["watch", "-r", file]));
    let words = words_of(&table);
    for rows in [
        "104 packets, 10 connections to any port",
        "of followed connections 100 ARP 2 EtherType 0x88b5 1 LLDP 1",
        "Connections by tags and tunnels gre 2 2 vlan 46 2 2",
    ] {
        assert!(words.contains(rows), "{rows}\n{table}");
    }
    let page = said(&sixmark(&["watch", "-r", file, "-q", "--html", "-"]));
    for words in ["What the packets are", "LLDP", "Connections by tags and tunnels", "vlan 46"] {
        assert!(page.contains(words), "{words}");
    }
    let lines = folder.path().join("c.jsonl");
    said(&sixmark(&["watch", "-r", file, "-q", "--connections", lines.to_str().unwrap()]));
    let text = fs::read_to_string(lines).unwrap();
    let count = |words: &str| text.matches(words).count();
    let counts = [r#""via":"gre""#, r#""via":"vlan 46""#, r#""via":null"#].map(count);
    assert_eq!(counts, [4, 4, 2]);
}

#[test]
fn names_the_packet_types_seen_if_there_was_no_connection() {
    let arp = (BEGIN, [&[2; 12][..], &[0x08, 0x06], &[0; 46]].concat());
    let (_folder, path) = kept(&pcap(&[arp.clone(), arp]));
    let line = complaint(&sixmark(&["watch", "-r", path.to_str().unwrap()]), 3);
    assert!(line.contains("no connection was seen in 2 packets (ARP 2); "), "{line}");
}

/// What is encrypted is not nothing.
#[test]
fn reports_encrypted_requests_as_unseen_instead_of_zero() {
    let (_folder, path) = kept(&pcap(&encrypted(3, &Family::BOTH)));
    let file = path.to_str().unwrap();
    let output = sixmark(&["watch", "-r", file]);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        errors.contains("over each family the requests of 3 connections can't be seen"),
        "{errors}"
    );
    let table = said(&output);
    let words = words_of(&table);
    for row in [
        "6 connections to any port",
        "requests of 6 connections can't be seen (TLS 6)",
        "connections 3 3",
        "Connections by protocol tls 3 3",
    ] {
        assert!(words.contains(row), "{row}\n{table}");
    }
    for nothing in ["requests sent", "goodput", "requests/s", "NORMAL                0"] {
        assert!(!table.contains(nothing), "{nothing}\n{table}");
    }
    // Before what packets say of times.
    let at = |what: &str| table.find(what).unwrap_or_else(|| panic!("no {what}\n{table}"));
    assert!(at("answered, median") < at("\nConnect\n"), "{table}");
    let page = said(&sixmark(&["watch", "-r", file, "-q", "--html", "-"]));
    assert!(page.contains("IPv6: 3 connections unread (TLS 3), "), "{page}");
    assert!(words.contains("IPv6: 3 connections unread (TLS 3), "), "{table}");
    for told in ["TLS AND QUIC", "  handshakes completed", "  bytes from servers, as frames"] {
        assert!(table.contains(told), "{told}\n{table}");
    }
    for nothing in ["No complete response", "0 requests", "Exchanges by outcome"] {
        assert!(!page.contains(nothing), "{nothing}");
    }
    let (document, codes) = watched(&path, &[]);
    WATCH.check(&document);
    assert_eq!(codes, ["exchanges_hidden", "exchanges_hidden"]);
    for family in ["ipv6", "ipv4"] {
        assert_eq!(document["watched"]["families"][family]["hidden"], 3);
    }
}

/// What is encrypted is not nothing, so that no gate passes or fails on its being 0.
#[test]
fn a_gate_on_requests_that_can_not_be_seen_cannot_be_decided() {
    let (_folder, path) = kept(&pcap(&encrypted(3, &[Family::Ipv6])));
    let file = path.to_str().unwrap();
    let why = "the requests of 3 connections can't be seen (TLS 3)";
    for (figure, bounds) in [
        ("ipv6.sent", ["< 1", "== 0", ">= 1"]),
        ("ipv6.completed", ["< 1", "== 0", ">= 1"]),
        ("ipv6.outcome.RESET", ["< 1", "> 0", ">= 1"]),
        ("ipv6.failures", ["< 1%", "> 0%", ">= 1%"]),
        ("total.sent", ["< 1", "== 0", ">= 1"]),
    ] {
        for bound in bounds {
            let gate = format!("{figure} {bound}");
            let output = sixmark(&["watch", "-r", file, "-q", "--json", "-", "--fail-if", &gate]);
            let document: Value = serde_json::from_slice(&output.stdout)
                .unwrap_or_else(|error| panic!("{gate}: {error}: {output:?}"));
            assert_eq!(output.status.code(), Some(1), "{gate}");
            let because = format!("cannot be determined: {figure} was not measured: {why}");
            assert_eq!(document["gates"][0]["because"], because.as_str());
        }
    }
    // Of the family that hides nothing, and of connections, figures are known.
    for (gate, status) in
        [("ipv4.sent != 3", 0), ("ipv6.connect.p50 > 1s", 0), ("ipv4.sent == 3", 1)]
    {
        let output = sixmark(&["watch", "-r", file, "-q", "--fail-if", gate]);
        assert_eq!(output.status.code(), Some(status), "{gate}: {output:?}");
    }
}

#[test]
fn shows_an_encrypted_family_as_not_seen_beside_a_plain_one() {
    for (hides, row) in [(Family::Ipv6, "not seen 3"), (Family::Ipv4, "3 not seen")] {
        let row = format!("requests sent {row}");
        let (_folder, path) = kept(&pcap(&encrypted(3, &[hides])));
        let file = path.to_str().unwrap();
        let table = said(&sixmark(&["watch", "-r", file]));
        let words = words_of(&table);
        assert!(words.contains(", 3 requests "), "{table}");
        assert!(words.contains(&row), "{table}");
        let unseen = format!("{hides}: 3 connections unread (TLS 3)");
        assert!(words.contains(&unseen), "{table}");
        let page = said(&sixmark(&["watch", "-r", file, "-q", "--html", "-"]));
        let unread = format!("{hides}: 3 connections unread (TLS 3), ");
        assert!(page.contains(&unread), "{page}");
        assert!(!page.contains("No complete response"));
    }
}

#[test]
fn csv_and_jsonl_lines_have_the_documented_columns() {
    let (folder, path) = kept(&pcap(&exchanges(3)));
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let file = path.to_str().unwrap();
    let (connections, exchanges) = (place("c.csv"), place("e.jsonl"));
    let to = ["--connections", &connections, "--exchanges", &exchanges, "-q"];
    said(&sixmark(&[&["watch", "-r", file], &to[..]].concat()));
    let text = fs::read_to_string(&connections).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 6);
    assert!(rows.iter().all(|row| row.len() == names.len()));
    let at = |name: &str| names.iter().position(|other| *other == name).unwrap();
    assert_eq!(rows[0][at("established_us")], "2000");
    let text = fs::read_to_string(&exchanges).unwrap();
    let objects: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(objects.len(), 6);
    assert_eq!((&objects[0]["path"], &objects[0]["wait_us"]), (&"/one".into(), &2000.into()));
    let [of_connections, of_exchanges] = ["connections", "exchanges"].map(|what| {
        let table = DOCS.split(&format!("| column of {what} |")).nth(1).unwrap();
        table.split("\n\n").next().unwrap()
    });
    let of_json: Vec<&str> = objects[0].as_object().unwrap().keys().map(String::as_str).collect();
    for (table, names) in [(of_connections, names), (of_exchanges, of_json)] {
        let words: Vec<&str> = table
            .lines()
            .filter_map(|row| row.strip_prefix("| ")?.split(" |").next())
            .flat_map(|cell| cell.split('`').skip(1).step_by(2))
            .collect();
        assert!(names.iter().all(|name| words.contains(name)), "{names:?} {words:?}");
        assert_eq!(names.len(), words.len(), "{names:?} {words:?}");
    }
}

#[test]
fn reports_a_stored_watch_in_every_format() {
    let (folder, path) = kept(&pcap(&exchanges(3)));
    let store = folder.path().join("store.sqlite");
    let store = ["--store", store.to_str().unwrap()];
    let file = path.to_str().unwrap();
    said(&sixmark(&[&["watch", "-r", file, "-q", "--label", "mine"], &store[..]].concat()));
    let list = said(&sixmark(&[&["history", "--kind", "watch"], &store[..]].concat()));
    assert!(list.contains("watch") && list.contains("'mine'"), "{list}");
    let wide = said(&sixmark(&[&["history", "--wide"], &store[..]].concat()));
    assert!(wide.contains(file), "{wide}");
    let report = |form: &[&str]| said(&sixmark(&[&["report", "last"], form, &store[..]].concat()));
    assert!(report(&[]).contains("6 connections to any port"));
    assert!(report(&["--md"]).contains("### Watch: "));
    assert!(report(&["--csv"]).contains(",packets,,ipv6,answered_us.p50,"));
    assert!(report(&["--html", "-"]).contains("Packet statistics"));
}

#[test]
fn gates_apply_to_a_watch_as_to_a_run() {
    let (_folder, path) = kept(&pcap(&exchanges(3)));
    let file = path.to_str().unwrap();
    for (gate, status) in [("ipv6.wait.p50 > 1ms", 1), ("ipv4.connect.max > 3ms", 0)] {
        let output = sixmark(&["watch", "-r", file, "-q", "--fail-if", gate, "--junit", "-"]);
        assert_eq!(output.status.code(), Some(status), "{gate}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("sixmark watch "));
    }
}

/// A disk that is full: /dev/full has no room.
#[test]
fn a_failed_connections_or_exchanges_file_leaves_the_rest_intact() {
    let (folder, path) = kept(&pcap(&exchanges(30)));
    let file = path.to_str().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::os::unix::fs::symlink("/dev/full", at("full.csv")).unwrap();
    for lost in ["--connections", "--exchanges"] {
        let other = if lost == "--connections" { "--exchanges" } else { "--connections" };
        let (json, whole, full) = (at("document"), at("whole.csv"), at("full.csv"));
        let words = ["watch", "-r", file, "--json", &json, other, &whole, lost, &full];
        let output = sixmark(&words);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{errors}");
        assert_eq!(errors.matches("can't write").count(), 1, "{errors}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("requests sent"), "{errors}");
        let document: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
        WATCH.check(&document);
        assert_eq!(document["warnings"][0]["code"], "file_incomplete");
        assert_eq!(document["total"]["requests"]["completed"], 60);
        assert_eq!(fs::read_to_string(&whole).unwrap().lines().count(), 61);
    }
}

/// That requests can't be seen is no failure, that there was nothing to see is one.
#[test]
fn junit_output_fails_only_if_no_connection_was_seen() {
    let (_folder, path) = kept(&pcap(&encrypted(3, &Family::BOTH)));
    let file = path.to_str().unwrap();
    for (port, status) in [("80", 0), ("9", 3)] {
        let output = sixmark(&["watch", "-r", file, "-q", "--junit", "-", "--port", port]);
        assert_eq!(output.status.code(), Some(status), "{port}: {output:?}");
        let xml = String::from_utf8(output.stdout).unwrap();
        assert!(xml.contains("could be measured"), "{port}: {xml}");
        assert_eq!(xml.contains("<failure"), status != 0, "{port}: {xml}");
    }
}
