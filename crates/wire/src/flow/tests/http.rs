//! Tests of HTTP/1 exchanges: which bytes and times belong to which exchange.

use super::*;

/// The compared parts of an exchange: method, path, status, completeness, content length.
type ExchangeRow = (String, String, Option<u16>, Option<bool>, u64);

impl Made {
    /// Sends a whole message at once, after what its side has sent, and acknowledges all of the
    /// other side's stream.
    fn say(&mut self, by_client: bool, at: &mut PerDirection<u32>, message: &str) {
        self.say_bytes(by_client, at, message.as_bytes());
    }

    fn say_bytes(&mut self, by_client: bool, at: &mut PerDirection<u32>, message: &[u8]) {
        let [own, other] = [*at.of(by_client), *at.of(!by_client)];
        self.send(by_client, ACK, own, other, message);
        *at.of(by_client) += message.len() as u32;
    }

    fn told(self) -> (Vec<ExchangeRow>, ConnectionReport) {
        let (kept, _) = self.follower.finish();
        let tell = |t: HttpExchange| (t.method, t.path, t.status, t.whole, t.content_bytes);
        let told = kept.exchanges.finish(0).into_iter().map(tell).collect();
        (told, kept.connections.into_iter().next().unwrap())
    }
}

/// Returns a capture with a handshake, and the positions of both streams after it.
fn begun(family: Family) -> (Made, PerDirection<u32>) {
    let mut made = Made::new(family, 1_000);
    made.handshake();
    (made, PerDirection { from_client: 1, from_server: 1 })
}

fn told(method: &str, path: &str, status: u16, content: u64) -> ExchangeRow {
    (method.into(), path.into(), Some(status), Some(true), content)
}

#[test]
fn measures_request_wait_and_transfer_times_in_sequence() {
    for family in Family::BOTH {
        let (mut made, mut at) = begun(family);
        let head = "POST /form HTTP/1.1\r\nHost: example.org\r\nContent-Length: 6\r\n\r\n";
        made.say(true, &mut at, head);
        made.say(false, &mut at, "HTTP/1.1 100 Continue\r\n\r\n");
        made.say(true, &mut at, "abc");
        made.say(true, &mut at, "def");
        made.say(false, &mut at, "HTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\nhe");
        made.say(false, &mut at, "llo");
        let found = made.only();
        assert_eq!((found.method.as_str(), found.status), ("POST", Some(201)));
        assert_eq!(found.host.as_deref(), Some("example.org"));
        assert_eq!(found.request_ns, Some(3 * MICROSECOND));
        // The interim response came before the request was complete.
        assert_eq!((found.interims, found.interim_ns), (1, Some(0)));
        let first = (found.first_byte_ns, found.wait_ns);
        assert_eq!(first, (Some(4 * MICROSECOND), Some(MICROSECOND)));
        assert_eq!(found.transfer_ns, Some(MICROSECOND));
        assert_eq!((found.whole, found.content_bytes), (Some(true), 5));
    }
    for family in Family::BOTH {
        let (mut made, mut at) = begun(family);
        made.say(true, &mut at, "GET / HTTP/1.1\r\nHo");
        made.say(true, &mut at, "st: a\r\n\r\n");
        made.now_ns += 7 * MICROSECOND;
        made.say(false, &mut at, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        let found = made.only();
        assert_eq!(found.request_ns, Some(MICROSECOND));
        assert_eq!(found.wait_ns, Some(8 * MICROSECOND));
        assert_eq!((found.first_byte_ns, found.transfer_ns), (Some(9 * MICROSECOND), Some(0)));
    }
}

/// `wait` ends with the response, not with an interim one, however their packets are cut.
#[test]
fn interim_responses_have_a_time_of_their_own() {
    const HINTS: &str = "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n";
    const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    for family in Family::BOTH {
        let ask = || {
            let (mut made, mut at) = begun(family);
            made.say(true, &mut at, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
            (made, at)
        };
        for cut in [HINTS.len(), 5, HINTS.len() + 3] {
            let (mut made, mut at) = ask();
            let both = format!("{HINTS}{HINTS}");
            made.say(false, &mut at, &both[..cut]);
            made.say(false, &mut at, &both[cut..]);
            made.now_ns += 80 * MICROSECOND;
            made.say(false, &mut at, OK);
            let found = made.only();
            assert_eq!((found.status, found.whole), (Some(200), Some(true)));
            assert_eq!((found.interims, found.interim_ns), (2, Some(MICROSECOND)), "{cut}");
            assert_eq!(found.wait_ns, Some(83 * MICROSECOND), "{cut}");
            assert_eq!((found.transfer_ns, found.content_bytes), (Some(0), 2));
        }
        let (mut made, mut at) = ask();
        made.say(false, &mut at, &format!("{HINTS}{OK}"));
        let found = made.only();
        let times = (found.interim_ns, found.wait_ns, found.transfer_ns);
        assert_eq!(times, (Some(MICROSECOND), Some(MICROSECOND), Some(0)));
        // Nothing but an interim response.
        let (mut made, mut at) = ask();
        made.say(false, &mut at, HINTS);
        made.send(false, ACK | FIN, at.from_server, at.from_client, b"");
        let found = made.only();
        assert_eq!((found.interims, found.first_byte_ns, found.wait_ns), (1, None, None));
        assert_eq!(found.whole, Some(false));
    }
}

#[test]
fn every_kind_of_framing_is_followed_on_one_connection() {
    for family in Family::BOTH {
        let (mut made, mut at) = begun(family);
        let exchanges = [
            ("GET", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nGET ", 4),
            ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\n", 0),
            ("GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 400\r\n\r\n", 0),
            ("DELETE", "HTTP/1.1 204 No Content\r\n\r\n", 0),
            (
                "GET",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
                3,
            ),
            ("PROPFIND", "HTTP/1.1 404 X\r\nContent-Length: 2\r\n\r\nno", 2),
            ("GET", "HTTP/1.0 200 OK\r\n\r\nuntil the end", 13),
        ];
        for (n, (method, response, _)) in exchanges.iter().enumerate() {
            made.say(true, &mut at, &format!("{method} /{n} HTTP/1.1\r\n\r\n"));
            made.say(false, &mut at, response);
        }
        made.send(false, ACK | FIN, at.from_server, at.from_client, b"");
        let (found, connection) = made.told();
        let status = |response: &str| response[9..12].parse().unwrap();
        let expected: Vec<ExchangeRow> = exchanges
            .iter()
            .enumerate()
            .map(|(n, (method, response, length))| {
                told(method, &format!("/{n}"), status(response), *length)
            })
            .collect();
        assert_eq!(found, expected);
        assert_eq!(
            (connection.exchanges, connection.payload_protocol),
            (7, PayloadProtocol::Http1)
        );
        assert!(!connection.doubts.unparsed);
    }
}

#[test]
fn matches_pipelined_responses_but_measures_no_delay() {
    for family in Family::BOTH {
        let (mut made, mut at) = begun(family);
        made.say(true, &mut at, "GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\nGET /c HT");
        made.say(true, &mut at, "TP/1.1\r\n\r\n");
        let response = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc";
        made.say(false, &mut at, &response.repeat(2));
        made.say(false, &mut at, response);
        made.say(true, &mut at, "GET /d HTTP/1.1\r\n\r\n");
        made.say(false, &mut at, response);
        made.send(true, ACK, at.from_client, at.from_server, b"");
        let found = made.finish();
        let paths: Vec<_> = found.iter().map(|t| (t.number, &*t.path, t.content_bytes)).collect();
        assert_eq!(paths, [(1, "/a", 3), (2, "/b", 3), (3, "/c", 3), (4, "/d", 3)]);
        let pipelined = Some(Unmeasured::Pipelined);
        let doubts: Vec<_> = found.iter().map(|t| t.unmeasured).collect();
        assert_eq!(doubts, [pipelined, pipelined, pipelined, None]);
        let first: Vec<_> = found.iter().map(|t| t.first_byte_ns).collect();
        let us = |us| Some(us * MICROSECOND);
        assert_eq!(first, [us(2), us(2), us(3), us(1)]);
        assert_eq!(found[3].delay_ns, us(2));
    }
}

#[test]
fn stops_reading_http_after_a_connect_or_an_upgrade() {
    let tunnels = [
        ("CONNECT a:443 HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n"),
        ("GET /ws HTTP/1.1\r\nUpgrade: websocket\r\n\r\n", "HTTP/1.1 101 Switching\r\n\r\n"),
    ];
    for (request, response) in tunnels {
        for family in Family::BOTH {
            let (mut made, mut at) = begun(family);
            made.say(true, &mut at, request);
            made.say(false, &mut at, response);
            made.say(true, &mut at, "GET /no HTTP/1.1\r\n\r\n");
            made.say(false, &mut at, "HTTP/1.1 200 OK\r\n\r\n");
            let (found, connection) = made.told();
            assert_eq!((found.len(), found[0].3, connection.exchanges), (1, Some(true), 1));
            assert!(!connection.doubts.unparsed);
        }
    }
}

#[test]
fn reads_segments_that_arrive_out_of_order() {
    for family in Family::BOTH {
        let (mut made, _) = begun(family);
        made.client(ACK, 11, 1, b" HTTP/1.1\r\n\r\n");
        made.client(ACK, 1, 1, b"GET /there");
        made.server(ACK, 40, 24, b"bcdef");
        made.server(ACK, 1, 24, b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\na");
        let (found, _) = made.told();
        assert_eq!(found, [told("GET", "/there", 200, 6)]);
    }
}

#[test]
fn skips_capture_gaps_in_content_but_not_in_a_head() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 3000\r\n\r\n";
    let behind = 1 + head.len() as u32;
    for family in Family::BOTH {
        // A gap in the content.
        let (mut made, _) = begun(family);
        made.client(ACK, 1, 1, b"GET /a HTTP/1.1\r\n\r\n");
        made.server(ACK, 1, 20, head.as_bytes());
        made.server(ACK, behind, 20, &[b'x'; 1_000]);
        made.server(ACK, behind + 2_000, 20, &[b'x'; 1_000]);
        made.client(ACK, 20, behind + 3_000, b"");
        made.client(ACK, 20, behind + 3_000, b"GET /b HTTP/1.1\r\n\r\n");
        made.server(ACK, behind + 3_000, 39, b"HTTP/1.1 204 No\r\n\r\n");
        let (found, connection) = made.told();
        assert_eq!(found, [told("GET", "/a", 200, 3_000), told("GET", "/b", 204, 0)]);
        assert!(connection.doubts.gap && !connection.doubts.unparsed);
    }
    for family in Family::BOTH {
        // A gap in the head.
        let (mut made, _) = begun(family);
        made.client(ACK, 1, 1, b"GET /a HTTP/1.1\r\n\r\n");
        made.server(ACK, behind, 20, &[b'x'; 1_000]);
        made.client(ACK, 20, behind + 1_000, b"");
        made.client(ACK, 20, behind + 1_000, b"GET /b HTTP/1.1\r\n\r\n");
        made.server(ACK, behind + 1_000, 39, b"HTTP/1.1 204 No\r\n\r\n");
        let (found, connection) = made.told();
        let lost = ("GET".into(), "/a".into(), None, None, 0);
        assert_eq!(found, [lost, told("GET", "/b", 204, 0)]);
        assert!(connection.doubts.gap && connection.doubts.unparsed);
    }
    for family in Family::BOTH {
        // A gap in a request.
        let (mut made, _) = begun(family);
        made.client(ACK, 1, 1, b"GET /a HTTP/1.1\r\n\r\n");
        made.server(ACK, 1, 20, b"HTTP/1.1 204 No\r\n\r\n");
        made.server(ACK, 20, 40, b"HTTP/1.1 204 No\r\n\r\n");
        made.client(ACK, 40, 39, b"GET /b HTTP/1.1\r\n\r\n");
        made.server(ACK, 39, 59, b"HTTP/1.1 204 No\r\n\r\n");
        let (found, connection) = made.told();
        assert_eq!(found, [told("GET", "/a", 204, 0), told("GET", "/b", 204, 0)]);
        assert!(connection.doubts.gap && connection.doubts.unparsed);
    }
}

#[test]
fn reads_paths_and_statuses_from_truncated_packets() {
    for family in Family::BOTH {
        let (mut made, _) = begun(family);
        made.client(ACK, 1, 1, b"");
        for n in 0..3 {
            let (c, s) = (1 + 500 * n, 1 + 2_000 * n);
            let mut request = b"GET /x HTTP/1.1\r\nHost: a\r\n".to_vec();
            request.resize(500, b'a');
            let mut response = b"HTTP/1.1 200 OK\r\nServer: b\r\n".to_vec();
            response.resize(2_000, b'b');
            let frames = [(true, c, s, request), (false, s, c + 500, response)];
            for (by_client, at, ack, payload) in frames {
                let frame = made.segment(by_client, ACK, at, ack, &payload).frame();
                made.now_ns += MICROSECOND;
                let kept = Span::new(&frame[..96], frame.len());
                made.follower.packet(Link::Ethernet, made.now_ns, kept);
            }
            made.client(ACK, c + 500, s + 2_000, b"");
        }
        let connection = {
            let (kept, _) = made.follower.finish();
            for (n, found) in kept.exchanges.clone().finish(0).iter().enumerate() {
                assert_eq!((found.number, &*found.path), (n as u32 + 1, "/x"));
                assert_eq!((found.status, found.whole), (Some(200), None));
                assert_eq!(found.wait_ns, Some(MICROSECOND));
                assert_eq!((found.delay_ns, found.response_bytes), (Some(2 * MICROSECOND), 2_000));
            }
            kept.connections[0].clone()
        };
        assert_eq!((connection.exchanges, connection.doubts.unparsed), (3, true));
    }
}

#[test]
fn reports_a_response_cut_off_by_a_reset_as_incomplete() {
    for family in Family::BOTH {
        let (mut made, mut at) = begun(family);
        made.say(true, &mut at, "GET /a HTTP/1.1\r\n\r\n");
        made.say(false, &mut at, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc");
        made.send(false, RST, at.from_server, 0, b"");
        let (found, _) = made.told();
        assert_eq!(found, [("GET".into(), "/a".into(), Some(200), Some(false), 3)]);
    }
}

#[test]
fn reports_a_connection_as_unparsed_if_the_buffer_is_full() {
    for family in Family::BOTH {
        let (mut made, _) = begun(family);
        made.follower.flows.budget = super::super::budget::Budget::new(100);
        made.client(ACK, 1, 1, b"GET /a HTTP/1.1\r\n\r\n");
        made.server(ACK, 51, 20, &[b'x'; 90]);
        made.server(ACK, 1, 20, b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\nServer: abcd\r\n\r\n");
        let (found, connection) = made.told();
        assert_eq!((found.len(), found[0].3), (1, None));
        assert!(connection.doubts.unparsed);
    }
}

/// Each connection may have one waiting request for free; more are kept while the budget lasts.
#[test]
fn requests_that_nobody_answers_are_kept_within_the_budget() {
    let room = 20_000;
    let (mut made, _) = begun(Family::Ipv6);
    made.follower.flows.budget = super::super::budget::Budget::new(room);
    let request = b"GET /a HTTP/1.1\r\n\r\n";
    for port in 2_000..2_100 {
        made.ends.client.set_port(port);
        made.handshake();
        for n in 0..40 {
            made.client(ACK, 1 + n * request.len() as u32, 1, request);
        }
    }
    let left = made.follower.flows.budget.left();
    assert!(left < 2_000, "{left} of {room} left: they are not charged");
    for port in 2_000..2_100 {
        made.ends.client.set_port(port);
        let asked = 1 + 40 * request.len() as u32;
        made.server(ACK | FIN, 1, asked, b"");
        made.client(ACK | FIN, asked, 2, b"");
        made.server(ACK, 2, asked + 1, b"");
    }
    // Connections that are over are removed some time later, at the next packet.
    made.now_ns += 1_000_000_000_000;
    made.ends.client.set_port(3_000);
    made.handshake();
    assert_eq!(made.follower.flows.budget.left(), room, "all of it is given back");
    let (kept, _) = made.follower.finish();
    assert_eq!(kept.exchanges.finish(0).len(), 100 * 40, "each is reported");
}

#[test]
fn does_not_take_a_request_body_for_a_request() {
    for family in Family::BOTH {
        let (mut made, mut at) = begun(family);
        made.say(true, &mut at, "PUT /a HTTP/1.1\r\nContent-Length: 19\r\n\r\n");
        made.say(true, &mut at, "GET /b HTTP/1.1\r\n\r\n");
        made.say(false, &mut at, "HTTP/1.1 204 No\r\n\r\n");
        assert_eq!(made.told().0, [told("PUT", "/a", 204, 0)]);
    }
}
