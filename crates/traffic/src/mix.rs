//! A mix of traffic: a total rate, its division by protocol, family and direction, and the
//! resulting flows.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::flow::largest;
use super::rate::{BitRate, Percent};
use super::split::{seats, split};
use super::{
    Basis, Burst, Flow, FlowPhase, FlowProtocol, Gap, Length, Pattern, Steady, TrafficSide, least,
};
use sixmark_units::family::{Family, PerFamily};
use sixmark_units::quantity::write_count;
use sixmark_units::random::Random;

/// The largest number of flows. More would need more ports and memory than one host should use.
pub const MOST_FLOWS: usize = 10_000;
/// The golden ratio minus one.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// A description of the traffic to send.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrafficMix {
    /// The total rate of all flows in both directions, in bits per second.
    pub rate: BitRate,
    /// The bytes that the rate counts.
    pub basis: Basis,
    /// The share of TCP in the rate; the rest is UDP.
    pub tcp: Percent,
    /// The share of IPv6 in the rate of each protocol; the rest is IPv4.
    pub ipv6: Percent,
    /// The number of flows, 1 to 10,000.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = MOST_FLOWS)))]
    pub flows: u32,
    /// How the rate of a protocol, family and direction is divided among its flows.
    pub spread: Spread,
    /// The size of the messages of each family.
    pub payload: PerFamily<Payload>,
    /// The pattern of the times at which messages are due.
    pub arrivals: Arrivals,
    /// The sides that send.
    pub direction: TrafficDirection,
}

/// The size of a family's messages in bytes, including MGEN headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Payload {
    /// The size over TCP.
    pub tcp: u32,
    /// The size over UDP.
    pub udp: u32,
}

/// How the rate of a protocol, family and direction is divided among its flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Spread {
    /// In the ratio 1 : 2 : 3 and so on.
    #[default]
    Rising,
    /// Equally.
    Equal,
}

/// The pattern of the times at which messages are due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "process", rename_all = "lowercase")]
pub enum Arrivals {
    /// At equal intervals.
    #[default]
    Periodic,
    /// At random: a Poisson process.
    Poisson,
    /// In bursts that start at equal intervals. Within a burst, messages are due at equal intervals
    /// and at a higher rate, so that the mean rate is as requested.
    Burst {
        /// The length of a burst, in nanoseconds.
        length_ns: u64,
        /// The time from the start of a burst to the start of the next, in nanoseconds.
        every_ns: u64,
    },
}

/// The sides that send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TrafficDirection {
    /// The near side.
    #[default]
    Up,
    /// The far side.
    Down,
    /// Both sides, half of the traffic each.
    Both,
    /// TCP from the near side, UDP from the far side.
    TcpUp,
    /// TCP from the far side, UDP from the near side.
    TcpDown,
}

/// A kind of flow: protocol, family and sending side, with its share of the rate.
#[derive(Clone, Copy, Debug)]
struct FlowKind {
    protocol: FlowProtocol,
    family: Family,
    from: TrafficSide,
    share: u64,
}

impl Default for TrafficMix {
    /// Returns the mix of the published study: 75 Mbit/s, 90 % TCP, 50 % IPv6, ten flows, messages
    /// of 1,440 bytes over IPv6 and 1,460 bytes over IPv4.
    fn default() -> TrafficMix {
        let both = |bytes| Payload { tcp: bytes, udp: bytes };
        TrafficMix {
            rate: BitRate(75_000_000),
            basis: Basis::Payload,
            tcp: Percent::of_thousandths(90_000),
            ipv6: Percent::of_thousandths(50_000),
            flows: 10,
            spread: Spread::Rising,
            payload: PerFamily { ipv6: both(1_440), ipv4: both(1_460) },
            arrivals: Arrivals::Periodic,
            direction: TrafficDirection::Up,
        }
    }
}

impl TrafficMix {
    /// Returns the flows, numbered from 1. Their rates add up exactly to the total rate. The seed
    /// determines the offsets of periodic messages, which keep flows from sending at the same time.
    ///
    /// TCP comes before UDP, IPv6 before IPv4, and the near side before the far side. Every kind
    /// with a share gets at least one flow. The remaining flows are assigned one at a time to the
    /// kind with the largest share per flow. The rates of the flows of a kind are as 1 : 2 : 3 and
    /// so on, or equal if the mix says so.
    ///
    /// # Errors
    /// Returns one line if the mix is not possible.
    pub fn flows(&self, seed: u64) -> Result<Vec<Flow>, String> {
        self.check()?;
        let kinds = self.kinds();
        let shares: Vec<u64> = kinds.iter().map(|kind| kind.share).collect();
        let used = shares.iter().filter(|&&share| share > 0).count();
        let seats = seats(self.flows, &shares).ok_or_else(|| {
            format!(
                "too few flows ({}) for {used} kinds of traffic; use at least {used}",
                self.flows
            )
        })?;
        let mut flows = Vec::with_capacity(self.flows as usize);
        for ((kind, rate), seats) in kinds.iter().zip(split(self.rate.0, &shares)).zip(seats) {
            let weights: Vec<u64> = (1..=u64::from(seats))
                .map(|n| if self.spread == Spread::Rising { n } else { 1 })
                .collect();
            for rate in split(rate, &weights) {
                flows.push(self.flow(flows.len() as u32 + 1, *kind, rate, seed));
            }
        }
        Ok(flows)
    }

    /// Returns the families that have a share.
    pub fn families(&self) -> impl Iterator<Item = Family> {
        let used =
            |family: &Family| self.kinds().iter().any(|k| k.family == *family && k.share > 0);
        Family::BOTH.into_iter().filter(used).collect::<Vec<_>>().into_iter()
    }

    fn check(&self) -> Result<(), String> {
        if self.rate.0 == 0 {
            return Err("a rate of 0 sends nothing; give one above 0".into());
        }
        if !(1..=MOST_FLOWS).contains(&(self.flows as usize)) {
            return Err(format!(
                "expected 1 to {} flows, not {}",
                write_count(MOST_FLOWS as u64),
                self.flows
            ));
        }
        for (family, payload) in self.payload.iter() {
            for (protocol, bytes) in
                [(FlowProtocol::Tcp, payload.tcp), (FlowProtocol::Udp, payload.udp)]
            {
                let (least, most) = (least(family), largest(family, protocol));
                if !(least..=most).contains(&bytes) {
                    let most = write_count(most.into());
                    let what = format!("messages of {bytes} bytes");
                    return Err(format!(
                        "{what}: {protocol} over {family} allows {least} to {most} bytes"
                    ));
                }
            }
        }
        match self.arrivals {
            Arrivals::Burst { length_ns, every_ns } if length_ns == 0 || length_ns > every_ns => {
                Err("the length of a burst must be above 0 and at most the time between bursts"
                    .into())
            }
            _ => Ok(()),
        }
    }

    /// Returns all kinds, including those without a share.
    fn kinds(&self) -> Vec<FlowKind> {
        let mut kinds = Vec::new();
        for protocol in FlowProtocol::BOTH {
            for family in Family::BOTH {
                let of = |percent: Percent, first: bool| {
                    u64::from(if first { percent.thousandths() } else { percent.rest() })
                };
                let share = of(self.tcp, protocol == FlowProtocol::Tcp)
                    * of(self.ipv6, family == Family::Ipv6);
                let sides = self.direction.sides(protocol);
                let part = |&from: &TrafficSide| FlowKind {
                    protocol,
                    family,
                    from,
                    share: share * 2 / sides.len() as u64,
                };
                kinds.extend(sides.iter().map(part));
            }
        }
        kinds
    }

    fn flow(&self, id: u32, kind: FlowKind, rate: u64, seed: u64) -> Flow {
        let FlowKind { protocol, family, from, .. } = kind;
        let bytes = match protocol {
            FlowProtocol::Tcp => self.payload[family].tcp,
            FlowProtocol::Udp => self.payload[family].udp,
        };
        let per_s = rate as f64 / 8.0 / self.basis.bytes(family, protocol, bytes);
        let phase =
            FlowPhase { from_ns: 0, pattern: self.arrivals.pattern(per_s, id, seed), bytes };
        Flow { id, family, protocol, from, phases: vec![phase], stop_ns: None, count: None }
    }
}

impl Arrivals {
    fn pattern(self, per_s: f64, id: u32, seed: u64) -> Pattern {
        // The offset is drawn from a separate random stream, not from that of any flow's gaps. From
        // flow to flow it advances by the golden ratio, which spreads the offsets evenly.
        // Independent offsets could by chance make so many of a hundred slow flows start early that
        // a short run has a percent too many messages.
        let part = (Random::new(!seed, 0).bits() >> 11) as f64 / (1_u64 << 53) as f64;
        let offset = (part + f64::from(id) * GOLDEN).fract();
        match self {
            Arrivals::Periodic => Pattern::Steady(Steady { per_s, gap: Gap::Regular, offset }),
            Arrivals::Poisson => Pattern::Steady(Steady { per_s, gap: Gap::Random, offset: 0.0 }),
            Arrivals::Burst { length_ns, every_ns } => {
                let per_s = per_s * every_ns as f64 / length_ns as f64;
                let within = Steady { per_s, gap: Gap::Regular, offset };
                let (every, length) = (Gap::Regular, Length::Fixed);
                Pattern::Burst(Burst { within, every, every_ns, length, length_ns, carry: true })
            }
        }
    }
}

impl TrafficDirection {
    /// Returns the sides that send over this protocol.
    fn sides(self, protocol: FlowProtocol) -> &'static [TrafficSide] {
        match (self, protocol) {
            (TrafficDirection::Both, _) => &[TrafficSide::Near, TrafficSide::Far],
            (TrafficDirection::Up, _)
            | (TrafficDirection::TcpUp, FlowProtocol::Tcp)
            | (TrafficDirection::TcpDown, FlowProtocol::Udp) => &[TrafficSide::Near],
            _ => &[TrafficSide::Far],
        }
    }
}

impl fmt::Display for TrafficDirection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            TrafficDirection::Up => "up",
            TrafficDirection::Down => "down",
            TrafficDirection::Both => "both",
            TrafficDirection::TcpUp => "tcp-up",
            TrafficDirection::TcpDown => "tcp-down",
        })
    }
}

impl FromStr for TrafficDirection {
    type Err = String;

    fn from_str(text: &str) -> Result<TrafficDirection, String> {
        use TrafficDirection::{Both, Down, TcpDown, TcpUp, Up};
        let found = [Up, Down, Both, TcpUp, TcpDown].into_iter().find(|d| d.to_string() == text);
        found.ok_or_else(|| {
            format!("'{text}' is not a direction: up, down, both, tcp-up or tcp-down")
        })
    }
}

impl fmt::Display for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Arrivals::Periodic => f.write_str("periodic"),
            Arrivals::Poisson => f.write_str("Poisson"),
            Arrivals::Burst { length_ns, every_ns } => {
                let time = |&ns: &u64| Duration::from_nanos(ns);
                write!(f, "bursts of {:?} every {:?}", time(length_ns), time(every_ns))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mix(tcp: f64, ipv6: f64, flows: u32) -> TrafficMix {
        let (tcp, ipv6) = (Percent::new(tcp).unwrap(), Percent::new(ipv6).unwrap());
        TrafficMix { tcp, ipv6, flows, ..TrafficMix::default() }
    }

    fn of(flows: &[Flow], protocol: FlowProtocol, family: Family, basis: Basis) -> f64 {
        let these = flows.iter().filter(|f| f.protocol == protocol && f.family == family);
        these.map(|flow| flow.bits_per_s(basis)).sum()
    }

    /// Checks the levels of congestion of the published study.
    #[test]
    fn flows_match_the_requested_rate_of_each_protocol_and_family() {
        for (ipv6, parts) in [
            (50.0, [45.0, 45.0, 5.0, 5.0]),
            (75.0, [67.5, 22.5, 7.5, 2.5]),
            (25.0, [22.5, 67.5, 2.5, 7.5]),
        ] {
            for (rate, basis) in [(75_000_000, Basis::Payload), (100_000_000, Basis::Wire)] {
                let mix = TrafficMix { rate: BitRate(rate), basis, ..mix(90.0, ipv6, 10) };
                let flows = mix.flows(1).unwrap();
                assert_eq!(flows.len(), 10);
                let found =
                    FlowProtocol::BOTH.map(|p| Family::BOTH.map(|f| of(&flows, p, f, basis)));
                for (found, part) in found.as_flattened().iter().zip(parts) {
                    let asked = rate as f64 * part / 100.0;
                    assert!((found - asked).abs() < 1e-3, "{ipv6} {part}: {found}");
                }
            }
        }
    }

    #[test]
    fn spreads_rates_within_a_kind_and_numbers_the_flows() {
        let flows = mix(100.0, 100.0, 4).flows(0).unwrap();
        let rates: Vec<f64> = flows.iter().map(|flow| flow.bits_per_s(Basis::Payload)).collect();
        let expected = [7.5e6, 15e6, 22.5e6, 30e6];
        assert!(rates.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-3), "{rates:?}");
        assert_eq!(flows.iter().map(|flow| flow.id).collect::<Vec<_>>(), [1, 2, 3, 4]);
        let equal = TrafficMix { spread: Spread::Equal, ..mix(100.0, 0.0, 3) }.flows(0).unwrap();
        assert!(equal.iter().all(|f| (f.bits_per_s(Basis::Payload) - 25e6).abs() < 1e-3));
    }

    #[test]
    fn flow_rates_add_up_exactly_if_the_total_does_not_divide() {
        for rate in [1, 7, 1_000_003, 999_999_999_989] {
            for flows in [4, 10, 97] {
                let mix = TrafficMix { rate: BitRate(rate), ..mix(33.333, 61.803, flows) };
                let sum: f64 = mix
                    .flows(0)
                    .unwrap()
                    .iter()
                    .map(|f| f.bits_per_s(Basis::Payload).round())
                    .sum();
                assert_eq!(sum, rate as f64, "{flows} flows");
            }
        }
    }

    #[test]
    fn the_direction_determines_the_sender_of_each_protocol() {
        use FlowProtocol::{Tcp, Udp};
        use TrafficSide::{Far, Near};
        for (direction, tcp, udp) in [
            (TrafficDirection::Up, vec![Near], vec![Near]),
            (TrafficDirection::Down, vec![Far], vec![Far]),
            (TrafficDirection::TcpUp, vec![Near], vec![Far]),
            (TrafficDirection::TcpDown, vec![Far], vec![Near]),
            (TrafficDirection::Both, vec![Near, Far], vec![Near, Far]),
        ] {
            let flows = TrafficMix { direction, ..mix(90.0, 50.0, 8) }.flows(0).unwrap();
            for (protocol, sides) in [(Tcp, tcp), (Udp, udp)] {
                let mut from: Vec<TrafficSide> =
                    flows.iter().filter(|f| f.protocol == protocol).map(|f| f.from).collect();
                from.sort_unstable();
                from.dedup();
                assert_eq!(from, sides, "{direction} {protocol}");
            }
            assert_eq!(direction.to_string().parse(), Ok(direction));
        }
    }

    #[test]
    fn bursts_keep_the_mean_rate() {
        let arrivals = Arrivals::Burst { length_ns: 100_000_000, every_ns: 400_000_000 };
        let flows = TrafficMix { arrivals, ..mix(0.0, 50.0, 2) }.flows(5).unwrap();
        let sum: f64 = flows.iter().map(|flow| flow.bits_per_s(Basis::Payload)).sum();
        assert!((sum - 75e6).abs() < 1e-2, "{sum}");
    }

    #[test]
    fn slow_flows_keep_their_mean_rate_in_bursts() {
        let arrivals = Arrivals::Burst { length_ns: 100_000_000, every_ns: 500_000_000 };
        let slow = TrafficMix { rate: BitRate(1_000_000), arrivals, ..mix(90.0, 50.0, 100) };
        for mut flow in slow.flows(2).unwrap() {
            let asked = 100.0 * flow.phases[0].pattern.per_s();
            flow.stop_ns = Some(100_000_000_000);
            let mut schedule = super::super::FlowSchedule::new(&flow, 2);
            let mut found = 0.0;
            while let Some((due, _)) = schedule.next() {
                assert!(due % 500_000_000 <= 100_000_000, "{due}");
                found += 1.0;
                schedule.advance();
            }
            assert!((found - asked).abs() < 2.0 + asked / 100.0, "{found} for {asked}");
        }
    }

    /// Messages are whole, so short runs can only come close to the requested number.
    #[test]
    fn short_runs_of_slow_flows_send_about_the_requested_bits() {
        for seed in 0..50 {
            let mix = TrafficMix { rate: BitRate(1_000_000), ..mix(90.0, 50.0, 100) };
            let mut flows = mix.flows(seed).unwrap();
            flows.iter_mut().for_each(|flow| flow.stop_ns = Some(5_000_000_000));
            let bytes = |flow: &Flow| {
                let mut schedule = super::super::FlowSchedule::new(flow, seed);
                let next = || {
                    let next = schedule.next();
                    schedule.advance();
                    next.map(|(_, bytes)| u64::from(bytes))
                };
                std::iter::from_fn(next).sum::<u64>()
            };
            let bits = 8.0 * flows.iter().map(bytes).sum::<u64>() as f64;
            assert!((bits / 5e6 - 1.0).abs() < 0.015, "seed {seed}: {bits}");
        }
    }

    #[test]
    fn rejects_impossible_mixes_with_a_reason() {
        let small =
            PerFamily { ipv6: Payload { tcp: 1_440, udp: 39 }, ..TrafficMix::default().payload };
        for (mix, why) in [
            (mix(90.0, 50.0, 3), "too few flows (3) for 4 kinds of traffic; use at least 4"),
            (mix(90.0, 50.0, 0), "1 to 10,000 flows"),
            (TrafficMix { rate: BitRate(0), ..TrafficMix::default() }, "sends nothing"),
            (
                TrafficMix { payload: small, ..TrafficMix::default() },
                "UDP over IPv6 allows 40 to 65,527",
            ),
            (
                TrafficMix {
                    arrivals: Arrivals::Burst { length_ns: 2, every_ns: 1 },
                    ..TrafficMix::default()
                },
                "at most the time",
            ),
        ] {
            let error = mix.flows(0).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
