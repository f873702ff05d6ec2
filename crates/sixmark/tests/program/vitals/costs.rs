//! What a run costs, here and at the server.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::Value;
use sixmark_testkit::vitals::Watching;
use sixmark_testkit::{DEADLINE, Origin, Server, complaint, document, finish, json, sixmark};
use sixmark_units::family::Family;

use super::Serving;

fn warns_of(document: &Value, code: &str) -> bool {
    document["warnings"].as_array().unwrap().iter().any(|warning| warning["code"] == code)
}

#[test]
fn a_single_family_run_assigns_all_cpu_cost_to_that_family() {
    let origin = Origin::start();
    let run = json(&["-6", "-n", "3000", "-c", "4", &origin.url(Family::Ipv6, "/bytes/1000")]);
    let client = &run["vitals"]["client"];
    assert_eq!(client["source"], "here");
    assert_eq!(run["vitals"]["server"], Value::Null);
    let own = &client["processes"];
    assert_eq!(own["method"], "alone");
    let of = &own["families"]["ipv6"];
    assert_eq!(of["us_per_request"], own["us_per_request"]);
    let expected = own["cpu_s"].as_f64().unwrap() * 1e6 / 3_000.0;
    let told = own["us_per_request"].as_f64().unwrap();
    assert!(told > 0.0 && (told / expected - 1.0).abs() < 0.01, "{told} is not {expected}");
    // Both directions of loopback, in this machine's counters.
    let change = &client["change"]["network"];
    assert!(change["families"]["ipv6"]["in_octets"].as_u64().unwrap() > 3_000_000);
}

#[test]
fn a_short_run_over_both_families_reports_only_the_total_cost() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/10");
    let run = json(&["-n", "2000", "-c", "4", &v6, &v4]);
    let own = &run["vitals"]["client"]["processes"];
    assert!(own["us_per_request"].as_f64().unwrap() > 0.0);
    assert_eq!(own["families"], serde_json::json!({}));
    assert!(own["reason"].as_str().unwrap().contains("too few"), "{own}");
}

fn wait_until(mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < DEADLINE, "waited in vain");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The servers' process is this one.
fn own() -> String {
    std::process::id().to_string()
}

/// The lines of a file that is being written.
fn lines(path: &str) -> usize {
    std::fs::read_to_string(path).unwrap().lines().count()
}

/// What is told by a run that lasts while `lasts` waits, from its first request on.
fn run_while(url: &str, from: &str, server: &Server, lasts: impl FnOnce()) -> Value {
    let words = ["run", "-q", "--json", "-", "-d", "1h", "-c", "4", "--vitals-from", from, url];
    let child = sixmark_testkit::command(&words).spawn().unwrap();
    server.next(1);
    lasts();
    sixmark_testkit::signal(child.id(), "INT");
    let run = document(&finish(child));
    drop(server.seen());
    run
}

#[test]
fn takes_server_vitals_from_a_file_still_being_written() {
    let server = Server::start();
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    let ([_, url], pid) = (server.urls("/"), own());
    let mut words = vec!["vitals", "-q", "--interval", "50ms", "--jsonl", path, "--pid", &pid];
    words.extend(["--prometheus", "0"]);
    // Its first line on standard error says that it is there; its samples go to the file.
    let mut child = sixmark_testkit::command(&words).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    // Its last sample comes before the end of the run: how long before is the machine's affair. Where it
    // was so long that the file covers too little, the run has to be longer.
    let runs = [30, 120, 480].map(|samples| {
        let (url, server) = (&url, &server);
        move || {
            run_while(url, path, server, || {
                let enough = lines(path) + samples;
                wait_until(|| lines(path) >= enough);
            })
        }
    });
    let covers = |run: &Value| run["vitals"]["server"]["machine"]["reason"].is_null();
    let run = runs.into_iter().map(|run| run()).find(covers);
    sixmark_testkit::signal(child.id(), "TERM");
    let _ = child.wait();
    let run = run.expect("a file with samples of nearly all of the time");
    let server = &run["vitals"]["server"];
    assert_eq!((server["source"].as_str(), server["name"].as_str()), (Some("file"), Some(path)));
    assert!(server["covered_s"].as_f64() > Some(0.0), "{server:#}");
    for whose in ["machine", "processes"] {
        let cost = &server[whose];
        assert!(cost["cpu_s"].as_f64().unwrap() > 0.0, "{whose}: {cost}");
        let of = cost["families"]["ipv4"]["us_per_request"].as_f64().unwrap();
        assert!(of > 0.0, "{whose}: {cost}");
    }
    assert!(server["change"]["since_us"].as_u64() > Some(0));
}

#[test]
fn warns_about_a_vitals_file_of_another_time() {
    let origin = Origin::start();
    let mut watching = Watching::start(&["--interval", "20ms"]);
    (0..3).for_each(|_| drop(watching.next_line()));
    let old = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(old.path(), watching.end().to_string()).unwrap();
    let url = origin.url(Family::Ipv6, "/bytes/10");
    let run = json(&["-n", "200", "--vitals-from", old.path().to_str().unwrap(), &url]);
    let server = &run["vitals"]["server"];
    assert_eq!((&server["covered_s"], &server["machine"]), (&Value::from(0.0), &Value::Null));
    assert!(warns_of(&run, "vitals_apart"), "{}", run["warnings"]);
}

#[test]
fn takes_server_vitals_from_a_sixmark_metrics_page() {
    let server = Server::start();
    let serving = Serving::start(&["--pid", &own()]);
    let ([url, _], page) = (server.urls("/"), serving.url());
    // A sample each 50 ms: these are more than half a second, which the kernel's clock of CPU time needs.
    let run = run_while(&url, &page, &server, || (0..20).for_each(|_| serving.wait_for_next()));
    let server = &run["vitals"]["server"];
    assert_eq!(
        (server["source"].as_str(), server["name"].as_str()),
        (Some("sixmark"), Some(&*page))
    );
    assert!(server["processes"]["families"]["ipv6"]["us_per_request"].as_f64().unwrap() > 0.0);
    assert_eq!(server["change"], Value::Null);
}

/// A page like a node_exporter's, whose processor is half busy: each time it is fetched a second has gone
/// by.
fn node_exporter() -> String {
    let listener = TcpListener::bind("[::1]:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for (mut stream, second) in listener.incoming().flatten().zip(1_u32..) {
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let first = lines.next().unwrap().unwrap();
            assert_eq!(first, "GET /metrics HTTP/1.1");
            for _ in lines.take_while(|line| line.as_ref().is_ok_and(|line| !line.is_empty())) {}
            let half = 1_000.0 + f64::from(second) / 2.0;
            let _ = write!(
                stream,
                "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n\
                 # TYPE node_cpu_seconds_total counter\n\
                 node_cpu_seconds_total{{cpu=\"0\",mode=\"idle\"}} {half}\n\
                 node_cpu_seconds_total{{cpu=\"0\",mode=\"user\"}} {half}\n"
            );
        }
    });
    url
}

#[test]
fn takes_server_vitals_from_node_exporter_without_the_warm_up() {
    let origin = Origin::start();
    let url = origin.url(Family::Ipv6, "/bytes/1000");
    let times = ["-d", "1s", "--warmup", "300ms", "-c", "4"];
    let run = json(&[&times[..], &["-6", "--vitals-from", &node_exporter(), &url]].concat());
    let server = &run["vitals"]["server"];
    assert_eq!(server["source"], "node_exporter");
    // By its own counters: whose clock says how much time went by depends on when it was asked.
    let machine = &server["machine"];
    let busy = machine["busy_share"].as_f64().unwrap();
    assert!((busy - 0.5).abs() < 1e-6, "{machine}");
    assert!(machine["cpu_s"].as_f64() > Some(0.0), "{machine}");
    assert_eq!(server["processes"], Value::Null);
}

#[test]
fn a_comparison_reports_server_cpu_per_request_for_each_family() {
    let origin = Origin::start();
    let serving = Serving::start(&["--pid", &own()]);
    // Each block keeps the server's only thread busy for 0.6 s.
    let [v6, v4] = origin.urls("/busy/6000");
    let from = serving.url();
    let load = ["--blocks", "6", "-n", "100", "-c", "2", "--warmup", "0", "--timeout", "1h"];
    let words = [&["compare", "-q", "--json", "-"][..], &load].concat();
    let output = sixmark(&[&words[..], &["--vitals-from", &from, &v6, &v4]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    sixmark_testkit::forms::COMPARISON.check(&result);
    let metrics = result["comparison"]["metrics"].as_array().unwrap();
    let cpu = metrics.iter().find(|metric| metric["metric"] == "cpu_per_request").unwrap();
    for side in ["a", "b"] {
        assert!(cpu[side].as_f64() > Some(0.0), "{cpu}");
        for whose in ["client", "server"] {
            let cost = &result["sides"][side]["cpu"][whose]["us_per_request"];
            assert!(cost.as_f64().unwrap() > 0.0, "{side} {whose}");
        }
    }
    assert!(result["blocks"][0]["cpu"]["client_s"].as_f64().unwrap() > 0.0);
}

#[test]
fn rejects_vitals_from_with_find_max() {
    let line = complaint(
        &sixmark(&[
            "run",
            "--find-max",
            "response.p99 < 1ms",
            "--vitals-from",
            "x",
            "http://[::1]:1/",
        ]),
        2,
    );
    assert!(line.contains("--vitals-from"), "{line}");
}
