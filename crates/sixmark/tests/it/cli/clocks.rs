//! Whose clock, what TCP knew, and the noise floor.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use serde_json::Value;
use sixmark_core::family::Family;

use crate::support::{Origin, Server, json, sixmark};

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

fn codes(result: &Value) -> Vec<&str> {
    let warnings = result["warnings"].as_array().unwrap().iter();
    warnings.map(|warning| warning["code"].as_str().unwrap()).collect()
}

#[test]
fn every_connection_of_a_short_run_is_read() {
    let server = Server::start();
    let [v6, v4] = server.urls("/");
    for options in [&[][..], &["--no-keep-alive"], &["--close", "rst", "--no-keep-alive"]] {
        let result = json(&[&["-n", "200", "-c", "4", "-t", "2"], options, &[&v6, &v4]].concat());
        for family in ["ipv6", "ipv4"] {
            let (figures, tcp) = (&result["families"][family], &result["families"][family]["tcp"]);
            let (closed, read) = (number(&figures["connections"]["closed"]), number(&tcp["read"]));
            assert_eq!(read, closed, "{family}");
            assert_eq!(
                (&tcp["rtt_us"]["count"], &tcp["min_rtt_us"]["count"]),
                (&tcp["read"], &tcp["read"])
            );
            let sizes = tcp["mss"].as_object().unwrap().values().map(number).sum::<u64>();
            assert_eq!(sizes, read, "{tcp}");
            // Each its SYN, each request its segment; the last may not be acknowledged yet.
            let delivered = number(&tcp["delivered"]);
            let sent = number(&figures["requests"]["sent"]);
            assert!((sent..=sent + read).contains(&delivered), "{family}: {delivered} of {sent}");
        }
    }
}

#[test]
fn connections_that_the_peer_resets_are_read_too() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/reset");
    let result = json(&["-n", "100", "-c", "4", &v6, &v4]);
    for family in ["ipv6", "ipv4"] {
        let figures = &result["families"][family];
        assert_eq!(
            (number(&figures["outcomes"]["RESET"]), number(&figures["tcp"]["read"])),
            (50, 50)
        );
    }
}

#[test]
fn of_many_connections_a_part_is_read() {
    let server = Server::start();
    let [v6, v4] = server.urls("/");
    let result = json(&["-n", "1600", "-c", "4", "-t", "1", "--no-keep-alive", &v6, &v4]);
    for family in ["ipv6", "ipv4"] {
        let read = number(&result["families"][family]["tcp"]["read"]);
        // 256, and an eighth of the other 544.
        assert!((320..=328).contains(&read), "{read}");
    }
}

#[test]
fn the_kernel_times_every_exchange_when_it_is_asked_to() {
    let origin = Origin::start();
    for (path, options) in [
        ("/bytes/1", &["-c", "1"][..]),
        ("/bytes/1", &["-c", "8", "--no-keep-alive"]),
        ("/bytes/300000", &["-c", "8", "-t", "2"]),
        ("/chunked/300000", &["-c", "8"]),
    ] {
        let [v6, v4] = origin.urls(path);
        let load = ["-n", "400", "--timestamps", "kernel"];
        let result = json(&[&load, options, &[&v6, &v4]].concat());
        let stamps = &result["generator"]["timestamps"];
        assert_eq!(
            (&stamps["mode"], &result["plan"]["load"]["timestamps"]),
            (&"kernel".into(), &"kernel".into())
        );
        let counts = ["missing", "inverted", "clock_steps"].map(|which| number(&stamps[which]));
        assert_eq!(counts, [0, 0, 0], "{path} {options:?}");
        for family in ["ipv6", "ipv4"] {
            let figures = &result["families"][family];
            assert_eq!(number(&figures["requests"]["completed"]), 200, "{path} {options:?}");
            // On the wire nothing takes no time at all.
            assert!(figures["wait_us"]["min"].as_f64().unwrap() > 0.0, "{path} {options:?}");
        }
    }
}

/// A response that ends with the connection ends at no segment with a stamp.
#[test]
fn times_that_the_kernel_does_not_give_are_counted_and_said() {
    let [v6, v4] = ["[::1]:0", "127.0.0.1:0"].map(|address| {
        let listener = TcpListener::bind(address).unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        std::thread::spawn(move || listener.incoming().flatten().for_each(answer_and_close));
        url
    });
    let result = json(&["-n", "40", "-c", "2", "--timestamps", "kernel", &v6, &v4]);
    assert_eq!(number(&result["total"]["requests"]["completed"]), 40);
    let missing = number(&result["generator"]["timestamps"]["missing"]);
    assert_eq!((missing, codes(&result).contains(&"missing_stamps")), (40, true));
}

fn answer_and_close(mut stream: TcpStream) {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        match stream.read(&mut byte) {
            Ok(1) => request.push(byte[0]),
            _ => return,
        }
    }
    // The client may be gone; that is for its side to judge.
    let _ = stream.write_all(b"HTTP/1.0 200 OK\r\n\r\nto the end");
}

#[test]
fn a_calibration_tells_the_floor_of_each_family_in_use() {
    let origin = Origin::start();
    for (options, used) in [
        (&["--timestamps", "kernel"][..], &Family::BOTH[..]),
        (&["-6"], &[Family::Ipv6]),
        (&["-4", "--no-keep-alive"], &[Family::Ipv4]),
    ] {
        let [v6, v4] = origin.urls("/bytes/1000");
        let urls =
            used.iter().map(|&f| if f == Family::Ipv6 { &*v6 } else { &*v4 }).collect::<Vec<_>>();
        let load = ["-n", "100", "-c", "3", "--calibrate"];
        let result = json(&[&load, options, &urls[..]].concat());
        let legs = result["calibration"]["legs"].as_array().unwrap();
        assert_eq!(legs.iter().map(|leg| number(&leg["connections"])).collect::<Vec<_>>(), [1, 3]);
        for leg in legs {
            for family in Family::BOTH {
                let floor = &leg["families"][family.to_string().to_lowercase()];
                assert_eq!(floor.is_object(), used.contains(&family), "{options:?}: {floor}");
                for phase in ["connect_us", "wait_us", "response_us"] {
                    assert!(floor.is_null() || number(&floor[phase]["count"]) > 0, "{floor}");
                }
            }
            assert_eq!(leg["difference_us"]["wait"].is_number(), used.len() == 2);
        }
        // It is no part of the run.
        assert_eq!(number(&result["total"]["requests"]["sent"]), 100);
    }
    let [v6, v4] = origin.urls("/bytes/1000");
    assert!(json(&["-n", "10", "-c", "1", &v6, &v4])["calibration"].is_null());
}

#[test]
fn the_noise_floor_stands_above_the_table() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/1");
    let load = ["run", "-n", "100", "-c", "2", "--calibrate", &v6, &v4];
    let table = String::from_utf8(sixmark(&load).stdout).unwrap();
    let (floor, sent) = (table.find("noise floor").unwrap(), table.find("requests sent").unwrap());
    assert!(floor < sent, "{table}");
    assert!(table.lines().any(|line| line.starts_with("-c 2      wait ")), "{table}");
    assert!(table.lines().skip(2).all(|line| line.chars().count() <= 80), "{table}");
}
