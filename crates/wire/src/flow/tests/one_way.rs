//! Tests of captures that have one direction of a connection.

use super::*;

const REQUEST: &[u8] = b"GET /a HTTP/1.1\r\nHost: h\r\n\r\n";

/// Responses of each kind: with a length, without content, to a HEAD, interim, in chunks, and once more.
const RESPONSES: [&[u8]; 7] = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
    b"HTTP/1.1 304 Not Modified\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 3000\r\n\r\n",
    b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 1\r\n\r\nx",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    b"HTTP/1.1 500 Oh no\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nHTTP/1.1",
];

/// A connection of which the capture keeps one side, from its SYN on or from the middle.
fn half(made: &mut Made, by_client: bool, whole: bool) {
    let mut send = |of_client, flags, at, ack, payload: &[u8]| {
        if of_client == by_client && (whole || flags & SYN == 0) {
            made.send(of_client, flags, at, ack, payload);
        }
    };
    send(true, SYN, 0, 0, b"");
    send(false, SYN | ACK, 0, 1, b"");
    send(true, ACK, 1, 1, b"");
    let (mut asked, mut answered) = (1, 1);
    for response in RESPONSES {
        send(true, ACK, asked, answered, REQUEST);
        asked += REQUEST.len() as u32;
        send(false, ACK, answered, asked, response);
        answered += response.len() as u32;
    }
    send(true, ACK | FIN, asked, answered, b"");
    send(false, ACK | FIN, answered, asked + 1, b"");
    send(true, ACK | RST, asked + 1, answered + 1, b"");
}

#[test]
fn counts_the_captured_side_and_reports_the_other_as_missing() {
    for whole in [true, false] {
        for mut made in both() {
            half(&mut made, true, whole);
            let found = made.follower.finish().0;
            let connection = &found.connections[0];
            assert_eq!((connection.missing, connection.exchanges), (Some(MissingSide::Server), 7));
            assert!(connection.statuses.is_empty() && !connection.doubts.gap);
            for exchange in found.exchanges.clone().finish(0) {
                assert_eq!((exchange.status, exchange.whole), (None, None), "a reset says nothing");
            }
        }
        for mut made in both() {
            half(&mut made, false, whole);
            let budget = made.follower.flows.settings.buffer_bytes;
            let (mut kept, _) = made.follower.finish();
            let connection = kept.connections.remove(0);
            assert_eq!((connection.missing, connection.exchanges), (Some(MissingSide::Client), 0));
            let statuses: Vec<_> = connection.statuses.into_iter().collect();
            assert_eq!(statuses, [(200, 4), (304, 1), (404, 1), (500, 1)]);
            assert_eq!(connection.payload_protocol, PayloadProtocol::Http1);
            assert!(budget > 0);
        }
    }
}

#[test]
fn a_side_that_sent_nothing_is_not_missing() {
    for mut made in both() {
        // No answer, and a refusal.
        made.client(SYN, 0, 0, b"");
        made.client(SYN, 0, 0, b"");
        assert_eq!(made.connections()[0].missing, None);
    }
    for mut made in both() {
        // The end of a connection whose server has gone.
        made.client(ACK, 1, 1, REQUEST);
        made.client(ACK, 1, 1, REQUEST);
        assert_eq!(made.connections()[0].missing, None);
    }
    for mut made in both() {
        made.handshake();
        made.client(ACK, 1, 1, REQUEST);
        assert_eq!(made.connections()[0].missing, None);
    }
}
