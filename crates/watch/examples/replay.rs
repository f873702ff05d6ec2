//! Replays the packets of a capture into a network namespace of its own, for `make watch-bench`:
//! `replay FILE PACKETS_PER_S SECONDS`. It prints `ready` once the interface `replay` exists in the
//! network namespace of this process, waits for a line on standard input, replays the packets, and
//! then prints how many packets it sent in how many seconds. Needs root and /dev/net/tun.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a program for developers, which may end with a backtrace"
)]

use std::io::{BufRead as _, Write as _};
use std::process::Command;
use std::time::{Duration, Instant};

use sixmark_sys::netns::NetNs;
use sixmark_sys::tap::Tap;
use sixmark_wire::pcap::{Format, HEADER, NextRecord};

const INTERFACE: &str = "replay";
/// The pause between two batches of packets. A batch consists of all packets that are then due.
const EVERY: Duration = Duration::from_micros(500);

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [file, rate, seconds] = &words[..] else { panic!("replay FILE PACKETS_PER_S SECONDS") };
    let (rate, seconds): (f64, f64) = (rate.parse().unwrap(), seconds.parse().unwrap());
    let all = std::fs::read(file).expect("a capture");
    let frames = frames(&all);
    // There is no other thread yet, so the namespace of this thread is that of the process.
    NetNs::create().unwrap().enter().unwrap();
    let tap = Tap::create(INTERFACE).unwrap();
    // Without IPv6 on the interface, the kernel does not send packets of its own there, which are
    // not part of the capture.
    std::fs::write(format!("/proc/sys/net/ipv6/conf/{INTERFACE}/disable_ipv6"), "1").unwrap();
    assert!(Command::new("ip").args(["link", "set", INTERFACE, "up"]).status().unwrap().success());
    println!("ready");
    std::io::stdout().flush().unwrap();
    std::io::stdin().lock().read_line(&mut String::new()).unwrap();
    let (begun, end) = (Instant::now(), Duration::from_secs_f64(seconds));
    let mut sent = 0_u64;
    let mut next = frames.iter().cycle();
    while begun.elapsed() < end {
        let due = (begun.elapsed().as_secs_f64() * rate) as u64;
        while sent < due {
            tap.write(next.next().unwrap()).unwrap();
            sent += 1;
        }
        std::thread::sleep(EVERY);
    }
    println!("{sent} {:.6}", begun.elapsed().as_secs_f64());
}

fn frames(all: &[u8]) -> Vec<&[u8]> {
    let format = Format::read(all).unwrap();
    let (mut frames, mut rest) = (Vec::new(), &all[HEADER..]);
    while let NextRecord::Record(record, behind) = format.next(rest) {
        frames.push(record.bytes);
        rest = behind;
    }
    frames
}
