//! What is done is what is counted.

use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::Command;
use std::time::Instant;

use serde_json::Value;
use sixmark_sys::netns::NetNs;

use super::{Busy, Watching};
use crate::support::{DEADLINE, skipped};

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
        let _ = watching.next();
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
fn sockets_stand_under_their_family_and_state() {
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
        let _ = watching.next();
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

#[test]
fn a_busy_process_shows_its_time() {
    let (busy, idle) =
        (Busy::start(), Command::new("cat").stdin(std::process::Stdio::piped()).spawn());
    let mut idle = idle.unwrap();
    let (pid, other) = (busy.pid(), idle.id().to_string());
    let mut watching = Watching::start(&["--interval", "50ms", "--pid", &pid, "--pid", &other]);
    let began = Instant::now();
    let used = |sample: &Value, at: usize| {
        let group = &sample["groups"][at];
        group["user_us"].as_u64().unwrap() + group["system_us"].as_u64().unwrap()
    };
    // Samples count from the process's start, the change from the first sample on. However busy the
    // machine is, it gets there.
    let first = used(&watching.next(), 0);
    while used(&watching.next(), 0) - first < 200_000 {
        assert!(began.elapsed() < DEADLINE);
    }
    let document = watching.end();
    let change = &document["change"];
    assert!(used(change, 0) >= 200_000);
    assert_eq!(used(change, 1), 0);
    assert_eq!(change["groups"][0]["name"], pid.as_str());
    assert_eq!(change["groups"][0]["processes"], 1);
    assert!(change["groups"][0]["memory_bytes"].as_u64().unwrap() > 0);
    let host = change["host"]["cpu"]["user_us"].as_u64().unwrap();
    // The two are not read at the same moment, and on a busy machine much may lie between.
    assert!(host >= used(change, 0) / 2, "{host} us of all");
    let _ = idle.kill();
    let _ = idle.wait();
}
