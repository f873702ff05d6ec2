//! Writes flows as a script that MGEN carries out.

use std::fmt::Write as _;

use super::super::{Burst, Gap, Length, Pattern, Steady};
use super::Outgoing;

/// The hop limit of packets. MGEN's own default is 3, and they would not pass a third router.
const HOPS: u8 = 64;

/// Writes the script that sends these flows: the same messages at the same times, as far as MGEN can
/// do it. A periodic flow starts late by its offset; the position in a sequence that bursts continue
/// is not written.
pub fn write_script(flows: &[Outgoing]) -> String {
    let mut text = format!("TTL {HOPS}\n");
    for one in flows {
        let flow = &one.flow;
        for (at, phase) in flow.phases.iter().enumerate() {
            let start = seconds(phase.from_ns + offset_ns(phase.pattern, at == 0));
            let what = pattern(phase.pattern, phase.bytes);
            // Writing to a string cannot fail.
            let _ = match at {
                0 => writeln!(text, "{start} ON {} {}{} {what}", flow.id, flow.protocol, ends(one)),
                _ => writeln!(text, "{start} MOD {} {what}", flow.id),
            };
        }
        if let Some(stop) = flow.stop_ns {
            let _ = writeln!(text, "{} OFF {}", seconds(stop), flow.id);
        }
    }
    text
}

/// Returns the ports, the destination and the socket settings of a flow.
fn ends(one: &Outgoing) -> String {
    let mut words = format!(" DST {}/{}", one.to.ip(), one.to.port());
    let mut add = |name: &str, value: Option<u64>| {
        if let Some(value) = value {
            let _ = write!(words, " {name} {value}");
        }
    };
    add("SRC", one.port.map(u64::from));
    add("TTL", one.hops.map(u64::from));
    add("TOS", one.class.map(u64::from));
    add("TXBUFFER", one.buffer.map(u64::from));
    add("SEQUENCE", Some(u64::from(one.sequence)).filter(|first| *first > 0));
    add("COUNT", one.flow.count);
    words
}

/// Returns how much later than its phase a flow's first message is due.
fn offset_ns(pattern: Pattern, first: bool) -> u64 {
    match pattern {
        Pattern::Steady(steady) if first && steady.per_s > 0.0 => {
            (steady.offset * steady.gap_ns()).round() as u64
        }
        _ => 0,
    }
}

fn pattern(of: Pattern, bytes: u32) -> String {
    match of {
        Pattern::Steady(one) => steady(one, bytes),
        Pattern::Burst(Burst { within, every, every_ns, length, length_ns, .. }) => {
            let every = if every == Gap::Regular { "REGULAR" } else { "RANDOM" };
            let length = if length == Length::Fixed { "FIXED" } else { "EXP" };
            let (between, lasts) = (seconds(every_ns), seconds(length_ns));
            format!("BURST [{every} {between} {} {length} {lasts}]", steady(within, bytes))
        }
    }
}

fn steady(one: Steady, bytes: u32) -> String {
    let name = if one.gap == Gap::Regular { "PERIODIC" } else { "POISSON" };
    format!("{name} [{:.6} {bytes}]", one.per_s)
}

fn seconds(ns: u64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}
