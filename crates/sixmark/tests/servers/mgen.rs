//! MGEN 5 as either end.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use sixmark_sys::flows::InboxSocket;
use sixmark_testkit::traffic::{messages, traffic_document};
use sixmark_testkit::{command, finish, signal, skipped};
use sixmark_units::family::Family;
use tempfile::TempDir;

/// Of each protocol, in each script.
const COUNT: u64 = 100;

/// MGEN with a script in a folder, its log beside.
fn mgen(folder: &Path, script: &str) -> Child {
    std::fs::write(folder.join("mgen.mgn"), script).unwrap();
    let arguments = ["input", "mgen.mgn", "output", "log", "flush"];
    let mut command = Command::new("mgen");
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("this needs MGEN: scripts/install-test-packages test")
}

fn ours(folder: &Path, script: &str, more: &[&str]) -> Child {
    let file = folder.join("ours.mgn");
    std::fs::write(&file, script).unwrap();
    command(&[&["traffic", file.to_str().unwrap(), "--json", "-"], more].concat()).spawn().unwrap()
}

/// sixmark that listens at ports of UDP and TCP, which another test may take before it does.
fn listening(folder: &Path, family: Family) -> (Child, [u16; 2]) {
    let host = if family == Family::Ipv6 { "::1" } else { "127.0.0.1" };
    for _ in 0..10 {
        let [udp, tcp] = free(family);
        let listen = format!("0.0 LISTEN UDP {udp}\n0.0 LISTEN TCP {tcp}\n");
        let mut listener = ours(folder, &listen, &["-d", "1h"]);
        // It is there once somebody can connect to it.
        while listener.try_wait().unwrap().is_none() {
            if std::net::TcpStream::connect((host, tcp)).is_ok() {
                return (listener, [udp, tcp]);
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
    panic!("no ports of {family} stay free");
}

/// Ports of UDP and TCP that nobody has just now: MGEN can't be asked which one it took.
fn free(family: Family) -> [u16; 2] {
    let any = if family == Family::Ipv6 { "[::1]:0" } else { "127.0.0.1:0" }.parse().unwrap();
    let sinks = [InboxSocket::datagrams(&any).unwrap(), InboxSocket::listener(&any).unwrap()];
    sinks.map(|sink| sink.local().unwrap().port())
}

fn sending(family: Family, [udp, tcp]: [u16; 2]) -> String {
    let (host, bytes) = if family == Family::Ipv6 { ("::1", 1_440) } else { ("127.0.0.1", 1_460) };
    format!(
        "0.0 ON 1 UDP DST {host}/{udp} PERIODIC [200 {bytes}] COUNT {COUNT}\n\
         0.0 ON 2 TCP DST {host}/{tcp} PERIODIC [200 {bytes}] COUNT {COUNT}\n\
         1.0 OFF 1\n1.0 OFF 2\n"
    )
}

/// Waits until a log holds so many lines with a text.
fn wait_for(log: &Path, text: &str, count: usize) {
    let until = std::time::Instant::now() + sixmark_testkit::DEADLINE;
    let found = || std::fs::read_to_string(log).unwrap_or_default().matches(text).count();
    while found() < count {
        assert!(std::time::Instant::now() < until, "{} of {count} '{text}'", found());
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[test]
fn sixmark_receives_every_mgen_message_over_both_families() {
    if skipped("mgen") {
        return;
    }
    for family in Family::BOTH {
        let folder = TempDir::new().unwrap();
        let (listener, [udp, tcp]) = listening(folder.path(), family);
        // It goes on until it is told to end, when its flows are off.
        let mut sender = mgen(folder.path(), &sending(family, [udp, tcp]));
        sender.wait().unwrap();
        signal(listener.id(), "INT");
        let found = traffic_document(&finish(listener));
        let flows = found["flows"].as_array().unwrap();
        assert_eq!(flows.len(), 2, "{family}: {flows:?}");
        for flow in flows {
            let what = [messages(flow, "received"), flow["lost"].as_u64().unwrap()];
            assert_eq!(what, [COUNT, 0], "{flow}");
            assert_eq!(
                (&flow["from"], &flow["family"]),
                (&Value::Null, &Value::from(family.to_string().to_lowercase()))
            );
        }
    }
}

/// Its LISTEN opens no IPv6 sockets with today's C library, so that this is of IPv4 alone.
#[test]
fn mgen_receives_every_sixmark_message_over_ipv4() {
    if skipped("mgen") {
        return;
    }
    let folder = TempDir::new().unwrap();
    let [udp, tcp] = free(Family::Ipv4);
    let mut listener =
        mgen(folder.path(), &format!("0.0 LISTEN UDP {udp}\n0.0 LISTEN TCP {tcp}\n"));
    let log = folder.path().join("log");
    wait_for(&log, "LISTEN", 2);
    let sender = ours(folder.path(), &sending(Family::Ipv4, [udp, tcp]), &[]);
    let found = traffic_document(&finish(sender));
    for flow in found["flows"].as_array().unwrap() {
        assert_eq!([messages(flow, "offered"), messages(flow, "sent")], [COUNT; 2], "{flow}");
    }
    for id in [1, 2] {
        wait_for(&log, &format!(" flow>{id} "), COUNT as usize);
    }
    signal(listener.id(), "INT");
    listener.wait().unwrap();
    let said = std::fs::read_to_string(&log).unwrap();
    assert!(said.contains("seq>99") && said.contains("size>1460"), "{said}");
    assert!(!said.to_lowercase().contains("error"), "{said}");
}
