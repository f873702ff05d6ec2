//! Impairment by the kernel: the arguments of `tc`.
//!
//! The kernel differs slightly from sixmark's emulator: its random numbers have no seed, and netem
//! counts queued and delayed packets together. Impairments that the kernel cannot implement exactly
//! are left to the emulator.

use std::time::Duration;

use crate::impairment::{ETHERNET_BYTES, Effect, FrameRate, Impairment, Loss, QUEUE_BYTES};
use crate::link_report::ReportedMechanism;

/// What this kernel can impair frames with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelShapers {
    /// netem.
    pub netem: bool,
    /// Rate limits in the middle of a link: TBF, and what forwards frames there.
    pub limits: bool,
}

/// An interface whose outgoing frames are impaired.
#[derive(Clone, Copy, Debug)]
pub struct Port<'a> {
    /// The name of the interface.
    pub name: &'a str,
    /// The MTU in bytes of the host whose frames leave there.
    pub mtu: u32,
}

/// The Ethernet header with a VLAN tag, in bytes.
const HEADER_BYTES: u32 = 18;
/// The default minimum burst in seconds: how late a timer may be without reducing the rate.
const BURST_S: f64 = 250e-6;
/// The limit of netem in packets, including those being delayed. The default of 1,000 is too small.
const UNDER_WAY: u64 = 1_000_000;
/// A rate for netem at which frames take practically no time. With any rate, netem keeps the order
/// of packets in spite of jitter.
const ORDERLY: &str = "100gbit";
/// The preference of the filters for neighbour discovery. The kernel tries filters in the order of
/// their preferences, so these come before the filters of the families.
const NEIGHBOURS: &str = "1";

/// Selects the mechanism for an impairment: the kernel if it can implement it (and has what is
/// needed), otherwise the emulator. Returns `None` if there is no impairment.
pub fn mechanism(impairment: &Impairment, kernel: KernelShapers) -> Option<ReportedMechanism> {
    if impairment.is_nothing() {
        return None;
    }
    if impairment.rate.is_some() && !kernel.limits {
        return Some(ReportedMechanism::Emulator);
    }
    Some(match (impairment.is_rate_only(), kernel.netem && by_netem(impairment)) {
        (true, _) => ReportedMechanism::Tbf,
        (false, true) => ReportedMechanism::Netem,
        (false, false) => ReportedMechanism::Emulator,
    })
}

/// Selects the mechanisms for both directions of a link. If one requires the emulator, it is used
/// for both.
pub fn of_link(ways: [&Impairment; 2], kernel: KernelShapers) -> [Option<ReportedMechanism>; 2] {
    let found = ways.map(|way| mechanism(way, kernel));
    let emulated = found.contains(&Some(ReportedMechanism::Emulator));
    if emulated { [Some(ReportedMechanism::Emulator); 2] } else { found }
}

/// Returns the arguments of each `tc` command, in order, with blanks between them. Returns `None` if the kernel cannot
/// implement the impairment exactly: a rate together with effects on one family, or with a queue or
/// burst in bytes.
pub fn commands(impairment: &Impairment, port: Port<'_>) -> Option<Vec<String>> {
    Some(match &impairment.rate {
        _ if impairment.is_nothing() => Vec::new(),
        Some(rate) if impairment.is_rate_only() => vec![tbf(rate, port)],
        _ if !by_netem(impairment) => return None,
        _ if impairment.by_family() => by_family(impairment, port),
        rate => {
            let netem = netem(&impairment.common, rate.as_ref());
            vec![format!("qdisc replace dev {} root {netem}", port.name)]
        }
    })
}

/// Returns the arguments of each `tc` command that makes an interface send to another whatever it
/// receives: copies of frames, which belong to no socket. The originals are dropped.
pub fn forward(from: &str, to: &str) -> [String; 2] {
    [
        format!("qdisc add dev {from} ingress"),
        format!(
            "filter add dev {from} parent ffff: protocol all u32 match u32 0 0 \
             action mirred egress mirror dev {to} drop"
        ),
    ]
}

/// Returns true if netem can implement the impairment exactly.
fn by_netem(impairment: &Impairment) -> bool {
    let queue = |rate: &FrameRate| rate.queue_bytes.is_some() || rate.burst_bytes.is_some();
    match &impairment.rate {
        Some(rate) => !impairment.by_family() && !queue(rate),
        None => true,
    }
}

fn tbf(rate: &FrameRate, port: Port<'_>) -> String {
    let framing = if rate.ethernet { ETHERNET_BYTES } else { 0 };
    // It counts for the rate alone: the limit is one of frames without framing.
    let overhead =
        if rate.ethernet { format!(" overhead {ETHERNET_BYTES}") } else { String::new() };
    // TBF drops frames larger than the burst, so a frame must fit.
    let two = 2 * u64::from(port.mtu + HEADER_BYTES + framing);
    let timer = (rate.bits_per_s.get() as f64 / 8.0 * BURST_S) as u64;
    let burst = rate.burst_bytes.map_or(two.max(timer), std::num::NonZeroU64::get);
    format!(
        "qdisc replace dev {} root tbf rate {}bit burst {burst}b limit {}b{overhead}",
        port.name,
        rate.bits_per_s,
        rate.queue_bytes()
    )
}

/// Returns the commands for separate bands: one for the common effect and one for each family.
/// Filters assign packets to them.
fn by_family(impairment: &Impairment, port: Port<'_>) -> Vec<String> {
    let name = port.name;
    let all_to_the_first = "0 ".repeat(16);
    let all_to_the_first = all_to_the_first.trim_end();
    let root =
        format!("qdisc replace dev {name} root handle 1: prio bands 3 priomap {all_to_the_first}");
    let effects =
        [&impairment.common, &impairment.families.ipv6, &impairment.families.ipv4].into_iter();
    let band = |(number, effect): (usize, &Effect)| {
        let band = number + 1;
        let netem = netem(effect, None);
        format!("qdisc replace dev {name} parent 1:{band} handle {band}0: {netem}")
    };
    let bands = effects.enumerate().filter(|(_, effect)| !effect.is_nothing()).map(band);
    std::iter::once(root).chain(bands).chain(filters(name)).collect()
}

/// Returns the commands that create the filters. Neighbour discovery is ICMPv6 (58) of types 133 to
/// 137 (RFC 4861, 4), which three masks match.
fn filters(name: &str) -> Vec<String> {
    let filter = |protocol: &str, preference: &str, what: &str, band: u8| {
        format!(
            "filter add dev {name} parent 1: protocol {protocol} prio {preference} u32 {what} \
             flowid 1:{band}"
        )
    };
    let neighbours = ["0x85 0xff", "0x86 0xfe", "0x88 0xfe"].map(|types| {
        let what = format!("match u8 58 0xff at 6 match u8 {types} at 40");
        filter("ipv6", NEIGHBOURS, &what, 1)
    });
    let whole = "match u32 0 0";
    let families = [filter("ipv6", "2", whole, 2), filter("ip", "3", whole, 3)];
    neighbours.into_iter().chain(families).collect()
}

fn netem(effect: &Effect, rate: Option<&FrameRate>) -> String {
    let mut words = format!("netem limit {}", limit(effect, rate));
    if !effect.delay.is_zero() {
        words += &format!(" delay {}", tc_time(effect.delay));
    }
    if !effect.jitter.is_zero() {
        words += &format!(" {}", tc_time(effect.jitter));
    }
    words += &match effect.loss {
        Loss::None => String::new(),
        Loss::Random(share) => format!(" loss random {}", tc_percent(share)),
        Loss::Bursts { share, mean } => {
            let [worse, better] = Loss::turns(share, mean);
            format!(" loss gemodel {} {}", tc_percent(worse), tc_percent(better))
        }
    };
    if effect.reorder > 0.0 {
        words += &format!(" reorder {}", tc_percent(effect.reorder));
    }
    match rate {
        Some(rate) if rate.ethernet => {
            words += &format!(" rate {}bit {ETHERNET_BYTES}", rate.bits_per_s);
        }
        Some(rate) => words += &format!(" rate {}bit", rate.bits_per_s),
        None if !effect.jitter.is_zero() => words += &format!(" rate {ORDERLY}"),
        None => {}
    }
    words
}

/// Returns the limit of netem in packets. It includes packets being delayed, which may be as small
/// as the smallest frame.
fn limit(effect: &Effect, rate: Option<&FrameRate>) -> u64 {
    let Some(rate) = rate else { return UNDER_WAY };
    let bytes = rate.bits_per_s.get() as f64 / 8.0 * (effect.delay + effect.jitter).as_secs_f64();
    QUEUE_BYTES / 1_514 + (bytes / 60.0).ceil() as u64
}

fn tc_time(time: Duration) -> String {
    format!("{}us", time.as_nanos() as f64 / 1e3)
}

fn tc_percent(share: f64) -> String {
    let text = format!("{:.6}", share * 100.0);
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixmark_units::family::PerFamily;
    use std::num::NonZeroU64;

    const PORT: Port<'_> = Port { name: "eth0", mtu: 1_500 };
    const BOTH: KernelShapers = KernelShapers { netem: true, limits: true };
    const LIMITS: KernelShapers = KernelShapers { netem: false, limits: true };
    const NETEM: KernelShapers = KernelShapers { netem: true, limits: false };

    fn rate(mbit: u64) -> FrameRate {
        let bits_per_s = NonZeroU64::new(mbit * 1_000_000).unwrap();
        FrameRate { bits_per_s, ethernet: false, burst_bytes: None, queue_bytes: None }
    }

    fn lines(impairment: &Impairment) -> Vec<String> {
        commands(impairment, PORT).unwrap()
    }

    fn all(effect: Effect) -> Impairment {
        let families = PerFamily::from_fn(|_| effect);
        Impairment { common: effect, families, ..Impairment::default() }
    }

    const DELAYED: Effect = Effect {
        delay: Duration::from_millis(5),
        jitter: Duration::ZERO,
        loss: Loss::None,
        reorder: 0.0,
    };

    #[test]
    fn a_rate_alone_becomes_a_token_bucket_filter() {
        let mut impairment = Impairment { rate: Some(rate(100)), ..Impairment::default() };
        assert_eq!(
            lines(&impairment),
            ["qdisc replace dev eth0 root tbf rate 100000000bit burst 3125b limit 1514000b"]
        );
        impairment.rate = Some(FrameRate {
            ethernet: true,
            burst_bytes: NonZeroU64::new(3028),
            queue_bytes: NonZeroU64::new(150_000),
            ..rate(100)
        });
        assert_eq!(
            lines(&impairment),
            ["qdisc replace dev eth0 root tbf rate 100000000bit burst 3028b limit 150000b \
              overhead 24"]
        );
        assert_eq!(mechanism(&impairment, LIMITS), Some(ReportedMechanism::Tbf));
    }

    #[test]
    fn the_default_burst_holds_two_frames_of_the_mtu() {
        let impairment = Impairment { rate: Some(rate(1)), ..Impairment::default() };
        let jumbo = commands(&impairment, Port { mtu: 9_000, ..PORT }).unwrap();
        assert!(jumbo[0].contains(" burst 18036b "), "{jumbo:?}");
    }

    #[test]
    fn delay_jitter_loss_and_reordering_become_netem_arguments() {
        let netem = "qdisc replace dev eth0 root netem limit 1000000 delay 5000us";
        for (effect, line) in [
            (DELAYED, netem.to_owned()),
            (
                Effect { jitter: Duration::from_nanos(500), ..DELAYED },
                format!("{netem} 0.5us rate 100gbit"),
            ),
            (
                Effect { loss: Loss::Random(0.001), reorder: 0.02, ..DELAYED },
                format!("{netem} loss random 0.1% reorder 2%"),
            ),
            (
                Effect { loss: Loss::Bursts { share: 0.2, mean: 5.0 }, ..DELAYED },
                format!("{netem} loss gemodel 5% 20%"),
            ),
        ] {
            assert_eq!(lines(&all(effect)), [line]);
            assert_eq!(mechanism(&all(effect), BOTH), Some(ReportedMechanism::Netem));
            assert_eq!(mechanism(&all(effect), LIMITS), Some(ReportedMechanism::Emulator));
        }
    }

    #[test]
    fn the_netem_limit_at_a_rate_includes_delayed_packets() {
        let ethernet = FrameRate { ethernet: true, ..rate(96) };
        let impairment = Impairment { rate: Some(ethernet), ..all(DELAYED) };
        assert_eq!(
            lines(&impairment),
            ["qdisc replace dev eth0 root netem limit 2000 delay 5000us rate 96000000bit 24"]
        );
    }

    #[test]
    fn a_family_effect_gets_its_own_band_without_neighbour_discovery() {
        let mut impairment = all(Effect::default());
        impairment.families.ipv6.loss = Loss::Random(0.05);
        assert_eq!(
            lines(&impairment),
            [
                "qdisc replace dev eth0 root handle 1: prio bands 3 priomap \
                 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
                "qdisc replace dev eth0 parent 1:2 handle 20: netem limit 1000000 loss random 5%",
                "filter add dev eth0 parent 1: protocol ipv6 prio 1 u32 match u8 58 0xff at 6 \
                 match u8 0x85 0xff at 40 flowid 1:1",
                "filter add dev eth0 parent 1: protocol ipv6 prio 1 u32 match u8 58 0xff at 6 \
                 match u8 0x86 0xfe at 40 flowid 1:1",
                "filter add dev eth0 parent 1: protocol ipv6 prio 1 u32 match u8 58 0xff at 6 \
                 match u8 0x88 0xfe at 40 flowid 1:1",
                "filter add dev eth0 parent 1: protocol ipv6 prio 2 u32 match u32 0 0 flowid 1:2",
                "filter add dev eth0 parent 1: protocol ip prio 3 u32 match u32 0 0 flowid 1:3",
            ]
        );
    }

    #[test]
    fn uses_the_emulator_for_impairments_that_tc_cannot_express() {
        let queue = FrameRate { queue_bytes: NonZeroU64::new(150_000), ..rate(100) };
        let mut one_family = Impairment { rate: Some(rate(100)), ..Impairment::default() };
        one_family.families.ipv4 = DELAYED;
        for impairment in [Impairment { rate: Some(queue), ..all(DELAYED) }, one_family] {
            assert_eq!(commands(&impairment, PORT), None);
            assert_eq!(mechanism(&impairment, BOTH), Some(ReportedMechanism::Emulator));
        }
    }

    #[test]
    fn the_emulator_carries_both_directions_of_a_link_or_none() {
        let [tbf, netem, emulator] =
            [ReportedMechanism::Tbf, ReportedMechanism::Netem, ReportedMechanism::Emulator];
        let limited = Impairment { rate: Some(rate(100)), ..Impairment::default() };
        let nothing = Impairment::default();
        for (ways, kernel, found) in [
            ([&limited, &nothing], LIMITS, [Some(tbf), None]),
            ([&limited, &all(DELAYED)], BOTH, [Some(tbf), Some(netem)]),
            ([&limited, &all(DELAYED)], LIMITS, [Some(emulator); 2]),
            ([&nothing, &nothing], LIMITS, [None; 2]),
            ([&limited, &nothing], NETEM, [Some(emulator); 2]),
            ([&nothing, &all(DELAYED)], NETEM, [None, Some(netem)]),
        ] {
            assert_eq!(of_link(ways, kernel), found);
        }
    }

    #[test]
    fn needs_no_tc_command_without_impairment() {
        let nothing = Impairment::default();
        assert_eq!(commands(&nothing, PORT), Some(Vec::new()));
        assert_eq!(mechanism(&nothing, BOTH), None);
    }
}
