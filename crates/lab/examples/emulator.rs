//! Measures the link emulator on this machine: how late frames are at 100 Mbit/s with a delay of 5
//! ms, and how much traffic it forwards on one core without a delay. Run by `make emulator`;
//! requires root.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a program for developers, which may end with a backtrace"
)]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::num::NonZeroU64;
use std::process::Command;
use std::time::{Duration, Instant};

use sixmark_document::timing::Timing;
use sixmark_lab::impairment::{Effect, FrameRate, Impairment};
use sixmark_lab::link_report::LinkReport;
use sixmark_sys::clock;
use sixmark_testkit::pair::{Pair, any};
use sixmark_units::family::{Family, PerFamily};

const SEED: u64 = 6446;
const DELAY: Duration = Duration::from_millis(5);
const PIECE: usize = 128 << 10;
/// The size of the UDP payload in bytes. On an Ethernet wire, a datagram takes 86 bytes more: UDP,
/// IPv6 and Ethernet headers, preamble and gap.
const DATAGRAM: usize = 1_400;
const EVERY_NS: u64 = (DATAGRAM as u64 + 86) * 8 * 10;

fn main() {
    let seconds = std::env::args().nth(1).map_or(5, |text| text.parse().expect("seconds"));
    let time = Duration::from_secs(seconds);
    let nothing = Impairment::default();
    let later = delayed(None);
    let bits_per_s = NonZeroU64::new(100_000_000).unwrap();
    let rate = FrameRate { bits_per_s, ethernet: true, burst_bytes: None, queue_bytes: None };
    let limited = delayed(Some(rate));
    for family in Family::BOTH {
        datagrams(family, time, &later);
        stream("TCP, 100 Mbit/s, 5 ms", family, time, [&limited, &later]);
        stream("TCP, 5 ms", family, time, [&later, &later]);
        stream("TCP, plain", family, time, [&nothing, &nothing]);
    }
}

fn delayed(rate: Option<FrameRate>) -> Impairment {
    let effect = Effect { delay: DELAY, ..Effect::default() };
    let families = PerFamily::from_fn(|_| effect);
    Impairment { rate, common: effect, families, ..Impairment::default() }
}

/// Measures a TCP stream at its maximum rate.
fn stream(what: &str, family: Family, time: Duration, ways: [&Impairment; 2]) {
    let pair = Pair::up(ways[0], ways[1], SEED);
    let pinned = pin();
    let listener = pair.within(1, || TcpListener::bind(any(1, family)));
    let to = listener.local_addr().unwrap();
    let mut sender = pair.within(0, || TcpStream::connect(to));
    let (mut from, _) = listener.accept().unwrap();
    let receiver = std::thread::spawn(move || {
        let (mut bytes, mut piece) = (0, vec![0; PIECE]);
        while let Ok(length @ 1..) = from.read(&mut piece) {
            bytes += length;
        }
        bytes
    });
    let cpu = cpu_s();
    let began = Instant::now();
    let piece = vec![0; PIECE];
    while began.elapsed() < time {
        sender.write_all(&piece).unwrap();
    }
    drop(sender);
    let bytes = receiver.join().unwrap();
    let took = began.elapsed().as_secs_f64();
    let busy = (cpu_s() - cpu) / took * 100.0;
    let rate = bytes as f64 * 8.0 / took / 1e9;
    println!("{family} {what}: {rate:.3} Gbit/s, link's thread {busy:.0} % busy, {pinned}");
    lateness(&pair.link.report().unwrap());
}

/// Measures evenly spaced datagrams at 100 Mbit/s.
fn datagrams(family: Family, time: Duration, way: &Impairment) {
    let pair = Pair::up(way, way, SEED);
    let pinned = pin();
    let socket = |host| pair.within(host, || UdpSocket::bind(any(host, family)));
    let [near, far] = [socket(0), socket(1)];
    let to = far.local_addr().unwrap();
    far.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    // Resolves the addresses of both ends before the measurement.
    near.send_to(&[0], to).unwrap();
    far.recv(&mut [0]).unwrap();
    let receiver = std::thread::spawn(move || {
        first();
        let (mut added, mut bytes) = (Timing::default(), [0; 2_048]);
        while far.recv(&mut bytes).is_ok() {
            let sent = u64::from_ne_bytes(bytes[..8].try_into().unwrap());
            added.record((clock::now() - sent).saturating_sub(DELAY.as_nanos() as u64));
        }
        added
    });
    let (cpu, began) = (cpu_s(), Instant::now());
    let sender = std::thread::spawn(move || pace(&near, to, time));
    let count = sender.join().unwrap();
    let busy = (cpu_s() - cpu) / began.elapsed().as_secs_f64() * 100.0;
    let added = receiver.join().unwrap();
    let lost = count - added.count();
    println!(
        "{family} UDP, 100 Mbit/s, 5 ms: {count} sent, {lost} missing, link's thread {busy:.0} % busy, {pinned}"
    );
    let us = |q| added.quantile(q).unwrap_or_default() as f64 / 1e3;
    println!(
        "  from send to receive, more than 5 ms by: p50 {:.0} us, p99 {:.0} us, p99.9 {:.0} us",
        us(0.5),
        us(0.99),
        us(0.999)
    );
    lateness(&pair.link.report().unwrap());
}

fn pace(socket: &UdpSocket, to: std::net::SocketAddr, time: Duration) -> u64 {
    first();
    let mut datagram = [0; DATAGRAM];
    let began = clock::now();
    let count = time.as_nanos() as u64 / EVERY_NS;
    for number in 0..count {
        let due = began + number * EVERY_NS;
        std::thread::sleep(Duration::from_nanos(due.saturating_sub(clock::now())));
        datagram[..8].copy_from_slice(&clock::now().to_ne_bytes());
        socket.send_to(&datagram, to).unwrap();
    }
    count
}

/// Gives the calling thread a real-time priority, above ordinary programs but below the link's
/// thread, so that the figures are those of the link.
fn first() {
    clock::wake_precisely();
    if let Err(error) = sixmark_sys::schedule::at_once(10) {
        println!("  beside others, since SCHED_FIFO is refused: {error}");
    }
}

fn lateness(report: &LinkReport) {
    let Some(scheduling) = report.scheduling else { return };
    for (name, way) in [("there", &report.a_to_b), ("back", &report.b_to_a)] {
        let Some(late) = &way.lateness_us else { continue };
        let (Some(p50), Some(p99), Some(p999), Some(max)) =
            (late.p50, late.p99, late.p999, late.max)
        else {
            continue;
        };
        println!(
            "  {name}: later than due by p50 {p50:.1} us, p99 {p99:.1} us, p99.9 {p999:.0} us, max \
             {max:.0} us; {} frames, {scheduling:?}",
            late.count
        );
    }
}

/// Pins the link's thread to the first processor and everything else to the others, if PIN is set.
fn pin() -> &'static str {
    if std::env::var_os("PIN").is_none() {
        return "not pinned";
    }
    let last = std::thread::available_parallelism().unwrap().get().max(2) - 1;
    let processes = std::process::id().to_string();
    taskset(&["-a", "-cp", &format!("1-{last}"), &processes]);
    taskset(&["-cp", "0", &thread()]);
    "pinned"
}

fn taskset(words: &[&str]) {
    let output = Command::new("taskset").args(words).output().unwrap();
    assert!(output.status.success(), "taskset {words:?}: {output:?}");
}

/// Returns the thread ID of the link's thread.
fn thread() -> String {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let named = |entry: &std::fs::DirEntry| {
        let name = std::fs::read_to_string(entry.path().join("comm"));
        name.is_ok_and(|name| name.starts_with("link "))
    };
    let found = tasks.filter_map(Result::ok).find(named).unwrap();
    found.file_name().into_string().unwrap()
}

/// Returns the CPU time of the link's thread in seconds.
fn cpu_s() -> f64 {
    let path = format!("/proc/self/task/{}/schedstat", thread());
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0.0) / 1e9
}
