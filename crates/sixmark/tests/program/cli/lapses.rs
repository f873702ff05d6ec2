//! What sixmark does to figures itself, and what it says of it: it was stopped, it was occupied with
//! checks, it had no room, it gave a family up.

use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use serde_json::{Value, json as value};
use sixmark_testkit::{DEADLINE, Origin, Raw, command, document, finish, json, signal};
use sixmark_units::family::Family;

use crate::site::{Over, Site};

fn warning(result: &Value, code: &str) -> Option<String> {
    let mut warnings = result["warnings"].as_array().unwrap().iter();
    let found = warnings.find(|warning| warning["code"] == code)?;
    Some(found["message"].as_str().unwrap().to_owned())
}

/// Reads a request's head; false where the client has gone.
fn is_asked(stream: &mut TcpStream) -> bool {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return false,
        }
    }
    true
}

fn head(length: usize, field: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n{field}\r\n")
}

/// Requests of each family that are answered at once, before the one that is held.
const BEFORE: usize = 2;

/// Answers, but holds one request of each family until all three have come to the barrier; it tells when
/// it holds one.
fn hold_one_of_each(held: Sender<()>, together: Arc<Barrier>) -> impl Fn(TcpStream) + Send + Sync {
    let asked = [AtomicUsize::new(0), AtomicUsize::new(0)];
    move |mut stream| {
        let is_v6 = stream.local_addr().is_ok_and(|own| own.is_ipv6());
        while is_asked(&mut stream) {
            if asked[usize::from(is_v6)].fetch_add(1, Ordering::SeqCst) == BEFORE {
                let _ = held.send(());
                together.wait();
            }
            if stream.write_all((head(2, "") + "ok").as_bytes()).is_err() {
                return;
            }
        }
    }
}

/// Waits until each thread of a process has stopped.
fn wait_until_stopped(pid: u32) {
    let begin = Instant::now();
    let is_stopped = |task: std::fs::DirEntry| {
        let state = std::fs::read_to_string(task.path().join("stat")).unwrap();
        state.rsplit(") ").next().unwrap().starts_with('T')
    };
    while !std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten().all(is_stopped) {
        assert!(begin.elapsed() < DEADLINE, "it does not stop");
        std::thread::yield_now();
    }
}

/// Stops a run while one exchange of each family is in flight, for longer than its timeout. Their answers
/// come meanwhile. None if the run was as old as its timeout before it had stopped.
fn stop_in_flight(driver: &str, timeout: Duration) -> Option<Value> {
    let (sender, held) = channel();
    let together = Arc::new(Barrier::new(3));
    let server = Raw::start(hold_one_of_each(sender, Arc::clone(&together)));
    let [v6, v4] = server.urls("http");
    let load = ["run", "--json", "-", "-q", "-n", "12", "-c", "2", "-t", "1", "--driver", driver];
    let timeout_s = format!("{}s", timeout.as_secs());
    let begin = Instant::now();
    let child =
        command(&[&load[..], &["--timeout", &timeout_s, &v6, &v4]].concat()).spawn().unwrap();
    (0..2).for_each(|_| held.recv_timeout(DEADLINE).unwrap());
    signal(child.id(), "STOP");
    wait_until_stopped(child.id());
    let in_time = begin.elapsed() < timeout;
    together.wait();
    // It stands still for at least so long. No harm is done if it is longer.
    std::thread::sleep(timeout + Duration::from_millis(1_500));
    signal(child.id(), "CONT");
    let result = document(&finish(child));
    in_time.then_some(result)
}

#[test]
fn a_suspended_run_reports_the_stall_and_excludes_the_affected_times() {
    // On a slow machine the run may be too old when it is stopped: then it is tried with more time.
    let timeouts = || [2, 8, 32].map(Duration::from_secs).into_iter();
    let stopped = |driver| {
        let mut tried = timeouts().filter_map(move |of| Some((of, stop_in_flight(driver, of)?)));
        tried.next().expect("a run is stopped within its timeout")
    };
    std::thread::scope(|scope| {
        for driver in ["uring", "epoll"] {
            scope.spawn(move || {
                let (timeout, result) = stopped(driver);
                let (total, generator) = (&result["total"], &result["generator"]);
                assert_eq!(total["outcomes"], value!({"NORMAL": 12}), "{driver}");
                let stalled_s = generator["stalled_s"].as_f64().unwrap();
                assert!(generator["stalls"].as_u64() >= Some(1), "{generator:#}");
                assert!(stalled_s >= timeout.as_secs_f64(), "{generator:#}");
                for family in ["ipv6", "ipv4"] {
                    let figures = &result["families"][family];
                    let [stalled, untimed] = ["stalled", "untimed"]
                        .map(|what| figures["requests"][what].as_u64().unwrap());
                    assert!(stalled >= 1 && untimed >= 1, "{driver}: {figures:#}");
                    assert_eq!(figures["response_us"]["count"], 6 - untimed, "{driver}");
                }
                let said = warning(&result, "generator_stalled").unwrap();
                assert!(said.contains("was stalled"), "{said}");
                assert!(said.contains("times are not counted"), "{said}");
            });
        }
    });
}

#[test]
fn counts_bodies_over_the_memory_limit_as_unchecked_local_failures() {
    const CONTENT: usize = 14 << 20;
    let together = Arc::new(Barrier::new(40));
    let mut response = head(CONTENT, "").into_bytes();
    response.resize(response.len() + CONTENT, b'x');
    let server = Raw::start(move |mut stream| {
        while is_asked(&mut stream) {
            let (most, last) = response.split_at(response.len() - 1);
            if stream.write_all(most).is_err() {
                return;
            }
            // All of them are in flight, and all but whole.
            together.wait();
            let _ = stream.write_all(last);
        }
    });
    let [v6, v4] = server.urls("http");
    let load = ["-n", "40", "-c", "40", "-t", "1", "--timeout", "1h", "--expect", "body~x"];
    let result = json(&[&load[..], &[&v6, &v4]].concat());
    let requests = &result["total"]["requests"];
    let unchecked = 40 - requests["completed"].as_u64().unwrap();
    assert!((1..40).contains(&unchecked), "{requests:#}");
    // What was checked had been kept whole, all of it at the same time.
    assert!((40 - unchecked) * CONTENT as u64 <= 256 << 20, "{requests:#}");
    let failure = &result["total"]["failures"][0];
    assert_eq!((&failure["outcome"], &failure["count"]), (&"LOCAL".into(), &unchecked.into()));
    assert_eq!(failure["cause"], "content_limit");
    let said = warning(&result, "unchecked").unwrap();
    assert!(said.contains("at most 256 MiB") && said.contains("-c"), "{said}");
    assert_eq!(warning(&result, "local"), None);
    // Not what 40 of them are, but the limit and what the program takes without.
    let most = (256 << 20) + (128 << 20);
    assert!(result["generator"]["peak_rss_bytes"].as_u64().unwrap() < most, "{result:#}");
}

#[test]
fn warns_about_slow_body_checks() {
    // Sixteen million bytes of nothing, which come as a few thousand.
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&vec![b' '; 16_000_000]).unwrap();
    encoder.write_all(b"ab").unwrap();
    let content = encoder.finish().unwrap();
    let server = Raw::start(move |mut stream| {
        let mut response = head(content.len(), "Content-Encoding: gzip\r\n").into_bytes();
        response.extend_from_slice(&content);
        while is_asked(&mut stream) && stream.write_all(&response).is_ok() {}
    });
    let [v6, v4] = server.urls("http");
    let load = ["-n", "8", "-c", "2", "--expect", "body~[a-y][a-y]", &v6, &v4];
    let result = json(&load);
    assert_eq!(result["total"]["outcomes"]["NORMAL"], 8);
    let generator = &result["generator"];
    let [all, longest] =
        ["checking_s", "longest_check_s"].map(|of| generator[of].as_f64().unwrap());
    assert!(0.0 < longest && longest <= all, "{generator:#}");
    let said = warning(&result, "slow_checks").unwrap();
    assert!(said.contains("other exchanges waited"), "{said}");
    // A status costs nothing.
    let load = ["-n", "8", "-c", "2", "--expect", "status=200", &v6, &v4];
    assert_eq!(json(&load)["generator"]["checking_s"], 0.0);
}

#[test]
fn warns_with_the_defect_of_a_malformed_response() {
    let site = Site::start(Over::Http3);
    let ([v6, _], [_, v4]) = (site.urls("/x"), site.urls("/closing"));
    let result = json(&[Over::Http3.options(), &["-n", "8", "-c", "2", &v6, &v4]].concat());
    let [ipv6, ipv4] = ["ipv6", "ipv4"].map(|family| &result["families"][family]);
    assert_eq!(
        (&ipv6["outcomes"]["NORMAL"], &ipv4["outcomes"]["PROTOCOL"]),
        (&4.into(), &4.into())
    );
    assert_eq!(ipv4["breaches"][0]["count"], 4);
    let said = warning(&result, "malformed").unwrap();
    let expected = "4 responses over IPv4 broke the protocol, header field 'connection', which only \
                    HTTP/1 has";
    assert_eq!(said, expected);
    let server = Raw::start(|mut stream| {
        while is_asked(&mut stream) && stream.write_all(b"HTTP/1.1 20 OK\r\n\r\n").is_ok() {}
    });
    let [v6, v4] = server.urls("http");
    let result = json(&["-n", "8", "-c", "2", &v6, &v4]);
    assert!(warning(&result, "malformed").unwrap().contains("malformed status line"));
}

#[test]
fn gives_up_a_family_that_never_answers_over_http3() {
    let silent = UdpSocket::bind("[::1]:0").unwrap();
    let v6 = format!("https://{}/", silent.local_addr().unwrap());
    let origin = Origin::secure();
    let v4 = origin.url(Family::Ipv4, "/bytes/10");
    let load = ["-n", "1000", "-c", "4", "--timeout", "2s", "--http3", "-k", &v6, &v4];
    let result = json(&load);
    let [ipv6, ipv4] = ["ipv6", "ipv4"].map(|family| &result["families"][family]["requests"]);
    // All of them, answered in time or not.
    assert_eq!([&ipv4["sent"], &ipv4["given_up"]], [500, 0], "{ipv4:#}");
    assert!(ipv4["completed"].as_u64() > Some(0), "{ipv4:#}");
    let [sent, given_up] = ["sent", "given_up"].map(|what| ipv6[what].as_u64().unwrap());
    assert_eq!(sent + given_up, 500);
    assert!(given_up > 400, "{ipv6:#}");
    let said = warning(&result, "given_up").unwrap();
    assert!(said.starts_with("IPv6 was given up") && said.contains("were not sent"), "{said}");
}
