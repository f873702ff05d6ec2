//! What is done is what is counted.

use std::io::Write as _;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::Command;

use serde_json::Value;
use sixmark_sys::netns::NetNs;
use sixmark_testkit::lab::{Lab, without};
use sixmark_testkit::vitals::Watching;
use sixmark_testkit::{check, document, sixmark, skipped};

/// A namespace with loopback alone, up.
fn quiet() -> NetNs {
    let space = NetNs::create().expect("this needs root");
    let up = || Command::new("ip").args(["link", "set", "lo", "up"]).status();
    assert!(space.within(up).unwrap().success());
    space
}

fn count(change: &Value, family: &str, what: &str) -> u64 {
    change["network"]["families"][family][what].as_u64().unwrap()
}

#[test]
fn packets_count_for_the_family_that_they_went_over_and_no_other() {
    if skipped("netns") {
        return;
    }
    let space = quiet();
    let document = space.within(|| {
        let mut watching = Watching::start(&["--interval", "20ms"]);
        let _ = watching.next_line();
        for (to, datagrams) in [("[::1]:0", 300), ("127.0.0.1:0", 120)] {
            let receiver = UdpSocket::bind(to)?;
            let sender = UdpSocket::bind(to)?;
            for _ in 0..datagrams {
                sender.send_to(&[7; 1_000], receiver.local_addr()?)?;
                let _ = receiver.recv(&mut [0; 2_000])?;
            }
        }
        Ok(watching.end())
    });
    let change = &document.unwrap()["change"];
    for what in ["in_packets", "out_packets", "udp_in", "udp_out"] {
        assert_eq!(count(change, "ipv6", what), 300, "{what}");
        assert_eq!(count(change, "ipv4", what), 120, "{what}");
    }
    // With headers: 40 and 8 bytes, 20 and 8.
    assert_eq!(count(change, "ipv6", "in_octets"), 300 * 1_048);
    assert_eq!(count(change, "ipv4", "out_octets"), 120 * 1_028);
    let lo = &change["network"]["interfaces"][0];
    assert_eq!((lo["name"].as_str(), lo["in_packets"].as_u64()), (Some("lo"), Some(420)));
    assert_eq!(change["network"]["tcp"]["in_segments"], 0);
}

#[test]
fn counts_sockets_by_family_and_state() {
    if skipped("netns") {
        return;
    }
    let space = quiet();
    let document = space.within(|| {
        let listeners = [TcpListener::bind("[::1]:0")?, TcpListener::bind("127.0.0.1:0")?];
        let mut open = Vec::new();
        for (listener, connections) in listeners.iter().zip([3, 2]) {
            for _ in 0..connections {
                open.push(TcpStream::connect(listener.local_addr()?)?);
                open.push(listener.accept()?.0);
            }
        }
        let mut watching = Watching::start(&[]);
        let _ = watching.next_line();
        let document = watching.end();
        drop(open);
        Ok(document)
    });
    let sockets = &document.unwrap()["change"]["network"]["sockets"];
    for (family, established) in [("ipv6", 6), ("ipv4", 4)] {
        assert_eq!(sockets[family]["established"], established, "{family}");
        assert_eq!(sockets[family]["listening"], 1, "{family}");
        assert_eq!(sockets[family]["retransmitted"], 0, "{family}");
    }
}

/// A connection over loopback, both of its ends.
fn connection(to: &str, by: &str) -> std::io::Result<[TcpStream; 2]> {
    let listener = TcpListener::bind(to)?;
    let near = TcpStream::connect((by, listener.local_addr()?.port()))?;
    Ok([near, listener.accept()?.0])
}

/// The sockets that are there at the end of `work`, and what they did meanwhile.
fn sockets_after(work: impl FnOnce() -> std::io::Result<()>) -> std::io::Result<Value> {
    let mut watching = Watching::start(&[]);
    let _ = watching.next_line();
    work()?;
    Ok(watching.end()["change"]["network"]["sockets"].take())
}

#[test]
fn sockets_are_counted_under_the_family_of_their_peer() {
    if skipped("netns") {
        return;
    }
    let space = quiet();
    let looked = space.within(|| {
        let none = sockets_after(|| Ok(()))?;
        let six = connection("[::1]:0", "::1")?;
        let mapped = connection("[::]:0", "127.0.0.1")?;
        let datagrams = UdpSocket::bind("127.0.0.1:0")?;
        let some = sockets_after(|| (&six[0]).write_all(&[7; 1_000]))?;
        drop((six, mapped, datagrams));
        Ok([none, some])
    });
    let [none, some] = looked.unwrap();
    let of = |sockets: &Value, what: &str| ["ipv6", "ipv4"].map(|f| sockets[f][what].as_u64());
    assert_eq!(of(&none, "established"), [Some(0); 2]);
    assert_eq!(of(&none, "udp"), [Some(0); 2]);
    assert_eq!(of(&some, "established"), [Some(2); 2]);
    assert_eq!(of(&some, "udp"), [Some(0), Some(1)]);
    let [ipv6, ipv4] = of(&some, "segments_out");
    assert!(ipv6 > Some(0) && ipv4 == Some(0), "{some}");
    assert_eq!(of(&some, "retransmitted"), [Some(0); 2]);
}

const LAB: &str = r#"
name = "costs"
[hosts]
client = {}
server = {}
[links]
wire = ["client", "server"]
[services.web]
host = "server"
command = ["{sixmark}", "origin", "--listen", "[::]:80", "--listen", "0.0.0.0:80"]
urls = ["http://[{server.ipv6}]", "http://{server.ipv4}"]
"#;

#[test]
fn reads_network_and_process_vitals_from_a_lab_host() {
    if without(&[]) {
        return;
    }
    let lab = Lab::up("costs", LAB, &[]);
    let url = lab.said.lines().find_map(|line| line.strip_prefix("  service web: "));
    let url = url.unwrap().split(' ').find(|url| url.contains('[')).unwrap();
    let from = format!("lab:{}/server", lab.name());
    let words = ["--in", "client", "--lab", lab.name(), "--vitals-from", &from, "-d", "1500ms"];
    let output = sixmark(&[&["run", "-q", "--json", "-"], &words[..], &["-c", "2", url]].concat());
    let run = document(&output);
    check(&run);
    let server = &run["vitals"]["server"];
    assert_eq!(server["source"], "lab");
    assert!(server["processes"]["cpu_s"].as_f64().unwrap() > 0.0, "{}", server["processes"]);
    assert!(server["processes"]["families"]["ipv6"]["us_per_request"].as_f64().unwrap() > 0.0);
    let network = &server["change"]["network"]["families"];
    assert!(network["ipv6"]["in_packets"].as_u64().unwrap() > 0);
    assert_eq!(network["ipv4"]["in_packets"], 0);
}
