//! A client that `sixmark eyes` does not start: it is beyond an interface of the machine.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::Value;
use sixmark_testkit::lab::{Lab, without};
use sixmark_testkit::{command, complaint, finish, sixmark};

/// The machine and a client of its own, which has the addresses that `sixmark eyes --serve` prints.
const PLACES: &str = r#"
name = "served"
[hosts.machine]
[hosts.device]
routes = [
    { to = "default", via = "2001:db8:9:1::ff" },
    { to = "default", via = "198.51.100.254" },
]
[links.wire]
between = ["machine", "device"]
at.device.addresses = ["2001:db8:9:1::1/64", "198.51.100.1/24"]
at.machine.addresses = ["2001:db8:77::1/64", "198.18.7.1/24"]
"#;

#[test]
fn a_client_beyond_an_interface_is_watched_in_each_case() {
    if without(&["curl"]) {
        return;
    }
    let lab = Lab::up("served", PLACES, &[]);
    lab.says("device", &["sh", "-c", "echo nameserver 192.0.2.53 > /etc/resolv.conf"]);
    let program = command(&[]).get_program().to_str().unwrap().to_owned();
    let mut words = vec!["lab", "exec", "--lab", lab.name(), "machine", &program, "eyes"];
    words.extend(["--serve", "device", "--cases", "healthy,dead-ipv6", "--json", "-"]);
    let mut watching = command(&words).stderr(Stdio::piped()).spawn().unwrap();
    let mut opened = Vec::new();
    for line in BufReader::new(watching.stderr.take().unwrap()).lines() {
        let line = line.unwrap();
        let Some((case, _)) = line.split_once(": start the client now, open ") else { continue };
        let url = line.rsplit(' ').next().unwrap();
        lab.says("device", &["curl", "-s", "-o", "/dev/null", url]);
        opened.push(case.trim_start_matches("sixmark: ").to_owned());
    }
    let output = finish(watching);
    assert_eq!(output.status.code(), Some(0), "{opened:?}");
    opened.sort();
    assert_eq!(opened, ["dead-ipv6", "healthy"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["served_on"], "device");
    let [healthy, dead] = document["cases"].as_array().unwrap().as_slice() else {
        panic!("{document:#}")
    };
    assert_eq!(healthy["figures"]["over_ipv6"], 1, "{healthy:#}");
    assert_eq!(dead["figures"]["over_ipv4"], 1, "{dead:#}");
    // curl's timer, which a busy machine makes late.
    let delay = dead["figures"]["attempt_delay"]["median_ms"].as_f64().unwrap();
    assert!((190.0..400.0).contains(&delay), "{dead:#}");
    // What was added to the machine's interface is gone with it.
    let links = lab.says("machine", &["ip", "-brief", "link", "show"]);
    assert_eq!(links.lines().filter(|line| line.contains("@")).count(), 1, "{links}");
}

#[test]
fn an_interface_that_is_not_there_is_one_line() {
    let line = complaint(&sixmark(&["eyes", "--serve", "nowhere0"]), 2);
    assert!(line.contains("no interface 'nowhere0'"), "{line}");
}
