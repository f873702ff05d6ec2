//! Whose clock, what TCP knew, and the noise floor.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use serde_json::Value;
use sixmark_testkit::{DEADLINE, Origin, Server, json, sixmark, words_of};
use sixmark_units::family::Family;
use socket2::SockRef;

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

fn codes(result: &Value) -> Vec<&str> {
    let warnings = result["warnings"].as_array().unwrap().iter();
    warnings.map(|warning| warning["code"].as_str().unwrap()).collect()
}

#[test]
fn reads_tcp_info_of_every_connection_of_a_short_run() {
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
fn reads_tcp_info_of_connections_that_the_peer_resets() {
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
fn reads_tcp_info_of_a_sample_of_many_connections() {
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
fn kernel_timestamps_cover_every_exchange() {
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
fn counts_missing_kernel_timestamps_and_warns_about_them() {
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
fn calibration_reports_the_noise_floor_of_each_family_in_use() {
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
fn the_full_text_has_the_noise_floor() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/1");
    let load = ["run", "-n", "100", "-c", "2", "--calibrate", "--full", &v6, &v4];
    let table = String::from_utf8(sixmark(&load).stdout).unwrap();
    assert!(table.contains("\nNOISE FLOOR\n"), "{table}");
    assert!(table.contains("\n2 in flight\n") && table.contains("\n  wait, median "), "{table}");
    assert!(table.lines().skip(2).all(|line| line.chars().count() <= 80), "{table}");
}

/// The times of a summary, without its histogram.
fn times(summary: &Value) -> Vec<Option<f64>> {
    ["min", "mean", "p50", "p99", "max"].iter().map(|which| summary[which].as_f64()).collect()
}

#[test]
fn connect_time_is_the_kernels_and_never_exceeds_the_clients() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/1");
    let load = ["-n", "400", "-c", "8", "-t", "1", "--no-keep-alive"];
    for (options, clock) in [
        (&["--timestamps", "kernel"][..], "kernel"),
        (&["--driver", "epoll"], "user"),
        (&["--driver", "uring"], "user"),
    ] {
        let result = json(&[&load[..], options, &[&v6, &v4]].concat());
        for family in ["ipv6", "ipv4"] {
            let (figures, handshake) =
                (&result["families"][family], &result["families"][family]["tcp"]["handshake"]);
            let counts = ["asked", "sent_again", "untimed"].map(|which| number(&handshake[which]));
            assert_eq!(counts, [200, 0, 0], "{options:?} {family}");
            let (kernel, client) = (&handshake["kernel_us"], &handshake["client_us"]);
            assert_eq!([number(&kernel["count"]), number(&client["count"])], [200; 2]);
            assert_eq!(times(&figures["connect_us"]), times(kernel), "{options:?} {family}");
            for (kernel, client) in times(kernel).into_iter().zip(times(client)) {
                assert!(kernel > Some(0.0) && kernel <= client, "{options:?} {handshake}");
            }
        }
        let stamps = &result["generator"]["timestamps"];
        assert_eq!(number(&stamps["missing"]), 0, "{options:?}");
        let phases = ["connect", "wait", "transfer"].map(|phase| &stamps["phases"][phase]);
        assert_eq!(phases, ["kernel", clock, clock]);
        assert_eq!([&stamps["phases"]["tls"], &stamps["phases"]["lifetime"]], ["user"; 2]);
    }
}

#[test]
fn reads_tcp_handshake_times_under_tls_and_http2_but_not_quic() {
    let origin = Origin::secure();
    let [v6, v4] = origin.urls("/bytes/1");
    for (options, asks) in [(&[][..], true), (&["--http2"], true), (&["--http3"], false)] {
        let load = ["-n", "40", "-c", "4", "--cacert", origin.authority()];
        let result = json(&[&load[..], options, &[&v6, &v4]].concat());
        for family in ["ipv6", "ipv4"] {
            let figures = &result["families"][family];
            let asked = figures["tcp"]["handshake"]["asked"].as_u64();
            let opened = number(&figures["connections"]["opened"]);
            assert_eq!(asked, asks.then_some(opened), "{options:?} {family}");
        }
    }
}

#[test]
fn reads_every_tcp_handshake_time_with_either_clock() {
    let server = Server::start();
    let [v6, v4] = server.urls("/");
    for clock in ["user", "kernel"] {
        let load = ["-n", "1600", "-c", "4", "-t", "1", "--no-keep-alive", "--timestamps", clock];
        let result = json(&[&load[..], &[&v6, &v4]].concat());
        for family in ["ipv6", "ipv4"] {
            let asked = number(&result["families"][family]["tcp"]["handshake"]["asked"]);
            assert_eq!(asked, 800, "{clock} {family}");
        }
    }
}

/// Where no connection is accepted, one fills the queue and the kernel drops the next one's SYN.
#[test]
fn counts_a_retransmitted_syn_and_times_it_by_the_clients_clock() {
    for (clock, missing) in [("kernel", 2), ("user", 0)] {
        let full = ["[::1]:0", "127.0.0.1:0"].map(|address| {
            let listener = TcpListener::bind(address).unwrap();
            SockRef::from(&listener).listen(0).unwrap();
            let first = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            (listener, first)
        });
        let addresses = full.each_ref().map(|(listener, _)| listener.local_addr().unwrap());
        let urls = addresses.map(|address| format!("http://{address}/"));
        let servers = full.map(|(listener, first)| {
            std::thread::spawn(move || {
                wait_for_second_syn(listener.local_addr().unwrap());
                drop(first);
                let both: Vec<TcpStream> = listener.incoming().flatten().take(2).collect();
                both.into_iter().for_each(answer_and_close);
            })
        });
        let load = ["-n", "2", "-c", "2", "--timeout", "60s", "--timestamps", clock];
        let result = json(&[&load[..], &[&urls[0], &urls[1]]].concat());
        for family in ["ipv6", "ipv4"] {
            let figures = &result["families"][family];
            assert_eq!(number(&figures["requests"]["completed"]), 1, "{clock} {family}");
            let handshake = &figures["tcp"]["handshake"];
            let counts = ["asked", "sent_again", "untimed"].map(|which| number(&handshake[which]));
            assert_eq!(counts, [1, 1, 0], "{clock} {family}");
            // The first SYN's wait is part of what its client waited.
            let connect = &figures["connect_us"];
            assert_eq!(number(&connect["count"]), 1);
            assert!(connect["min"].as_f64() >= figures["tcp"]["min_rtt_us"]["min"].as_f64());
        }
        // The ends of the responses have no stamp either.
        let ends = if clock == "kernel" { 2 } else { 0 };
        let stamps = &result["generator"]["timestamps"];
        assert_eq!(number(&stamps["missing"]), missing + ends, "{clock}");
        servers.into_iter().for_each(|server| server.join().unwrap());
    }
}

/// Waits until some connection to `server` has sent its SYN again (proc(5), /proc/net/tcp).
fn wait_for_second_syn(server: SocketAddr) {
    let table = if server.is_ipv6() { "tcp6" } else { "tcp" };
    let peer = format!(":{:04X}", server.port());
    let deadline = Instant::now() + DEADLINE;
    loop {
        let rows = std::fs::read_to_string(format!("/proc/net/{table}")).unwrap();
        let again = rows.lines().skip(1).any(|row| {
            let fields: Vec<&str> = row.split_whitespace().collect();
            // SYN-SENT, and more than no retransmission.
            fields[2].ends_with(&peer) && fields[3] == "02" && fields[6] != "00000000"
        });
        if again {
            return;
        }
        assert!(Instant::now() < deadline, "{server}: no SYN was sent again");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn the_table_says_whose_clock_each_phase_is_from() {
    let origin = Origin::start();
    // More than one segment: else transfer takes no time, and has no row.
    let [v6, v4] = origin.urls("/bytes/1000000");
    for (options, said) in [
        (
            &["--timestamps", "kernel"][..],
            &["the kernel's: connect, interim, wait, transfer;", "an end of each: ttfb, slip"][..],
        ),
        (
            &[],
            &[
                "the kernel's: connect; sixmark's own: ",
                "tls, interim, wait, ttfb, transfer, slip, service, response, lifetime",
            ],
        ),
    ] {
        let load = ["run", "-n", "20", "-c", "2", "--full"];
        let table = String::from_utf8(sixmark(&[&load, options, &[&v6, &v4]].concat()).stdout);
        let table = table.unwrap();
        let words = words_of(&table);
        assert!(said.iter().all(|said| words.contains(said)), "{table}");
        assert!(words.contains("handshake by the kernel, median"), "{table}");
        assert!(table.lines().skip(2).all(|line| line.chars().count() <= 80), "{table}");
    }
}

/// The kernel's waits of a sample of exchanges stand beside the client's, whatever the driver and the
/// protocol. Both are of the same exchanges, and a response is not read before it has arrived.
#[test]
fn samples_kernel_and_client_waits_over_every_protocol() {
    let (plain, secure) = (Origin::start(), Origin::secure());
    for driver in ["epoll", "uring"] {
        for (origin, options) in [
            (&plain, &[][..]),
            (&plain, &["--no-keep-alive"]),
            (&secure, &["--cacert", secure.authority()]),
            (&secure, &["--cacert", secure.authority(), "--http2", "--streams", "4"]),
            (&secure, &["--cacert", secure.authority(), "--http3", "--streams", "4"]),
        ] {
            let [v6, v4] = origin.urls("/bytes/1000");
            let load = ["-n", "800", "-c", "4", "-t", "1", "--driver", driver];
            let result = json(&[&load, options, &[&v6, &v4]].concat());
            for family in ["ipv6", "ipv4"] {
                let sample = &result["families"][family]["wait_sample"];
                let (kernel, client) = (&sample["kernel_us"], &sample["client_us"]);
                let count = number(&client["count"]);
                assert!(number(&kernel["count"]) == count, "{driver} {options:?} {sample}");
                assert!((20..=400).contains(&count), "{driver} {options:?} {family}: {count}");
                for (kernel, client) in times(kernel).into_iter().zip(times(client)) {
                    assert!(kernel > Some(0.0) && kernel <= client, "{driver} {sample}");
                }
            }
        }
    }
}

/// With the kernel's clock there is nothing to compare.
#[test]
fn takes_no_wait_sample_with_kernel_timestamps() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/1000");
    let result = json(&["-n", "100", "-c", "2", "--timestamps", "kernel", &v6, &v4]);
    assert!(result["families"]["ipv6"]["wait_sample"].is_null());
}
