//! Tests of connections: how they begin and end, which side is the client, and what each side sent.

use super::*;

const SECOND: u64 = 1_000_000_000;

impl Made {
    /// Returns the only connection.
    fn connection(self) -> ConnectionReport {
        let all = self.connections();
        assert_eq!(all.len(), 1, "{all:?}");
        all.into_iter().next().unwrap()
    }

    /// Lets this time pass without packets.
    fn rest(&mut self, ns: u64) {
        self.now_ns += ns;
    }

    /// Returns a capture in which connections to any port are followed.
    pub(super) fn anywhere(mut self) -> Made {
        self.follower.flows.settings.ports.clear();
        self
    }
}

#[test]
fn reports_handshake_times_and_mss_after_a_repeated_syn() {
    for mut made in both() {
        made.client(SYN, 0, 0, b"");
        made.rest(SECOND);
        made.client(SYN, 0, 0, b"");
        made.server(SYN | ACK, 0, 1, b"");
        made.client(ACK, 1, 1, b"");
        let found = made.connection();
        let opening = Opening {
            seen: true,
            syns: 2,
            answered_ns: Some(SECOND + 2 * MICROSECOND),
            established_ns: Some(SECOND + 3 * MICROSECOND),
            replied_ns: None,
        };
        assert_eq!(found.opening, opening);
        assert_eq!(
            (found.closure, found.payload_protocol.clone()),
            (Closure::Open, PayloadProtocol::Nothing)
        );
        assert_eq!(found.sent.from_client.mss, Some(1_000));
        // The second SYN counts as a retransmission. It is unknown which SYN the answer
        // acknowledges.
        assert_eq!(found.sent.from_client.retransmitted, 1);
        assert_eq!(found.round_trips.from_server.count, 0);
        assert_eq!(found.round_trips.from_client.min_ns, Some(MICROSECOND));
        assert_eq!(found.lasted_ns, SECOND + 3 * MICROSECOND);
        assert_eq!(found.doubts, Doubts::default());
    }
}

#[test]
fn reports_how_a_connection_ended() {
    type End = fn(&mut Made);
    let reset = |by_client| Closure::Reset { by_client };
    let ends: [(End, Closure); 6] = [
        (|_| {}, Closure::Open),
        (|made| _ = made.client(ACK | RST, 1, 1, b""), reset(true)),
        (|made| _ = made.server(RST, 1, 0, b""), reset(false)),
        (
            |made| {
                made.client(ACK | FIN, 1, 1, b"");
                made.server(ACK | FIN, 1, 2, b"");
            },
            Closure::Normal,
        ),
        (
            |made| {
                made.client(ACK | FIN, 1, 1, b"");
                made.server(ACK | RST, 1, 2, b"");
            },
            reset(false),
        ),
        (
            |made| {
                made.client(ACK | FIN, 1, 1, b"");
                made.server(ACK | FIN, 1, 2, b"");
                made.client(RST, 2, 0, b"");
            },
            Closure::Normal,
        ),
    ];
    for (end, closure) in ends {
        for mut made in both() {
            made.handshake();
            end(&mut made);
            assert_eq!(made.connection().closure, closure);
        }
    }
}

#[test]
fn a_syn_that_is_answered_by_a_reset_was_refused() {
    for mut made in both() {
        made.client(SYN, 0, 0, b"");
        made.server(ACK | RST, 0, 1, b"");
        assert_eq!(made.connection().closure, Closure::Refused);
    }
}

#[test]
fn ends_a_connection_as_a_timeout_after_300_idle_seconds() {
    for mut made in both() {
        made.handshake();
        made.follower.pass(299 * SECOND);
        assert_eq!(made.follower.followed(), 1);
        made.follower.pass(301 * SECOND);
        assert_eq!(made.follower.followed(), 0);
        assert_eq!(made.connection().closure, Closure::Timeout);
    }
}

#[test]
fn keeps_a_closed_connection_for_late_segments() {
    for mut made in both() {
        made.handshake();
        made.client(ACK | FIN, 1, 1, b"");
        made.server(ACK | FIN, 1, 2, b"");
        made.rest(4 * SECOND);
        made.server(ACK | FIN, 1, 2, b"");
        made.rest(4 * SECOND);
        made.client(ACK, 2, 2, b"");
        made.follower.pass(made.now_ns + 6 * SECOND);
        assert_eq!(made.follower.followed(), 0);
        let found = made.connection();
        assert_eq!((found.closure, found.sent.from_server.fins), (Closure::Normal, 1));
        assert_eq!(found.sent.from_server.retransmitted, 1);
        assert_eq!(found.sent.from_server.packets, 3);
    }
}

#[test]
fn distinguishes_connections_on_a_reused_port() {
    for mut made in both() {
        for n in 0..3 {
            made.first = PerDirection { from_client: n * 1_000_000, from_server: n * 7_000_000 };
            made.handshake();
        }
        // The same sequence number means the same connection, until that was reset.
        made.client(SYN, 0, 0, b"");
        made.server(RST, 1, 0, b"");
        made.client(SYN, 0, 0, b"");
        let found = made.connections();
        let before: Vec<u32> = found.iter().map(|found| found.before).collect();
        assert_eq!(before, [0, 1, 2, 3]);
        assert_eq!(found[2].opening.syns, 2);
    }
}

#[test]
fn counts_endless_repeats_of_a_syn_as_one_connection() {
    for mut made in both() {
        (0..100_000).for_each(|_| _ = made.client(SYN, 0, 0, b""));
        assert_eq!(made.follower.followed(), 1);
        let found = made.connection();
        assert_eq!((found.opening.syns, found.sent.from_client.retransmitted), (100_000, 99_999));
    }
}

#[test]
fn limits_the_number_of_connections_in_a_syn_flood() {
    for mut made in both() {
        made.follower.flows.settings.max_flows = 100;
        for port in 0..10_000 {
            made.ends.client.set_port(port);
            made.client(SYN, 0, 0, b"");
        }
        assert_eq!((made.follower.followed(), made.follower.counts().evicted), (100, 9_900));
    }
}

#[test]
fn identifies_the_server_by_the_syn_the_followed_port_or_the_lower_port() {
    for made in both() {
        let mut made = made.anywhere();
        // A SYN from a low port to a high one.
        made.ends.server.set_port(50_000);
        made.client(SYN, 0, 0, b"");
        let ends = made.ends;
        assert_eq!(made.connection().ends, ends);
    }
    for made in both() {
        let mut made = made.anywhere();
        made.server(ACK, 1, 1, b"hello");
        let ends = made.ends;
        let found = made.connection();
        assert_eq!((found.ends, found.doubts.begun_before), (ends, true));
        assert_eq!(found.opening, Opening::default());
    }
    for mut made in both() {
        made.ends.client.set_port(20);
        made.server(ACK, 1, 1, b"hello");
        let ends = made.ends;
        assert_eq!(made.connection().ends, ends);
    }
    for mut made in both() {
        made.ends.server.set_port(81);
        made.handshake();
        assert_eq!(made.follower.counts().segments, 0);
        assert_eq!(made.connections(), []);
    }
}

#[test]
fn distinguishes_retransmitted_from_reordered_segments() {
    const MS: u64 = 1_000_000;
    for mut made in both() {
        made.server(ACK, 1, 1, &[0; 100]);
        // Two that were swapped, and the first again.
        made.server(ACK, 201, 1, &[0; 100]);
        made.server(ACK, 101, 1, &[0; 100]);
        made.server(ACK, 101, 1, &[0; 100]);
        // One that was lost before the capture point, and retransmitted too late for reordering.
        made.server(ACK, 401, 1, &[0; 100]);
        made.rest(4 * MS);
        made.server(ACK, 301, 1, &[0; 100]);
        // One that fills a gap at once, but after two duplicate ACKs that requested it.
        made.server(ACK, 601, 1, &[0; 100]);
        (0..3).for_each(|_| _ = made.client(ACK, 1, 501, b""));
        made.server(ACK, 501, 1, &[0; 100]);
        // One that had been acknowledged already.
        made.client(ACK, 1, 701, b"");
        made.server(ACK, 601, 1, &[0; 100]);
        let sent = made.connection().sent;
        assert_eq!((sent.from_server.out_of_order, sent.from_server.retransmitted), (1, 4));
        assert_eq!((sent.from_server.stream_bytes, sent.from_server.payload_bytes), (700, 900));
        assert_eq!(sent.from_client.duplicate_acks, 2);
    }
}

#[test]
fn does_not_count_window_probes_and_keep_alives_as_retransmissions() {
    for mut made in both() {
        made.handshake();
        made.server(ACK, 1, 1, &[0; 100]);
        made.window = 0;
        made.client(ACK, 1, 101, b"");
        made.server(ACK, 101, 1, b"x");
        made.client(ACK, 1, 101, b"");
        made.server(ACK, 101, 1, b"x");
        made.window = 500;
        made.client(ACK, 1, 101, b"");
        made.server(ACK, 101, 1, &[0; 100]);
        made.client(ACK, 1, 201, b"");
        // A keep-alive with a byte that has been seen before.
        made.server(ACK, 200, 1, b"x");
        made.server(ACK, 200, 1, b"");
        let found = made.connection();
        let (client, server) = (found.sent.from_client, found.sent.from_server);
        assert_eq!((client.zero_windows, server.probes, server.retransmitted), (2, 4, 0));
        assert_eq!((server.stream_bytes, client.largest_window), (200, 0xffff));
        assert!(!found.doubts.gap);
    }
}

#[test]
fn scales_windows_only_if_both_sides_offer_scaling() {
    for scaled in [false, true] {
        for mut made in both() {
            made.options = vec![2, 4, 5, 0xb4, 4, 2, 3, 3, 7, 0, 0, 0];
            made.client(SYN, 0, 0, b"");
            if !scaled {
                made.options = Vec::new();
            }
            made.server(SYN | ACK, 0, 1, b"");
            made.options = Vec::new();
            made.window = 1_000;
            made.client(ACK, 1, 1, b"");
            let sent = made.connection().sent;
            let (client, server) = (sent.from_client, sent.from_server);
            let sack = (client.sack_permitted, server.sack_permitted);
            assert_eq!(
                (client.window_scale, client.mss, sack),
                (Some(7), Some(1_460), (true, scaled))
            );
            assert_eq!(client.largest_window, if scaled { 128_000 } else { 0xffff });
            assert_eq!(server.largest_window, 0xffff);
        }
    }
}

#[test]
fn selective_acknowledgements_are_counted() {
    for mut made in both() {
        made.handshake();
        made.server(ACK, 101, 1, &[0; 100]);
        let sequence = |at: u32| made.first.from_server.wrapping_add(at).to_be_bytes();
        made.options = [&[1, 1, 5, 10][..], &sequence(101), &sequence(201)].concat();
        made.client(ACK, 1, 1, b"");
        made.options = Vec::new();
        made.client(ACK, 1, 1, b"");
        let sent = made.connection().sent;
        assert_eq!((sent.from_client.selective_acks, sent.from_client.duplicate_acks), (1, 2));
    }
}

#[test]
fn measures_round_trips_only_of_segments_sent_once() {
    for mut made in both() {
        made.handshake();
        made.server(ACK, 1, 1, &[0; 2_000]);
        made.rest(9 * MICROSECOND);
        made.client(ACK, 1, 2_001, b"");
        made.server(ACK, 2_001, 1, &[0; 2_000]);
        made.server(ACK, 2_001, 1, &[0; 2_000]);
        made.client(ACK, 1, 4_001, b"");
        made.client(ACK, 1, 4_001, b"abc");
        made.server(ACK, 4_001, 4, b"");
        let (kept, _) = made.follower.finish();
        let times = [(false, 1), (true, 1), (true, 10)];
        assert_eq!(kept.round_trips, times.map(|(by_client, us)| (by_client, us * MICROSECOND)));
        let found = &kept.connections[0].round_trips.from_client;
        assert_eq!((found.count, found.min_ns), (2, Some(MICROSECOND)));
        assert_eq!(found.p99_ns, Some(10 * MICROSECOND));
    }
}

/// On one connection: an ACK on the next request, one that waited for it in vain, and one of a large
/// response. Only the last is sent at once.
#[test]
fn excludes_delayed_acks_from_round_trips() {
    for mut made in both() {
        made.handshake();
        made.client(ACK, 1, 1, b"GET / HTTP/1.1\r\n\r\n");
        made.rest(300 * MICROSECOND);
        made.server(ACK, 1, 19, &[b'x'; 200]);
        made.rest(9_990 * MICROSECOND);
        made.client(ACK, 19, 201, b"GET / HTTP/1.1\r\n\r\n");
        made.server(ACK, 201, 37, &[b'x'; 200]);
        made.rest(40_000 * MICROSECOND);
        made.client(ACK, 37, 401, b"");
        made.server(ACK, 401, 37, &[b'x'; 1_000]);
        made.server(ACK, 1_401, 37, &[b'x'; 1_000]);
        made.rest(4 * MICROSECOND);
        made.client(ACK, 37, 2_401, b"");
        let (kept, _) = made.follower.finish();
        let found = &kept.connections[0].round_trips;
        assert_eq!((found.from_client.count, found.from_server.count), (2, 1));
        assert_eq!(found.from_client.p99_ns, Some(5 * MICROSECOND));
        assert_eq!(found.from_server.p99_ns, Some(MICROSECOND));
        assert_eq!(kept.round_trips.len(), 3);
    }
}

#[test]
fn reports_the_minimum_round_trip_as_a_bound_if_all_acks_are_delayed() {
    for mut made in both() {
        let mut at = [1, 1];
        for us in [9_000, 64, 40_000] {
            made.client(ACK, at[0], at[1], b"GET / HTTP/1.1\r\n\r\n");
            at[0] += 18;
            made.rest(us * MICROSECOND);
            made.server(ACK, at[1], at[0], &[b'x'; 200]);
            at[1] += 200;
        }
        let (kept, _) = made.follower.finish();
        let found = &kept.connections[0].round_trips.from_server;
        let least = Some(65 * MICROSECOND);
        assert_eq!(
            (found.count, found.min_ns, found.p50_ns, found.p99_ns),
            (0, least, least, None)
        );
        assert!(kept.round_trips.contains(&(false, 65 * MICROSECOND)));
    }
}

#[test]
fn reports_an_acknowledged_hole_as_a_capture_gap() {
    for by_client in [false, true] {
        for mut made in both() {
            made.handshake();
            made.send(by_client, ACK, 1, 1, &[0; 100]);
            made.send(by_client, ACK, 201, 1, &[0; 100]);
            let before = made.follower.counts();
            made.send(!by_client, ACK, 1, 301, b"");
            assert_eq!(before.segments + 1, made.follower.counts().segments);
            assert!(made.connection().doubts.gap);
        }
    }
}

#[test]
fn measures_a_fragmented_segment_like_a_whole_one() {
    for mut made in both() {
        made.handshake();
        made.client(ACK, 1, 1, b"GET / HTTP/1.1\r\n\r\n");
        let segment = made.segment(false, ACK, 1, 19, &[b'x'; 900]);
        let frames = segment.fragments(400);
        let bytes: u64 = frames.iter().rev().map(|frame| made.give(frame)).sum();
        made.client(ACK, 19, 901, b"");
        let counts = made.follower.counts();
        assert_eq!((counts.fragments, counts.segments), (3, 6));
        let family = counts.families[Family::of(made.ends.server.ip())];
        assert_eq!((family.fragments, family.reassembled, family.packets), (3, 1, 8));
        let (kept, _) = made.follower.finish();
        let found = &kept.connections[0];
        assert!(!found.doubts.fragmented && !found.doubts.gap);
        let sent = found.sent.from_server;
        assert_eq!((sent.stream_bytes, sent.packets, sent.fragments), (900, 4, 3));
        let exchange = &kept.exchanges.finish(0)[0];
        assert_eq!((exchange.unmeasured, exchange.bytes.from_server), (None, bytes));
    }
}

#[test]
fn tolerates_a_clock_that_runs_backwards() {
    for mut made in both() {
        made.now_ns = u64::MAX / 2;
        made.handshake();
        made.now_ns = 5;
        made.client(ACK, 1, 1, b"GET / HTTP/1.1\r\n\r\n");
        made.server(ACK, 1, 19, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        made.now_ns = 0;
        made.client(ACK, 19, 40, b"");
        made.now_ns = u64::MAX - SECOND;
        made.client(ACK | FIN, 19, 40, b"");
        made.server(ACK | FIN, 40, 20, b"");
        let (kept, counts) = made.follower.finish();
        assert_eq!((kept.connections.len(), counts.connections), (2, 2));
    }
}

#[test]
fn counts_packets_other_than_tcp_by_family() {
    for mut made in both() {
        let segment = made.segment(true, ACK, 0, 0, b"abc");
        let six = segment.from.is_ipv6();
        let too_big: &[u8] =
            if six { &[2, 0, 0, 0, 0, 0, 5, 0] } else { &[3, 4, 0, 0, 0, 0, 5, 0] };
        let number = if six { wire::ICMPV6 } else { wire::ICMP };
        let packets =
            [segment.udp_ip(), segment.ip_with(number, too_big), segment.ip_with(99, b"")];
        for packet in packets {
            let span = Span::new(&packet, packet.len());
            made.follower.packet(Link::Ip, 1, span);
        }
        made.follower.packet(Link::Ip, 1, Span::new(&[0x45], 1));
        made.follower.packet(Link::Ip, 1, Span::new(&[0x45], 100));
        let counts = made.follower.counts();
        let of = |kind| counts.unread.of(kind);
        assert_eq!((counts.packets, of(Unread::Malformed), of(Unread::Cut)), (5, 1, 1));
        assert_eq!((of(Unread::Protocol(99)), of(Unread::UdpPorts), counts.followed), (1, 0, 0));
        assert_eq!((of(Unread::Udp), counts.unread.total()), (1, 5));
        let family = counts.families[Family::of(segment.from.ip())];
        let expected = FamilyCounts {
            packets: 3,
            bytes: family.bytes,
            udp: 1,
            icmp: 1,
            other: 1,
            too_big: 1,
            smallest_mtu: Some(1_280),
            ..FamilyCounts::default()
        };
        assert_eq!(family, expected);
    }
}

#[test]
fn tls_http2_and_quic_are_recognised() {
    use super::super::hello::made::{client, record, server};
    for mut made in both() {
        made.handshake();
        let asks = record(22, &client("example.org", &["h2"]));
        let (a, b) = asks.split_at(1_000);
        made.client(ACK, 1, 1, a);
        made.client(ACK, 1_001, 1, b);
        let answers = [record(22, &server(Some([3, 4]), None)), record(23, &[1; 50])].concat();
        let end = 1 + asks.len() as u32;
        made.server(ACK, 1, end, &answers);
        made.client(ACK, end, 1 + answers.len() as u32, &record(23, &[2; 53]));
        let found = made.connection();
        let PayloadProtocol::Tls(hello) = found.payload_protocol else { panic!("{found:?}") };
        assert_eq!(hello.server_name.as_deref(), Some("example.org"));
        assert_eq!((hello.version.as_deref(), hello.handshake_ns), (Some("1.3"), Some(3_000)));
    }
    for mut made in both() {
        made.handshake();
        made.client(ACK, 1, 1, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        assert_eq!(made.connection().payload_protocol, PayloadProtocol::Http2);
    }
    for mut made in both() {
        let initial = [&[0xc0, 0, 0, 0, 1, 2, 7, 7, 0][..], &[0; 100]].concat();
        for (by_client, payload) in [(true, &initial[..]), (false, &initial), (true, &[0x41; 30])] {
            let packet = made.segment(by_client, 0, 0, 0, payload).udp_ip();
            made.now_ns += MICROSECOND;
            let span = Span::new(&packet, packet.len());
            made.follower.packet(Link::Ip, made.now_ns, span);
        }
        let ends = made.ends;
        let found = made.connection();
        assert_eq!((found.ends, found.sent.from_client.packets), (ends, 2));
        let PayloadProtocol::Quic(hello) = found.payload_protocol else { panic!("{found:?}") };
        assert_eq!(hello.handshake_ns, Some(2 * MICROSECOND));
    }
}
