//! The same captured traffic in tags, labels and tunnels, and all of them on one trunk.

use sixmark_testkit::skipped;
use sixmark_testkit::wraps::{WRAPS, Wrap};
use sixmark_wire::flow::ConnectionReport;
use sixmark_wire::{Unread, Via};

use super::made::{Link, Made};
use super::{beside_tshark, follow, left_out, loaded};

/// Frames that are no packets of connections, and what they are counted as.
const OTHERS: [(&[u8], Unread); 8] = [
    (&[0x08, 0x06, 0, 1, 8, 0], Unread::EtherType(0x0806)),
    (&[0x88, 0xcc, 2, 7, 4], Unread::EtherType(0x88cc)),
    (&[0x88, 0x63, 0x11, 9, 0, 0], Unread::EtherType(0x8863)),
    (&[0x88, 0x64, 0x11, 0, 0, 9, 0, 8, 0xc0, 0x21], Unread::Ppp(0xc021)),
    (&[0, 38, 0x42, 0x42, 3], Unread::Llc(0x42)),
    (&[0x88, 0x47, 0, 1, 1, 64, 0, 0, 0, 0], Unread::Mpls),
    (&[0x88, 0xb5, 1, 2, 3], Unread::EtherType(0x88b5)),
    // The first fragment of an outer packet, the others of which never come.
    (
        &[
            8, 0, 0x45, 0, 0, 44, 0, 9, 0x20, 0, 64, 41, 0, 0, 198, 51, 100, 1, 198, 51, 100, 2,
            0x60,
        ],
        Unread::Fragment,
    ),
];

/// A connection without what depends on the headers before its packets.
fn bare(of: &ConnectionReport) -> ConnectionReport {
    let mut of = ConnectionReport { via: Via::default(), ..of.clone() };
    (of.sent.from_client.frame_bytes, of.sent.from_server.frame_bytes) = (0, 0);
    of
}

fn assert_same<'a>(
    name: &str,
    plain: &[ConnectionReport],
    found: impl IntoIterator<Item = &'a ConnectionReport>,
) {
    let mut found: Vec<ConnectionReport> = found.into_iter().map(bare).collect();
    let mut plain: Vec<ConnectionReport> = plain.iter().map(bare).collect();
    for all in [&mut found, &mut plain] {
        all.sort_by_key(|of| (of.began_ns, of.ends));
    }
    assert_eq!(found.len(), plain.len(), "{name}");
    for (found, plain) in found.iter().zip(&plain) {
        assert_eq!(found, plain, "{name}");
    }
}

fn traffic() -> Made {
    let link = Link::plain();
    loaded(&link, &["-n", "60", "-c", "4", "--requests-per-connection", "5"], "/bytes/20000")
}

#[test]
fn finds_the_same_traffic_in_every_tunnel_and_agrees_with_tshark() {
    if left_out() {
        return;
    }
    let made = traffic();
    let (plain, _) = follow(&made);
    assert!(plain.connections.len() >= 12, "{}", plain.connections.len());
    for wrap in WRAPS {
        let wrapped = made.wrapped(&wrap);
        let (found, _) = follow(&wrapped);
        assert_same(wrap.name, &plain.connections, &found.connections);
        assert_eq!((&found.statuses, &found.requests), (&plain.statuses, &plain.requests));
        for of in &found.connections {
            let via = wrap.via[usize::from(of.ends.server.is_ipv4())];
            assert_eq!(of.via.to_string(), via, "{}", wrap.name);
        }
        if wrap.is_shown {
            beside_tshark(wrap.name, &wrapped);
        }
    }
}

#[test]
fn accounts_for_every_packet_on_a_trunk_of_mixed_tunnels() {
    if left_out() {
        return;
    }
    let made = traffic();
    let (plain, of_plain) = follow(&made);
    // Labels distinguish no network; with them each packet would be there twice.
    let networks: Vec<Wrap> = WRAPS.into_iter().filter(|wrap| wrap.name != "MPLS").collect();
    let trunk = made.rewritten(|number, frame| {
        let other = OTHERS[number % OTHERS.len()].0;
        let other = [&[2; 12][..], other, &[0; 60]].concat();
        networks.iter().map(|wrap| wrap.frame(frame)).chain([other]).collect()
    });
    let (found, counts) = follow(&trunk);
    let expected = plain.connections.len() * networks.len();
    assert_eq!(found.connections.len(), expected);
    for wrap in &networks {
        let is_in = |of: &&ConnectionReport| {
            of.via.to_string() == wrap.via[usize::from(of.ends.server.is_ipv4())]
        };
        let found = found.connections.iter().filter(is_in);
        assert_same(wrap.name, &plain.connections, found);
    }
    let followed = of_plain.followed * networks.len() as u64;
    assert_eq!(counts.followed, followed);
    let packets = made.frames().len();
    for (at, (_, kind)) in OTHERS.iter().enumerate() {
        let there = (packets + OTHERS.len() - 1 - at) / OTHERS.len();
        let before = of_plain.unread.of(*kind) * networks.len() as u64;
        assert_eq!(counts.unread.of(*kind), before + there as u64, "{kind}");
    }
}

#[test]
fn agrees_with_tshark_on_the_kernels_vxlan_tunnel() {
    if left_out() || skipped("vxlan") {
        return;
    }
    let link = Link::vxlan();
    let made = loaded(&link, &["-n", "60", "-c", "4", "--no-keep-alive"], "/bytes/20000");
    beside_tshark("the kernel's VXLAN", &made);
    let found = follow(&made).0.connections;
    assert_eq!(found.len(), 60);
    assert!(found.iter().all(|of| of.via.to_string() == "vxlan 42"));
}
