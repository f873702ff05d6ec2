use std::net::SocketAddr;

use super::*;
use sixmark_tally::client_records::{ClientRecords, Opened, RecordedExchange};
use sixmark_units::family::{Family, PerFamily};
use sixmark_wire::flow::{
    Closure, ConnectionReport, Doubts, Ends, FlowObserver as _, HttpExchange, Opening,
    PayloadProtocol, PerDirection,
};

/// The offset of the packets' clock, in nanoseconds.
const AHEAD: u64 = 1_000_000_000_000;
const US: u64 = 1_000;

fn ends(family: Family, port: u16) -> Ends {
    let host = if family == Family::Ipv6 { "[::1]" } else { "127.0.0.1" };
    let at = |port: u16| -> SocketAddr { format!("{host}:{port}").parse().unwrap() };
    Ends { client: at(port), server: at(80) }
}

/// A client's records, and the packets to match with them.
#[derive(Default)]
struct Made {
    client_records: ClientRecords,
    packets: Packets,
}

impl Made {
    /// Adds a connection whose connect call takes 30 us, including 20 us for the handshake.
    fn connect(&mut self, family: Family, port: u16, called: u64) -> u32 {
        self.handshake(family, port, called + 5 * US);
        let (ends, connected) = (ends(family, port), called + 30 * US);
        self.client_records
            .open(Opened { ends, called, connected, took: 30 * US, counted: true })
            .unwrap()
    }

    fn handshake(&mut self, family: Family, port: u16, syn: u64) {
        let opening = Opening { seen: true, answered_ns: Some(20 * US), ..Opening::default() };
        let report = ConnectionReport {
            ends: ends(family, port),
            before: 0,
            via: sixmark_wire::Via::default(),
            began_ns: AHEAD + syn,
            lasted_ns: 0,
            opening,
            closure: Closure::Normal,
            sent: PerDirection::default(),
            round_trips: PerDirection::default(),
            payload_protocol: PayloadProtocol::Http1,
            exchanges: 0,
            missing: None,
            statuses: Default::default(),
            doubts: Doubts::default(),
        };
        self.packets.connection(&report);
    }

    /// Records an exchange. Its request is sent 3 us late, and its response is read 7 us late.
    fn exchange(&mut self, connection: u32, number: u32, start: u64) {
        let (sent, first) = (start, start + 110 * US);
        let end = first + 40 * US;
        self.client_records.tell(RecordedExchange { connection, number, start, sent, first, end });
    }

    fn transfer(&mut self, family: Family, port: u16, number: u32, began: u64) {
        let mut transfer = HttpExchange::new(ends(family, port), number, AHEAD + began);
        transfer.request_ns = Some(0);
        transfer.wait_ns = Some(100 * US);
        transfer.first_byte_ns = Some(100 * US);
        transfer.transfer_ns = Some(30 * US);
        self.packets.exchange(&transfer);
    }

    fn beside(mut self, until: u64) -> PerFamily<FamilyTruth> {
        self.client_records.measured = 0..until;
        let clock = Clock { client_ns: 5, packets_ns: AHEAD + 5 };
        let views = Views { client_records: self.client_records, packets: self.packets, clock };
        let Families { ipv6, ipv4 } = views.beside(PerFamily { ipv6: true, ipv4: true });
        PerFamily { ipv6: ipv6.unwrap(), ipv4: ipv4.unwrap() }
    }
}

fn counts(client: u64, packets: u64, matched: u64) -> TruthCounts {
    TruthCounts { client, packets, matched, untold: 0 }
}

#[test]
fn matches_each_connection_and_exchange_with_its_packets() {
    let mut made = Made::default();
    for family in Family::BOTH {
        for port in 1..=10 {
            let called = u64::from(port) * 1_000 * US;
            let connection = made.connect(family, port, called);
            for number in 1..=3 {
                let start = called + 40 * US + u64::from(number) * 200 * US;
                made.exchange(connection, number, start);
                made.transfer(family, port, number, start + 3 * US);
            }
        }
    }
    for (_, found) in made.beside(100_000 * US).iter() {
        assert_eq!(found.connections, counts(10, 10, 10));
        assert_eq!(found.exchanges, counts(30, 30, 30));
        let apart = [&found.connect, &found.wait, &found.transfer, &found.service]
            .map(|beside| (beside.difference_us.count, beside.difference_us.p50));
        let expected = [(10, Some(10.0)), (30, Some(10.0)), (30, Some(10.0)), (30, Some(20.0))];
        assert_eq!(apart, expected);
        assert!((found.wait.medians_apart_us.unwrap() - 10.0).abs() < 0.2);
    }
}

#[test]
fn distinguishes_connections_on_a_reused_port_by_time() {
    let mut made = Made::default();
    for (turn, late) in [(0, 1), (1, 2), (2, 3)] {
        let called = turn * 5_000 * US;
        let connection = made.connect(Family::Ipv4, 7, called);
        made.exchange(connection, 1, called + 50 * US);
        made.transfer(Family::Ipv4, 7, 1, called + (50 + late) * US);
    }
    let found = made.beside(100_000 * US).ipv4;
    assert_eq!((found.connections, found.exchanges), (counts(3, 3, 3), counts(3, 3, 3)));
}

#[test]
fn counts_but_does_not_match_what_only_one_side_recorded() {
    let mut made = Made::default();
    let connection = made.connect(Family::Ipv6, 1, 0);
    made.exchange(connection, 1, 50 * US);
    // Packets of another client, in the measurement and after it.
    made.handshake(Family::Ipv6, 2, 9 * US);
    made.transfer(Family::Ipv6, 2, 1, 60 * US);
    made.transfer(Family::Ipv6, 2, 2, 700 * US);
    let found = made.beside(500 * US).ipv6;
    assert_eq!((found.connections, found.exchanges), (counts(1, 2, 1), counts(1, 1, 0)));
    assert_eq!(found.wait.difference_us, Differences::default());
    assert_eq!((found.wait.client_us.count, found.wait.packets_us.count), (1, 1));
}

#[test]
fn measures_the_first_exchange_of_a_connection_from_its_syn() {
    let mut made = Made::default();
    let connection = made.connect(Family::Ipv6, 1, 10 * US);
    let (start, sent, first, end) = (9 * US, 45 * US, 150 * US, 185 * US);
    made.client_records.tell(RecordedExchange { connection, number: 1, start, sent, first, end });
    made.transfer(Family::Ipv6, 1, 1, 47 * US);
    let found = made.beside(500 * US).ipv6.service;
    // The SYN is at 15 us and the last byte at 177 us.
    assert_eq!(found.packets_us.p50, Some(162.0));
    assert_eq!(found.difference_us.p50, Some(14.0));
}

#[test]
fn reports_nothing_if_nothing_was_captured() {
    let found = Made::default().beside(1).ipv4;
    assert_eq!((found.connect, found.connections), (Beside::default(), TruthCounts::default()));
}
