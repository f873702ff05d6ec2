//! Which status codes a response may have without counting as a failure.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Status codes have three digits (RFC 9110, 15).
const CODES: RangeInclusive<u16> = 100..=999;

/// The codes that are accepted by default: all except client and server errors (4xx, 5xx) and
/// undefined codes.
const USUAL: RangeInclusive<u16> = 100..=399;

/// A set of accepted status codes. An exchange whose response has another code still ends NORMAL,
/// but counts as a failure.
#[derive(Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "String", extend("pattern" = PATTERN)))]
pub struct AcceptStatus([u64; 16]);

impl AcceptStatus {
    /// Returns true if a response with this status is not a failure.
    #[inline]
    pub fn accepts(&self, status: u16) -> bool {
        let word = self.0.get(usize::from(status / 64)).copied().unwrap_or(0);
        word & (1 << (status % 64)) != 0
    }

    /// Returns true if this is the default set.
    pub fn is_usual(&self) -> bool {
        *self == AcceptStatus::default()
    }

    fn none() -> AcceptStatus {
        AcceptStatus([0; 16])
    }

    fn add(&mut self, codes: RangeInclusive<u16>) {
        for status in codes {
            if let Some(word) = self.0.get_mut(usize::from(status / 64)) {
                *word |= 1 << (status % 64);
            }
        }
    }

    /// Returns the codes as ranges, in ascending order.
    fn ranges(&self) -> Vec<RangeInclusive<u16>> {
        let mut ranges: Vec<RangeInclusive<u16>> = Vec::new();
        for status in CODES.filter(|&status| self.accepts(status)) {
            match ranges.last_mut() {
                Some(last) if last.end() + 1 == status => *last = *last.start()..=status,
                _ => ranges.push(status..=status),
            }
        }
        ranges
    }
}

impl Default for AcceptStatus {
    fn default() -> Self {
        let mut usual = AcceptStatus::none();
        usual.add(USUAL);
        usual
    }
}

/// Formats the set as in `200-299,404`.
impl fmt::Display for AcceptStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, range) in self.ranges().iter().enumerate() {
            f.write_str(if number > 0 { "," } else { "" })?;
            if range.start() == range.end() {
                write!(f, "{}", range.start())?
            } else {
                write!(f, "{}-{}", range.start(), range.end())?
            }
        }
        Ok(())
    }
}

impl fmt::Debug for AcceptStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AcceptStatus({self})")
    }
}

/// Parses codes, ranges and classes (`4xx`), separated by commas.
impl FromStr for AcceptStatus {
    type Err = String;

    fn from_str(text: &str) -> Result<AcceptStatus, String> {
        let mut accepted = AcceptStatus::none();
        for part in text.split(',').map(str::trim) {
            accepted.add(codes(part).ok_or_else(|| wrong(part))?);
        }
        Ok(accepted)
    }
}

fn codes(part: &str) -> Option<RangeInclusive<u16>> {
    let (first, last) = match part.split_once('-') {
        Some((first, last)) => (bounds(first.trim())?, bounds(last.trim())?),
        None => (bounds(part)?, bounds(part)?),
    };
    let codes = *first.start()..=*last.end();
    (!codes.is_empty()).then_some(codes)
}

/// Parses a code or a class into its first and last code.
fn bounds(text: &str) -> Option<RangeInclusive<u16>> {
    let class = text.strip_suffix("xx").or_else(|| text.strip_suffix("XX"));
    let digits = class.unwrap_or(text);
    let wanted = if class.is_some() { 1 } else { 3 };
    if digits.len() != wanted || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: u16 = digits.parse().ok()?;
    let bounds = if class.is_some() { number * 100..=number * 100 + 99 } else { number..=number };
    CODES.contains(bounds.start()).then_some(bounds)
}

fn wrong(part: &str) -> String {
    format!(
        "'{part}' is not a status code, range or class from 100 to 999, as in 200-299,404 or \
         2xx,3xx"
    )
}

/// The format of a set in documents: `200-299,404`.
#[cfg(feature = "schema")]
const PATTERN: &str = "^[0-9]{3}(-[0-9]{3})?(,[0-9]{3}(-[0-9]{3})?)*$";

impl Serialize for AcceptStatus {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for AcceptStatus {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<AcceptStatus, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_status_codes_ranges_and_classes() {
        for (text, shown, yes, no) in [
            ("200-299,404", "200-299,404", [200, 299, 404], [199, 300, 403]),
            ("4xx", "400-499", [400, 450, 499], [399, 500, 0]),
            ("2xx, 3XX", "200-399", [200, 300, 399], [199, 400, 1_023]),
            ("2xx-4xx", "200-499", [200, 399, 499], [100, 500, u16::MAX]),
            ("503,503,502", "502-503", [502, 503, 503], [501, 504, 200]),
        ] {
            let accepted: AcceptStatus = text.parse().unwrap();
            assert_eq!(accepted.to_string(), shown);
            assert!(yes.iter().all(|&status| accepted.accepts(status)), "{text}");
            assert!(!no.iter().any(|&status| accepted.accepts(status)), "{text}");
            let json = serde_json::to_string(&accepted).unwrap();
            assert_eq!(serde_json::from_str::<AcceptStatus>(&json).unwrap(), accepted);
        }
    }

    #[test]
    fn accepts_statuses_below_400_by_default() {
        let usual = AcceptStatus::default();
        assert_eq!(usual.to_string(), "100-399");
        assert!(usual.is_usual() && usual.accepts(200) && usual.accepts(301) && usual.accepts(304));
        assert!(!usual.accepts(404) && !usual.accepts(503) && !usual.accepts(600));
    }

    #[test]
    fn rejects_malformed_status_lists_with_an_example() {
        for text in ["", "20", "2000", "0xx", "xx", "4x", "299-200", "200-", "+20", "200;404"] {
            let said = text.parse::<AcceptStatus>().unwrap_err();
            assert!(said.contains("200-299,404"), "{text}: {said}");
        }
    }
}
