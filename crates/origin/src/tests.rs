//! Tests of the origin from a client's view, over both families and real sockets.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::*;

/// The timeout after which a hanging read fails. No test waits for it in normal operation.
const HANG: Duration = Duration::from_secs(60);

fn origin() -> Origin {
    Origin::start(Options { threads: 2, ..Options::default() }).unwrap()
}

fn on_both_families(test: impl Fn(SocketAddr)) {
    let origin = origin();
    assert_eq!(origin.addresses().len(), 2);
    origin.addresses().iter().for_each(|&address| test(address));
}

fn send(address: SocketAddr, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(HANG)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

/// Returns the head and the body of the only response on a connection.
fn ask(address: SocketAddr, method: &str, path: &str) -> (String, Vec<u8>) {
    let request = format!("{method} {path} HTTP/1.1\r\nHost: o\r\nConnection: close\r\n\r\n");
    let mut bytes = Vec::new();
    send(address, &request).read_to_end(&mut bytes).unwrap();
    split(&bytes)
}

fn get(address: SocketAddr, path: &str) -> (String, Vec<u8>) {
    ask(address, "GET", path)
}

fn split(bytes: &[u8]) -> (String, Vec<u8>) {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
    (String::from_utf8(bytes[..end].to_vec()).unwrap().to_lowercase(), bytes[end..].to_vec())
}

/// Reads to the end of the stream. Returns the bytes, and the error that ended the stream, if any.
fn read_until_the_end(mut stream: TcpStream) -> (Vec<u8>, Option<ErrorKind>) {
    let mut bytes = Vec::new();
    let error = stream.read_to_end(&mut bytes).err().map(|error| error.kind());
    (bytes, error)
}

/// Decodes a chunked body. Also returns the number of chunks.
fn unchunk(mut bytes: &[u8]) -> (Vec<u8>, usize) {
    let (mut body, mut chunks) = (Vec::new(), 0);
    loop {
        let line = bytes.windows(2).position(|two| two == b"\r\n").unwrap();
        let size = std::str::from_utf8(&bytes[..line]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        bytes = &bytes[line + 2..];
        body.extend_from_slice(&bytes[..size]);
        assert_eq!(&bytes[size..size + 2], b"\r\n");
        bytes = &bytes[size + 2..];
        if size == 0 {
            assert!(bytes.is_empty());
            return (body, chunks);
        }
        chunks += 1;
    }
}

#[test]
fn bytes_sends_the_requested_number_of_bytes() {
    on_both_families(|address| {
        for n in [0, 1, 65_536, 1_000_003] {
            let (head, body) = get(address, &format!("/bytes/{n}"));
            assert!(head.starts_with("http/1.1 200 "), "{head}");
            assert!(head.contains(&format!("\r\ncontent-length: {n}\r\n")), "{head}");
            assert_eq!(body.len(), n);
        }
    });
}

#[test]
fn the_same_bytes_come_over_both_families() {
    let origin = origin();
    let bodies = origin.addresses().iter().map(|&a| get(a, "/bytes/200000").1).collect::<Vec<_>>();
    assert_eq!(bodies[0], bodies[1]);
}

#[test]
fn a_query_is_ignored() {
    on_both_families(|address| assert_eq!(get(address, "/bytes/5?x=/bytes/6").1.len(), 5));
}

#[test]
fn head_tells_the_length_and_sends_no_body() {
    on_both_families(|address| {
        for (path, length) in [
            ("/bytes/1099511627776", "1099511627776"),
            ("/bytes/0", "0"),
            ("/health", "3"),
            ("/truncate/8", "8"),
            ("/reset", "65536"),
        ] {
            let (head, body) = ask(address, "HEAD", path);
            assert!(head.contains(&format!("\r\ncontent-length: {length}\r\n")), "{path}: {head}");
            assert!(body.is_empty(), "{path}");
        }
    });
}

#[test]
fn chunked_is_valid_and_comes_in_several_chunks() {
    on_both_families(|address| {
        for (n, least) in [(0, 0), (1, 1), (4, 4), (100_000, 4)] {
            let (head, body) = get(address, &format!("/chunked/{n}"));
            assert!(head.contains("\r\ntransfer-encoding: chunked\r\n"), "{head}");
            assert!(!head.contains("content-length"), "{head}");
            let (body, chunks) = unchunk(&body);
            assert_eq!(body, get(address, &format!("/bytes/{n}")).1);
            assert!(chunks >= least, "{chunks} chunks for {n} bytes");
        }
    });
}

#[test]
fn delay_waits_for_at_least_the_requested_time() {
    on_both_families(|address| {
        let start = Instant::now();
        assert_eq!(get(address, "/delay/30").1, b"waited 30 ms\n");
        assert!(start.elapsed() >= Duration::from_millis(30));
    });
}

#[test]
fn busy_computes_for_at_least_the_requested_time() {
    on_both_families(|address| {
        let start = Instant::now();
        assert_eq!(get(address, "/busy/3000").1, b"computed for 3000 us\n");
        assert!(start.elapsed() >= Duration::from_millis(3));
    });
}

#[test]
fn drip_spaces_its_bytes() {
    on_both_families(|address| {
        let start = Instant::now();
        assert_eq!(get(address, "/drip/4/10").1, get(address, "/bytes/4").1);
        assert!(start.elapsed() >= Duration::from_millis(30));
    });
}

#[test]
fn capacity_limits_the_request_rate_on_each_address() {
    on_both_families(|address| {
        let start = Instant::now();
        (0..3).for_each(|_| assert_eq!(get(address, "/capacity/100").1, b"served\n"));
        // The server enforces the lower bound: three intervals of 10 ms.
        assert!(start.elapsed() >= Duration::from_millis(30));
    });
}

#[test]
fn status_answers_with_the_requested_code() {
    on_both_families(|address| {
        for code in [200, 204, 205, 301, 304, 404, 418, 500, 503, 599] {
            let (head, body) = get(address, &format!("/status/{code}"));
            assert!(head.starts_with(&format!("http/1.1 {code} ")), "{head}");
            assert_eq!(body.is_empty(), [204, 205, 304].contains(&code), "{code}");
        }
    });
}

#[test]
fn dynamic_names_the_peer_and_its_family() {
    on_both_families(|address| {
        let (head, body) = get(address, "/dynamic?a=b");
        let page = String::from_utf8(body).unwrap();
        assert!(head.contains("content-type: text/html"), "{head}");
        assert!(page.contains(&format!("<code>{}</code>", address.ip())), "{page}");
        assert!(page.contains(&format!("over {}", Family::of(address.ip()))), "{page}");
        assert!(page.contains("<code>a=b</code>"), "{page}");
    });
}

#[test]
fn sink_counts_what_it_receives() {
    on_both_families(|address| {
        for (request, n) in [
            (
                "PUT /sink HTTP/1.1\r\nHost: o\r\nConnection: close\r\nContent-Length: 5\r\n\r\n12345",
                5,
            ),
            (
                "POST /sink HTTP/1.1\r\nHost: o\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n\
              3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n",
                7,
            ),
            ("PUT /sink HTTP/1.1\r\nHost: o\r\nConnection: close\r\n\r\n", 0),
        ] {
            let (bytes, _) = read_until_the_end(send(address, request));
            let answer: Value = serde_json::from_slice(&split(&bytes).1).unwrap();
            assert_eq!(answer, json!({ "received": n }));
        }
    });
}

#[test]
fn sink_takes_an_upload_larger_than_the_socket_buffers() {
    on_both_families(|address| {
        let head = "PUT /sink HTTP/1.1\r\nHost: o\r\nConnection: close\r\nContent-Length: 20000000\r\n\r\n";
        let mut stream = send(address, head);
        (0..20).for_each(|_| stream.write_all(&[7; 1_000_000]).unwrap());
        let (bytes, _) = read_until_the_end(stream);
        assert_eq!(split(&bytes).1, b"{\"received\":20000000}\n");
    });
}

#[test]
fn reset_breaks_the_connection_in_the_body() {
    on_both_families(|address| {
        for _ in 0..100 {
            let stream = send(address, "GET /reset HTTP/1.1\r\nHost: o\r\n\r\n");
            let (bytes, error) = read_until_the_end(stream);
            let (head, body) = split(&bytes);
            assert!(head.contains("\r\ncontent-length: 65536\r\n"), "{head}");
            assert_eq!(body.len(), 1024);
            assert_eq!(error, Some(ErrorKind::ConnectionReset));
        }
    });
}

#[test]
fn reset_follows_the_answers_to_earlier_pipelined_requests() {
    on_both_families(|address| {
        let requests = "GET /health HTTP/1.1\r\nHost: o\r\n\r\nGET /reset HTTP/1.1\r\nHost: o\r\n\r\n\
                        GET /health HTTP/1.1\r\nHost: o\r\n\r\n";
        let (bytes, error) = read_until_the_end(send(address, requests));
        let (_, rest) = split(&bytes);
        assert!(rest.starts_with(b"ok\nHTTP/1.1 200 OK\r\n"));
        assert_eq!(split(&rest).1.len(), 1024);
        assert_eq!(error, Some(ErrorKind::ConnectionReset));
    });
}

#[test]
fn truncate_ends_with_fin_at_half() {
    on_both_families(|address| {
        for n in [1, 2, 1001, 5_000_000] {
            let request = format!("GET /truncate/{n} HTTP/1.1\r\nHost: o\r\n\r\n");
            let (bytes, error) = read_until_the_end(send(address, &request));
            let (head, body) = split(&bytes);
            assert!(head.contains(&format!("\r\ncontent-length: {n}\r\n")), "{head}");
            assert_eq!((body.len(), error), (n / 2, None));
        }
    });
}

#[test]
fn close_sends_no_byte_and_no_reset() {
    on_both_families(|address| {
        for rest in ["", "GET /health HTTP/1.1\r\nHost: o\r\n\r\n"] {
            let request = format!("GET /close HTTP/1.1\r\nHost: o\r\n\r\n{rest}");
            assert_eq!(read_until_the_end(send(address, &request)), (Vec::new(), None));
        }
    });
}

#[test]
fn stall_answers_nothing_until_the_origin_stops() {
    for family in 0..2 {
        let origin = origin();
        let address = origin.addresses()[family];
        let stalled = send(address, "GET /stall HTTP/1.1\r\nHost: o\r\n\r\n");
        assert_eq!(get(address, "/health").1, b"ok\n");
        origin.stop();
        assert!(read_until_the_end(stalled).0.is_empty());
    }
}

#[test]
fn stall_sends_the_requested_bytes_and_no_more() {
    for family in 0..2 {
        let origin = origin();
        let address = origin.addresses()[family];
        let mut stalled = send(address, "GET /stall/10 HTTP/1.1\r\nHost: o\r\n\r\n");
        let mut bytes = Vec::new();
        while !bytes.windows(4).any(|four| four == b"\r\n\r\n") || split(&bytes).1.len() < 10 {
            let mut some = [0; 1];
            stalled.read_exact(&mut some).unwrap();
            bytes.push(some[0]);
        }
        assert!(split(&bytes).0.contains("\r\ncontent-length: 11\r\n"));
        origin.stop();
        assert!(read_until_the_end(stalled).0.is_empty());
    }
}

#[test]
fn a_connection_serves_one_request_after_another() {
    on_both_families(|address| {
        let mut stream = TcpStream::connect(address).unwrap();
        for _ in 0..3 {
            stream.write_all(b"GET /bytes/4 HTTP/1.1\r\nHost: o\r\n\r\n").unwrap();
            let mut bytes = Vec::new();
            while !bytes.windows(4).any(|four| four == b"\r\n\r\n") || split(&bytes).1.len() < 4 {
                let mut some = [0; 1];
                stream.read_exact(&mut some).unwrap();
                bytes.push(some[0]);
            }
        }
    });
}

#[test]
fn the_index_is_plain_text() {
    on_both_families(|address| {
        let (head, body) = get(address, "/");
        assert!(head.contains("content-type: text/plain"), "{head}");
        assert_eq!(body, route::INDEX.as_bytes());
    });
}

#[test]
fn rejects_bad_paths_numbers_and_methods_with_a_hint() {
    on_both_families(|address| {
        for (method, path, code, line) in [
            ("GET", "/nothing", 404, "/bytes/N"),
            ("GET", "/bytes/x", 400, "N must be a number from 0 to 1099511627776"),
            ("GET", "/status/42", 400, "CODE must be a number from 200 to 599"),
            ("POST", "/bytes/5", 405, "GET, HEAD"),
            ("GET", "/sink", 405, "PUT, POST"),
        ] {
            let (head, body) = ask(address, method, path);
            assert!(head.starts_with(&format!("http/1.1 {code} ")), "{path}: {head}");
            assert!(String::from_utf8(body).unwrap().contains(line), "{path}");
        }
    });
}

#[test]
fn rubbish_is_refused_and_the_next_client_is_served() {
    on_both_families(|address| {
        let (bytes, _) = read_until_the_end(send(address, "\u{0}\u{1}rubbish\r\n\r\n"));
        assert!(bytes.starts_with(b"HTTP/1.1 400 "));
        assert_eq!(get(address, "/health").1, b"ok\n");
    });
}

/// RFC 9112, 3.2.
#[test]
fn a_request_without_one_valid_host_is_refused() {
    on_both_families(|address| {
        for (version, hosts, code) in [
            ("1.1", "", 400),
            ("1.1", "Host: a\r\nHost: a\r\n", 400),
            ("1.1", "Host: a b\r\n", 400),
            ("1.0", "Host: a/b\r\n", 400),
            ("1.0", "", 200),
            ("1.1", "Host:\r\n", 200),
            ("1.1", "host: [::1]:80\r\n", 200),
        ] {
            for path in ["/health", "/bytes/1"] {
                let request =
                    format!("GET {path} HTTP/{version}\r\n{hosts}Connection: close\r\n\r\n");
                let (bytes, _) = read_until_the_end(send(address, &request));
                let (head, body) = split(&bytes);
                assert_eq!(&head[8..12], format!(" {code}"), "{request}");
                let line = String::from_utf8_lossy(&body).contains("Host");
                assert_eq!(line, code == 400, "{request}");
            }
        }
    });
}

#[test]
fn a_refused_upload_still_gets_its_answer() {
    on_both_families(|address| {
        let head = "POST /bytes/5 HTTP/1.1\r\nHost: o\r\nContent-Length: 200000\r\n\r\n";
        let mut stream = send(address, head);
        stream.write_all(&[7; 200_000]).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let (bytes, _) = read_until_the_end(stream);
        assert!(bytes.starts_with(b"HTTP/1.1 405 "));
    });
}

#[test]
fn describes_its_listening_addresses() {
    let origin = origin();
    let [v6, v4] = [origin.addresses()[0].port(), origin.addresses()[1].port()];
    assert_eq!(
        origin.describe(),
        json!({ "addresses": [
            { "family": "ipv6", "address": "::1", "port": v6, "url": format!("http://[::1]:{v6}/"),
              "protocols": ["h2", "http/1.1"] },
            { "family": "ipv4", "address": "127.0.0.1", "port": v4,
              "url": format!("http://127.0.0.1:{v4}/"), "protocols": ["h2", "http/1.1"] },
        ] })
    );
}

#[test]
fn frees_its_ports_when_it_stops() {
    let first = origin();
    let listen = first.addresses().to_vec();
    first.addresses().iter().for_each(|&address| drop(get(address, "/health")));
    first.stop();
    let second =
        Origin::start(Options { listen: listen.clone(), threads: 1, ..Options::default() })
            .unwrap();
    assert_eq!(second.addresses(), listen);
}

#[test]
fn an_origin_can_be_dropped_inside_another_runtime() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async { drop(origin()) });
}
