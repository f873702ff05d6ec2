//! `sixmark origin` over TLS.

use std::io::{BufRead as _, BufReader};
use std::net::{IpAddr, SocketAddr};

use serde_json::Value;
use sixmark_testkit::client::{Protocol, Wish, ask};
use sixmark_testkit::{command, complaint, finish, signal, sixmark};

#[test]
fn writes_the_ca_and_lists_the_protocols_of_each_address() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("authority");
    let arguments = ["origin", "--tls", "--http3", "-t", "1", "--json", "--write-ca"];
    let arguments = [&arguments[..], &[file.to_str().unwrap()]].concat();
    let mut child = command(&arguments).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let origin: Value = serde_json::from_str(&line).unwrap();
    let authority = std::fs::read_to_string(&file).unwrap();
    for (place, family) in origin["addresses"].as_array().unwrap().iter().zip(["ipv6", "ipv4"]) {
        assert_eq!(place["family"], family);
        assert!(place["url"].as_str().unwrap().starts_with("https://"), "{place}");
        let ip: IpAddr = place["address"].as_str().unwrap().parse().unwrap();
        let address = SocketAddr::new(ip, place["port"].as_u64().unwrap() as u16);
        for protocol in Protocol::ALL {
            assert!(place["protocols"].as_array().unwrap().contains(&protocol.alpn().into()));
            let answer = ask(protocol, address, Some(&authority), Wish("GET", "/health", b""));
            assert_eq!(answer.unwrap().body, b"ok\n", "{protocol:?} {family}");
        }
    }
    signal(child.id(), "TERM");
    assert_eq!(finish(child).status.code(), Some(0));
}

#[test]
fn rejects_invalid_origin_options_in_one_line() {
    for (arguments, named) in [
        (&["--turbo", "--tls"][..], "--turbo"),
        (&["--turbo", "--tls", "--http3"], "--turbo"),
        (&["--turbo", "--cert", "c", "--key", "k"], "--turbo"),
        (&["--turbo", "--goaway-after", "1"], "--turbo"),
        (&["--turbo", "--streams", "1"], "--turbo"),
        (&["--http3"], "--tls"),
        (&["--tls", "--retry"], "--http3"),
        (&["--write-ca", "c"], "--tls"),
        (&["--cert", "c"], "--key"),
        (&["--tls", "--cert", "c", "--key", "k"], "--cert"),
        (&["--cert", "/nowhere/c", "--key", "k"], "/nowhere/c"),
        (&["--tls", "--write-ca", "/nowhere/c"], "/nowhere/c"),
        (&["--streams", "0"], "--streams"),
        (&["--goaway-after", "0"], "--goaway-after"),
    ] {
        let line = complaint(&sixmark(&[&["origin"], arguments].concat()), 2);
        assert!(line.contains(named), "{arguments:?}: {line}");
    }
}
