//! Points in time as written in logs and recordings, in nanoseconds since the start of 1970.

const SECOND: u64 = 1_000_000_000;
const MONTHS: [&[u8]; 12] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
];

/// Parses `10/Oct/2000:13:55:36 -0700`, which has a resolution of one second.
pub(super) fn of_log(text: &[u8]) -> Option<u64> {
    let (day, rest) = (parse_digits(text.get(..2)?)?, text.get(2..)?);
    let month = MONTHS.iter().position(|&month| rest.get(1..4) == Some(month))? + 1;
    let marks = rest.first() == Some(&b'/') && rest.get(4) == Some(&b'/');
    let year = parse_digits(rest.get(5..9)?)?;
    let clock = clock(rest.get(10..18)?)?;
    let zone = zone(rest.get(19..24)?)?;
    let fits = marks && rest.get(9) == Some(&b':') && rest.get(18) == Some(&b' ');
    (fits && rest.len() == 24)
        .then(|| seconds_since_epoch(year, month as i64, day, clock - zone))?
}

/// Parses RFC 3339, as in `2000-10-10T13:55:36.123-07:00`.
pub(super) fn of_har(text: &str) -> Option<u64> {
    let text = text.as_bytes();
    let [year, month, day] = [text.get(..4)?, text.get(5..7)?, text.get(8..10)?].map(parse_digits);
    let marks = [text.get(4)?, text.get(7)?] == [&b'-', &b'-'];
    let time = matches!(text.get(10)?, b'T' | b't' | b' ');
    let clock = clock(text.get(11..19)?)?;
    let (fraction, rest) = fraction(text.get(19..)?);
    let zone = match rest {
        b"Z" | b"z" => 0,
        [sign, h1, h2, b':', m1, m2] => zone(&[*sign, *h1, *h2, *m1, *m2])?,
        _ => zone(rest)?,
    };
    (marks && time)
        .then(|| seconds_since_epoch(year?, month?, day?, clock - zone))?
        .map(|at| at + fraction)
}

fn parse_digits(digits: &[u8]) -> Option<i64> {
    let plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    plain.then(|| digits.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0')))
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
    let seconds = hours * 3_600 + minutes * 60;
    match sign {
        b'+' if hours < 24 => Some(seconds),
        b'-' if hours < 24 => Some(-seconds),
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
    let at = fits.then(|| days(year, month, day) * 86_400 + clock)?;
    u64::try_from(at).ok()?.checked_mul(SECOND)
}

/// Returns the days since the start of 1970 in the Gregorian calendar. Years begin in March, so
/// that the leap day is the last one; 400 years have 146,097 days.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month < 3 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_log_is_read_with_its_zone() {
        for (text, seconds) in [
            ("10/Oct/2000:13:55:36 -0700", 971_211_336),
            ("01/Jan/1970:00:00:00 +0000", 0),
            ("29/Feb/2024:23:59:59 +0000", 1_709_251_199),
            ("01/Mar/2024:01:00:00 +0100", 1_709_251_200),
            ("31/Dec/2099:23:59:59 +0000", 4_102_444_799),
        ] {
            assert_eq!(of_log(text.as_bytes()), Some(seconds * SECOND), "{text}");
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
            assert_eq!(of_log(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn the_time_of_a_recording_has_fractions() {
        for (text, nanoseconds) in [
            ("2000-10-10T13:55:36.123-07:00", 971_211_336_123_000_000),
            ("2000-10-10T20:55:36.123Z", 971_211_336_123_000_000),
            ("2000-10-10T20:55:36Z", 971_211_336_000_000_000),
            ("2000-10-10T20:55:36.1234567891+0000", 971_211_336_123_456_789),
        ] {
            assert_eq!(of_har(text), Some(nanoseconds), "{text}");
        }
        for text in ["", "yesterday", "2000-13-10T20:55:36Z", "2000-10-10T20:55:36", "2000-10-10"] {
            assert_eq!(of_har(text), None, "{text}");
        }
    }
}
