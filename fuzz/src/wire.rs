//! Whatever is captured: reading a capture and following its connections never panics, what is said
//! to be measured has a delay, and every packet is counted once: as one of a connection, or by what
//! it is. Half of the inputs are files, the others frames, each behind its length.

use sixmark_wire::flow::{
    ConnectionReport, FlowObserver, Follower, HttpExchange, HttpExchanges, Settings,
};
use sixmark_wire::pcap::{self, Format, NextRecord};
use sixmark_wire::{Link, Span};

/// Reads an input. Panics where what this module says does not hold.
pub fn check(bytes: &[u8]) {
    let settings = Settings { ports: vec![80], ..Settings::default() };
    let mut follower = Follower::new(settings, Seen::default());
    match Format::read(bytes) {
        Ok(format) => follow_file(&mut follower, format, &bytes[pcap::HEADER..]),
        Err(_) => follow_frames(&mut follower, bytes),
    }
    let _ = follower.is_settled();
    let (seen, counts) = follower.finish();
    assert_eq!(counts.packets, counts.followed + counts.unread.total(), "{counts:?}");
    assert_eq!(seen.packets, counts.followed, "{counts:?}");
    for transfer in seen.transfers.finish(0) {
        assert_eq!(transfer.delay_ns.is_none(), transfer.unmeasured.is_some(), "{transfer:?}");
    }
}

/// What was told.
#[derive(Debug, Default)]
struct Seen {
    transfers: HttpExchanges,
    /// The packets of connections.
    packets: u64,
}

impl FlowObserver for Seen {
    fn connection(&mut self, connection: &ConnectionReport) {
        self.packets += connection.sent.from_client.packets + connection.sent.from_server.packets;
        self.transfers.connection(connection);
    }

    fn exchange(&mut self, exchange: &HttpExchange) {
        self.transfers.exchange(exchange);
    }
}

fn follow_file(follower: &mut Follower<Seen>, format: Format, mut rest: &[u8]) {
    while let NextRecord::Record(record, behind) = format.next(rest) {
        let frame = Span::new(record.bytes, record.length as usize);
        follower.packet(format.link, record.at_ns, frame);
        rest = behind;
    }
}

fn follow_frames(follower: &mut Follower<Seen>, mut rest: &[u8]) {
    let mut at_ns = 0;
    while let [kind, length, behind @ ..] = rest {
        let (frame, behind) = behind.split_at(behind.len().min(usize::from(*length)));
        let link =
            [Link::Ethernet, Link::Ip, Link::Null, Link::Sll, Link::Sll2][usize::from(*kind) % 5];
        follower.packet(link, at_ns, Span::new(frame, usize::from(*kind) * 8));
        (rest, at_ns) = (behind, at_ns + 1);
    }
}
