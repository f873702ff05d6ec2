//! Dates as users type them.

use std::str::FromStr;
use std::time::{Duration, SystemTime};

use humantime::{format_rfc3339_millis, parse_duration, parse_rfc3339_weak};

const DAY: Duration = Duration::from_secs(24 * 3600);
const TICK: Duration = Duration::from_millis(1);

/// A day or a moment, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct When {
    first: SystemTime,
    last: SystemTime,
}

impl When {
    /// Returns the first millisecond, in the store's format of times.
    pub(super) fn begin(&self) -> String {
        format_rfc3339_millis(self.first).to_string()
    }

    /// Returns the last millisecond.
    pub(super) fn end(&self) -> String {
        format_rfc3339_millis(self.last).to_string()
    }

    /// Returns the millisecond before the first one.
    pub(super) fn before(&self) -> String {
        let before = self.first.checked_sub(TICK).unwrap_or(self.first);
        format_rfc3339_millis(before.max(SystemTime::UNIX_EPOCH)).to_string()
    }
}

impl FromStr for When {
    type Err = String;

    fn from_str(text: &str) -> Result<When, String> {
        read_when(text, SystemTime::now()).ok_or_else(|| {
            "expected a day (2026-07-31), a time in UTC (2026-07-31T12:00:00Z) or an age (2d)"
                .into()
        })
    }
}

fn read_when(text: &str, now: SystemTime) -> Option<When> {
    if let Ok(first) = parse_rfc3339_weak(&format!("{text}T00:00:00Z")) {
        return Some(When { first, last: first + (DAY - TICK) });
    }
    let moment = parse_rfc3339_weak(text).ok().or_else(|| ago(text, now))?;
    Some(When { first: moment, last: moment })
}

/// Returns the moment that an age such as `2d` stands for, but none before 1970. `None` if the text
/// is not an age.
fn ago(text: &str, now: SystemTime) -> Option<SystemTime> {
    let ago = parse_duration(text).ok()?;
    Some(now.checked_sub(ago).unwrap_or(SystemTime::UNIX_EPOCH).max(SystemTime::UNIX_EPOCH))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Option<[String; 3]> {
        let now = parse_rfc3339_weak("2026-07-31T12:00:00Z").unwrap();
        read_when(text, now).map(|when| [when.before(), when.begin(), when.end()])
    }

    #[test]
    fn parses_days_timestamps_and_relative_ages() {
        for (text, [before, begin, end]) in [
            ("2026-07-01", ["06-30T23:59:59.999", "07-01T00:00:00.000", "07-01T23:59:59.999"]),
            (
                "2026-07-01T10:00:00Z",
                ["07-01T09:59:59.999", "07-01T10:00:00.000", "07-01T10:00:00.000"],
            ),
            (
                "2026-07-01 10:00:00",
                ["07-01T09:59:59.999", "07-01T10:00:00.000", "07-01T10:00:00.000"],
            ),
            ("2d", ["07-29T11:59:59.999", "07-29T12:00:00.000", "07-29T12:00:00.000"]),
            ("1h 30m", ["07-31T10:29:59.999", "07-31T10:30:00.000", "07-31T10:30:00.000"]),
        ] {
            let wanted = [before, begin, end].map(|of| format!("2026-{of}Z"));
            assert_eq!(at(text), Some(wanted), "{text}");
        }
    }

    #[test]
    fn rejects_invalid_dates_and_clamps_long_ages_to_the_epoch() {
        for text in ["", "yesterday", "2026-13-01", "2026-07", "10", "-1d", "1960-01-01"] {
            assert_eq!(at(text), None, "{text}");
        }
        let [before, begin, _] = at("1000y").unwrap();
        assert!(before.starts_with("1970-01-01T00:00") && before == begin);
    }
}
