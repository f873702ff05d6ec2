//! Tests of the turbo origin from a client's view, over both families and real sockets.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use super::*;
use crate::body::BLOCK;

/// The timeout after which a hanging read fails. No test waits for it in normal operation.
const HANG: Duration = Duration::from_secs(60);

const ASK: &str = "GET / HTTP/1.1\r\nHost: o\r\n\r\n";
const HELLO: &str = "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nhello, world\n";

fn turbo(threads: usize) -> Turbo {
    Turbo::start(&Options { threads, ..Options::default() }, 256).unwrap()
}

/// Runs a test over both families, with one thread and with two.
fn on_both_families(test: impl Fn(SocketAddr)) {
    for threads in [1, 2] {
        let turbo = turbo(threads);
        assert_eq!(turbo.addresses().len(), 2);
        turbo.addresses().iter().for_each(|&address| test(address));
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(HANG)).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

fn send(address: SocketAddr, request: &str) -> TcpStream {
    let mut stream = connect(address);
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

/// Returns the head and the body of the only response on a connection.
fn only(address: SocketAddr, request: &str) -> (String, Vec<u8>) {
    let mut bytes = Vec::new();
    send(address, request).read_to_end(&mut bytes).unwrap();
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
    (String::from_utf8(bytes[..end].to_vec()).unwrap(), bytes[end..].to_vec())
}

fn get(address: SocketAddr, path: &str) -> (String, Vec<u8>) {
    only(address, &format!("GET {path} HTTP/1.1\r\nHost: o\r\nConnection: close\r\n\r\n"))
}

fn expect(stream: &mut TcpStream, text: &str) {
    let mut bytes = vec![0; text.len()];
    stream.read_exact(&mut bytes).unwrap();
    assert_eq!(String::from_utf8_lossy(&bytes), text);
}

/// Closes the connection and waits until the origin has closed it too, so that its slot is free.
fn leave(mut stream: TcpStream) {
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(last(&mut stream).unwrap(), 0);
}

/// Returns the result of the next read. A read with a timeout fails with EINTR when the process is
/// stopped and continued, even without signal handlers (signal(7)), so it is repeated.
fn last(stream: &mut TcpStream) -> std::io::Result<usize> {
    loop {
        match stream.read(&mut [0; 1]) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

fn body(length: usize) -> Vec<u8> {
    BLOCK.iter().copied().cycle().take(length).collect()
}

#[test]
fn a_connection_serves_one_request_after_another() {
    on_both_families(|address| {
        let mut stream = connect(address);
        for _ in 0..1000 {
            stream.write_all(ASK.as_bytes()).unwrap();
            expect(&mut stream, HELLO);
        }
    });
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    on_both_families(|address| {
        let mixed = format!(
            "{ASK}GET /no HTTP/1.1\r\nHost: o\r\n\r\n{ASK}HEAD /bytes/7 HTTP/1.1\r\nHost: o\r\n\r\n"
        );
        let mut stream = connect(address);
        stream.write_all(mixed.repeat(200).as_bytes()).unwrap();
        for _ in 0..200 {
            expect(&mut stream, HELLO);
            expect(&mut stream, "HTTP/1.1 404 Not Found\r\nContent-Length: 45\r\n\r\n");
            expect(&mut stream, "there is /, /bytes/N and, for uploads, /sink\n");
            expect(&mut stream, HELLO);
            expect(&mut stream, "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n");
        }
    });
}

#[test]
fn answers_to_a_client_that_reads_late_stay_in_order() {
    on_both_families(|address| {
        let sizes: Vec<usize> = (0..300).map(|i| i * 977 % 16_384 + i % 3 * 40_000).collect();
        let mut stream = connect(address);
        for size in &sizes {
            stream
                .write_all(format!("GET /bytes/{size} HTTP/1.1\r\nHost: o\r\n\r\n").as_bytes())
                .unwrap();
        }
        for &size in &sizes {
            expect(&mut stream, &format!("HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n"));
            let mut bytes = vec![0; size];
            stream.read_exact(&mut bytes).unwrap();
            assert!(bytes == body(size), "{size}");
        }
    });
}

#[test]
fn a_request_may_come_byte_by_byte() {
    on_both_families(|address| {
        let mut stream = connect(address);
        for _ in 0..2 {
            for byte in ASK.bytes() {
                stream.write_all(&[byte]).unwrap();
            }
            expect(&mut stream, HELLO);
        }
    });
}

#[test]
fn sends_bodies_of_any_size_completely() {
    on_both_families(|address| {
        for size in [0, 1, 4096, 16_384, 16_385, 65_537, 1 << 20, 5_000_000] {
            let (head, bytes) = get(address, &format!("/bytes/{size}?x"));
            assert!(head.contains(&format!("\r\nContent-Length: {size}\r\n")), "{head}");
            assert!(bytes == body(size), "{size}");
        }
    });
}

#[test]
fn closes_on_connection_close_and_on_http_1_0_without_keep_alive() {
    on_both_families(|address| {
        for request in
            ["GET / HTTP/1.1\r\nHost: o\r\nconnection: x, Close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"]
        {
            let (head, body) = only(address, request);
            assert!(head.contains("\r\nConnection: close\r\n"), "{head}");
            assert_eq!(body, b"hello, world\n");
            // The response is the same after other requests on the same connection.
            let (head, rest) = only(address, &format!("{ASK}{request}"));
            assert!(HELLO.starts_with(&head));
            assert!(rest.ends_with(b"close\r\n\r\nhello, world\n"));
            let mut stream = send(address, ASK);
            expect(&mut stream, HELLO);
            stream.write_all(request.as_bytes()).unwrap();
            let mut rest = Vec::new();
            stream.read_to_end(&mut rest).unwrap();
            assert!(rest.ends_with(b"close\r\n\r\nhello, world\n"));
        }
        let mut old = send(address, "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n");
        expect(&mut old, &HELLO.replace("13\r\n", "13\r\nConnection: keep-alive\r\n"));
        old.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
        let mut rest = Vec::new();
        old.read_to_end(&mut rest).unwrap();
        assert!(rest.ends_with(b"hello, world\n"));
    });
}

#[test]
fn rejects_unknown_paths_methods_and_malformed_requests() {
    on_both_families(|address| {
        let huge = format!("GET / HTTP/1.1\r\nHost: o\r\nX: {}\r\n\r\n", "x".repeat(20_000));
        let many = format!("GET / HTTP/1.1\r\nHost: o\r\n{}\r\n", "X: x\r\n".repeat(100));
        for (request, status) in [
            ("GET /bytes/x HTTP/1.1\r\nHost: o\r\nConnection: close\r\n\r\n", "404 "),
            ("GET /bytes/1099511627777 HTTP/1.1\r\nHost: o\r\nConnection: close\r\n\r\n", "404 "),
            ("POST /x HTTP/1.1\r\nHost: o\r\nConnection: close\r\n\r\n", "404 "),
            ("DELETE / HTTP/1.1\r\nHost: o\r\n\r\n", "501 "),
            (
                "PUT /sink HTTP/1.1\r\nHost: o\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
                "501 ",
            ),
            ("PUT /sink HTTP/1.1\r\nHost: o\r\nContent-Length: -1\r\n\r\n", "400 "),
            (
                "PUT /sink HTTP/1.1\r\nHost: o\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
                "400 ",
            ),
            ("\0\u{1}rubbish\r\n\r\n", "400 "),
            ("GET / HTTP/1.1\r\n\r\n", "400 "),
            ("GET / HTTP/1.1\r\nHost: o\r\nHost: o\r\n\r\n", "400 "),
            ("GET / HTTP/1.1\r\nHost: o, p\r\nhost: o\r\n\r\n", "400 "),
            ("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", "400 "),
            ("GET / HTTP/1.0\r\nHost: a/b\r\n\r\n", "400 "),
            ("GET / HTTP/1.1\r\nHost: [::1]:80\r\nConnection: close\r\n\r\n", "200 "),
            ("GET / HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n", "200 "),
            ("GET / HTTP/1.0\r\n\r\n", "200 "),
            (&huge, "431 "),
            (&many, "431 "),
        ] {
            let (head, _) = only(address, request);
            assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{request}: {head}");
        }
    });
}

#[test]
fn an_upload_is_read_to_its_end_and_then_answered() {
    on_both_families(|address| {
        let received = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nreceived\n";
        for method in ["POST", "PUT"] {
            let size = 3_000_000;
            let head =
                format!("{method} /sink HTTP/1.1\r\nHost: o\r\nContent-Length: {size}\r\n\r\n");
            let mut stream = send(address, &head);
            stream.write_all(&vec![7; size]).unwrap();
            expect(&mut stream, received);
            let small = format!(
                "{method} /sink HTTP/1.1\r\nHost: o\r\nContent-Length: 5\r\n\r\n12345{ASK}"
            );
            stream.write_all(small.as_bytes()).unwrap();
            expect(&mut stream, received);
            expect(&mut stream, HELLO);
            let cautious = format!(
                "{method} /sink HTTP/1.1\r\nHost: o\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"
            );
            stream.write_all(cautious.as_bytes()).unwrap();
            expect(&mut stream, "HTTP/1.1 100 Continue\r\n\r\n");
            stream.write_all(b"12345").unwrap();
            expect(&mut stream, received);
        }
    });
}

#[test]
fn answers_a_client_that_has_closed_its_sending_side() {
    on_both_families(|address| {
        let mut stream =
            send(address, &format!("{ASK}GET /bytes/3000000 HTTP/1.1\r\nHost: o\r\n\r\n"));
        stream.shutdown(Shutdown::Write).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        assert!(bytes.starts_with(HELLO.as_bytes()) && bytes.ends_with(&body(3_000_000)));
    });
}

#[test]
fn survives_clients_that_disconnect_midway() {
    on_both_families(|address| {
        for request in ["", "GET / HT", ASK, "GET /bytes/100000000 HTTP/1.1\r\nHost: o\r\n\r\n"] {
            drop(send(address, request));
        }
        drop(send(address, "PUT /sink HTTP/1.1\r\nHost: o\r\nContent-Length: 50\r\n\r\n12345"));
        assert_eq!(get(address, "/").1, b"hello, world\n");
    });
}

#[test]
fn reuses_connection_slots() {
    for family in 0..2 {
        let turbo = turbo(1);
        let address = turbo.addresses()[family];
        for _ in 0..3 {
            // As many requests as the server has room for.
            let mut all: Vec<_> = (0..250).map(|_| send(address, ASK)).collect();
            all.iter_mut().for_each(|stream| expect(stream, HELLO));
            all.into_iter().for_each(leave);
        }
        for _ in 0..1000 {
            assert_eq!(get(address, "/").1, b"hello, world\n");
        }
    }
}

#[test]
fn closes_excess_connections_and_serves_others_once_slots_are_free() {
    for family in 0..2 {
        let turbo = turbo(1);
        let address = turbo.addresses()[family];
        let mut held: Vec<_> = (0..256).map(|_| send(address, ASK)).collect();
        held.iter_mut().for_each(|stream| expect(stream, HELLO));
        let mut beyond = send(address, ASK);
        assert!(matches!(last(&mut beyond), Ok(0) | Err(_)));
        held.into_iter().for_each(leave);
        let mut later = send(address, ASK);
        expect(&mut later, HELLO);
    }
}

/// Whatever ends first, the refusal or what made it necessary.
#[test]
fn keeps_accepting_after_its_capacity_was_exceeded() {
    for family in 0..2 {
        let turbo = turbo(1);
        let address = turbo.addresses()[family];
        for _ in 0..3 {
            // Nothing is sent, so that only the ends of connections wake the server.
            let held: Vec<_> = (0..400).map(|_| connect(address)).collect();
            drop(held);
            let mut served = false;
            while !served {
                // Those who came when it was full are turned away.
                let mut later = send(address, ASK);
                let mut bytes = [0; HELLO.len()];
                served = later.read_exact(&mut bytes).is_ok();
            }
        }
    }
}

#[test]
fn closes_its_connections_and_frees_its_ports_when_it_stops() {
    for threads in [1, 2] {
        let first = turbo(threads);
        let listen = first.addresses().to_vec();
        let mut open: Vec<_> = listen.iter().map(|&address| send(address, ASK)).collect();
        open.iter_mut().for_each(|stream| expect(stream, HELLO));
        first.stop();
        for stream in &mut open {
            let end = last(stream).map_err(|error| error.kind());
            assert!(matches!(end, Ok(0) | Err(ErrorKind::ConnectionReset)), "{end:?}");
        }
        let options = Options { listen: listen.clone(), threads, ..Options::default() };
        let second = Turbo::start(&options, 256).unwrap();
        assert_eq!(second.addresses(), listen);
        let taken = Turbo::start(&options, 256).unwrap_err();
        assert!(taken.to_string().starts_with("can't listen on "), "{taken}");
    }
}
