//! Files of packets.

use std::io::Write as _;
use std::process::Stdio;

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::Value;
use sixmark_testkit::forms::WATCH;
use sixmark_testkit::watch::watched;
use sixmark_testkit::{command, complaint, document, finish, sixmark};

use super::frames::{exchanges, pcap, pcapng};

/// A file in a folder of its own.
pub(super) fn kept(bytes: &[u8]) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("capture");
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

#[test]
fn computes_the_figures_of_a_run_from_captured_packets() {
    let (_folder, path) = kept(&pcap(&exchanges(30)));
    let (document, codes) = watched(&path, &["--port", "80"]);
    assert_eq!(codes, ["few_samples", "few_samples"]);
    let free = ["/families", "/status", "/mss", "/closures", "/spoken", "/sysctls"];
    let free = |path: &str| {
        let named = ["/server_names", "/alpn", "/versions", "/via", "/not_followed"];
        free.iter().chain(&named).any(|end| path.ends_with(end))
    };
    WATCH.knows_every_field(&document, |path| free(path) && !path.contains("/intervals/"));
    for family in ["ipv6", "ipv4"] {
        let figures = &document["families"][family];
        assert_eq!(figures["requests"]["completed"], 30);
        assert_eq!(figures["connections"]["opened"], 30);
        assert_eq!(figures["status"]["200"], 30);
        assert_eq!(figures["bytes"]["body"], 150);
        for (time, us) in
            [("connect_us", 2e3), ("wait_us", 2e3), ("transfer_us", 1e3), ("response_us", 3e3)]
        {
            assert_eq!((&figures[time]["min"], &figures[time]["max"]), (&us.into(), &us.into()));
        }
        let seen = &document["watched"]["families"][family];
        assert_eq!(seen["closures"]["NORMAL"], 30);
        assert_eq!(seen["answered_us"]["max"], 1e3);
        assert_eq!(seen["delay_us"]["max"], 4e3);
    }
    assert_eq!(document["schema"], "sixmark.watch/1");
    assert_eq!(document["watched"]["packets"], 600);
    assert_eq!(document["watched"]["servers"].as_array().unwrap().len(), 2);
    assert_eq!(document["started"], "2023-11-14T22:13:20.000Z");
}

#[test]
fn reads_pcap_and_pcapng_compressed_and_piped_with_equal_results() {
    let packets = exchanges(5);
    let plain = pcap(&packets);
    let (_folder, path) = kept(&plain);
    let figures = |document: Value| [document["families"].clone(), document["intervals"].clone()];
    let expected = figures(watched(&path, &[]).0);
    let (first, second) = plain.split_at(700);
    let twice = [gzip(first), gzip(second)].concat();
    let frames = [zstd(first), vec![0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3], zstd(second)];
    let (big, little) = (pcapng(&packets, true), pcapng(&packets, false));
    for file in [big, zstd(&little), gzip(&little), little, twice, frames.concat()] {
        let (_folder, path) = kept(&file);
        assert_eq!(figures(watched(&path, &[]).0), expected);
        let mut command = command(&["watch", "-r", "-", "--json", "-", "-q"]);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let mut to = child.stdin.take().unwrap();
        file.chunks(97).for_each(|piece| to.write_all(piece).unwrap());
        drop(to);
        let piped = document(&finish(child));
        assert_eq!(piped["watched"]["sources"][0]["name"], "standard input");
        assert_eq!(figures(piped), expected);
    }
}

#[test]
fn reads_a_truncated_capture_to_its_end_and_warns() {
    let packets = exchanges(40);
    let plain = pcap(&packets);
    for file in [plain.clone(), pcapng(&packets, true), gzip(&plain)] {
        for end in [file.len() - 7, file.len() - 1] {
            let (_folder, path) = kept(&file[..end]);
            let (document, codes) = watched(&path, &[]);
            assert!(codes.contains(&"capture_cut".to_owned()), "{codes:?}");
            assert_eq!(document["watched"]["sources"][0]["whole"], false);
        }
    }
    let (_folder, path) = kept(&plain[..plain.len() - 7]);
    assert_eq!(watched(&path, &[]).0["watched"]["packets"], 799);
}

#[test]
fn rejects_an_invalid_capture_file_in_one_line() {
    let mut wrong = pcap(&exchanges(1));
    let at = wrong.len();
    wrong.extend([0xff; 16]);
    for (bytes, said) in [
        (&b"root:x:0:0"[..], "is too short to be a capture file"),
        (&[b'x'; 100][..], "is not a capture file (pcap or pcapng)"),
        (&wrong, &format!("a packet has an impossible length, at byte {at}")),
    ] {
        let (_folder, path) = kept(bytes);
        let line = complaint(&sixmark(&["watch", "-r", path.to_str().unwrap()]), 2);
        assert!(line.contains(said), "{line}");
    }
}

#[test]
fn writes_the_document_even_if_no_connection_was_seen() {
    let (_folder, path) = kept(&pcap(&exchanges(1)));
    let file = path.to_str().unwrap();
    let output = sixmark(&["watch", "-r", file, "-p", "81,82", "--json", "-"]);
    assert_eq!(document(&output)["watched"]["packets"], 20);
    let line = complaint(&output, 3);
    assert!(line.contains("no connection to port 81, 82 was seen in 20 packets"), "{line}");
}
