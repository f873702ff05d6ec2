//! Follows the connections of a capture and prints how long that took. This is the part of `sixmark
//! watch -r` spent on dissecting packets and following connections. Usage: `follow-capture FILE`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a program for developers, which may end with a backtrace"
)]

use std::time::Instant;

use sixmark_wire::Span;
use sixmark_wire::flow::{ConnectionReport, FlowObserver, Follower, HttpExchange, Settings};
use sixmark_wire::pcap::{Format, HEADER, NextRecord};

#[derive(Debug, Default)]
struct Sums {
    connections: u64,
    exchanges: u64,
    retransmitted: u64,
    out_of_order: u64,
}

impl FlowObserver for Sums {
    fn connection(&mut self, connection: &ConnectionReport) {
        self.connections += 1;
        for sent in [&connection.sent.from_client, &connection.sent.from_server] {
            self.retransmitted += sent.retransmitted;
            self.out_of_order += sent.out_of_order;
        }
    }

    fn exchange(&mut self, _: &HttpExchange) {
        self.exchanges += 1;
    }
}

fn main() {
    let file = std::env::args().nth(1).expect("which file?");
    let all = std::fs::read(file).unwrap();
    let format = Format::read(&all).unwrap();
    let begun = Instant::now();
    let mut follower = Follower::new(Settings::default(), Sums::default());
    let (mut rest, mut packets) = (&all[HEADER..], 0_u64);
    while let NextRecord::Record(record, behind) = format.next(rest) {
        let span = Span::new(record.bytes, record.length as usize);
        follower.packet(format.link, record.at_ns, span);
        (rest, packets) = (behind, packets + 1);
    }
    let (sums, _) = follower.finish();
    let took = begun.elapsed().as_secs_f64();
    println!("{packets} packets in {took:.3} s, {:.0} a second: {sums:?}", packets as f64 / took);
}
