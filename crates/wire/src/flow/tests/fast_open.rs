//! Tests of connections whose SYN carries data (TCP Fast Open, RFC 7413).

use super::*;

const REQUEST: &[u8] = b"GET /file HTTP/1.1\r\n\r\n";
const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc";
/// The positions after both.
const ASKED: u32 = 1 + REQUEST.len() as u32;
const ANSWERED: u32 = 1 + RESPONSE.len() as u32;

/// Returns the only connection and its only exchange.
fn found(made: Made) -> (ConnectionReport, HttpExchange) {
    let (mut kept, counts) = made.follower.finish();
    assert_eq!((counts.followed, counts.unread.total()), (counts.packets, 0));
    let mut exchanges = kept.exchanges.finish(0);
    assert_eq!((kept.connections.len(), exchanges.len()), (1, 1), "{exchanges:?}");
    (kept.connections.remove(0), exchanges.remove(0))
}

/// Adds the response, its ACK, and the end of the connection.
fn answer(made: &mut Made) {
    made.server(ACK, 1, ASKED, RESPONSE);
    made.client(ACK, ASKED, ANSWERED, b"");
    made.client(ACK | FIN, ASKED, ANSWERED, b"");
    made.server(ACK | FIN, ANSWERED, ASKED + 1, b"");
    made.client(ACK, ASKED + 1, ANSWERED + 1, b"");
}

/// Asserts that the exchange is the same as if the request had come after the handshake.
fn assert_exchange(connection: &ConnectionReport, exchange: &HttpExchange) {
    assert_eq!((&connection.payload_protocol, connection.exchanges), (&PayloadProtocol::Http1, 1));
    assert_eq!(connection.closure, Closure::Normal);
    assert_eq!(connection.doubts, Doubts::default());
    let (client, server) = (connection.sent.from_client, connection.sent.from_server);
    let bytes = (client.stream_bytes, server.stream_bytes);
    assert_eq!(bytes, (REQUEST.len() as u64, RESPONSE.len() as u64));
    assert_eq!((exchange.path.as_str(), exchange.status), ("/file", Some(200)));
    assert_eq!((exchange.whole, exchange.content_bytes), (Some(true), 3));
    assert_eq!(exchange.response_bytes, RESPONSE.len() as u64);
    assert_eq!((exchange.unmeasured, exchange.left_to_fin), (None, 0));
    assert_eq!((exchange.began_ns, exchange.request_ns), (MICROSECOND, Some(0)));
}

#[test]
fn measures_an_exchange_whose_request_is_in_the_syn() {
    for mut made in both() {
        made.client(SYN, 0, 0, REQUEST);
        made.server(SYN | ACK, 0, ASKED, b"");
        made.client(ACK, ASKED, 1, b"");
        answer(&mut made);
        let (connection, exchange) = found(made);
        assert_exchange(&connection, &exchange);
        let opening = connection.opening;
        assert_eq!(opening.answered_ns, Some(MICROSECOND));
        assert_eq!(opening.established_ns, Some(2 * MICROSECOND));
        assert_eq!((opening.syns, connection.sent.from_client.retransmitted), (1, 0));
        assert_eq!(exchange.repeated, PerDirection::default());
        // Both round trips of the handshake.
        let trips = &connection.round_trips;
        assert_eq!((trips.from_server.count, trips.from_client.count), (1, 1));
        assert_eq!(trips.from_server.p50_ns, Some(MICROSECOND));
        assert_eq!(exchange.wait_ns, Some(3 * MICROSECOND));
    }
}

#[test]
fn accepts_a_response_before_the_client_acks_the_syn_ack() {
    for mut made in both() {
        made.client(SYN, 0, 0, REQUEST);
        made.server(SYN | ACK, 0, ASKED, b"");
        answer(&mut made);
        let (connection, exchange) = found(made);
        assert_exchange(&connection, &exchange);
        assert_eq!(exchange.wait_ns, Some(2 * MICROSECOND));
    }
}

#[test]
fn counts_syn_data_that_the_server_refuses_as_retransmitted() {
    for mut made in both() {
        made.client(SYN, 0, 0, REQUEST);
        made.server(SYN | ACK, 0, 1, b"");
        let again = made.client(ACK, 1, 1, REQUEST);
        made.server(ACK, 1, ASKED, b"");
        answer(&mut made);
        let (connection, exchange) = found(made);
        assert_exchange(&connection, &exchange);
        let client = connection.sent.from_client;
        assert_eq!((client.retransmitted, client.out_of_order), (1, 0));
        assert_eq!(client.payload_bytes, 2 * REQUEST.len() as u64);
        let repeated = Repeated { segments: 1, bytes: again };
        assert_eq!(exchange.repeated.from_client, repeated);
        assert_eq!(connection.opening.answered_ns, Some(MICROSECOND));
        // The SYN-ACK acknowledges the SYN alone, which was sent once.
        assert_eq!(connection.round_trips.from_server.count, 1);
    }
}

#[test]
fn follows_a_lost_syn_that_is_repeated_without_its_data() {
    for mut made in both() {
        made.client(SYN, 0, 0, REQUEST);
        made.client(SYN, 0, 0, b"");
        made.server(SYN | ACK, 0, 1, b"");
        made.client(ACK, 1, 1, b"");
        made.client(ACK, 1, 1, REQUEST);
        answer(&mut made);
        let (connection, exchange) = found(made);
        assert_exchange(&connection, &exchange);
        assert_eq!((connection.opening.syns, connection.sent.from_client.retransmitted), (2, 2));
        assert_eq!(connection.round_trips.from_server.count, 0);
    }
}

#[test]
fn a_request_may_begin_in_the_syn_and_end_later() {
    for mut made in both() {
        let (first, rest) = REQUEST.split_at(10);
        made.client(SYN, 0, 0, first);
        made.server(SYN | ACK, 0, 11, b"");
        made.client(ACK, 11, 1, rest);
        answer(&mut made);
        let (connection, exchange) = found(made);
        assert_eq!((exchange.status, exchange.whole), (Some(200), Some(true)));
        assert_eq!((connection.exchanges, connection.sent.from_client.retransmitted), (1, 0));
        assert_eq!(exchange.request_ns, Some(2 * MICROSECOND));
    }
}

#[test]
fn reads_a_tls_hello_that_begins_in_a_syn() {
    use super::super::hello::made::{client, record, server};
    for mut made in both() {
        let asks = record(22, &client("example.org", &["h2"]));
        let (first, rest) = asks.split_at(900);
        let end = 1 + asks.len() as u32;
        made.client(SYN, 0, 0, first);
        made.server(SYN | ACK, 0, 901, b"");
        made.client(ACK, 901, 1, rest);
        let answers = [record(22, &server(Some([3, 4]), None)), record(23, &[1; 50])].concat();
        made.server(ACK, 1, end, &answers);
        made.client(ACK, end, 1 + answers.len() as u32, &record(23, &[2; 53]));
        let connections = made.connections();
        let PayloadProtocol::Tls(hello) = &connections[0].payload_protocol else {
            panic!("{connections:?}")
        };
        assert_eq!(hello.server_name.as_deref(), Some("example.org"));
        assert_eq!((hello.version.as_deref(), hello.handshake_ns), (Some("1.3"), Some(4_000)));
    }
}
