//! Tests of what the first bytes of a connection say, however they are cut up, in whatever order they
//! come, and whether or not the capture has what precedes them.

use super::super::hello::made::{client, record, server};
use super::*;

const RESPONSE: &[u8] = b"HTTP/1.1 207 Multi-Status\r\nContent-Length: 3\r\n\r\nabc";

/// Returns the only connection and its exchanges. Nothing is left in a buffer.
fn found(made: Made) -> (ConnectionReport, Vec<HttpExchange>) {
    let (mut kept, _) = made.follower.finish();
    assert_eq!(kept.connections.len(), 1);
    let real = kept.exchanges.finish(0).into_iter().filter(|one| one.number > 0);
    (kept.connections.remove(0), real.collect())
}

#[test]
fn reads_http_exchanges_with_any_method() {
    for method in ["PROPFIND", "REPORT", "PURGE", "QUERY", "M-SEARCH", "MKCALENDAR", "x"] {
        for mut made in both() {
            made.handshake();
            let request = format!("{method} /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi");
            let (mut at, mut answered) = (1, 1);
            for _ in 0..3 {
                made.client(ACK, at, answered, request.as_bytes());
                at += request.len() as u32;
                made.server(ACK, answered, at, RESPONSE);
                answered += RESPONSE.len() as u32;
            }
            made.client(ACK, at, answered, b"");
            let (connection, exchanges) = found(made);
            assert_eq!(
                (connection.payload_protocol, connection.exchanges),
                (PayloadProtocol::Http1, 3)
            );
            assert_eq!(connection.doubts, Doubts::default());
            for one in exchanges {
                assert_eq!((&*one.method, &*one.path, one.status), (method, "/a", Some(207)));
                assert_eq!(one.whole, Some(true));
            }
        }
    }
}

/// The pieces of a client's bytes: where each begins and ends.
type Pieces = Vec<(usize, usize)>;

/// Lets the client send pieces of `bytes`, then a server answer and the client go on.
fn shake(made: &mut Made, bytes: &[u8], pieces: &Pieces) {
    for &(from, to) in pieces {
        made.client(ACK, 1 + from as u32, 1, &bytes[from..to]);
    }
    let end = 1 + bytes.len() as u32;
    made.server(ACK, 1, end, b"");
    let answers = [record(22, &server(Some([3, 4]), None)), record(23, &[1; 50])].concat();
    made.server(ACK, 1, end, &answers);
    made.client(ACK, end, 1 + answers.len() as u32, &record(23, &[2; 53]));
}

#[test]
fn reads_a_tls_hello_in_any_pieces_wherever_the_capture_begins() {
    let asks = record(22, &client("example.org", &["h2"]));
    let (first, half, end) = (1, 700, asks.len());
    let orders = [
        vec![(0, end)],
        vec![(0, half), (half, end)],
        vec![(half, end), (0, half)],
        vec![(0, first), (first, end)],
        vec![(0, 2), (2, 4), (4, half), (half, end)],
        vec![(half, end), (first, half), (0, first)],
    ];
    // What precedes the hello in the capture: the whole handshake, from the SYN-ACK on, that and no
    // ACK, the ACK alone, nothing.
    for begins in 0..5 {
        for pieces in &orders {
            // Without what precedes it, the beginning of a piece is no sign of a hello.
            let known = begins < 3 || pieces[0] == (0, end) || pieces[0] == (0, half);
            for mut made in both() {
                match begins {
                    0 => made.handshake(),
                    1 => {
                        made.server(SYN | ACK, 0, 1, b"");
                        made.client(ACK, 1, 1, b"");
                    }
                    2 => _ = made.server(SYN | ACK, 0, 1, b""),
                    3 => _ = made.client(ACK, 1, 1, b""),
                    _ => {}
                }
                let began_ns = made.now_ns + MICROSECOND;
                shake(&mut made, &asks, pieces);
                let lasted_ns = made.now_ns - began_ns;
                let budget = made.follower.flows.budget.left();
                let (connection, _) = found(made);
                let PayloadProtocol::Tls(hello) = connection.payload_protocol else {
                    assert!(!known, "{begins} {pieces:?}: {connection:?}");
                    continue;
                };
                if known {
                    assert_eq!(
                        hello.server_name.as_deref(),
                        Some("example.org"),
                        "{begins} {pieces:?}"
                    );
                    assert_eq!(hello.version.as_deref(), Some("1.3"), "{begins} {pieces:?}");
                    assert_eq!(hello.handshake_ns, Some(lasted_ns), "{begins} {pieces:?}");
                    assert_eq!(budget, Settings::default().buffer_bytes);
                }
            }
        }
    }
}

#[test]
fn recognises_a_request_in_pieces_of_any_size() {
    let request = b"REPORT /a HTTP/1.1\r\nHost: h\r\n\r\n";
    let end = request.len();
    for pieces in [
        vec![(0, 1), (1, end)],
        vec![(0, 6), (6, 7), (7, 12), (12, 20), (20, end)],
        (0..end).map(|at| (at, at + 1)).collect(),
        vec![(1, end), (0, 1)],
    ] {
        for mut made in both() {
            made.handshake();
            for &(from, to) in &pieces {
                made.client(ACK, 1 + from as u32, 1, &request[from..to]);
            }
            made.server(ACK, 1, 1 + end as u32, RESPONSE);
            made.client(ACK, 1 + end as u32, 1 + RESPONSE.len() as u32, b"");
            let (connection, exchanges) = found(made);
            assert_eq!(
                (connection.payload_protocol, connection.exchanges),
                (PayloadProtocol::Http1, 1)
            );
            assert_eq!((&*exchanges[0].method, exchanges[0].status), ("REPORT", Some(207)));
            assert!(!connection.doubts.unparsed);
        }
    }
}

#[test]
fn does_not_mistake_other_protocols_for_http_1_or_tls() {
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let cases: [(&[u8], PayloadProtocol); 6] = [
        (preface, PayloadProtocol::Http2),
        (b"EHLO example.net\r\n", PayloadProtocol::Unknown),
        (b"SSH-2.0-OpenSSH_9.2\r\n", PayloadProtocol::Unknown),
        (b"OPTIONS sip:a@b SIP/2.0\r\nVia: x\r\n\r\n", PayloadProtocol::Unknown),
        (b"GE", PayloadProtocol::Unknown),
        (b"\x16\x05\x01\x02\x03\x04\x05\x06", PayloadProtocol::Unknown),
    ];
    for (bytes, payload_protocol) in cases {
        for step in [1, 2, 5, 100] {
            for mut made in both() {
                made.handshake();
                for (n, piece) in bytes.chunks(step).enumerate() {
                    made.client(ACK, (1 + n * step) as u32, 1, piece);
                }
                let end = 1 + bytes.len() as u32;
                made.server(ACK, 1, end, b"250 example\r\n");
                made.client(ACK, end, 14, b"");
                let (connection, exchanges) = found(made);
                assert_eq!(connection.payload_protocol, payload_protocol, "{step}");
                assert_eq!((connection.exchanges, exchanges.len()), (0, 0), "{step}");
            }
        }
    }
}
