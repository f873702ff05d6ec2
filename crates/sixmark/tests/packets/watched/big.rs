//! Segments that exceed the length field of their packets, as the kernel hands them to captures (BIG TCP).

use super::made::{Link, ip};
use super::{beside_tshark, follow, left_out, loaded};

/// The longest packet whose length its IP header can say, in an Ethernet frame.
const LONGEST: usize = 14 + 40 + 65_535;

#[test]
fn agrees_with_tshark_on_segments_beyond_the_ip_length_field() {
    if left_out() {
        return;
    }
    let link = Link::cable();
    for host in [link.client(), link.server()] {
        ip(host, "link set eth gso_max_size 200000 gro_max_size 200000");
    }
    let made = loaded(&link, &["-n", "12", "-c", "1"], "/bytes/6000000");
    let longest = made.frames().iter().map(|(_, frame)| frame.len()).max();
    assert!(longest > Some(LONGEST), "{longest:?}");
    let (found, counts) = follow(&made);
    assert_eq!(counts.unread.of(sixmark_wire::Unread::Malformed), 0);
    assert!(found.connections.iter().all(|of| !of.doubts.gap && of.doubts.coalesced > 0));
    let bytes: u64 = found.connections.iter().map(|of| of.sent.from_server.stream_bytes).sum();
    assert!(bytes > 12 * 6_000_000, "{bytes}");
    beside_tshark("BIG TCP", &made);
}
