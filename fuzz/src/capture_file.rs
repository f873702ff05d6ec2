//! Whatever a file of packets holds: reading it never panics, always goes on, and follows what is
//! in it.

use sixmark_watch::WatchCollector;
use sixmark_wire::Span;
use sixmark_wire::file::{CaptureFile, ReadStep};
use sixmark_wire::flow::{Follower, Settings};

/// Reads an input. Panics where what this module says does not hold.
pub fn check(bytes: &[u8]) {
    let Ok((mut file, mut at)) = CaptureFile::begin(bytes) else { return };
    let settings = Settings { max_flows: 4, ..Settings::default() };
    let mut follower = Follower::new(settings, WatchCollector::new(0));
    let mut last_ns = 0;
    while let Some(rest) = bytes.get(at..) {
        match file.step(rest) {
            ReadStep::Packet(packet, used) => {
                assert!(used > packet.bytes.len() && used <= rest.len());
                if let Some(link) = packet.link {
                    let frame = Span::new(packet.bytes, packet.length as usize);
                    follower.packet(link, packet.at_ns, frame);
                }
                (at, last_ns) = (at + used, packet.at_ns);
            }
            ReadStep::Nothing(used) => {
                assert!(used > 0);
                at += used;
            }
            ReadStep::More(needed) => {
                assert!(needed > rest.len());
                break;
            }
            ReadStep::End | ReadStep::Broken(_) => break,
        }
    }
    let (collector, counts) = follower.finish();
    let found = collector.finish(last_ns, &counts);
    for (_, tally) in found.tally.iter() {
        assert_eq!(tally.sent, tally.ended());
    }
}
