//! Impairment of the frames that travel over a link in one direction.
//!
//! A frame first waits for its turn at the rate, in a queue that drops frames that do not fit. Then
//! it may be lost. Then it is delayed. Address resolution (ARP, neighbour discovery) follows the
//! common settings, never those of one family; otherwise the same loss in both families would
//! affect neighbour discovery, which uses IPv6 packets, but not ARP.

use std::num::NonZeroU64;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use sixmark_document::fields::{FileField, FileFields};
use sixmark_units::family::PerFamily;

/// Bytes that Ethernet adds to a frame on the wire: preamble and start (8), check sequence (4), gap
/// (12).
pub const ETHERNET_BYTES: u32 = 24;
/// The default queue, in bytes: a thousand full-sized frames, as network interfaces have.
pub const QUEUE_BYTES: u64 = 1_514_000;
/// The longest delay that is accepted.
const LONGEST: Duration = Duration::from_secs(60);
const SLOWEST: u64 = 1_000;
const FASTEST: u64 = 100_000_000_000;
const LARGEST: u64 = 1 << 30;

/// The impairment of frames in one direction. The default is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Impairment {
    /// The rate limit; unlimited if absent.
    pub rate: Option<FrameRate>,
    /// The effect on frames of neither family, and on address resolution of both.
    pub common: Effect,
    /// The effect on each family's packets: the common one, unless the family has its own.
    pub families: PerFamily<Effect>,
    /// Whether a router at the end of the link drops that family's messages that a packet was too
    /// big (ICMPv6 Packet Too Big, ICMP Fragmentation Needed). This is implemented by the firewall,
    /// not by the link.
    pub drops_too_big: PerFamily<bool>,
}

/// A rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameRate {
    /// Bits per second.
    pub bits_per_s: NonZeroU64,
    /// Whether each frame counts with the [`ETHERNET_BYTES`] that it occupies on a wire.
    pub ethernet: bool,
    /// The burst that may be sent at once after a pause, in bytes. If absent, a frame leaves when
    /// its last bit has been sent.
    pub burst_bytes: Option<NonZeroU64>,
    /// The size of the queue, in bytes of frames. Frames that do not fit are dropped.
    /// [`QUEUE_BYTES`] if absent.
    pub queue_bytes: Option<NonZeroU64>,
}

/// The effect on a frame after it has left the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// The delay.
    pub delay: Duration,
    /// The variation of the delay, evenly from `delay - jitter` to `delay + jitter`; at most
    /// `delay`. A frame that would thereby overtake another waits for it.
    pub jitter: Duration,
    /// The loss.
    pub loss: Loss,
    /// The share (0 to 1) of frames that are not delayed and thus overtake others, as in netem.
    pub reorder: f64,
}

/// The loss of frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Loss {
    /// No frame is lost.
    #[default]
    None,
    /// Each frame is lost with this probability (0 to 1).
    Random(f64),
    /// Several frames are lost in a row, by Gilbert's model: the link is either good and loses
    /// nothing, or bad and loses everything, and changes between the two from frame to frame.
    Bursts {
        /// The share (0 to 1) of all frames that are lost.
        share: f64,
        /// The mean number of frames lost in a row; at least 1.
        mean: f64,
    },
}

impl Impairment {
    /// Returns true if the impairment has no effect.
    pub fn is_nothing(&self) -> bool {
        self.rate.is_none() && !self.needs_delay_line()
    }

    /// Returns true if any frame is delayed, lost or overtaken.
    pub fn needs_delay_line(&self) -> bool {
        !self.common.is_nothing() || self.families.iter().any(|(_, effect)| !effect.is_nothing())
    }

    /// Returns true if there is a rate limit and nothing else.
    pub fn is_rate_only(&self) -> bool {
        self.rate.is_some() && !self.needs_delay_line()
    }

    /// Returns true if the effect on any family differs from the common one.
    pub fn by_family(&self) -> bool {
        self.families.iter().any(|(_, effect)| *effect != self.common)
    }
}

impl FrameRate {
    /// Returns the size of the queue in bytes.
    pub fn queue_bytes(&self) -> u64 {
        self.queue_bytes.map_or(QUEUE_BYTES, NonZeroU64::get)
    }
}

impl Effect {
    /// Returns true if there is no effect.
    pub fn is_nothing(&self) -> bool {
        *self == Effect::default()
    }
}

impl Loss {
    /// Returns the transition probabilities of Gilbert's model: from good to bad, and from bad to
    /// good.
    pub fn turns(share: f64, mean: f64) -> [f64; 2] {
        let better = 1.0 / mean;
        [better * share / (1.0 - share), better]
    }
}

/// Takes the keys of an impairment from those of a link, and leaves the others.
pub(crate) fn impairment(fields: &mut FileFields<'_>) -> Impairment {
    let rate = read_rate(fields);
    let common = effect(fields, Effect::default());
    let mut drops_too_big = PerFamily::default();
    let mut family = |name, drops: &mut bool| match fields.table(name) {
        Some(mut own) => {
            let effect = effect(&mut own, common);
            *drops = too_big(&mut own);
            own.end();
            effect
        }
        None => common,
    };
    let families = PerFamily {
        ipv6: family("ipv6", &mut drops_too_big.ipv6),
        ipv4: family("ipv4", &mut drops_too_big.ipv4),
    };
    Impairment { rate, common, families, drops_too_big }
}

fn read_rate(fields: &mut FileFields<'_>) -> Option<FrameRate> {
    let rate = fields.take("rate");
    let asked = rate.is_some();
    let mut with_rate = |name| {
        let found = fields.take(name)?;
        if !asked {
            found.wrong("has no effect without a rate, as in rate = \"100Mbit/s\"");
        }
        Some(found)
    };
    let framing = with_rate("framing");
    let [burst, queue] = ["burst", "queue"].map(|name| with_rate(name)?.parsed(bytes));
    let ethernet = framing.and_then(|field| field.one_of(&[("none", false), ("ethernet", true)]));
    Some(FrameRate {
        bits_per_s: rate?.parsed(bits_per_s)?,
        ethernet: ethernet.unwrap_or(false),
        burst_bytes: burst,
        queue_bytes: queue,
    })
}

/// Reads the effect in a table; keys that are absent keep the value of `base`.
fn effect(fields: &mut FileFields<'_>, base: Effect) -> Effect {
    let mut time = |name| fields.take(name).and_then(|field| short(&field));
    let [delay, jitter] = ["delay", "jitter"].map(&mut time);
    let loss = fields.take("loss").and_then(|field| loss(&field));
    let reorder = fields.take("reorder").and_then(|field| field.parsed(parse_share));
    let effect = Effect {
        delay: delay.unwrap_or(base.delay),
        jitter: jitter.unwrap_or(base.jitter),
        loss: loss.unwrap_or(base.loss),
        reorder: reorder.unwrap_or(base.reorder),
    };
    if effect.jitter > effect.delay {
        fields.wrong("jitter is longer than delay: no frame arrives before it was sent");
    }
    if effect.reorder > 0.0 && effect.delay.is_zero() {
        fields.wrong("reorder needs a delay: frames overtake by not being delayed");
    }
    effect
}

fn short(field: &FileField<'_>) -> Option<Duration> {
    let time = field.time()?;
    if time > LONGEST {
        field.wrong("is longer than 60s");
    }
    Some(time)
}

fn too_big(fields: &mut FileFields<'_>) -> bool {
    let found = fields.take("packet_too_big");
    found.and_then(|field| field.one_of(&[("pass", false), ("drop", true)])).unwrap_or(false)
}

/// Reads `"1%"`, or `{ share = "1%", burst = 5 }`.
fn loss(field: &FileField<'_>) -> Option<Loss> {
    if !field.is_table() {
        let share = field.parsed(parse_share)?;
        return Some(if share > 0.0 { Loss::Random(share) } else { Loss::None });
    }
    let mut fields = field.fields()?;
    let share = fields.need("share").and_then(|field| field.parsed(parse_share));
    let mean = fields.need("burst").and_then(|field| field.number());
    fields.end();
    bursts(field, share?, mean?)
}

fn bursts(field: &FileField<'_>, share: f64, mean: f64) -> Option<Loss> {
    if share == 0.0 {
        return Some(Loss::None);
    }
    if mean < 1.0 {
        field.wrong("burst is the mean number of frames lost in a row: 1 or more");
        return None;
    }
    if Loss::turns(share, mean)[0] > 1.0 {
        let least = share / (1.0 - share);
        field.wrong(&if least.is_finite() {
            format!("this share can be lost only in bursts of {least:.1} or more")
        } else {
            "if all frames are lost there are no bursts: write loss = \"100%\"".to_owned()
        });
        return None;
    }
    Some(Loss::Bursts { share, mean })
}

fn bits_per_s(text: &str) -> Result<NonZeroU64, String> {
    let units = [("bit/s", 1.0), ("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9)];
    let wrong = || format!("'{text}' is not a rate from 1kbit/s to 100Gbit/s, as in 100Mbit/s");
    scaled(text, &units, SLOWEST..=FASTEST).ok_or_else(wrong)
}

fn bytes(text: &str) -> Result<NonZeroU64, String> {
    let units = [("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("KiB", 1024.0), ("MiB", 1024.0 * 1024.0)];
    let wrong = || format!("'{text}' is not a size from 1B to 1024MiB, as in 3028B or 150kB");
    scaled(text, &units, 1..=LARGEST).ok_or_else(wrong)
}

fn scaled(
    text: &str,
    units: &[(&str, f64)],
    allowed: std::ops::RangeInclusive<u64>,
) -> Option<NonZeroU64> {
    let unit = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let number: f64 = text[..unit].parse().ok()?;
    let (_, scale) = units.iter().find(|(name, _)| *name == text[unit..].trim_start())?;
    let whole = (number * scale).round() as u64;
    NonZeroU64::new(whole).filter(|whole| allowed.contains(&whole.get()))
}

fn parse_share(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').and_then(|number| number.trim_end().parse::<f64>().ok());
    let share = number.map(|percent| percent / 100.0).filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| format!("'{text}' is not a share from 0% to 100%, as in 0.1%"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixmark_document::fields::FileText;

    /// Returns the impairment in a link's table, and the mistakes.
    fn read(text: &str) -> (Impairment, Vec<String>) {
        let book = FileText::new(text, None);
        let table = book.parse().unwrap();
        let mut fields = FileFields::new(&book, "links.a", 0, table.get_ref());
        let read = impairment(&mut fields);
        drop(fields);
        (read, book.into_wrongs().iter().map(ToString::to_string).collect())
    }

    fn good(text: &str) -> Impairment {
        let (read, wrongs) = read(text);
        assert_eq!(wrongs, Vec::<String>::new(), "{text}");
        read
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn parses_a_rate_with_framing_burst_and_queue() {
        let read = good(
            "rate = '100Mbit/s'\nframing = 'ethernet'\nburst = '3028B'\nqueue = '150kB'\nmtu = 9000",
        );
        let rate = read.rate.unwrap();
        assert_eq!((rate.bits_per_s.get(), rate.ethernet), (100_000_000, true));
        assert_eq!(rate.burst_bytes.unwrap().get(), 3028);
        assert_eq!(rate.queue_bytes(), 150_000);
        assert!(read.is_rate_only() && !read.is_nothing() && !read.needs_delay_line());
        let plain = good("rate = '1.5Gbit/s'").rate.unwrap();
        assert_eq!((plain.bits_per_s.get(), plain.ethernet), (1_500_000_000, false));
        assert_eq!((plain.burst_bytes, plain.queue_bytes()), (None, QUEUE_BYTES));
    }

    #[test]
    fn a_family_table_overrides_only_the_keys_it_sets() {
        let read = good(
            "delay = '2ms'\njitter = '500us'\nloss = '1%'\n\
             ipv6 = { loss = '0%', packet_too_big = 'drop' }\nipv4 = { delay = '20ms' }",
        );
        let common =
            Effect { delay: ms(2), jitter: ms(1) / 2, loss: Loss::Random(0.01), reorder: 0.0 };
        assert_eq!(read.common, common);
        assert_eq!(read.families.ipv6, Effect { loss: Loss::None, ..common });
        assert_eq!(read.families.ipv4, Effect { delay: ms(20), ..common });
        assert_eq!(read.drops_too_big, PerFamily { ipv6: true, ipv4: false });
        assert!(read.by_family() && read.needs_delay_line());
    }

    #[test]
    fn parses_an_impairment_of_one_family_only() {
        for family in ["ipv6", "ipv4"] {
            let read = good(&format!("{family} = {{ loss = {{ share = '2%', burst = 5 }} }}"));
            assert!(read.common.is_nothing() && read.needs_delay_line(), "{family}");
            let hit = read.families.iter().filter(|(_, effect)| !effect.is_nothing());
            let hit: Vec<_> = hit.map(|(family, effect)| (family, effect.loss)).collect();
            assert_eq!(hit.len(), 1);
            assert_eq!(hit[0].0.to_string().to_lowercase(), family);
            assert_eq!(hit[0].1, Loss::Bursts { share: 0.02, mean: 5.0 });
        }
    }

    #[test]
    fn mtu_and_packet_too_big_keys_add_no_impairment() {
        let read = good("mtu = 1500\nipv6 = { packet_too_big = 'drop' }");
        assert!(read.is_nothing() && !read.is_rate_only() && !read.by_family());
        assert!(read.drops_too_big.ipv6);
    }

    #[test]
    fn reports_invalid_impairments_with_line_and_allowed_values() {
        for (text, expected) in [
            ("rate = '100 Mbit'", "1: links.a.rate: '100 Mbit' is not a rate from 1kbit/s"),
            ("rate = '1bit/s'", "is not a rate from 1kbit/s to 100Gbit/s, as in 100Mbit/s"),
            ("rate = 100", "expected a text in quotes, found a number"),
            ("\nqueue = '10kB'", "2: links.a.queue: has no effect without a rate"),
            ("rate = '1Mbit/s'\nburst = '0B'", "2: links.a.burst: '0B' is not a size from 1B"),
            ("rate = '1Mbit/s'\nframing = 'wire'", "'wire' is none of: none, ethernet"),
            ("delay = '1ms'\njitter = '2ms'", "jitter is longer than delay"),
            ("delay = '61s'", "is longer than 60s"),
            ("reorder = '1%'", "reorder needs a delay"),
            ("loss = '101%'", "'101%' is not a share from 0% to 100%"),
            ("loss = '1'", "'1' is not a share"),
            ("loss = { share = '1%' }", "burst is missing"),
            ("loss = { share = '1%', burst = 0.5 }", "1 or more"),
            ("loss = { share = '90%', burst = 2 }", "only in bursts of 9.0 or more"),
            ("loss = { share = '100%', burst = 2 }", "there are no bursts"),
            ("ipv6 = { rate = '1Mbit/s' }", "unknown key; allowed: delay, jitter, loss, reorder"),
            ("ipv4 = { packet_too_big = 'no' }", "'no' is none of: pass, drop"),
            (
                "delay = '5ms'\nipv6 = { delay = '0s', reorder = '1%' }",
                "links.a.ipv6: reorder needs",
            ),
        ] {
            let (_, wrongs) = read(text);
            assert_eq!(wrongs.len(), 1, "{text}: {wrongs:?}");
            assert!(wrongs[0].contains(expected), "{text}: {wrongs:?}");
        }
    }

    #[test]
    fn burst_transition_probabilities_match_share_and_mean_length() {
        let [worse, better] = Loss::turns(0.1, 4.0);
        assert!((worse / (worse + better) - 0.1).abs() < 1e-12);
        assert!((1.0 / better - 4.0).abs() < 1e-12);
    }
}
