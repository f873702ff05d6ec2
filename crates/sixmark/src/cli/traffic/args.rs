//! The options of `sixmark traffic`, as typed, and the mix of flows that they describe.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use sixmark_names::look_up;
use sixmark_traffic::{Arrivals, Basis, BitRate, Percent, Spread, TrafficDirection, TrafficMix};
use sixmark_units::family::{Family, PerFamily};

use super::super::listen::Listen;
use super::super::out::OutputPlace;
use sixmark_options::times::positive_time;
use sixmark_sys::command_error::CommandError;

/// Generate background traffic over both families.
///
/// One side listens (`sixmark traffic --listen '*:5777'`). The other side (`--to`) chooses TCP and
/// UDP flows over IPv6 and IPv4, whose rates add up to --rate. With an MGEN script, this host sends
/// what the script specifies; messages have MGEN's format, so other hosts may run MGEN. Ctrl-C ends
/// it and shows what arrived.
#[derive(Debug, clap::Args)]
#[command(override_usage = "sixmark traffic [OPTIONS] --listen <[ADDR:]PORT>\n       \
                            sixmark traffic [OPTIONS] --to <HOST:PORT>\n       \
                            sixmark traffic [OPTIONS] <SCRIPT>")]
#[command(group = clap::ArgGroup::new("what").required(true).args(["script", "listen", "to"]))]
pub(in crate::cli) struct TrafficArgs {
    /// An MGEN script: ON, MOD, OFF, LISTEN and IGNORE events
    #[arg(value_name = "SCRIPT")]
    pub(super) script: Option<PathBuf>,

    /// Accept peers at this control port, on loopback unless an address is given ('*': all);
    /// repeatable; port 0 chooses a free one
    #[arg(long, value_name = "[ADDR:]PORT")]
    pub(super) listen: Vec<Listen>,

    /// Control port of the side that listens: a name with addresses of both families, or one
    /// address of each (give it twice)
    #[arg(long, value_name = "HOST:PORT")]
    pub(super) to: Vec<String>,

    /// Total rate of all flows in bit/s: 75M, 1G, 500k
    #[arg(long, value_name = "BITS", requires = "to", conflicts_with_all = ["listen", "script"], help_heading = "Mix")]
    pub(super) rate: Option<BitRate>,

    /// The rate includes headers of UDP or TCP (32 bytes), IP and Ethernet (14), not only payload
    #[arg(long, requires = "to", conflicts_with_all = ["listen", "script"], help_heading = "Mix")]
    pub(super) wire: bool,

    /// TCP's share of the rate in percent; the rest is UDP's [default: 90]
    #[arg(long, value_name = "PERCENT", requires = "to", conflicts_with_all = ["listen", "script"], help_heading = "Mix")]
    pub(super) tcp: Option<Percent>,

    /// IPv6's share of the rate in percent; the rest is IPv4's [default: 50 if --to has both]
    #[arg(long, value_name = "PERCENT", requires = "to", conflicts_with_all = ["listen", "script"], help_heading = "Mix")]
    pub(super) ipv6: Option<Percent>,

    /// Number of flows; flows of one kind have rates in the proportion 1 : 2 : 3 and so on
    /// [default: 10]
    #[arg(long, value_name = "N", requires = "to", conflicts_with_all = ["listen", "script"], help_heading = "Mix")]
    pub(super) flows: Option<u32>,

    /// Give flows of one kind equal rates
    #[arg(long, requires = "to", conflicts_with_all = ["listen", "script"], help_heading = "Mix")]
    pub(super) equal: bool,

    /// Bytes per message, for all flows or some: 512, ipv6=1440, udp=200, ipv4-udp=1460;
    /// repeatable, the last match applies [default: 1440 over IPv6, 1460 over IPv4]
    #[arg(long, value_name = "[KIND=]BYTES", requires = "to", conflicts_with_all = ["listen", "script"], help_heading = "Mix")]
    pub(super) payload: Vec<Size>,

    /// Schedule of messages: periodic, poisson, burst or burst=LENGTH/EVERY [default: periodic;
    /// bursts 100ms/500ms]
    #[arg(long, value_name = "PROCESS", value_parser = arrivals, requires = "to", conflicts_with_all = ["listen", "script"], help_heading = "Mix")]
    pub(super) arrivals: Option<Arrivals>,

    /// Direction: up (this side sends), down, both (half each), tcp-up (TCP up, UDP down), tcp-down
    /// [default: up]
    #[arg(long, value_name = "WHO", requires = "to", conflicts_with_all = ["listen", "script"], help_heading = "Mix")]
    pub(super) direction: Option<TrafficDirection>,

    /// End after this time [default: 10s with --to, the script's end]
    #[arg(short, long, value_name = "TIME", value_parser = positive_time, conflicts_with = "listen")]
    pub(super) duration: Option<Duration>,

    /// Seed of random gaps and of the start of regular ones
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,

    /// Write the result document to FILE ('-': standard output)
    #[arg(long, value_name = "FILE", conflicts_with = "listen")]
    pub(super) json: Option<OutputPlace>,

    /// Print only warnings and errors
    #[arg(short, long)]
    pub(super) quiet: bool,
}

/// The message size of some or all flows. `None` stands for both families or both protocols.
#[derive(Clone, Debug)]
pub(super) struct Size {
    family: Option<Family>,
    tcp: Option<bool>,
    bytes: u32,
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        let wrong =
            || format!("'{text}' is not a size, as in 512, ipv6=1440, udp=200 or ipv4-udp=1460");
        let (kind, bytes) = text.split_once('=').map_or(("", text), |(kind, bytes)| (kind, bytes));
        let mut size = Size { family: None, tcp: None, bytes: bytes.parse().map_err(|_| wrong())? };
        for word in kind.split('-').filter(|_| !kind.is_empty()) {
            match word {
                "ipv6" if size.family.is_none() => size.family = Some(Family::Ipv6),
                "ipv4" if size.family.is_none() => size.family = Some(Family::Ipv4),
                "tcp" | "udp" if size.tcp.is_none() => size.tcp = Some(word == "tcp"),
                _ => return Err(wrong()),
            }
        }
        Ok(size)
    }
}

fn arrivals(text: &str) -> Result<Arrivals, String> {
    let wrong = || format!("'{text}' is not periodic, poisson, burst or burst=LENGTH/EVERY");
    match text {
        "periodic" => Ok(Arrivals::Periodic),
        "poisson" => Ok(Arrivals::Poisson),
        "burst" => Ok(Arrivals::Burst { length_ns: 100_000_000, every_ns: 500_000_000 }),
        _ => {
            let times = text.strip_prefix("burst=").and_then(|times| times.split_once('/'));
            let (length, every) = times.ok_or_else(wrong)?;
            let time = |text| humantime::parse_duration(text).map(|time| time.as_nanos() as u64);
            let length_ns = time(length).map_err(|_| wrong())?;
            Ok(Arrivals::Burst { length_ns, every_ns: time(every).map_err(|_| wrong())? })
        }
    }
}

impl TrafficArgs {
    /// Returns the mix of flows to these addresses.
    pub(super) fn mix(
        &self,
        to: &PerFamily<Option<SocketAddr>>,
    ) -> Result<TrafficMix, CommandError> {
        let rate = self.rate.ok_or_else(|| {
            CommandError::Usage("--to needs --rate in bit/s, as in --rate 75M".into())
        })?;
        let plain = TrafficMix::default();
        let alone = |percent| Percent::new(percent).map_err(CommandError::Usage);
        let ipv6 = match (self.ipv6, to.ipv6, to.ipv4) {
            (Some(share), ..) => share,
            (None, Some(_), None) => alone(100.0)?,
            (None, None, Some(_)) => alone(0.0)?,
            _ => plain.ipv6,
        };
        let mut mix = TrafficMix {
            rate,
            basis: if self.wire { Basis::Wire } else { Basis::Payload },
            tcp: self.tcp.unwrap_or(plain.tcp),
            ipv6,
            flows: self.flows.unwrap_or(plain.flows),
            spread: if self.equal { Spread::Equal } else { Spread::Rising },
            arrivals: self.arrivals.unwrap_or_default(),
            direction: self.direction.unwrap_or_default(),
            ..plain
        };
        for size in &self.payload {
            for family in Family::BOTH.into_iter().filter(|&f| size.family.is_none_or(|of| of == f))
            {
                let payload = &mut mix.payload[family];
                if size.tcp != Some(false) {
                    payload.tcp = size.bytes;
                }
                if size.tcp != Some(true) {
                    payload.udp = size.bytes;
                }
            }
        }
        Ok(mix)
    }

    /// Returns the addresses of the far side: the first one of each family.
    ///
    /// # Errors
    /// A place is not HOST:PORT, its name has no address, or the look-up of a family that gets
    /// traffic failed.
    pub(super) fn far(&self) -> Result<PerFamily<Option<SocketAddr>>, CommandError> {
        let families = self.families();
        let mut far = PerFamily::<Option<SocketAddr>>::default();
        for text in &self.to {
            for address in resolve(text, &families)? {
                let place = &mut far[Family::of(address.ip())];
                place.get_or_insert(address);
            }
        }
        Ok(far)
    }

    /// Returns the families that get traffic, whose addresses are looked up.
    fn families(&self) -> Vec<Family> {
        match self.ipv6.map(f64::from) {
            Some(share) if share <= 0.0 => vec![Family::Ipv4],
            Some(share) if share >= 100.0 => vec![Family::Ipv6],
            _ => Family::BOTH.to_vec(),
        }
    }
}

fn resolve(text: &str, families: &[Family]) -> Result<Vec<SocketAddr>, CommandError> {
    if let Ok(address) = text.parse::<SocketAddr>()
        && address.port() > 0
    {
        return Ok(vec![address]);
    }
    let place = text.rsplit_once(':').and_then(|(name, port)| Some((name, port.parse().ok()?)));
    let Some((name, port @ 1..)) = place else {
        let line =
            format!("'{text}' is not HOST:PORT, as in far.example:5777 or [2001:db8::1]:5777");
        return Err(CommandError::Usage(line));
    };
    let found = look_up(name, families);
    let addresses = found.addresses();
    if addresses.is_empty() {
        let why = found.describe_nothing();
        let line = format!("can't resolve '{text}': {why}; check the name");
        return Err(CommandError::Measure(line));
    }
    // Without one of the families, the mix would not be the one that was asked for.
    let failed = |family: &Family| Some((*family, found.failure(*family)?));
    if let Some((family, why)) = families.iter().find_map(failed) {
        let alone = if family == Family::Ipv6 { "--ipv6 0" } else { "--ipv6 100" };
        let line = format!(
            "the look-up of {family} addresses of {name} failed ({why}); check the name servers, \
             give the addresses, or send over {} alone with {alone}",
            family.other()
        );
        return Err(CommandError::Measure(line));
    }
    Ok(addresses.into_iter().map(|address| SocketAddr::new(address, port)).collect())
}
