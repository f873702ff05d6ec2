//! HTTP/3 from outside: how connections of QUIC begin, what they carry and how they end.
//!
//! What is the same over all that carries HTTP is tested beside the others: in `tls`, and wherever
//! a test goes through `Over::ALL`.

use std::net::UdpSocket;

use serde_json::{Value, json as value};
use sixmark_origin::{Limits, Options};
use sixmark_testkit::times::assert_with_enough_time;
use sixmark_testkit::{Origin, command, complaint, document, finish, json, signal, sixmark};

use super::tls::{assert_normal, both, trusting, warnings};
use crate::site::{Over, Site};

const DRIVERS: [&str; 2] = ["uring", "epoll"];

/// A socket for datagrams on loopback of each family, and the URLs of `/` there.
fn sockets() -> ([UdpSocket; 2], [String; 2]) {
    let sockets = ["[::1]:0", "127.0.0.1:0"].map(|own| UdpSocket::bind(own).unwrap());
    let urls =
        sockets.each_ref().map(|socket| format!("https://{}/", socket.local_addr().unwrap()));
    (sockets, urls)
}

/// The options of a run over HTTP/3 against `origin`.
fn load(origin: &Origin, path: &str, options: &[&str]) -> Value {
    trusting(origin, path, &[options, &["--http3"]].concat())
}

fn limited(limits: Limits) -> Origin {
    Origin::secure_with(Options { limits, ..Options::default() })
}

fn count(figures: &Value, pointer: &str) -> u64 {
    figures.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("no {pointer}"))
}

fn failure(outcome: &str, phase: &str, errno: Option<i32>, code: Option<u64>) -> Value {
    value!([{"outcome": outcome, "phase": phase, "errno": errno, "code": code, "count": 4}])
}

/// How both families failed, eight exchanges together, over both drivers.
fn fails(urls: &[String; 2], expected: &Value, failed: u64) {
    for driver in DRIVERS {
        let load = ["-n", "8", "-c", "8", "-k", "--http3", "--driver", driver, "--timeout", "1h"];
        let result = json(&[&load[..], &[&urls[0], &urls[1]]].concat());
        for figures in both(&result) {
            assert_eq!(&figures["failures"], expected, "{driver}");
            assert_eq!(count(figures, "/tls/handshakes/failed"), failed, "{driver}");
        }
    }
}

/// As [`fails`] by a timeout, of which each driver has one that suffices.
fn times_out(urls: &[String; 2], phase: &str, failed: u64) {
    for driver in DRIVERS {
        let load = ["-n", "8", "-c", "8", "-k", "--http3", "--driver", driver, "--timeout"];
        let expected = [(); 2].map(|()| (failure("TIMEOUT", phase, None, None), failed));
        assert_with_enough_time(&expected, driver, |timeout| {
            let result = json(&[&load[..], &[timeout, &urls[0], &urls[1]]].concat());
            both(&result).map(|figures| {
                (figures["failures"].clone(), count(figures, "/tls/handshakes/failed"))
            })
        });
    }
}

/// A socket that listens to itself alone hears nobody else: whoever sends there is told so by ICMP.
#[test]
fn a_port_where_nothing_listens_refuses_the_handshake() {
    let (sockets, urls) = sockets();
    for socket in &sockets {
        socket.connect(socket.local_addr().unwrap()).unwrap();
    }
    fails(&urls, &failure("REFUSED", "tls", Some(111), None), 4);
    let [v6, v4] = &urls;
    let output = sixmark(&["run", "-n", "100", "-c", "4", "-k", "--http3", v6, v4]);
    let said = complaint(&output, 3);
    for url in &urls {
        let address = url.trim_start_matches("https://").trim_end_matches('/');
        assert!(said.contains("connection refused") && said.contains(address), "{said}");
    }
}

/// CONNECTION_REFUSED.
#[test]
fn a_server_that_accepts_no_connections_refuses_the_handshake() {
    let site = Site::full();
    fails(&site.urls("/"), &failure("REFUSED", "tls", None, Some(0x2)), 4);
    assert_eq!(site.asked().len(), 0);
}

#[test]
fn a_silent_server_causes_a_timeout_in_the_tls_phase() {
    let (_sockets, urls) = sockets();
    times_out(&urls, "tls", 4);
}

/// Nothing that anybody can send without the keys ends a handshake.
#[test]
fn ignores_datagrams_that_are_not_quic() {
    let (sockets, urls) = sockets();
    for socket in &sockets {
        let socket = socket.try_clone().unwrap();
        std::thread::spawn(move || {
            while let Ok((_, from)) = socket.recv_from(&mut [0; 2_000]) {
                for junk in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], &[0xff; 1_200], &[0], b""] {
                    let _ = socket.send_to(junk, from);
                }
            }
        });
    }
    times_out(&urls, "tls", 4);
}

#[test]
fn an_exchange_without_a_timely_response_is_a_timeout() {
    let origin = Origin::secure();
    times_out(&origin.urls("/stall"), "wait", 0);
    times_out(&origin.urls("/stall/1000"), "transfer", 0);
}

#[test]
fn a_reset_or_close_by_the_server_is_recorded_with_its_code() {
    let origin = Origin::secure();
    // RESET_STREAM with H3_INTERNAL_ERROR, and CONNECTION_CLOSE with H3_NO_ERROR.
    fails(&origin.urls("/reset"), &failure("RESET", "transfer", None, Some(0x102)), 0);
    fails(&origin.urls("/close"), &failure("RESET", "wait", None, Some(0x100)), 0);
    // H3_MESSAGE_ERROR: less came than was announced.
    let malformed = failure("PROTOCOL", "transfer", None, Some(0x10e));
    fails(&origin.urls("/truncate/100000"), &malformed, 0);
}

#[test]
fn a_stream_that_is_reset_leaves_its_connection_to_the_others() {
    let origin = Origin::secure();
    let result = load(&origin, "/reset", &["-n", "40", "-c", "2", "-t", "1", "--streams", "4"]);
    for figures in both(&result) {
        assert_eq!(figures["outcomes"], value!({"NORMAL": 0, "RESET": 20}));
        assert_eq!(figures["connections"]["reset_sent"], 0);
        assert!(count(figures, "/connections/opened") <= 2, "{figures}");
    }
}

#[test]
fn a_connection_that_ends_takes_all_its_streams_along() {
    let origin = Origin::secure();
    let options = ["-n", "40", "-c", "4", "-t", "1", "--streams", "4"];
    let result = load(&origin, "/close", &options);
    for figures in both(&result) {
        assert_eq!(figures["outcomes"], value!({"NORMAL": 0, "RESET": 20}));
        assert_eq!(figures["failures"][0]["code"], 0x100);
    }
}

#[test]
fn counts_a_quic_retry_for_each_connection() {
    for retry in [false, true] {
        let origin = limited(Limits { retry, ..Limits::default() });
        for driver in DRIVERS {
            let options = ["-n", "20", "-c", "2", "--no-keep-alive", "--driver", driver];
            let result = load(&origin, "/bytes/100", &options);
            assert_normal(&result, 10);
            for figures in both(&result) {
                let retried = if retry { 10 } else { 0 };
                let found = [count(figures, "/quic/connections"), count(figures, "/quic/retried")];
                assert_eq!(found, [10, retried], "{driver}");
                // A group that the server asks for is another matter.
                assert_eq!(count(figures, "/tls/handshakes/retried"), 0);
            }
        }
    }
}

/// Bytes of a response so large that its packets are many.
const LARGE: u64 = 1_000_000;

#[test]
fn reports_quic_rtt_mtu_and_packet_counts() {
    let origin = Origin::secure();
    for driver in DRIVERS {
        let options = ["-n", "40", "-c", "4", "-t", "1", "--driver", driver];
        let result = load(&origin, &format!("/bytes/{LARGE}"), &options);
        assert_normal(&result, 20);
        for figures in both(&result) {
            let opened = count(figures, "/connections/opened");
            let of = |which: &str| count(figures, &format!("/quic/{which}"));
            assert_eq!([of("connections"), of("rtt_us/count")], [opened; 2], "{driver}");
            assert!(of("packets_sent") > 20 + opened, "{driver}: {}", figures["quic"]);
            assert!(of("packets_lost") < of("packets_sent"), "{driver}: {}", figures["quic"]);
            let mtu = figures["quic"]["mtu"].as_object().unwrap();
            let bytes = mtu.keys().map(|bytes| bytes.parse::<u64>().unwrap());
            assert!(bytes.clone().all(|bytes| (1_200..=1_500).contains(&bytes)), "{mtu:?}");
            assert_eq!(mtu.values().map(|n| n.as_u64().unwrap()).sum::<u64>(), opened);
            assert!(figures["quic"]["rtt_us"]["min"].as_f64().unwrap() > 0.0);
            // Of TCP there is nothing to tell, nor of a connect call.
            assert_eq!([count(figures, "/tcp/read"), count(figures, "/connect_us/count")], [0; 2]);
            assert!(count(figures, "/bytes/received") > 20 * LARGE);
        }
    }
}

/// The server resets the streams that its GOAWAY disowns, and these may be read before it.
#[test]
fn resends_requests_that_a_goaway_rejects() {
    let origin = limited(Limits { goaway_after: Some(3), ..Limits::default() });
    for driver in DRIVERS {
        let options = ["-n", "1000", "-c", "6", "-t", "1", "--streams", "10", "--driver", driver];
        let result = load(&origin, "/bytes/100", &options);
        assert!(count(&result, "/total/requests/resent") > 0, "{driver}");
        for figures in both(&result) {
            assert!(count(figures, "/connections/drained") > 0, "{driver}");
            // After three servers' refusals there is no fourth try.
            let failures = figures["failures"].as_array().unwrap().iter();
            let codes: Vec<_> = failures.map(|failure| &failure["code"]).collect();
            assert!(codes.iter().all(|&code| *code == 0), "{driver}: {codes:?}");
        }
    }
}

#[test]
fn more_streams_than_the_server_lets_open_wait_for_their_turn() {
    let origin = limited(Limits { streams: 2, ..Limits::default() });
    let options = ["-n", "80", "-c", "2", "-t", "1", "--streams", "10"];
    let result = load(&origin, "/bytes/100", &options);
    assert_normal(&result, 40);
    for figures in both(&result) {
        assert!(count(figures, "/connections/opened") <= 2, "{figures}");
    }
}

#[test]
fn a_constant_rate_records_slip_and_service_times() {
    let origin = Origin::secure();
    for driver in DRIVERS {
        let rate = ["--rate", "500/s", "-n", "100", "-c", "32", "-t", "2"];
        let result = load(&origin, "/bytes/100", &[&rate[..], &["--driver", driver]].concat());
        assert_normal(&result, 50);
        for figures in both(&result) {
            let counts = ["slip_us", "service_us"].map(|what| count(&figures[what], "/count"));
            assert_eq!(counts, [50, 50 - count(figures, "/requests/untimed")], "{driver}");
        }
    }
}

#[test]
fn a_warm_up_is_not_counted() {
    let origin = Origin::secure();
    let options = ["-n", "40", "-c", "4", "--warmup", "100ms", "--ratio", "3:1"];
    let result = load(&origin, "/bytes/100", &options);
    let sent = both(&result).map(|figures| count(figures, "/requests/sent"));
    assert_eq!(sent, [30, 10]);
    for figures in both(&result) {
        // Connections of the warm-up are not counted, and used on.
        let opened = count(figures, "/connections/opened");
        assert_eq!(count(figures, "/quic/connections"), opened);
        assert_eq!(count(figures, "/tls/handshakes/full"), opened);
    }
}

#[test]
fn preopen_opens_connections_first_and_counts_unopened_ones() {
    let origin = Origin::secure();
    let result = load(&origin, "/bytes/100", &["-n", "80", "-c", "8", "-t", "1", "--preopen"]);
    assert_normal(&result, 40);
    for figures in both(&result) {
        // A family has more in flight than its share for moments, and then more connections; on a
        // busy machine one may still close a stream when the next request is due.
        assert!((4..=16).contains(&count(figures, "/connections/opened")), "{figures}");
    }
    let (_sockets, silent) = sockets();
    let options = ["-n", "8", "-c", "2", "-k", "--http3", "--preopen", "--timeout", "300ms"];
    let result = json(&[&options[..], &[&silent[0], &silent[1]]].concat());
    assert_eq!(count(&result, "/total/connections/unopened"), 2);
}

/// Both families of one name, and one of them has nobody who speaks HTTP/3.
#[test]
fn a_family_without_a_server_fails_alone() {
    let origin = Origin::secure();
    let (_sockets, [silent, _]) = sockets();
    let [_, v4] = origin.urls("/bytes/100");
    let options = ["-n", "8", "-c", "8", "-k", "--http3", "--timeout"];
    let expected =
        ([value!({"NORMAL": 0, "TIMEOUT": 4}), value!({"NORMAL": 4})], Some("family_fell_away"));
    assert_with_enough_time(&expected, "IPv6 is silent", |timeout| {
        let result = json(&[&options[..], &[timeout, &silent, &v4]].concat());
        let outcomes = both(&result).map(|figures| figures["outcomes"].clone());
        (outcomes, warnings(&result).contains(&"family_fell_away").then_some("family_fell_away"))
    });
}

/// More requests than are in flight at once: some have been answered by then.
#[test]
fn an_interrupted_run_has_only_normal_and_abandoned_exchanges() {
    let site = Site::start(Over::Http3);
    for driver in DRIVERS {
        let [v6, v4] = site.urls("/x");
        let load = ["run", "-q", "--json", "-", "-d", "1h", "-c", "4", "--driver", driver];
        let arguments = [&load, Over::Http3.options(), &[&v6, &v4]].concat();
        let child = command(&arguments).spawn().unwrap();
        site.next(50);
        signal(child.id(), "INT");
        let result = document(&finish(child));
        site.asked();
        assert_eq!(result["ended"], "interrupted");
        let outcomes = result["total"]["outcomes"].as_object().unwrap();
        assert!(outcomes["NORMAL"].as_u64().unwrap() > 0, "{outcomes:?}");
        assert!(outcomes.keys().all(|name| ["NORMAL", "ABANDONED"].contains(&&name[..])));
    }
}

/// A server that has both and is asked for the other one.
#[test]
fn another_protocol_than_http3_is_a_protocol_failure() {
    let site = Site::start(Over::Http3);
    let [v6, v4] = site.urls("/x");
    let load = ["-n", "8", "-c", "2", "-k", "--http3", "--alpn", "hq-interop,h3", &v6, &v4];
    let result = json(&load);
    for figures in both(&result) {
        assert_eq!(figures["failures"], failure("PROTOCOL", "tls", None, None));
        assert_eq!(figures["tls"]["alpn"], value!({"hq-interop": 4}));
        assert_eq!(count(figures, "/tls/handshakes/failed"), 0);
    }
    assert_eq!(site.asked().len(), 0);
}

#[test]
fn the_unspecified_address_is_loopback() {
    let origin = Origin::secure();
    let [v6, v4] = origin.urls("/bytes/100");
    let urls = [v6.replace("[::1]", "[::]"), v4.replace("127.0.0.1", "0.0.0.0")];
    for driver in DRIVERS {
        let load = ["-n", "20", "-c", "2", "-k", "--http3", "--streams", "2", "--driver", driver];
        let result = json(&[&load[..], &[&urls[0], &urls[1]]].concat());
        assert_normal(&result, 10);
    }
}

#[test]
fn the_plan_says_that_only_tls_1_3_is_spoken() {
    let origin = Origin::secure();
    let result = load(&origin, "/bytes/100", &["-n", "4"]);
    assert_normal(&result, 2);
    assert_eq!(result["plan"]["tls"]["version"], "1.3");
    assert_eq!(
        result["total"]["tls"]["versions"],
        value!({"TLSv1.3": count(&result, "/total/connections/opened")})
    );
}

/// What the kernel keeps of connections of TCP that were closed, it does not of QUIC's.
#[test]
fn closed_connections_take_no_ports() {
    let (sockets, [v6, v4]) = sockets();
    for socket in &sockets {
        socket.connect(socket.local_addr().unwrap()).unwrap();
    }
    let load = ["-n", "1000000", "-c", "1", "-k", "--http3", "--no-keep-alive", &v6, &v4];
    let result = json(&load);
    assert_eq!(result["ended"], "hopeless");
    assert!(!warnings(&result).contains(&"few_ports"), "{:?}", warnings(&result));
}

#[test]
fn batches_ready_datagrams_into_few_sends() {
    let origin = Origin::secure();
    for driver in DRIVERS {
        let options = ["-n", "4000", "-c", "8", "-t", "1", "--streams", "10", "--driver", driver];
        let result = load(&origin, "/bytes/4096", &options);
        for family in ["ipv6", "ipv4"] {
            let io = &result["families"][family]["io"];
            let of = |what: &str| io[what]["per_exchange"].as_f64().unwrap();
            // Requests share packets with each other and with acknowledgements, and the packets of
            // a response share receives.
            assert!(of("sends") > 0.0 && of("sends") <= of("datagrams_sent"), "{driver}: {io}");
            assert!(of("datagrams_sent") < 1.5, "{driver}: {io}");
            assert!(of("datagrams_received") > 2.0, "{driver}: {io}");
            assert!(of("receives") <= of("datagrams_received"), "{driver}: {io}");
            let count = io["sends"]["count"].as_f64().unwrap();
            assert_eq!(of("sends"), count / 2_000.0, "{driver}: {io}");
        }
    }
}
