//! Requests in SYNs (TCP Fast Open), by curl and the kernel.

use sixmark_testkit::skipped;

use super::made::{Link, Origin, Recording, ask_in_syn, set};
use super::tshark::{ACK, SYN, streams};
use super::{beside_tshark, follow, left_out};

/// `net.ipv4.tcp_fastopen`: clients send data in SYNs, also to servers whose cookie they lack.
const CLIENT: &str = "5";
/// Every server takes data in SYNs, also without a cookie, or no server does.
const SERVERS: [(&str, bool); 2] = [("1538", true), ("0", false)];

#[test]
fn agrees_with_tshark_on_requests_in_syns() {
    if left_out() || skipped("curl") {
        return;
    }
    for (setting, is_taken) in SERVERS {
        let link = Link::plain();
        set(link.client(), "net/ipv4/tcp_fastopen", CLIENT);
        set(link.server(), "net/ipv4/tcp_fastopen", setting);
        let origin = Origin::start(&link, &[]);
        let recording = Recording::start(&link);
        for url in origin.urls("/bytes/30000") {
            (0..3).for_each(|_| ask_in_syn(&link, &url));
        }
        let made = recording.finish(origin.ports());
        let name = format!("data in SYNs, taken: {is_taken}");
        let theirs = streams(&made.file);
        let syns = theirs.values().flatten().filter(|s| s.has(SYN) && !s.has(ACK));
        let carrying = syns.filter(|s| made.ports.contains(&s.to.port()) && s.payload > 0);
        assert_eq!(carrying.count(), 6, "{name}");
        beside_tshark(&name, &made);
        let found = follow(&made).0.connections;
        assert_eq!(found.len(), 6, "{name}");
        for of in found {
            assert_eq!((of.exchanges, of.doubts.unparsed, of.doubts.gap), (1, false, false));
            let again = of.sent.from_client.retransmitted;
            assert_eq!(again, u64::from(!is_taken), "{name}: {of:?}");
        }
    }
}
