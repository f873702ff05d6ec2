//! Tests of the stack on an in-memory wire, with a clock that the test advances.

mod losses;

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    EthernetAddress, EthernetFrame, EthernetProtocol, Icmpv6Packet, Icmpv6Repr, IpAddress,
    IpProtocol, IpRepr, Ipv6Address, Ipv6Packet, Ipv6Repr, NdiscRepr, TcpControl, TcpPacket,
    TcpRepr, TcpSeqNumber,
};

use super::segment::Segment;
use super::stack::Stack;
use super::wire::Port;
use super::{BareOptions, Congestion, Statistics};

const CLIENT_MAC: EthernetAddress = EthernetAddress([2, 0, 0, 0, 0, 9]);
/// The client's maximum segment size, in bytes.
const MSS: usize = 1_000;
/// The addresses of the server, of a client on the link and of a client behind the gateway, by
/// family.
const PLACES: [[&str; 3]; 2] =
    [["fd00::2", "fd00::9", "fd00:1::9"], ["10.0.0.2", "10.0.0.9", "10.0.1.9"]];

#[derive(Default)]
struct Memory {
    to: VecDeque<Vec<u8>>,
    from: Vec<Vec<u8>>,
}

struct Shared(std::rc::Rc<std::cell::RefCell<Memory>>);

impl Port for Shared {
    fn read(&mut self, frame: &mut [u8]) -> io::Result<usize> {
        let next = self.0.borrow_mut().to.pop_front().ok_or(io::ErrorKind::WouldBlock)?;
        frame[..next.len()].copy_from_slice(&next);
        Ok(next.len())
    }

    fn write(&mut self, frame: &[u8]) {
        self.0.borrow_mut().from.push(frame.to_vec());
    }
}

/// A server, and a client that the test controls.
struct Scene {
    stack: Stack<Shared>,
    wire: std::rc::Rc<std::cell::RefCell<Memory>>,
    now: Duration,
    own: IpAddress,
    client: IpAddress,
    mac: EthernetAddress,
    port: u16,
    seq: TcpSeqNumber,
    /// The window that the client advertises, and what it acknowledges selectively.
    window: u16,
    sacked: [Option<(u32, u32)>; 3],
}

impl Scene {
    fn new(family: usize, off_link: bool, change: impl FnOnce(&mut BareOptions)) -> Scene {
        let mut options = BareOptions {
            tap: "none".into(),
            addresses: vec!["fd00::2/64".parse().unwrap(), "10.0.0.2/24".parse().unwrap()],
            gateways: vec!["fd00::1".parse().unwrap(), "10.0.0.1".parse().unwrap()],
            sockets: 2,
            ..BareOptions::default()
        };
        change(&mut options);
        options.check().unwrap();
        let wire = std::rc::Rc::<std::cell::RefCell<Memory>>::default();
        let [own, near, far] = PLACES[family].map(|one| one.parse().unwrap());
        Scene {
            stack: Stack::new(&options, Shared(wire.clone())).unwrap(),
            wire,
            now: Duration::from_secs(1),
            own,
            client: if off_link { far } else { near },
            mac: EthernetAddress(options.hardware_address()),
            port: 40_000,
            seq: TcpSeqNumber(5_000),
            window: 60_000,
            sacked: [None; 3],
        }
    }

    /// Runs the server and returns the frames that it sends.
    fn turn(&mut self) -> Vec<Vec<u8>> {
        self.stack.turn(self.now);
        std::mem::take(&mut self.wire.borrow_mut().from)
    }

    fn segments(&mut self) -> Vec<Segment> {
        self.turn().iter().map(|frame| Segment::read(frame).expect("TCP alone")).collect()
    }

    fn send(&mut self, control: TcpControl, ack: Option<TcpSeqNumber>, payload: &[u8]) {
        let syn = control == TcpControl::Syn;
        let segment = TcpRepr {
            src_port: self.port,
            dst_port: 80,
            control,
            seq_number: self.seq,
            ack_number: ack,
            window_len: self.window,
            window_scale: None,
            max_seg_size: syn.then_some(MSS as u16),
            sack_permitted: syn,
            sack_ranges: self.sacked,
            timestamp: None,
            payload,
        };
        self.seq += segment.segment_len();
        let frame = ethernet(self.client, self.own, self.mac, &segment);
        self.wire.borrow_mut().to.push_back(frame);
    }

    /// Connects and requests a path. Returns the first segments of the response, and the sequence
    /// number at which it starts.
    fn ask(&mut self, path: &str) -> (Vec<Segment>, TcpSeqNumber) {
        self.send(TcpControl::Syn, None, b"");
        let accepted = self.segments();
        assert!(accepted.len() == 1 && accepted[0].syn, "{accepted:?}");
        let start = accepted[0].end();
        self.send(TcpControl::None, Some(start), b"");
        self.send(TcpControl::None, Some(start), format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes());
        (self.segments(), start)
    }

    /// Performs a complete connection.
    fn ask_and_end(&mut self) {
        self.port += 1;
        let (answer, _) = self.ask("/");
        let last = answer.last().unwrap();
        assert!(last.fin, "HTTP/1.0 ends it: {answer:?}");
        self.send(TcpControl::Fin, Some(last.end()), b"");
        self.turn();
    }

    fn statistics(&mut self) -> Statistics {
        self.stack.statistics()
    }
}

fn ethernet(
    from: IpAddress,
    to: IpAddress,
    mac: EthernetAddress,
    segment: &TcpRepr<'_>,
) -> Vec<u8> {
    let ip = IpRepr::new(from, to, IpProtocol::Tcp, segment.buffer_len(), 64);
    let kind = match from {
        IpAddress::Ipv4(_) => EthernetProtocol::Ipv4,
        IpAddress::Ipv6(_) => EthernetProtocol::Ipv6,
    };
    let checksums = ChecksumCapabilities::default();
    frame(mac, kind, ip.buffer_len(), |bytes| {
        ip.emit(&mut bytes[..], &checksums);
        let mut tcp = TcpPacket::new_unchecked(&mut bytes[ip.header_len()..]);
        segment.emit(&mut tcp, &from, &to, &checksums);
    })
}

fn frame(
    to: EthernetAddress,
    kind: EthernetProtocol,
    length: usize,
    fill: impl FnOnce(&mut [u8]),
) -> Vec<u8> {
    let mut bytes = vec![0; 14 + length];
    let mut frame = EthernetFrame::new_unchecked(&mut bytes[..]);
    frame.set_src_addr(CLIENT_MAC);
    frame.set_dst_addr(to);
    frame.set_ethertype(kind);
    fill(frame.payload_mut());
    bytes
}

#[test]
fn sends_the_first_response_at_once_to_on_link_and_routed_clients() {
    for family in 0..2 {
        for off_link in [false, true] {
            let mut scene = Scene::new(family, off_link, |_| {});
            let (answer, _) = scene.ask("/bytes/10");
            assert!(answer.iter().any(|segment| segment.payload > 10), "{answer:?}");
        }
    }
}

#[test]
fn answers_routed_clients_after_the_neighbour_cache_expires() {
    for family in 0..2 {
        let mut scene = Scene::new(family, true, |_| {});
        for _ in 0..5 {
            // By then, smoltcp has forgotten the neighbour.
            scene.now += Duration::from_secs(70);
            scene.ask_and_end();
        }
        assert_eq!(scene.statistics().requests, 5);
    }
}

#[test]
fn answers_a_neighbour_solicitation_from_a_link_local_router() {
    let mut scene = Scene::new(0, true, |_| {});
    let router = Ipv6Address::new(0xfe80, 0, 0, 0, 0, 0, 0, 1);
    let own = Ipv6Address::new(0xfd00, 0, 0, 0, 0, 0, 0, 2);
    let group = Ipv6Address::new(0xff02, 0, 0, 0, 0, 1, 0xff00, 2);
    let ask = Icmpv6Repr::Ndisc(NdiscRepr::NeighborSolicit {
        target_addr: own,
        lladdr: Some(CLIENT_MAC.into()),
    });
    let (next_header, payload_len) = (IpProtocol::Icmpv6, ask.buffer_len());
    let ip =
        Ipv6Repr { src_addr: router, dst_addr: group, next_header, payload_len, hop_limit: 255 };
    let to = EthernetAddress([0x33, 0x33, 0xff, 0, 0, 2]);
    let bytes = frame(to, EthernetProtocol::Ipv6, 40 + payload_len, |bytes| {
        let mut packet = Ipv6Packet::new_unchecked(bytes);
        ip.emit(&mut packet);
        let mut inner = Icmpv6Packet::new_unchecked(packet.payload_mut());
        ask.emit(&router, &group, &mut inner, &ChecksumCapabilities::default());
    });
    scene.wire.borrow_mut().to.push_back(bytes);
    let said = scene.turn();
    let answer = EthernetFrame::new_checked(&said[0]).unwrap();
    assert_eq!((said.len(), answer.dst_addr()), (1, CLIENT_MAC));
    assert_eq!(Ipv6Packet::new_checked(answer.payload()).unwrap().dst_addr(), router);
}

#[test]
fn does_not_agree_to_sack_by_default() {
    for family in 0..2 {
        let mut scene = Scene::new(family, false, |_| {});
        scene.send(TcpControl::Syn, None, b"");
        let frames = scene.turn();
        let place = 14 + if family == 0 { 40 } else { 20 };
        let tcp = TcpPacket::new_checked(&frames[0][place..]).unwrap();
        assert!(!tcp.options_summary().unwrap().sack_permitted);
    }
}

#[test]
fn repairs_a_loss_only_by_the_timer_and_resends_everything() {
    for family in 0..2 {
        let mut scene = Scene::new(family, false, |_| {});
        let (sent, start) = scene.ask("/bytes/50000");
        assert!(sent.len() > 50, "{}", sent.len());
        // The first segment is lost; each of the others makes the client repeat its
        // acknowledgement.
        for _ in 1..sent.len() {
            scene.send(TcpControl::None, Some(start), b"");
        }
        scene.now += Duration::from_millis(900);
        assert_eq!(scene.segments(), [], "before its time");
        let hidden = scene.statistics().duplicate_acks_hidden;
        assert_eq!(hidden, sent.len() as u64 - 1);
        scene.now += Duration::from_millis(200);
        let again = scene.segments();
        assert_eq!(
            (again[0].seq, again.last().unwrap().end()),
            (start, sent.last().unwrap().end())
        );
        let counted = scene.statistics();
        assert_eq!((counted.timeouts, counted.segments_sent_again), (1, again.len() as u64));
    }
}

#[test]
fn does_not_hide_new_acknowledgements_or_keep_alive_probes() {
    for family in 0..2 {
        let mut scene = Scene::new(family, false, |_| {});
        let (sent, start) = scene.ask("/bytes/200000");
        scene.send(TcpControl::None, Some(start + MSS), b"");
        assert!(!scene.segments().is_empty());
        // Keep-alive probes, one byte before the next sequence number (RFC 9293, 3.8.4).
        for _ in 0..5 {
            scene.now += Duration::from_millis(10);
            scene.seq = TcpSeqNumber(scene.seq.0 - 1);
            scene.send(TcpControl::None, Some(start + MSS), b"");
            scene.seq += 1;
            scene.turn();
        }
        assert_eq!(scene.statistics().duplicate_acks_hidden, 0, "{}", sent.len());
    }
}

#[test]
fn fills_the_window_at_once_only_without_congestion_control() {
    for family in 0..2 {
        let all = [Congestion::None, Congestion::Reno, Congestion::Cubic];
        let [none, reno, cubic] = all.map(|congestion| {
            let mut scene = Scene::new(family, false, |options| options.congestion = congestion);
            scene.ask("/bytes/200000").0.iter().map(|segment| segment.payload).sum::<usize>()
        });
        assert!(none > 59_000 && reno <= 4 * MSS && cubic <= 4 * MSS, "{none} {reno} {cubic}");
    }
}

#[test]
fn frees_a_connection_slot_when_the_connection_ends() {
    for family in 0..2 {
        let mut scene = Scene::new(family, false, |_| {});
        for _ in 0..10 {
            scene.ask_and_end();
        }
        let counted = scene.statistics();
        assert_eq!((counted.connections, counted.requests), (10, 10));
    }
}

#[test]
fn resets_new_connections_when_all_slots_are_taken() {
    for family in 0..2 {
        let mut scene = Scene::new(family, false, |_| {});
        for expected in [false, false, true] {
            scene.port += 1;
            scene.send(TcpControl::Syn, None, b"");
            assert_eq!(scene.segments()[0].rst, expected);
        }
    }
}
