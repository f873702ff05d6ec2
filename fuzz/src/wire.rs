//! Whatever is captured: reading a capture and following its connections never panics, and what is
//! said to be measured has a delay. Half of the inputs are files, the others frames, each behind its
//! length.

use sixmark_wire::flow::{Follower, Settings, Transfers};
use sixmark_wire::pcap::{self, Format, NextRecord};
use sixmark_wire::{Link, Span};

/// Reads an input. Panics where what this module says does not hold.
pub fn check(bytes: &[u8]) {
    let settings = Settings { ports: vec![80], ..Settings::default() };
    let mut follower = Follower::new(settings, Transfers::default());
    match Format::read(bytes) {
        Ok(format) => follow_file(&mut follower, format, &bytes[pcap::HEADER..]),
        Err(_) => follow_frames(&mut follower, bytes),
    }
    let _ = follower.is_settled();
    for transfer in follower.finish().0.finish(0) {
        assert_eq!(transfer.delay_ns.is_none(), transfer.unmeasured.is_some(), "{transfer:?}");
    }
}

fn follow_file(follower: &mut Follower<Transfers>, format: Format, mut rest: &[u8]) {
    while let NextRecord::Record(record, behind) = format.next(rest) {
        let frame = Span::new(record.bytes, record.length as usize);
        follower.packet(format.link, record.at_ns, frame);
        rest = behind;
    }
}

fn follow_frames(follower: &mut Follower<Transfers>, mut rest: &[u8]) {
    let mut at_ns = 0;
    while let [kind, length, behind @ ..] = rest {
        let (frame, behind) = behind.split_at(behind.len().min(usize::from(*length)));
        let link =
            [Link::Ethernet, Link::Ip, Link::Null, Link::Sll, Link::Sll2][usize::from(*kind) % 5];
        follower.packet(link, at_ns, Span::new(frame, usize::from(*kind) * 8));
        (rest, at_ns) = (behind, at_ns + 1);
    }
}
