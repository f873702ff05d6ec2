//! The line about the last interval, which is shown while samples are taken.

use crate::VitalsSample;
use sixmark_units::family::Family;
use sixmark_units::quantity::{bytes, write_count};

/// Returns what is shown while samples are taken, after the time: the change in the last interval.
pub fn live_line(change: &VitalsSample) -> String {
    let seconds = change.seconds().max(1e-3);
    let cpu = change.host.cpu.busy_share().unwrap_or(0.0) * 1e2;
    let family = |family: Family| {
        let ip = &change.network.families[family];
        let rate = |number: u64| number as f64 / seconds;
        format!(
            "   {family} in {}/s {}/s out {}/s {}/s",
            write_count(rate(ip.in_packets.0) as u64),
            bytes(rate(ip.in_octets.0)),
            write_count(rate(ip.out_packets.0) as u64),
            bytes(rate(ip.out_octets.0))
        )
    };
    let families: String = Family::BOTH.into_iter().map(family).collect();
    let groups: String = change
        .groups
        .iter()
        .map(|group| format!("   {} {:.0} %", group.name, group.cpu_us() as f64 / seconds / 1e4))
        .collect();
    format!("   cpu {cpu:.0} %{groups}{families}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counter::Counter;

    #[test]
    fn the_live_line_shows_the_rates_of_each_family() {
        let mut change = VitalsSample { since_us: 500_000, ..VitalsSample::default() };
        change.host.cpu.user_us = Counter(30);
        change.host.cpu.idle_us = Counter(70);
        change.network.families.ipv6.in_packets = Counter(1_000);
        change.network.families.ipv4.out_octets = Counter(4_000);
        let line = live_line(&change);
        assert!(line.starts_with("   cpu 30 %   IPv6 in 2,000/s"), "{line}");
        assert!(line.ends_with("out 0/s 8.00 kB/s"), "{line}");
    }
}
