//! The link emulator between two namespaces, over both families.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::num::NonZeroU64;
use std::ops::Range;
use std::time::{Duration, Instant};

use sixmark_lab::impairment::{Effect, FrameRate, Impairment, Loss};
use sixmark_lab::link_report::{FrameCounts, LinkDirection, LinkReport, Scheduling};
use sixmark_testkit::pair::{Pair, any};
use sixmark_testkit::{DEADLINE, skipped};
use sixmark_units::family::{Family, PerFamily};

const DELAY: Duration = Duration::from_millis(10);
/// Datagrams at a time, and how many times.
const GROUP: u32 = 32;
const GROUPS: u32 = 10;

fn all(effect: Effect) -> Impairment {
    let families = PerFamily::from_fn(|_| effect);
    Impairment { common: effect, families, ..Impairment::default() }
}

fn delayed() -> Impairment {
    all(Effect { delay: DELAY, ..Effect::default() })
}

/// A socket of a host, which waits no longer than a broken build makes it.
fn socket(pair: &Pair, host: usize, family: Family) -> (UdpSocket, SocketAddr) {
    let socket = pair.within(host, || UdpSocket::bind(any(host, family)));
    socket.set_read_timeout(Some(DEADLINE)).unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

/// How long the next datagram is. A wait with a limit ends when the machine is halted and goes on,
/// whatever handlers there are (signal(7)).
fn receive(socket: &UdpSocket, bytes: &mut [u8]) -> usize {
    loop {
        match socket.recv(bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            received => return received.unwrap(),
        }
    }
}

/// How long a datagram and its answer take.
fn round_trip(pair: &Pair, family: Family) -> Duration {
    let [(near, from), (far, to)] = [0, 1].map(|host| socket(pair, host, family));
    let mut bytes = [0; 16];
    let began = Instant::now();
    near.send_to(b"there", to).unwrap();
    receive(&far, &mut bytes);
    far.send_to(b"back", from).unwrap();
    receive(&near, &mut bytes);
    began.elapsed()
}

/// Sends numbered datagrams from host 0 to host 1.
fn send(socket: &UdpSocket, to: SocketAddr, numbers: Range<u32>, bytes: usize) {
    let mut datagram = vec![0; bytes];
    for number in numbers {
        datagram[..4].copy_from_slice(&number.to_be_bytes());
        socket.send_to(&datagram, to).unwrap();
    }
}

/// Sends numbered datagrams, some at a time so that they fit the receiver's buffer: their numbers as
/// they came.
fn exchange(near: &UdpSocket, far: &UdpSocket, to: SocketAddr, bytes: usize) -> Vec<u32> {
    let mut room = [0; 2_048];
    let mut next = || {
        let length = receive(far, &mut room);
        u32::from_be_bytes(room[..length][..4].try_into().unwrap())
    };
    let mut came = Vec::new();
    for first in (0..GROUPS).map(|group| group * GROUP) {
        send(near, to, first..first + GROUP, bytes);
        came.extend((0..GROUP).map(|_| next()));
    }
    came
}

/// The report, once it says so.
fn report_when(pair: &Pair, what: impl Fn(&LinkReport) -> bool) -> LinkReport {
    let end = Instant::now() + DEADLINE;
    loop {
        let report = pair.link.report().unwrap();
        if what(&report) {
            return report;
        }
        assert!(Instant::now() < end, "{report:?}");
        std::thread::yield_now();
    }
}

/// What happened from host 0 to host 1.
fn frames(report: &LinkReport) -> LinkDirection {
    report.a_to_b.frames.unwrap()
}

/// How many frames had to wait there.
fn waited(report: &LinkReport) -> u64 {
    report.a_to_b.lateness_us.as_ref().unwrap().count
}

fn counts(report: &LinkReport, family: Family) -> FrameCounts {
    let frames = frames(report);
    match family {
        Family::Ipv6 => frames.ipv6,
        Family::Ipv4 => frames.ipv4,
    }
}

#[test]
fn no_round_trip_is_shorter_than_the_delays_of_both_ways() {
    if skipped("netns") {
        return;
    }
    let pair = Pair::up(&delayed(), &delayed(), 1);
    for family in Family::BOTH {
        for _ in 0..5 {
            let took = round_trip(&pair, family);
            assert!(took >= 2 * DELAY, "{family}: {took:?}");
        }
    }
    let report = pair.link.report().unwrap();
    assert!(waited(&report) >= 10);
    assert!(Family::BOTH.iter().all(|&family| counts(&report, family).arrived >= 5));
}

#[test]
fn delaying_one_family_does_not_delay_the_other() {
    if skipped("netns") {
        return;
    }
    for family in Family::BOTH {
        let mut slow = Impairment::default();
        slow.families[family].delay = DELAY;
        let pair = Pair::up(&slow, &slow, 1);
        let hit = (0..5).map(|_| round_trip(&pair, family)).min().unwrap();
        assert!(hit >= 2 * DELAY, "{family}: {hit:?}");
        // However busy the machine is, some round trip shows that there is no delay.
        let begin = Instant::now();
        while round_trip(&pair, family.other()) >= 2 * DELAY {
            assert!(begin.elapsed() < DEADLINE, "{family}: the other one is delayed as well");
        }
    }
}

#[test]
fn loss_on_one_family_loses_none_of_the_other() {
    if skipped("netns") {
        return;
    }
    for family in Family::BOTH {
        let mut lossy = Impairment::default();
        lossy.families[family].loss = Loss::Random(0.3);
        let pair = Pair::up(&lossy, &Impairment::default(), 6446);
        let [(near, _), (_far, to)] = [0, 1].map(|host| socket(&pair, host, family));
        send(&near, to, 0..400, 100);
        let hit = counts(&report_when(&pair, |now| counts(now, family).offered >= 400), family);
        // 120 +- 9.2 of 400: five standard deviations.
        assert!((74..=166).contains(&hit.lost), "{family}: {hit:?}");
        let spared = family.other();
        let [(near, _), (far, to)] = [0, 1].map(|host| socket(&pair, host, spared));
        assert_eq!(exchange(&near, &far, to, 100), (0..GROUP * GROUPS).collect::<Vec<_>>());
        assert_eq!(counts(&pair.link.report().unwrap(), spared).lost, 0);
    }
}

#[test]
fn datagrams_change_their_order_only_with_reordering() {
    if skipped("netns") {
        return;
    }
    for reorder in [0.0, 0.2] {
        let jitter = Duration::from_millis(2);
        let effect = Effect { reorder, jitter, delay: DELAY, ..Effect::default() };
        let pair = Pair::up(&all(effect), &Impairment::default(), 3);
        for family in Family::BOTH {
            let [(near, _), (far, to)] = [0, 1].map(|host| socket(&pair, host, family));
            let mut came = exchange(&near, &far, to, 100);
            assert_eq!(came.is_sorted(), reorder == 0.0, "{family} {reorder}: {came:?}");
            came.sort_unstable();
            assert_eq!(came, (0..GROUP * GROUPS).collect::<Vec<_>>());
        }
    }
}

#[test]
fn nothing_goes_faster_than_the_rate() {
    if skipped("netns") {
        return;
    }
    let bits_per_s = NonZeroU64::new(20_000_000).unwrap();
    let rate = FrameRate { bits_per_s, ethernet: true, burst_bytes: None, queue_bytes: None };
    let limited = Impairment { rate: Some(rate), ..Impairment::default() };
    let pair = Pair::up(&limited, &Impairment::default(), 3);
    for (family, headers) in [(Family::Ipv6, 48), (Family::Ipv4, 28)] {
        let [(near, _), (far, to)] = [0, 1].map(|host| socket(&pair, host, family));
        let began = Instant::now();
        exchange(&near, &far, to, 1_200);
        let took = began.elapsed();
        let bits = f64::from(GROUP * GROUPS * (1_200 + headers + 14 + 24) * 8);
        assert!(took.as_secs_f64() >= bits / 20e6, "{family}: {took:?}");
    }
}

#[test]
fn tcp_gets_through_a_link_that_loses_and_reorders() {
    if skipped("netns") {
        return;
    }
    let loss = Loss::Bursts { share: 0.01, mean: 2.0 };
    let effect = Effect { delay: DELAY / 10, reorder: 0.01, loss, ..Effect::default() };
    let pair = Pair::up(&all(effect), &all(effect), 5);
    for family in Family::BOTH {
        let listener = pair.within(1, || TcpListener::bind(any(1, family)));
        let to = listener.local_addr().unwrap();
        let sent: Vec<u8> = (0..1_000_000_u32).map(|n| (n % 251) as u8).collect();
        let bytes = sent.clone();
        let sender = pair.within(0, || TcpStream::connect(to));
        let thread = std::thread::spawn(move || io::Write::write_all(&mut &sender, &bytes));
        let (mut from, _) = listener.accept().unwrap();
        from.set_read_timeout(Some(DEADLINE)).unwrap();
        let mut came = vec![0; sent.len()];
        io::Read::read_exact(&mut from, &mut came).unwrap();
        thread.join().unwrap().unwrap();
        assert!(came == sent, "{family}");
    }
}

#[test]
fn an_end_that_is_down_refuses_frames_and_takes_them_once_it_is_up() {
    if skipped("netns") {
        return;
    }
    let pair = Pair::down(&Impairment::default(), &Impairment::default(), 1);
    pair.set_up(0);
    let (near, _) = socket(&pair, 0, Family::Ipv4);
    let discard = SocketAddr::new(any(1, Family::Ipv4).ip(), 9);
    near.send_to(b"anybody?", discard).unwrap();
    let refused = |report: &LinkReport| frames(report).other.refused > 0;
    assert_eq!(report_when(&pair, refused).ended, None);
    pair.set_up(1);
    for family in Family::BOTH {
        round_trip(&pair, family);
    }
}

#[test]
fn a_link_with_a_removed_end_reports_it_and_keeps_its_counts() {
    if skipped("netns") {
        return;
    }
    let pair = Pair::up(&delayed(), &delayed(), 1);
    round_trip(&pair, Family::Ipv4);
    pair.delete(1);
    let report = report_when(&pair, |report| report.ended.is_some());
    assert!(frames(&report).ipv4.arrived > 0);
}

#[test]
fn an_unimpaired_link_uses_normal_scheduling_and_delays_nothing() {
    if skipped("netns") {
        return;
    }
    let pair = Pair::up(&Impairment::default(), &Impairment::default(), 1);
    for family in Family::BOTH {
        round_trip(&pair, family);
    }
    let report = pair.link.report().unwrap();
    assert_eq!(report.scheduling, Some(Scheduling::Other));
    assert_eq!(waited(&report), 0);
}
