#[path = "../../testkit/src/wraps.rs"]
#[allow(dead_code, unreachable_pub)]
pub(crate) mod wraps;

use super::made::{ACK, MadeSegment};
use super::*;
use wraps::WRAPS;

/// Returns a segment with `abc` from port 1000 to port 80 for each family, IPv6 first.
fn segments() -> [MadeSegment; 2] {
    [("[2001:db8::1]:1000", "[2001:db8::2]:80"), ("192.0.2.1:1000", "192.0.2.2:80")].map(
        |(from, to)| MadeSegment {
            from: from.parse().unwrap(),
            to: to.parse().unwrap(),
            sequence: 0xffff_fffe,
            acknowledgement: 5,
            flags: Flags(ACK),
            options: Vec::new(),
            payload: b"abc".to_vec(),
        },
    )
}

fn whole(bytes: &[u8]) -> Span<'_> {
    Span::new(bytes, bytes.len())
}

/// Asserts that a frame contains that segment.
fn assert_holds(segment: &MadeSegment, link: Link, frame: &[u8]) {
    let ip = ip(link, whole(frame)).unwrap();
    let tcp = tcp(&ip).unwrap();
    assert_eq!((ip.source, tcp.source), (segment.from.ip(), segment.from.port()));
    assert_eq!((ip.destination, tcp.destination), (segment.to.ip(), segment.to.port()));
    assert_eq!((tcp.sequence, tcp.acknowledgement), (0xffff_fffe, 5));
    assert_eq!((tcp.flags, tcp.window), (Flags(ACK), 0xffff));
    assert_eq!(tcp.payload, whole(b"abc"));
}

#[test]
fn a_segment_is_found_behind_any_link_header_tags_and_padding() {
    for segment in segments() {
        let frame = segment.frame();
        assert_holds(&segment, Link::Ethernet, &frame);
        assert_holds(&segment, Link::Ip, &segment.ip());
        let sll2 = [&frame[12..14], &[0; 18], &segment.ip()[..]].concat();
        assert_holds(&segment, Link::Sll2, &sll2);
        let tags = [0x88, 0xa8, 0, 1, 0x81, 0, 0, 2];
        let tagged = [&frame[..12], &tags, &frame[12..]].concat();
        assert_holds(&segment, Link::Ethernet, &tagged);
        assert_holds(&segment, Link::Ethernet, &[&frame[..], &[0; 20]].concat());
    }
}

#[test]
fn skips_ipv4_options_and_ipv6_extension_headers() {
    let [six, four] = segments();
    let ip = four.ip();
    let mut with_options = [&ip[..20], &[1; 8], &ip[20..]].concat();
    (with_options[0], with_options[3]) = (0x47, with_options[3] + 8);
    assert_holds(&four, Link::Ip, &with_options);

    let ip = six.ip();
    // Hop-by-hop, destination, routing, and an atomic fragment.
    let headers =
        [&[60u8, 0][..], &[0; 6], &[43, 1], &[0; 14], &[44, 0], &[0; 6], &[6, 0], &[0; 6]];
    let headers = headers.concat();
    let mut extended = [&ip[..40], &headers, &ip[40..]].concat();
    (extended[5], extended[6]) = (extended[5] + headers.len() as u8, 0);
    assert_holds(&six, Link::Ip, &extended);
}

#[test]
fn reads_jumbograms_and_packets_with_length_field_zero() {
    let [six, four] = segments();
    let mut packet = four.ip();
    packet[2..4].fill(0);
    assert_holds(&four, Link::Ip, &packet);
    // Linux writes 0 into that of IPv6 too, without the option with the length (RFC 2675).
    let mut packet = six.ip();
    packet[4..6].fill(0);
    assert_holds(&six, Link::Ip, &packet);
    let ip = six.ip();
    let length = ip.len() as u8 - 40 + 8;
    for option in [
        &[6, 0, 0xc2, 4, 0, 0, 0, length][..],
        &[6, 1, 0, 1, 3, 9, 9, 9, 0, 0, 0xc2, 4, 0, 0, 0, length + 8],
        &[6, 0, 1, 4, 0, 0, 0, 0],
        &[6, 0, 1, 200, 0, 0, 0, 0],
    ] {
        let mut packet = [&ip[..40], option, &ip[40..]].concat();
        packet[4..7].fill(0);
        assert_holds(&six, Link::Ip, &packet);
        // The length is that of the packet, not of a padded frame.
        let named = option.contains(&0xc2);
        let padded = [&packet[..], &[0; 9]].concat();
        let read = super::ip(Link::Ip, whole(&padded)).unwrap().payload;
        assert_eq!(read.length, ip.len() - 40 + if named { 0 } else { 9 });
        assert!(!named || super::ip(Link::Ip, whole(&packet[..packet.len() - 1])).is_err());
    }
    // Of a packet without a payload, the rest of the frame is padding.
    let mut packet = six.ip();
    packet[4..7].copy_from_slice(&[0, 0, 59]);
    assert_eq!(super::ip(Link::Ip, whole(&packet)).unwrap().payload.length, 0);
}

#[test]
fn a_segment_is_found_in_every_tunnel_and_behind_every_tag() {
    for segment in segments() {
        for wrap in WRAPS {
            let frame = wrap.frame(&segment.frame());
            let mut via = Via::default();
            let mut read = ip_via(Link::Ethernet, whole(&frame), &mut via);
            while let Ok(outer) = &read
                && outer.source != segment.from.ip()
            {
                read = match find_payload(outer).unwrap() {
                    IpPayload::Udp(udp) => in_datagram(&udp, &mut via).unwrap(),
                    _ => in_packet(outer, &mut via).unwrap(),
                };
            }
            assert_eq!(tcp(&read.unwrap()).unwrap().payload, whole(b"abc"), "{}", wrap.name);
            let expected = wrap.via[usize::from(segment.from.is_ipv4())];
            assert_eq!(via.to_string(), expected, "{}", wrap.name);
        }
        let frame = segment.frame();
        let length = (frame.len() as u16 - 14 + 8).to_be_bytes();
        let snap = [&frame[..12], &length, &[0xaa, 0xaa, 3, 0, 0, 0], &frame[12..]].concat();
        assert_holds(&segment, Link::Ethernet, &snap);
    }
}

#[test]
fn classifies_frames_without_an_ip_packet() {
    let of = |rest: &[u8]| {
        let frame = [&[2; 12][..], rest, &[0; 28]].concat();
        ip(Link::Ethernet, whole(&frame)).map(drop)
    };
    for (rest, kind) in [
        (&[0x08, 0x06][..], Unread::EtherType(0x0806)),
        (&[0x81, 0, 0, 5, 0x88, 0xcc], Unread::EtherType(0x88cc)),
        (&[0, 38, 0x42, 0x42, 3], Unread::Llc(0x42)),
        (&[0, 38, 0xaa, 0xaa, 3, 0, 0, 0x0c, 0x20, 0], Unread::Llc(0xaa)),
        (&[0x88, 0x63], Unread::EtherType(0x8863)),
        (&[0x88, 0x64, 0x11, 0, 0, 9, 0, 10, 0xc0, 0x21], Unread::Ppp(0xc021)),
        (&[0x88, 0x47, 0, 1, 1, 64, 0, 0, 0, 0], Unread::Mpls),
    ] {
        assert_eq!(of(rest), Err(Skipped::Other(kind)), "{rest:?}");
    }
    let labels = [&[0x88, 0x47][..], &[0; 64]].concat();
    assert_eq!(of(&labels), Err(Skipped::Other(Unread::Nested)));
    let tags = [0x81, 0, 0, 5].repeat(9);
    assert_eq!(of(&tags), Err(Skipped::Other(Unread::Nested)));
    let priorities = [0x81, 0, 0, 0].repeat(20);
    assert_eq!(of(&priorities), Err(Skipped::Other(Unread::Nested)));
}

#[test]
fn ignores_other_protocols_on_the_port_of_a_tunnel() {
    let [six, four] = segments();
    for mut segment in [six, four] {
        for (port, payload) in [
            (4_789, &[0x40, 0, 0, 0, 0, 0, 42, 0][..]),
            (4_789, &[8, 0, 0, 0, 0, 0, 42]),
            (6_081, &[0x40, 0, 8, 0, 0, 0, 42, 0]),
            (6_081, &[0x3f, 0, 8, 0, 0, 0, 42, 0]),
            (2_152, &[0x32, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            (2_152, &[0x34, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]),
        ] {
            segment.to.set_port(port);
            segment.payload = payload.to_vec();
            let packet = segment.udp_ip();
            let Ok(IpPayload::Udp(udp)) = carries(&packet) else { panic!("a datagram") };
            assert_eq!(in_datagram(&udp, &mut Via::default()), None, "{port} {payload:?}");
        }
        for header in [[0x40, 0, 8, 0], [0, 1, 8, 0]] {
            let packet = segment.ip_with(47, &[&header[..], &[0; 40]].concat());
            let outer = ip(Link::Ip, whole(&packet)).unwrap();
            assert_eq!(in_packet(&outer, &mut Via::default()), None, "{header:?}");
        }
    }
}

#[test]
fn recognises_fragments_and_reads_tcp_only_in_the_first() {
    let [six, four] = segments();
    for (offset, more) in [(0, true), (8, true), (1_448, false)] {
        let field = |offset: u16, more: u16| (offset | more).to_be_bytes();
        let mut first = four.ip();
        first[6..8].copy_from_slice(&field(offset / 8, if more { MORE4 } else { 0 }));
        let plain = six.ip();
        let [a, b] = field(offset, more.into());
        let header = [6, 0, a, b, 0, 0, 0, 7];
        let mut second = [&plain[..40], &header, &plain[40..]].concat();
        (second[5], second[6]) = (second[5] + 8, 44);
        for packet in [first, second] {
            let found = ip(Link::Ip, whole(&packet)).unwrap();
            let offset = offset.into();
            assert_eq!(found.fragment, Some(Fragment { id: 7, offset, more }));
            assert_eq!(found.protocol, TCP);
            assert_eq!(tcp(&found).is_ok(), offset == 0);
        }
    }
}

/// The "more fragments" flag of IPv4.
const MORE4: u16 = 0x2000;

#[test]
fn distinguishes_truncated_from_malformed_packets() {
    for segment in segments() {
        let frame = segment.frame();
        let headers = frame.len() - 3;
        for kept in 0..frame.len() {
            let span = Span::new(&frame[..kept], frame.len());
            let read = ip(Link::Ethernet, span).and_then(|ip| tcp(&ip).map(|tcp| tcp.payload));
            if kept < headers {
                assert_eq!(read, Err(Skipped::Cut), "{kept}")
            } else {
                let payload = read.unwrap();
                assert_eq!((payload.bytes.len(), payload.length), (kept - headers, 3));
            }
            // If the same bytes are the whole frame, they are invalid, not truncated.
            let read = ip(Link::Ethernet, whole(&frame[..kept])).and_then(|ip| tcp(&ip).map(drop));
            assert_eq!(read, Err(Skipped::Malformed), "{kept}");
        }
    }
}

#[test]
fn options_of_tcp_are_read_until_one_is_wrong() {
    let of = |options: &[u8]| {
        let [mut six, _] = segments();
        six.options = options.to_vec();
        let packet = six.ip();
        tcp(&ip(Link::Ip, whole(&packet)).unwrap()).unwrap().options()
    };
    let usual = [2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 3, 3, 7];
    let mss = Some(1_460);
    let all =
        Options { mss, window_scale: Some(7), sack_permitted: true, timestamps: Some((1, 2)) };
    assert_eq!(of(&usual), all);
    assert_eq!(of(&[2, 4, 5, 0xb4, 0, 4, 2, 1]), Options { mss, ..Options::default() });
    for wrong in [[3, 0, 4, 2], [3, 1, 4, 2], [3, 9, 4, 2], [1, 1, 1, 3]] {
        assert_eq!(of(&wrong), Options::default(), "{wrong:?}");
    }
    assert_eq!(of(&[3, 3, 200, 1]).window_scale, Some(14));
}

#[test]
fn skips_packets_other_than_tcp_over_ip() {
    let arp = [&[2; 12][..], &[8, 6], &[0; 28]].concat();
    assert_eq!(ip(Link::Ethernet, whole(&arp)), Err(Skipped::Other(Unread::EtherType(0x0806))));
    let [_, four] = segments();
    let mut udp = four.ip();
    udp[9] = 17;
    assert_eq!(tcp(&ip(Link::Ip, whole(&udp)).unwrap()), Err(Skipped::Other(Unread::Protocol(17))));
}

#[test]
fn random_bytes_never_panic() {
    let mut random = sixmark_units::random::Random::new(6, 0);
    for _ in 0..200_000 {
        let [six, four] = segments();
        let mut frame = if random.below(2) == 0 { six.frame() } else { four.frame() };
        for _ in 0..random.below(4) {
            let at = random.below(frame.len() as u64) as usize;
            frame[at] = random.bits() as u8;
        }
        frame.truncate(random.below(frame.len() as u64 + 1) as usize);
        let span = Span::new(&frame, random.below(100) as usize);
        for link in [Link::Ethernet, Link::Ip, Link::Null, Link::Sll, Link::Sll2] {
            let Ok(ip) = ip(link, span) else { continue };
            if let Ok(IpPayload::Tcp(tcp)) = find_payload(&ip) {
                let _ = (tcp.options(), tcp.selective().count());
            }
        }
    }
}

#[test]
fn reads_bsd_loopback_and_linux_cooked_headers() {
    for segment in segments() {
        let ip = segment.ip();
        let families: &[u32] = if ip[0] >> 4 == 6 { &[10, 24, 28, 30] } else { &[2] };
        for family in families {
            for header in [family.to_be_bytes(), family.to_le_bytes()] {
                assert_holds(&segment, Link::Null, &[&header[..], &ip].concat());
            }
        }
        let frame = segment.frame();
        let sll = [&[0; 14], &frame[12..14], &ip[..]].concat();
        assert_holds(&segment, Link::Sll, &sll);
        let tagged = [&[0; 14][..], &[0x81, 0, 0, 5], &frame[12..14], &ip[..]].concat();
        assert_holds(&segment, Link::Sll, &tagged);
    }
    let appletalk = [&[0, 0, 0, 16][..], &[0; 40]].concat();
    assert_eq!(ip(Link::Null, whole(&appletalk)), Err(Skipped::Other(Unread::AddressFamily(16))));
}

#[test]
fn maps_the_link_type_numbers_of_capture_files() {
    let known = [0, 1, 12, 14, 101, 108, 113, 228, 229, 276];
    let found: Vec<u32> = (0..400).filter(|n| Link::of_number(*n).is_some()).collect();
    assert_eq!(found, known);
}

/// Returns the parsed payload of a packet.
fn carries(packet: &[u8]) -> Result<IpPayload<'_>, Skipped> {
    find_payload(&ip(Link::Ip, whole(packet))?)
}

#[test]
fn reads_the_ports_and_the_payload_of_a_udp_datagram() {
    for segment in segments() {
        let packet = segment.udp_ip();
        let Ok(IpPayload::Udp(udp)) = carries(&packet) else { panic!("a datagram") };
        assert_eq!((udp.source, udp.destination), (1000, 80));
        assert_eq!(udp.payload, whole(b"abc"));
        for length in [7, 12] {
            let mut wrong = packet.clone();
            let at = packet.len() - 3 - 8 + 5;
            wrong[at] = length;
            assert_eq!(carries(&wrong), Err(Skipped::Malformed), "{length}");
        }
    }
}

#[test]
fn reads_packet_too_big_messages_as_far_as_the_packet_is_quoted() {
    for segment in segments() {
        let inner = segment.ip();
        let (kind, code, protocol) = match segment.from.ip() {
            IpAddr::V6(_) => (2, 0, ICMPV6),
            IpAddr::V4(_) => (3, 4, ICMP),
        };
        let head = [kind, code, 0, 0, 0, 0, 5, 0];
        for kept in 0..inner.len() {
            let message = [&head[..], &inner[..kept]].concat();
            let packet = segment.ip_with(protocol, &message);
            let Ok(IpPayload::Icmp(found)) = carries(&packet) else { panic!("a message") };
            let too_big = found.too_big.unwrap();
            assert_eq!((found.kind, too_big.mtu), (kind, 1_280));
            let header = if protocol == ICMP { 20 } else { 40 };
            let packet = (segment.from.ip(), segment.to.ip(), TCP);
            assert_eq!(too_big.packet, (kept >= header).then_some(packet));
            let ends = (segment.from, segment.to);
            assert_eq!(too_big.ends(), (kept >= header + 4).then_some(ends));
        }
        let echo = segment.ip_with(protocol, &[8, 0, 0, 0, 0, 0, 0, 0]);
        let Ok(IpPayload::Icmp(found)) = carries(&echo) else { panic!("a message") };
        assert_eq!(found, Icmp { kind: 8, code: 0, too_big: None });
    }
}

#[test]
fn blocks_of_selective_acknowledgements_are_read() {
    let [mut six, _] = segments();
    let block = |from: u32, to: u32| [from.to_be_bytes(), to.to_be_bytes()].concat();
    let blocks = [block(5, 9), block(11, u32::MAX)].concat();
    six.options = [&[1, 1, 5, 18][..], &blocks].concat();
    let packet = six.ip();
    let Ok(IpPayload::Tcp(tcp)) = carries(&packet) else { panic!("a segment") };
    assert_eq!(tcp.selective().collect::<Vec<_>>(), [(5, 9), (11, u32::MAX)]);
    for none in [&[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2][..], &[0; 4], &[5, 40, 1, 1], &[5, 0, 1, 1]]
    {
        six.options = none.to_vec();
        let packet = six.ip();
        let Ok(IpPayload::Tcp(tcp)) = carries(&packet) else { panic!("a segment") };
        assert_eq!(tcp.selective().count(), 0, "{none:?}");
    }
}
