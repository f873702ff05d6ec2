//! Bit rates and percentages, and parsing of their text forms.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The whole (100 %) in thousandths of a percent.
const WHOLE: u32 = 100_000;

/// A rate in bits per second, 1 or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
#[cfg_attr(feature = "schema", schemars(extend("minimum" = 1)))]
pub struct BitRate(pub u64);

/// A percentage, 0 to 100 %, in thousandths of a percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "f64", into = "f64")]
#[cfg_attr(feature = "schema", schemars(extend("maximum" = 100)))]
pub struct Percent(u32);

impl Percent {
    /// Creates a percentage from thousandths of a percent, at most 100,000.
    pub(super) const fn of_thousandths(thousandths: u32) -> Percent {
        Percent(thousandths)
    }

    /// Returns the percentage in thousandths of a percent.
    pub(super) fn thousandths(self) -> u32 {
        self.0
    }

    /// Returns the difference to 100 %, in thousandths of a percent.
    pub(super) fn rest(self) -> u32 {
        WHOLE - self.0
    }

    /// Creates a percentage, rounded to thousandths. Returns an error message if it is not within 0
    /// to 100.
    pub fn new(percent: f64) -> Result<Percent, String> {
        match (0.0..=100.0).contains(&percent) {
            true => Ok(Percent((percent * 1e3).round() as u32)),
            false => Err(format!("{percent} is not a percentage from 0 to 100")),
        }
    }
}

impl FromStr for Percent {
    type Err = String;

    fn from_str(text: &str) -> Result<Percent, String> {
        let number = text.strip_suffix('%').unwrap_or(text);
        let plain = number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        let value = number.parse::<f64>().ok().filter(|_| plain);
        value
            .ok_or_else(|| format!("'{text}' is not a percentage, as in 90 or 22.5"))
            .and_then(Percent::new)
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", f64::from(*self))
    }
}

impl TryFrom<f64> for Percent {
    type Error = String;

    fn try_from(percent: f64) -> Result<Percent, String> {
        Percent::new(percent)
    }
}

impl From<Percent> for f64 {
    fn from(percent: Percent) -> f64 {
        f64::from(percent.0) / 1e3
    }
}

/// Parses a rate in bits per second: `75M`, `1G`, `500k`, `1.5Mbit/s`, `9600`. Prefixes are powers
/// of ten.
impl FromStr for BitRate {
    type Err = String;

    fn from_str(text: &str) -> Result<BitRate, String> {
        let wrong = || format!("'{text}' is not a rate in bit/s, as in 75M, 1G or 500kbit/s");
        let bare = text.strip_suffix("/s").unwrap_or(text);
        let bare = bare.strip_suffix("bit").unwrap_or(bare);
        let scale = |unit| match unit {
            'k' => Some(1e3),
            'M' => Some(1e6),
            'G' => Some(1e9),
            _ => None,
        };
        let unit = bare.chars().last().and_then(scale);
        let digits = if unit.is_some() { &bare[..bare.len() - 1] } else { bare };
        let plain = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        let value = digits.parse::<f64>().ok().filter(|_| plain).ok_or_else(wrong)?;
        let bits = (value * unit.unwrap_or(1.0)).round();
        match (1.0..=1e12).contains(&bits) {
            true => Ok(BitRate(bits as u64)),
            false => Err(format!("'{text}': a rate is from 1 bit/s to 1000 Gbit/s")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_bit_rates_and_percentages() {
        for (text, bits) in [
            ("75M", 75_000_000),
            ("1G", 1_000_000_000),
            ("500kbit/s", 500_000),
            ("1.5Mbit", 1_500_000),
            ("9600", 9_600),
        ] {
            assert_eq!(text.parse(), Ok(BitRate(bits)), "{text}");
        }
        for text in ["", "M", "-1M", "1e6", "75MB", "0", "inf", "2000G", "75 M"] {
            assert!(text.parse::<BitRate>().unwrap_err().contains(text), "{text}");
        }
        assert_eq!("22.5".parse(), Percent::new(22.5));
        assert_eq!("90%".parse(), Percent::new(90.0));
        for text in ["", "101", "-1", "a", "nan"] {
            assert!(text.parse::<Percent>().is_err(), "{text}");
        }
    }
}
