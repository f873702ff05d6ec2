//! Captures of a part of the traffic: one direction, or the beginning of each packet.

use serde_json::{Value, json as value};
use sixmark_testkit::watch::watched;
use sixmark_testkit::{sixmark, words_of};
use sixmark_wire::Link;
use sixmark_wire::pcap::{self, Record};

use super::files::kept;
use super::frames::{Packet, exchanges, pcap};

/// The packets that one side sent: servers send from port 80.
fn sent_by(server: bool, packets: &[Packet]) -> Vec<Packet> {
    let from_server = |(_, frame): &&Packet| {
        let tcp = tcp_of(frame);
        (frame[tcp..tcp + 2] == [0, 80]) == server
    };
    packets.iter().filter(from_server).cloned().collect()
}

/// Returns where the TCP header of a frame begins.
fn tcp_of(frame: &[u8]) -> usize {
    if frame[12..14] == [0x86, 0xdd] { 54 } else { 34 }
}

/// A file that has the headers of each packet and the first bytes of its payload.
fn snapped(packets: &[Packet], payload: usize) -> Vec<u8> {
    let mut file = pcap::header(96, Link::Ethernet).to_vec();
    for (at_ns, bytes) in packets {
        let kept = bytes.len().min(tcp_of(bytes) + 20 + payload);
        let (length, bytes) = (bytes.len() as u32, &bytes[..kept]);
        pcap::write_record(&Record { at_ns: *at_ns, length, bytes }, &mut file);
    }
    file
}

fn shown(path: &std::path::Path) -> String {
    let output = sixmark(&["watch", "-r", path.to_str().unwrap(), "--port", "80"]);
    String::from_utf8(output.stdout).unwrap()
}

fn of_family<'a>(document: &'a Value, family: &str) -> &'a Value {
    &document["watched"]["families"][family]
}

#[test]
fn counts_only_requests_without_the_server_direction() {
    let (_folder, path) = kept(&pcap(&sent_by(false, &exchanges(30))));
    let (document, codes) = watched(&path, &["--port", "80"]);
    assert_eq!(codes, ["one_direction", "one_direction"]);
    for family in ["ipv6", "ipv4"] {
        let seen = of_family(&document, family);
        assert_eq!((&seen["requests"], &seen["responses"]), (&value!(30), &value!(null)));
        assert_eq!((&seen["without_server"], &seen["without_client"]), (&value!(30), &value!(0)));
        assert_eq!(document["families"][family]["connections"]["opened"], 30);
        assert_eq!(document["families"][family]["outcomes"], value!({"NORMAL": 0}));
    }
    let text = shown(&path);
    let words = words_of(&text);
    assert!(words.contains("IPv6: 30 requests seen; IPv4: 30 requests seen."), "{text}");
    assert!(words.contains("f 60 connections nothing that servers sent was captured"), "{text}");
    assert!(!text.contains("requests sent") && !text.contains("goodput"), "{text}");
    // A gate about what is unknown is not decided by a 0.
    let gate = ["watch", "-q", "-r", path.to_str().unwrap(), "--fail-if", "total.failed > 0"];
    let output = sixmark(&gate);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let why = "total.failed was not measured: of 60 connections nothing that servers sent";
    assert!(said.contains(why), "{said}");
}

#[test]
fn counts_only_responses_by_status_without_the_client_direction() {
    let (_folder, path) = kept(&pcap(&sent_by(true, &exchanges(30))));
    let (document, codes) = watched(&path, &["--port", "80"]);
    assert_eq!(codes.iter().filter(|code| *code == "one_direction").count(), 2, "{codes:?}");
    for family in ["ipv6", "ipv4"] {
        let seen = of_family(&document, family);
        assert_eq!(seen["responses"], value!({"number": 30, "status": {"200": 30}}));
        assert_eq!((&seen["requests"], &seen["without_client"]), (&value!(null), &value!(30)));
        assert_eq!(seen["spoken"], value!({"http1": 30}));
    }
    let said = "IPv6: 30 responses (status 200: 30) seen; IPv4: 30 responses";
    assert!(words_of(&shown(&path)).contains(said), "{}", shown(&path));
}

#[test]
fn counts_requests_and_responses_in_truncated_packets() {
    let (_folder, path) = kept(&snapped(&exchanges(30), 16));
    let (document, codes) = watched(&path, &["--port", "80"]);
    assert_eq!(codes.iter().filter(|code| *code == "exchanges_cut").count(), 2, "{codes:?}");
    for family in ["ipv6", "ipv4"] {
        let seen = of_family(&document, family);
        assert_eq!((&seen["requests"], &seen["unjudged"]), (&value!(30), &value!(30)));
        assert_eq!(seen["responses"], value!({"number": 30, "status": {"200": 30}}));
        assert_eq!(document["families"][family]["connections"]["opened"], 30);
    }
    let text = shown(&path);
    assert!(
        words_of(&text).contains("f 60 exchanges too little of each packet was captured"),
        "{text}"
    );
}
