//! Mixes between two sixmarks, over both families.

use serde_json::Value;
use sixmark_testkit::traffic::{messages, traffic_document};

use super::Far;

/// Each flow's messages were offered, sent and received, all of them.
fn whole(document: &Value) {
    for flow in document["flows"].as_array().unwrap() {
        let [offered, sent, received] =
            ["offered", "sent", "received"].map(|what| messages(flow, what));
        assert!(offered > 0 && offered == sent && sent == received, "{flow}");
        let none = ["lost", "duplicates", "reordered"].map(|what| flow[what].as_u64());
        assert_eq!(none, [Some(0); 3], "{flow}");
        assert!(flow["problem"].is_null(), "{flow}");
    }
}

#[test]
fn offers_the_requested_shares_of_each_protocol_and_family() {
    let far = Far::start();
    let document =
        far.traffic(&["--rate", "8M", "--wire", "--ipv6", "75", "--flows", "12", "-d", "1s"]);
    whole(&document);
    assert_eq!(document["flows"].as_array().unwrap().len(), 12);
    for (protocol, family, share) in [
        ("tcp", "ipv6", 0.675),
        ("tcp", "ipv4", 0.225),
        ("udp", "ipv6", 0.075),
        ("udp", "ipv4", 0.025),
    ] {
        let kinds = document["kinds"].as_array().unwrap();
        let kind =
            kinds.iter().find(|k| k["protocol"] == protocol && k["family"] == family).unwrap();
        // What is due in the time that the document tells of: no clock of the test's takes part.
        let offered = kind["offered"]["wire_bits_per_s"].as_f64().unwrap();
        let part = offered / 8e6;
        assert!((part - share).abs() < 0.01, "{protocol} {family}: {part}");
    }
    assert_eq!(document["shared_clock"], true);
    assert_eq!(document["hosts"].as_array().unwrap().len(), 2);
}

#[test]
fn each_side_sends_what_the_direction_says() {
    let far = Far::start();
    for (direction, tcp, udp) in [
        ("down", vec!["far"], vec!["far"]),
        ("both", vec!["near", "far"], vec!["near", "far"]),
        ("tcp-down", vec!["far"], vec!["near"]),
    ] {
        let document = far.traffic(&["--rate", "4M", "--direction", direction, "-d", "500ms"]);
        whole(&document);
        for (protocol, sides) in [("tcp", tcp), ("udp", udp)] {
            let kinds = document["kinds"].as_array().unwrap().iter();
            let from: Vec<&str> = kinds
                .filter(|kind| kind["protocol"] == protocol && kind["family"] == "ipv6")
                .map(|kind| kind["from"].as_str().unwrap())
                .collect();
            assert_eq!(from, sides, "{direction} {protocol}");
        }
    }
}

#[test]
fn uses_the_given_payload_sizes_and_repeats_arrivals_with_a_seed() {
    let far = Far::start();
    let ask =
        ["--rate", "2M", "--arrivals", "poisson", "--payload", "200", "--payload", "ipv6-udp=64"];
    let ask = [&ask[..], &["-d", "500ms", "--seed", "9"]].concat();
    let [one, again] = [far.traffic(&ask), far.traffic(&ask)];
    whole(&one);
    let offered = |document: &Value| {
        let flows = document["flows"].as_array().unwrap().iter();
        flows.map(|flow| messages(flow, "offered")).collect::<Vec<_>>()
    };
    // The same messages are due at the same times: what a busy machine ended later has offered those of
    // the other, flow by flow, and what came after them.
    let mut both = [offered(&one), offered(&again)];
    both.sort_by_key(|counts| counts.iter().sum::<u64>());
    let [fewer, more] = &both;
    assert!(fewer.iter().zip(more).all(|(fewer, more)| fewer <= more), "{both:?}");
    for flow in one["flows"].as_array().unwrap() {
        let size = if flow["protocol"] == "udp" && flow["family"] == "ipv6" { 64 } else { 200 };
        assert_eq!(flow["message_bytes"], size);
        assert_eq!(flow["received"]["bytes"], messages(flow, "received") * size);
    }
}

#[test]
fn sessions_do_not_disturb_one_another() {
    let far = Far::start();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                whole(&far.traffic(&["--rate", "1M", "--direction", "both", "-d", "500ms"]))
            });
        }
    });
}

#[test]
fn an_interrupted_measurement_still_writes_its_document() {
    let far = Far::start();
    let to = far.addresses.iter().flat_map(|address| ["--to", address]);
    let all: Vec<&str> =
        ["traffic", "--json", "-", "--rate", "1M", "-d", "1h"].into_iter().chain(to).collect();
    let child = sixmark_testkit::command(&all).spawn().unwrap();
    let pid = child.id();
    super::until_sending(pid);
    sixmark_testkit::signal(pid, "INT");
    let output = sixmark_testkit::finish(child);
    let document = traffic_document(&output);
    assert_eq!(document["ended"], "interrupted");
    assert!(document["warnings"].to_string().contains("interrupted"));
}
