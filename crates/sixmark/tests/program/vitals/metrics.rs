//! What Prometheus is served.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, TcpStream};

use sixmark_vitals::exposition::{Exporter, parse_exposition, processor_time};

use super::Serving;

/// The whole answer to a request.
fn ask(to: &str, port: u16, request: &str) -> String {
    ask_host("localhost", to, port, request)
}

fn ask_host(host: &str, to: &str, port: u16, request: &str) -> String {
    let mut stream = TcpStream::connect((to.parse::<IpAddr>().unwrap(), port)).unwrap();
    write!(stream, "{request} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_page_is_served_over_both_families_on_one_port() {
    let serving = Serving::start(&[]);
    for address in ["::1", "127.0.0.1"] {
        let mut answer = ask(address, serving.port, "GET /metrics");
        // The first sample takes a moment.
        while answer.contains("no sample yet") {
            answer = ask(address, serving.port, "GET /metrics");
        }
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        assert!(head.contains("text/plain; version=0.0.4"), "{head}");
        let (who, point) = processor_time(body, 0).unwrap();
        assert_eq!(who, Exporter::Sixmark);
        assert!(point.host_us > 0.0 && point.all_us > point.host_us);
        for family in ["ipv6", "ipv4"] {
            let octets = parse_exposition(body).find(|metric| {
                metric.name == "sixmark_vitals_ip_in_octets_total"
                    && metric.label("family") == Some(family)
            });
            assert!(octets.is_some(), "{family}");
        }
        assert!(body.contains("# TYPE sixmark_vitals_cpu_seconds_total counter"));
        assert!(body.contains("sixmark_vitals_cpu_seconds_total{mode=\"softirq\"} "));
    }
}

#[test]
fn answers_404_to_unknown_paths_and_405_to_post() {
    let serving = Serving::start(&[]);
    assert!(ask("::1", serving.port, "GET /").starts_with("HTTP/1.1 404"));
    assert!(ask("127.0.0.1", serving.port, "POST /metrics").starts_with("HTTP/1.1 405"));
}

/// A page of another site has its own name in `Host`, whatever address that name is given.
#[test]
fn answers_421_to_a_foreign_host_header() {
    let serving = Serving::start(&["--prometheus-host", "Box.example"]);
    let port = serving.port;
    let own = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let known =
        ["localhost:80", "127.0.0.1", "[::1]:9101", "192.0.2.7:1", "box.example", own.trim()];
    for host in known {
        assert!(ask_host(host, "::1", port, "GET /").starts_with("HTTP/1.1 404"), "{host}");
    }
    for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", ""] {
        let answer = ask_host(host, "127.0.0.1", port, "GET /metrics");
        assert!(answer.starts_with("HTTP/1.1 421"), "{host}: {answer}");
    }
}

#[test]
fn answers_while_100_clients_hold_incomplete_requests() {
    let serving = Serving::start(&[]);
    let half = |_| {
        let mut stream =
            TcpStream::connect(("::1".parse::<IpAddr>().unwrap(), serving.port)).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: ").unwrap();
        stream
    };
    let held: Vec<TcpStream> = (0..100).map(half).collect();
    assert!(ask("::1", serving.port, "GET /").starts_with("HTTP/1.1 404"));
    drop(held);
}
