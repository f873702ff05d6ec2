//! The ring into which the kernel puts packets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

use sixmark_sys::netns::NetNs;
use sixmark_sys::packets::{Counts, PacketRing, PacketRingSettings};
use sixmark_testkit::{DEADLINE, skipped};

const ETHERTYPES: [u16; 2] = [0x86dd, 0x0800];

/// A namespace whose loopback is up.
fn namespace() -> NetNs {
    let new = NetNs::create().expect("this needs root");
    let up = || {
        let done = std::process::Command::new("ip").args(["link", "set", "lo", "up"]).status()?;
        assert!(done.success());
        Ok(())
    };
    new.within(up).unwrap();
    new
}

/// Sends datagrams of these lengths over loopback.
fn send(namespace: &NetNs, own: IpAddr, lengths: &[usize]) {
    let send = || {
        let socket = UdpSocket::bind((own, 0))?;
        let to = socket.local_addr()?;
        lengths.iter().try_for_each(|&length| socket.send_to(&vec![7; length], to).map(drop))
    };
    namespace.within(send).unwrap();
}

fn snap(snap: u32) -> PacketRingSettings {
    PacketRingSettings { snap, ..PacketRingSettings::default() }
}

/// Waits for so many packets: stamps, lengths and what was kept.
fn receive(ring: &mut PacketRing, count: usize) -> Vec<(u64, u32, Vec<u8>)> {
    let (mut found, end) = (Vec::new(), std::time::Instant::now() + DEADLINE);
    while found.len() < count {
        assert!(std::time::Instant::now() < end, "{} of {count} came", found.len());
        ring.wait(None, DEADLINE).unwrap();
        while let Some(block) = ring.block() {
            found.extend(block.frames().map(|f| (f.at_ns, f.length, f.bytes.to_vec())));
        }
    }
    found
}

#[test]
fn delivers_each_packet_once_in_order_with_length_and_timestamp() {
    if skipped("netns") {
        return;
    }
    let namespace = namespace();
    let mut ring = namespace.within(|| PacketRing::open("lo", &snap(100))).unwrap();
    let before = sixmark_sys::clock::real();
    let lengths: Vec<usize> = (0..500).map(|n| 1 + n % 1_000).collect();
    for (own, ethertype, headers) in [
        (IpAddr::from(Ipv6Addr::LOCALHOST), ETHERTYPES[0], 14 + 40 + 8),
        (IpAddr::from(Ipv4Addr::LOCALHOST), ETHERTYPES[1], 14 + 20 + 8),
    ] {
        send(&namespace, own, &lengths);
        let found = receive(&mut ring, lengths.len());
        let of_wire: Vec<usize> = found.iter().map(|(_, length, _)| *length as usize).collect();
        assert_eq!(of_wire, lengths.iter().map(|n| n + headers).collect::<Vec<_>>());
        for (at, length, bytes) in &found {
            assert_eq!(bytes.len(), 100.min(*length as usize));
            assert_eq!(bytes[12..14], ethertype.to_be_bytes());
            assert!((before..=sixmark_sys::clock::real()).contains(at));
        }
        assert!(found.is_sorted_by_key(|(at, ..)| at));
    }
    assert_eq!(ring.counts().unwrap(), Counts { packets: 1_000, dropped: 0 });
    assert_eq!(ring.counts().unwrap(), Counts::default(), "each is told of once");
}

#[test]
fn an_unread_ring_counts_the_packets_it_drops() {
    if skipped("netns") {
        return;
    }
    let namespace = namespace();
    let mut ring = namespace.within(|| PacketRing::open("lo", &snap(65_536))).unwrap();
    let lengths = [60_000; 400];
    send(&namespace, Ipv6Addr::LOCALHOST.into(), &lengths);
    let Counts { packets, dropped } = ring.counts().unwrap();
    assert_eq!(packets, 400);
    assert!(dropped > 0, "24 MB fit into 16");
    let kept = receive(&mut ring, (packets - dropped) as usize);
    assert_eq!(kept.len() as u64, packets - dropped);
}

#[test]
fn reports_a_missing_interface_and_one_that_is_down() {
    if skipped("netns") {
        return;
    }
    let namespace = NetNs::create().expect("this needs root");
    let missing = namespace.within(|| PacketRing::open("none", &snap(100))).unwrap_err();
    assert_eq!(missing.to_string(), "there is no interface 'none'");
    let down = namespace.within(|| PacketRing::open("lo", &snap(100))).unwrap_err();
    assert_eq!(down.raw_os_error(), Some(libc::ENETDOWN));
}

#[test]
fn filters_out_packets_of_other_ports() {
    if skipped("netns") {
        return;
    }
    let namespace = namespace();
    for own in [IpAddr::from(Ipv6Addr::LOCALHOST), IpAddr::from(Ipv4Addr::LOCALHOST)] {
        let sockets = namespace.within(|| {
            let bound = || UdpSocket::bind((own, 0));
            Ok([bound()?, bound()?, bound()?])
        });
        let [one, other, wanted] = sockets.unwrap();
        let port = |socket: &UdpSocket| socket.local_addr().unwrap().port();
        let ports = Some(vec![1, port(&wanted)]);
        let settings = PacketRingSettings { ports, mebibytes: 1, ..snap(1_000) };
        let mut ring = namespace.within(|| PacketRing::open("lo", &settings)).unwrap();
        let send = |from: &UdpSocket, to: &UdpSocket, length: usize| {
            from.send_to(&vec![0; length], to.local_addr().unwrap()).unwrap();
        };
        // The first does not reach the ring.
        send(&one, &other, 10);
        send(&one, &wanted, 11);
        send(&wanted, &other, 12);
        let headers = if own.is_ipv6() { 14 + 40 + 8 } else { 14 + 20 + 8 };
        let found = receive(&mut ring, 2);
        let lengths: Vec<u32> = found.iter().map(|(_, length, _)| *length).collect();
        assert_eq!(lengths, [headers + 11, headers + 12]);
        assert_eq!(ring.counts().unwrap(), Counts { packets: 2, dropped: 0 });
    }
}

#[test]
fn the_kernel_accepts_a_filter_for_many_ports() {
    if skipped("netns") {
        return;
    }
    let namespace = namespace();
    for many in [0, 32, 33] {
        let settings = PacketRingSettings { ports: Some((0..many).collect()), ..snap(64) };
        namespace.within(|| PacketRing::open("lo", &settings)).unwrap();
    }
}
