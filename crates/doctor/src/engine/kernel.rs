//! Facilities of the kernel, which are tried.

use std::io;
use std::thread;

use sixmark_sys::clock;
use sixmark_sys::driver::{Driver as _, Epoll, PeerWrites, Uring};
use sixmark_sys::packets::{PacketRing, PacketRingSettings};
use sixmark_sys::schedule;
use sixmark_units::family::Family;

use super::exchange::exchange;
use super::files;
use crate::facts::{KernelFacts, KernelRefusal, UringAbilities, UringFacts};

/// The folder of the clock sources.
const CLOCKS: &str = "/sys/devices/system/clocksource/clocksource0";
/// How often the clock is read to find out how long that takes.
const READINGS: u32 = 20_000;
/// The real-time priority that is tried: the lowest.
const PRIORITY: u8 = 1;

pub(super) fn examine_uring() -> UringFacts {
    let disabled = files::number("/proc/sys/kernel/io_uring_disabled").ok();
    // In a thread of its own, since a ring belongs to the thread that uses it first.
    let tried = thread::scope(|scope| scope.spawn(try_uring).join());
    let (driver, exchange) = tried.unwrap_or_else(|_| {
        let text = "the thread that tried it panicked".to_owned();
        (Err(KernelRefusal { text, kind: io::ErrorKind::Other }), Ok(()))
    });
    UringFacts { driver, exchange, disabled }
}

fn try_uring() -> (Result<UringAbilities, KernelRefusal>, Result<(), String>) {
    let mut driver = match Uring::new(1, PeerWrites::Single) {
        Ok(driver) => driver,
        Err(error) => return (Err(refusal(&error)), Ok(())),
    };
    let abilities =
        UringAbilities { has_table: driver.has_table(), can_linger: driver.can_linger() };
    let done = over_a_family(|family| exchange(&mut driver, family));
    (Ok(abilities), done)
}

/// Tries both families, of which one may be missing, and returns the last error if neither works.
fn over_a_family(mut attempt: impl FnMut(Family) -> Result<(), String>) -> Result<(), String> {
    let done = Family::BOTH.map(&mut attempt);
    match done {
        [Err(_), Err(why)] => Err(why),
        _ => Ok(()),
    }
}

pub(super) fn examine_kernel() -> KernelFacts {
    KernelFacts {
        timestamps: try_timestamps(),
        capture: try_capture(),
        realtime: try_realtime(),
        clock_source: files::text(&format!("{CLOCKS}/current_clocksource")),
        clock_sources: files::words(&format!("{CLOCKS}/available_clocksource")),
        clock_ns: time_clock(),
        congestion: files::text("/proc/sys/net/ipv4/tcp_congestion_control"),
        congestions: files::words("/proc/sys/net/ipv4/tcp_available_congestion_control"),
    }
}

fn try_timestamps() -> Result<u64, String> {
    let mut driver = Epoll::with_kernel_stamps().map_err(|error| error.to_string())?;
    over_a_family(|family| exchange(&mut driver, family))?;
    Ok(driver.stamps().missing)
}

fn try_capture() -> Result<(), KernelRefusal> {
    let settings =
        PacketRingSettings { promiscuous: false, mebibytes: 1, ..PacketRingSettings::default() };
    PacketRing::open("lo", &settings).map(drop).map_err(|error| refusal(&error))
}

/// Tries it in a thread, which ends with it.
fn try_realtime() -> Result<(), KernelRefusal> {
    let tried = thread::scope(|scope| scope.spawn(|| schedule::at_once(PRIORITY)).join());
    let panicked = |_| io::Error::other("the thread that tried it panicked");
    tried.map_err(panicked).and_then(|done| done).map_err(|error| refusal(&error))
}

fn time_clock() -> f64 {
    let begin = clock::now();
    for _ in 0..READINGS {
        std::hint::black_box(clock::now());
    }
    (clock::now() - begin) as f64 / f64::from(READINGS)
}

fn refusal(error: &io::Error) -> KernelRefusal {
    KernelRefusal { text: error.to_string(), kind: error.kind() }
}
