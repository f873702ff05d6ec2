//! Points in time as written in logs and recordings, in nanoseconds since the start of 1970.

use sixmark_units::calendar::{MONTHS, days_since_1970};

const SECOND: u64 = 1_000_000_000;

/// The units of a number that is a time, each as the decimal places of a second, with the smallest
/// number that is in it. Smaller numbers of seconds are before 1973: they are taken for durations.
const UNITS: [(u32, u64); 4] = [
    (9, 100_000_000_000_000_000),
    (6, 100_000_000_000_000),
    (3, 100_000_000_000),
    (0, 100_000_000),
];

/// A time as recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RecordedTime {
    /// The time; in UTC if it names no zone.
    pub(super) at: u64,
    /// The zone that it names, in seconds east of UTC.
    pub(super) zone: Option<i64>,
}

/// Returns a time that was read in UTC as one in `zone`, in seconds east of UTC.
pub(super) fn in_zone(at: u64, zone: i64) -> u64 {
    let shift = zone.unsigned_abs().saturating_mul(SECOND);
    if zone > 0 { at.saturating_sub(shift) } else { at.saturating_add(shift) }
}

/// Parses a time in any form that servers and browsers write: as [`parse_log_time`] or [`of_date`],
/// or a number of seconds, milliseconds, microseconds or nanoseconds since the start of 1970, which its
/// size tells apart.
pub(super) fn parse_time(text: &[u8]) -> Option<RecordedTime> {
    let text = text.trim_ascii();
    let text = text.strip_prefix(b"[").and_then(|text| text.strip_suffix(b"]")).unwrap_or(text);
    of_number(text).or_else(|| of_date(text)).or_else(|| parse_log_time(text))
}

/// Parses `10/Oct/2000:13:55:36 -0700`, which has a resolution of one second.
pub(super) fn parse_log_time(text: &[u8]) -> Option<RecordedTime> {
    let (day, rest) = (parse_digits(text.get(..2)?)?, text.get(2..)?);
    let month = MONTHS.iter().position(|month| rest.get(1..4) == Some(month.as_bytes()))? + 1;
    let marks = rest.first() == Some(&b'/') && rest.get(4) == Some(&b'/');
    let year = parse_digits(rest.get(5..9)?)?;
    let clock = clock(rest.get(10..18)?)?;
    let zone = zone(rest.get(19..24)?)?;
    let fits = marks && rest.get(9) == Some(&b':') && rest.get(18) == Some(&b' ');
    let at = (fits && rest.len() == 24)
        .then(|| seconds_since_epoch(year, month as i64, day, clock - zone))??;
    Some(RecordedTime { at, zone: Some(zone) })
}

/// Parses RFC 3339, as in `2000-10-10T13:55:36.123-07:00`, with a space instead of `T`, with slashes,
/// or without a zone.
fn of_date(text: &[u8]) -> Option<RecordedTime> {
    let [year, month, day] = [text.get(..4)?, text.get(5..7)?, text.get(8..10)?].map(parse_digits);
    let marks = matches!([text.get(4)?, text.get(7)?], [b'-', b'-'] | [b'/', b'/']);
    let time = matches!(text.get(10)?, b'T' | b't' | b' ');
    let clock = clock(text.get(11..19)?)?;
    let (fraction, rest) = fraction(text.get(19..)?);
    let zone = match rest.strip_prefix(b" ").unwrap_or(rest) {
        b"" => None,
        b"Z" | b"z" | b"UTC" | b"GMT" => Some(0),
        [sign, h1, h2, b':', m1, m2] => Some(zone(&[*sign, *h1, *h2, *m1, *m2])?),
        [sign, h1, h2] => Some(zone(&[*sign, *h1, *h2, b'0', b'0'])?),
        rest => Some(zone(rest)?),
    };
    let at = (marks && time)
        .then(|| seconds_since_epoch(year?, month?, day?, clock - zone.unwrap_or(0)))??;
    Some(RecordedTime { at: at + fraction, zone })
}

/// Parses a number with or without a fraction.
fn of_number(text: &[u8]) -> Option<RecordedTime> {
    let point = text.iter().position(|&byte| byte == b'.').unwrap_or(text.len());
    let (whole, rest) = text.split_at(point);
    let (fraction, rest) = fraction(rest);
    if !rest.is_empty() || whole.len() > 19 {
        return None;
    }
    let number = u64::try_from(parse_digits(whole)?).ok()?;
    let (digits, _) = UNITS.into_iter().find(|&(_, least)| number >= least)?;
    let unit = 10_u64.pow(9 - digits);
    let at = number.checked_mul(unit)?.checked_add(fraction / (SECOND / unit))?;
    Some(RecordedTime { at, zone: Some(0) })
}

fn parse_digits(digits: &[u8]) -> Option<i64> {
    let plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let next = |number: i64, digit: &u8| number.checked_mul(10)?.checked_add((digit - b'0').into());
    plain.then(|| digits.iter().try_fold(0, next))?
}

/// Parses `13:55:36`, in seconds since midnight. A leap second counts as the next second.
fn clock(text: &[u8]) -> Option<i64> {
    let [h1, h2, b':', m1, m2, b':', s1, s2] = text else { return None };
    let [hours, minutes, seconds] =
        [[*h1, *h2], [*m1, *m2], [*s1, *s2]].map(|two| parse_digits(&two));
    let (hours, minutes, seconds) = (hours?, minutes?, seconds?);
    let fits = hours < 24 && minutes < 60 && seconds < 61;
    fits.then_some(hours * 3_600 + minutes * 60 + seconds)
}

/// Parses `-0700`, in seconds east of Greenwich.
fn zone(text: &[u8]) -> Option<i64> {
    let [sign, hours @ .., m1, m2] = text else { return None };
    let (hours, minutes) = (parse_digits(hours)?, parse_digits(&[*m1, *m2])?);
    if hours >= 24 {
        return None;
    }
    let seconds = hours * 3_600 + minutes * 60;
    match sign {
        b'+' => Some(seconds),
        b'-' => Some(-seconds),
        _ => None,
    }
}

/// Parses `.123` in nanoseconds, and returns the rest.
fn fraction(text: &[u8]) -> (u64, &[u8]) {
    let Some(digits) = text.strip_prefix(b".") else { return (0, text) };
    let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = digits.split_at(count);
    let mut nanoseconds = 0;
    for place in 0..9 {
        nanoseconds =
            nanoseconds * 10 + digits.get(place).map_or(0, |digit| u64::from(digit - b'0'));
    }
    (nanoseconds, rest)
}

/// Returns the seconds since the start of 1970, or `None` for earlier times.
fn seconds_since_epoch(year: i64, month: i64, day: i64, clock: i64) -> Option<u64> {
    let fits = (1..=12).contains(&month) && (1..=31).contains(&day) && year < 2_500;
    let at = fits.then(|| days_since_1970(year, month, day) * 86_400 + clock)?;
    u64::try_from(at).ok()?.checked_mul(SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_common_log_times_with_their_zone() {
        for (text, seconds) in [
            ("10/Oct/2000:13:55:36 -0700", 971_211_336),
            ("01/Jan/1970:00:00:00 +0000", 0),
            ("29/Feb/2024:23:59:59 +0000", 1_709_251_199),
            ("01/Mar/2024:01:00:00 +0100", 1_709_251_200),
            ("31/Dec/2099:23:59:59 +0000", 4_102_444_799),
        ] {
            let found = parse_log_time(text.as_bytes()).map(|time| time.at);
            assert_eq!(found, Some(seconds * SECOND), "{text}");
        }
        for text in [
            "",
            "10/Okt/2000:13:55:36 -0700",
            "10/Oct/2000:24:55:36 -0700",
            "10/Oct/2000:13:55:36",
            "10/Oct/2000:13:55:36 0700",
            "10/Oct/2000 13:55:36 -0700",
            "10/Oct/1960:13:55:36 -0700",
            "00/Oct/2000:13:55:36 -0700",
            "10/Oct/2000:13:55:36 -0700x",
        ] {
            assert_eq!(parse_log_time(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn parses_iso_dates_with_optional_fraction_and_zone() {
        let hours = |hours: i64| Some(hours * 3_600);
        for (text, at, zone) in [
            ("2000-10-10T13:55:36.123-07:00", 971_211_336_123_000_000, hours(-7)),
            ("2000-10-10T20:55:36.123Z", 971_211_336_123_000_000, hours(0)),
            ("2000-10-10T20:55:36Z", 971_211_336_000_000_000, hours(0)),
            ("2000-10-10T20:55:36.1234567891+0000", 971_211_336_123_456_789, hours(0)),
            ("2000-10-10 22:55:36+02", 971_211_336_000_000_000, hours(2)),
            ("2000-10-10 20:55:36 +0000", 971_211_336_000_000_000, hours(0)),
            ("2000/10/10 20:55:36 UTC", 971_211_336_000_000_000, hours(0)),
            ("2000-10-10T20:55:36", 971_211_336_000_000_000, None),
            ("2000-10-10T20:55:36.5", 971_211_336_500_000_000, None),
        ] {
            let expected = Some(RecordedTime { at, zone });
            assert_eq!(of_date(text.as_bytes()), expected, "{text}");
            assert_eq!(parse_time(text.as_bytes()), expected, "{text}");
        }
        for text in ["", "yesterday", "2000-13-10T20:55:36Z", "2000-10-10", "2000-10/10T20:55:36"] {
            assert_eq!(of_date(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn infers_the_unit_of_a_numeric_time_from_its_size() {
        for (text, at) in [
            ("1704164645", 1_704_164_645_000_000_000),
            ("1704164645.25", 1_704_164_645_250_000_000),
            ("1704164645123", 1_704_164_645_123_000_000),
            ("1704164645123.5", 1_704_164_645_123_500_000),
            ("1704164645123456", 1_704_164_645_123_456_000),
            ("1704164645123456789", 1_704_164_645_123_456_789),
        ] {
            let expected = Some(RecordedTime { at, zone: Some(0) });
            assert_eq!(parse_time(text.as_bytes()), expected, "{text}");
        }
        for text in
            ["0.005", "12", "99999999", "1704164645s", "-1704164645", ".5", "99999999999999999999"]
        {
            assert_eq!(parse_time(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn recognizes_common_log_times_with_and_without_brackets() {
        let expected = Some(RecordedTime { at: 971_211_336 * SECOND, zone: Some(-25_200) });
        for text in ["10/Oct/2000:13:55:36 -0700", "[10/Oct/2000:13:55:36 -0700]"] {
            assert_eq!(parse_time(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn converts_a_local_time_to_utc_by_its_zone() {
        let seconds = [3_600, 0, -3_600].map(|zone| in_zone(5_000 * SECOND, zone) / SECOND);
        assert_eq!(seconds, [1_400, 5_000, 8_600]);
        assert_eq!(in_zone(1, i64::MAX), 0);
    }
}
