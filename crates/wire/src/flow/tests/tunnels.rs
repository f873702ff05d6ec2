//! Tests of packets within tags and tunnels, and of what every packet is counted as.

use super::*;
use crate::tests::wraps::WRAPS;
use sixmark_units::random::Random;

const REQUEST: &[u8] = b"GET /file HTTP/1.1\r\n\r\n";
const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc";

impl Made {
    /// Adds a connection with an exchange and a retransmission.
    fn talk(&mut self) {
        self.handshake();
        self.client(ACK, 1, 1, REQUEST);
        self.server(ACK, 1, 23, RESPONSE);
        self.server(ACK, 1, 23, RESPONSE);
        self.client(ACK, 23, 42, b"");
        self.client(ACK | FIN, 23, 42, b"");
        self.server(ACK | FIN, 42, 24, b"");
        self.client(ACK, 24, 43, b"");
    }

    /// Returns all connections, after a check that every packet is counted once.
    fn whole_account(self) -> Vec<ConnectionReport> {
        let (kept, counts) = self.follower.finish();
        assert_eq!(counts.packets, counts.followed + counts.unread.total(), "{counts:?}");
        let sent =
            |of: &ConnectionReport| of.sent.from_client.packets + of.sent.from_server.packets;
        assert_eq!(kept.connections.iter().map(sent).sum::<u64>(), counts.followed);
        kept.connections
    }
}

/// Returns a connection without what depends on the headers before its packets.
fn bare(mut of: ConnectionReport) -> ConnectionReport {
    of.via = wire::Via::default();
    (of.sent.from_client.frame_bytes, of.sent.from_server.frame_bytes) = (0, 0);
    of
}

#[test]
fn measures_a_connection_equally_in_every_encapsulation() {
    for wrap in WRAPS {
        let plain = both().map(|mut made| {
            made.talk();
            made.whole_account()
        });
        for (mut made, plain) in both().into_iter().zip(plain) {
            made.wrap = Some(wrap);
            made.talk();
            let found = made.whole_account();
            assert_eq!(found.len(), 1, "{}", wrap.name);
            let family = usize::from(found[0].ends.server.is_ipv4());
            assert_eq!(found[0].via.to_string(), wrap.via[family], "{}", wrap.name);
            let [found, plain] = [found, plain].map(|all| all.into_iter().map(bare));
            assert!(found.eq(plain), "{}", wrap.name);
        }
    }
}

#[test]
fn equal_addresses_in_two_networks_are_two_connections() {
    for mut made in both() {
        let mut expected = Vec::new();
        for wrap in WRAPS {
            made.wrap = Some(wrap);
            made.client(SYN, 0, 0, b"");
            expected.push(wrap.via[usize::from(made.ends.server.is_ipv4())]);
        }
        // A priority and labels are no network: both are of the connection without any.
        expected.retain(|via| *via != "mpls");
        let found = made.whole_account();
        let mut via: Vec<String> = found.iter().map(|of| of.via.to_string()).collect();
        via.sort();
        expected.sort_unstable();
        assert_eq!(via, expected);
        let plain = found.iter().find(|of| of.via.is_empty()).unwrap();
        assert_eq!(plain.opening.syns, 2);
    }
}

#[test]
fn mpls_labels_in_one_direction_do_not_split_a_connection() {
    let labels = WRAPS.into_iter().find(|wrap| wrap.name == "MPLS");
    for mut made in both() {
        made.client(SYN, 0, 0, b"");
        made.wrap = labels;
        made.server(SYN | ACK, 0, 1, b"");
        made.wrap = None;
        made.client(ACK, 1, 1, b"");
        let found = made.whole_account();
        assert_eq!(found[0].opening.established_ns, Some(2 * MICROSECOND));
        assert!(found[0].via.is_empty());
    }
}

/// Some switches copy packets with their tags in one direction only.
#[test]
fn vlan_tags_in_one_direction_do_not_split_a_connection() {
    let tag = WRAPS.into_iter().find(|wrap| wrap.name == "vlan");
    for wraps in [[tag, None], [None, tag]] {
        for mut made in both() {
            let [there, back] = wraps;
            let talk = |made: &mut Made| {
                made.wrap = there;
                made.client(SYN, 0, 0, b"");
                made.wrap = back;
                made.server(SYN | ACK, 0, 1, b"");
                made.wrap = there;
                made.client(ACK, 1, 1, REQUEST);
                made.wrap = back;
                made.server(ACK, 1, 23, RESPONSE);
                made.server(ACK | RST, 40, 23, b"");
            };
            talk(&mut made);
            // The same ports again.
            made.first = PerDirection { from_client: 5, from_server: 6 };
            talk(&mut made);
            assert_eq!(made.follower.followed(), 1);
            let found = made.whole_account();
            assert_eq!(found.len(), 2);
            for of in found {
                assert_eq!((of.exchanges, of.sent.from_server.packets), (1, 3));
                assert_eq!(of.opening.established_ns, Some(2 * MICROSECOND));
            }
        }
    }
    // A SYN-ACK that answers no SYN of the other network is of a connection of its own.
    for mut made in both() {
        made.wrap = tag;
        made.client(SYN, 0, 0, b"");
        made.wrap = None;
        made.server(SYN | ACK, 0, 9, b"");
        assert_eq!(made.whole_account().len(), 2);
    }
}

#[test]
fn reassembles_a_fragmented_outer_packet_first() {
    for wrap in WRAPS.into_iter().filter(|wrap| wrap.name.starts_with("IP in")) {
        for mut made in both() {
            made.handshake();
            made.client(ACK, 1, 1, REQUEST);
            let frame = wrap.frame(&made.segment(false, ACK, 1, 23, &[b'x'; 900]).frame());
            for part in made::fragments(&frame[14..], 400) {
                made.give(&part);
            }
            // One that never becomes whole.
            let lost = wrap.frame(&made.segment(false, ACK, 901, 23, &[b'x'; 900]).frame());
            made.give(&made::fragments(&lost[14..], 400)[0]);
            assert_eq!(made.follower.counts().unread.of(Unread::Fragment), 1);
            let found = made.whole_account();
            let sent: Vec<_> = found.iter().map(|of| of.sent.from_server).collect();
            let bytes: Vec<_> =
                sent.iter().map(|sent| (sent.stream_bytes, sent.fragments)).collect();
            // The tunnel is another network than that of the handshake.
            assert!(bytes.contains(&(900, 3)), "{bytes:?}");
        }
    }
}

#[test]
fn does_not_report_a_tunnel_as_a_connection() {
    for made in both() {
        let mut made = made.anywhere();
        made.wrap = WRAPS.into_iter().find(|wrap| wrap.name == "VXLAN");
        made.talk();
        assert_eq!(made.whole_account().len(), 1);
    }
    for mut made in both() {
        // What is not followed is not followed in a tunnel either.
        made.ends.server.set_port(81);
        made.wrap = WRAPS.into_iter().find(|wrap| wrap.name == "Geneve");
        made.talk();
        assert_eq!(made.follower.counts().unread.of(Unread::TcpPorts), 10);
        assert_eq!(made.whole_account(), []);
    }
}

#[test]
fn stops_reading_packets_that_are_nested_too_deeply() {
    for wrap in WRAPS {
        for mut made in both() {
            let mut frame = wrap.frame(&made.segment(true, SYN, 0, 0, b"").frame());
            // In tags and labels only an IP packet is wrapped.
            if wrap.frame(&frame) == frame {
                continue;
            }
            (0..400).for_each(|_| frame = wrap.frame(&frame));
            made.give(&frame);
            let counts = made.follower.counts();
            assert_eq!((counts.packets, counts.followed), (1, 0), "{}", wrap.name);
            assert_eq!(counts.unread.total(), 1, "{}", wrap.name);
            made.whole_account();
        }
    }
}

#[test]
fn accounts_for_every_packet_of_random_traffic() {
    let mut random = Random::new(12, 0);
    for made in both() {
        let mut made = made.anywhere();
        for _ in 0..20_000 {
            made.ends.client.set_port(1_000 + random.below(9) as u16);
            let segment = made.segment(random.below(2) == 0, random.bits() as u8, 0, 0, &[7; 300]);
            let mut frames = match random.below(4) {
                0 => segment.fragments(8 * (1 + random.below(20) as usize)),
                1 => vec![[&segment.frame()[..14], &segment.udp_ip()].concat()],
                _ => vec![segment.frame()],
            };
            for frame in &mut frames {
                for _ in 0..random.below(3) {
                    *frame = WRAPS[random.below(WRAPS.len() as u64) as usize].frame(frame);
                }
                for _ in 0..random.below(3) {
                    let at = random.below(frame.len().min(90) as u64) as usize;
                    frame[at] = random.bits() as u8;
                }
                let length = frame.len();
                frame.truncate(random.below(3 * length as u64) as usize);
                let span = Span::new(frame, length);
                made.now_ns += MICROSECOND;
                made.follower.packet(Link::Ethernet, made.now_ns, span);
            }
        }
        made.whole_account();
    }
}
