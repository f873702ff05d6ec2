//! A rate of exchanges.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use sixmark_units::quantity::write_count;

/// The highest rate, in exchanges per second: one per nanosecond.
const HIGHEST: f64 = 1e9;

/// Exchanges per second, from 0 to 10^9.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "f64", into = "f64")]
pub struct RequestRate(f64);

impl RequestRate {
    /// 0 per second.
    pub const ZERO: RequestRate = RequestRate(0.0);

    /// 100 per second.
    pub const HUNDRED: RequestRate = RequestRate(100.0);

    /// Creates a rate of `per_s` exchanges per second. The error says that it is out of range.
    pub fn new(per_s: f64) -> Result<RequestRate, String> {
        match (0.0..=HIGHEST).contains(&per_s) {
            true => Ok(RequestRate(per_s.abs())),
            false => Err(format!("a rate is from 0 to {}/s", write_count(HIGHEST as u64))),
        }
    }

    /// Returns the exchanges per second.
    pub fn per_s(self) -> f64 {
        self.0
    }

    /// Returns true if the rate is 0.
    pub fn is_zero(self) -> bool {
        self.0 == 0.0
    }
}

/// Parses `200`, `200/s`, `10k/s`, `0.5M/s`, `12000/m` or `3/h`.
impl FromStr for RequestRate {
    type Err = String;

    fn from_str(text: &str) -> Result<RequestRate, String> {
        let wrong = || format!("'{text}' is not a rate, as in 200, 200/s, 10k/s or 12000/m");
        let (number, seconds) = match text.split_once('/') {
            None | Some((_, "s")) => (text.split('/').next().unwrap_or_default(), 1.0),
            Some((number, "m")) => (number, 60.0),
            Some((number, "h")) => (number, 3_600.0),
            Some(_) => return Err(wrong()),
        };
        let (digits, scale) = match number.strip_suffix('k') {
            Some(digits) => (digits, 1e3),
            None => (number.trim_end_matches('M'), if number.ends_with('M') { 1e6 } else { 1.0 }),
        };
        // Rust's other notations of a float (1e3, inf, +1) are refused.
        let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        let value = digits.parse::<f64>().ok().filter(|_| plain).ok_or_else(wrong)?;
        RequestRate::new(value * scale / seconds).map_err(|error| format!("'{text}': {error}"))
    }
}

impl fmt::Display for RequestRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.fract() == 0.0 {
            true => write!(f, "{}/s", write_count(self.0 as u64)),
            // At most six decimals, without trailing zeros.
            false => write!(f, "{}/s", (self.0 * 1e6).round() / 1e6),
        }
    }
}

impl TryFrom<f64> for RequestRate {
    type Error = String;

    fn try_from(per_s: f64) -> Result<RequestRate, String> {
        RequestRate::new(per_s)
    }
}

impl From<RequestRate> for f64 {
    fn from(rate: RequestRate) -> f64 {
        rate.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_rates_with_scale_and_time_unit() {
        for (text, per_s) in [
            ("200", 200.0),
            ("200/s", 200.0),
            ("10k/s", 10_000.0),
            ("10k", 10_000.0),
            ("0.5M/s", 500_000.0),
            ("12000/m", 200.0),
            ("0.001/s", 0.001),
            ("9/h", 0.0025),
            ("0", 0.0),
        ] {
            assert_eq!(text.parse::<RequestRate>().map(RequestRate::per_s), Ok(per_s), "{text}");
        }
    }

    #[test]
    fn rejects_a_malformed_rate_and_quotes_it() {
        for text in
            ["", "/s", "k", "-1", "+1", "1e3", "inf", "nan", "200/x", "200/", "2kk", "1.2.3"]
        {
            let error = text.parse::<RequestRate>().unwrap_err();
            assert!(error.contains(text) && error.contains("200/s"), "{error}");
        }
        assert!("1001M/s".parse::<RequestRate>().unwrap_err().contains("1,000,000,000"));
    }

    #[test]
    fn formats_rates_per_second() {
        for (text, shown) in [
            ("10k/s", "10,000/s"),
            ("0.001", "0.001/s"),
            ("100/m", "1.666667/s"),
            ("2.5/s", "2.5/s"),
        ] {
            assert_eq!(text.parse::<RequestRate>().unwrap().to_string(), shown);
        }
    }
}
