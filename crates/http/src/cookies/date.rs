//! Dates of cookies (RFC 6265, 5.1.1). Servers write them in many forms; the algorithm looks for a
//! time, a day, a month and a year in any order, and ignores the rest.

use sixmark_units::calendar::{MONTHS, days_since_1970, is_day};

/// The first year that a date may have: that of the Gregorian calendar's first whole century.
const FIRST_YEAR: i64 = 1601;

/// Parses a date. Returns the seconds since 1970, negative before it; `None` if the text has no
/// date, or one that does not exist. Time zones are ignored: all dates are in UTC.
pub(super) fn parse_date(text: &[u8]) -> Option<i64> {
    let mut found = Parts::default();
    text.split(|&byte| is_delimiter(byte)).for_each(|token| found.read(token));
    found.seconds()
}

/// The parts of a date found so far.
#[derive(Default)]
struct Parts {
    /// Hours, minutes and seconds.
    time: Option<[i64; 3]>,
    day: Option<i64>,
    /// The month, from 1.
    month: Option<i64>,
    year: Option<i64>,
}

impl Parts {
    /// Reads a token as the first part, in this order, that has not been found and whose form it
    /// has.
    fn read(&mut self, token: &[u8]) {
        let Parts { time, day, month, year } = self;
        let _is_known = first(time, || read_time(token))
            || first(day, || read_number(token, 1..=2))
            || first(month, || read_month(token))
            || first(year, || read_number(token, 2..=4));
    }

    fn seconds(&self) -> Option<i64> {
        let [hours, minutes, seconds] = self.time?;
        let (day, month) = (self.day?, self.month?);
        let year = match self.year? {
            year @ 70..=99 => year + 1900,
            year @ 0..=69 => year + 2000,
            year => year,
        };
        let exists = year >= FIRST_YEAR && hours < 24 && minutes < 60 && seconds < 60;
        let of_day = hours * 3_600 + minutes * 60 + seconds;
        (exists && is_day(year, month, day))
            .then(|| days_since_1970(year, month, day) * 86_400 + of_day)
    }
}

/// Sets a part that has not been found. Returns true if it was found now.
fn first<T>(part: &mut Option<T>, read: impl FnOnce() -> Option<T>) -> bool {
    if part.is_some() {
        return false;
    }
    *part = read();
    part.is_some()
}

/// Returns true for the bytes between the tokens of a date.
fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b'\t' | b' '..=b'/' | b';'..=b'@' | b'['..=b'`' | b'{'..=b'~')
}

/// Parses hours, minutes and seconds of one or two digits each, between colons. Anything but a
/// digit may follow.
fn read_time(token: &[u8]) -> Option<[i64; 3]> {
    let mut parts = token.splitn(3, |&byte| byte == b':');
    let [hours, minutes, rest] = [parts.next()?, parts.next()?, parts.next()?];
    let all_digits = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
    if !all_digits(hours) || !all_digits(minutes) {
        return None;
    }
    let two = |part| read_number(part, 1..=2);
    Some([two(hours)?, two(minutes)?, two(rest)?])
}

/// Parses a month by its first three letters, whatever follows.
fn read_month(token: &[u8]) -> Option<i64> {
    let letters = token.get(..3)?;
    let at = MONTHS.iter().position(|name| letters.eq_ignore_ascii_case(name.as_bytes()))?;
    i64::try_from(at + 1).ok()
}

/// Parses the digits at the beginning if there are `count` of them, whatever follows.
fn read_number(token: &[u8], count: std::ops::RangeInclusive<usize>) -> Option<i64> {
    let digits = token.iter().take_while(|byte| byte.is_ascii_digit());
    count
        .contains(&digits.clone().count())
        .then(|| digits.fold(0, |number, digit| number * 10 + i64::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2015-10-21T07:28:00Z.
    const THEN: i64 = 1_445_412_480;

    #[test]
    fn parses_dates_in_all_forms_that_servers_send() {
        for text in [
            // RFC 1123, RFC 850, asctime, and between them.
            "Wed, 21 Oct 2015 07:28:00 GMT",
            "Wednesday, 21-Oct-15 07:28:00 GMT",
            "Wed Oct 21 07:28:00 2015",
            "Wed, 21-Oct-2015 07:28:00 GMT",
            "Wed,21-Oct-15 07:28:00 GMT",
            // Tokens in any order.
            "21 Oct 07:28:00 2015",
            "07:28:00 21 Oct 2015",
            "07:28:00 Wed Oct 21 2015 GMT",
            "Oct 07:28:00 21 2015",
            "Oct 21 2015 GMT 07:28:00",
            "21 2015 Oct 07:28:00",
            "21 15 Oct 07:28:00",
            "2015 21 Oct 07:28:00",
            "21-Wed, Oct-15 07:28:00 GMT",
            // Other delimiters, and more of them.
            "Wed, 21/Oct\\2015 07:28:00 GMT",
            "\"Wed, 21-Oct-15\\\"07:28:00\\\"GMT\"",
            "Wed\t21\tOct\t2015\t07:28:00",
            " , 21 - Oct -  2015   07:28:00  ",
            "21{Oct}2015~07:28:00",
            // Names that are none, months that are longer or in another case.
            "Someday, 21 OCTOBER 2015 07:28:00",
            "21 octo 2015 07:28:00",
            "X 21 oCt 2015 07:28:00",
            // What follows the time is no zone.
            "Wed, 21 Oct 2015 07:28:00",
            "Wed, 21 Oct 2015 07:28:00 +0900",
            "Wed, 21 Oct 2015 07:28:00 GMT-0900 (JST)",
            "Wed, 21 Oct 2015 07:28:00GMT",
            "Wed, 21 Oct 2015 07:28:00.750 GMT",
            // Few digits, and what is next to digits.
            "Wed, 21 Oct 2015 7:28:0 GMT",
            "Wed, 21st Oct 2015AD 07:28:00 GMT",
            // The first of each counts.
            "Wed, 21 Oct 2015 07:28:00 22 Nov 2016 08:29:01",
            // What is no time is passed over.
            "Wed, 21 Oct 2015 ::00 07:28:00",
            "Wed, 21 Oct 2015 a:b:c 07:28:00",
            "Wed, 21 Oct 2015 07:28 07:28:00",
        ] {
            assert_eq!(parse_date(text.as_bytes()), Some(THEN), "{text}");
        }
    }

    #[test]
    fn a_year_of_two_digits_is_between_1970_and_2069() {
        for (year, seconds) in [
            ("70", 0),
            ("1970", 0),
            ("99", 915_148_800),
            ("00", 946_684_800),
            ("69", 3_124_224_000),
            ("2069", 3_124_224_000),
            ("1601", -11_644_473_600),
            ("9999", 253_370_764_800),
        ] {
            let text = format!("Thu, 01-Jan-{year} 00:00:00 GMT");
            assert_eq!(parse_date(text.as_bytes()), Some(seconds), "{text}");
        }
        assert_eq!(parse_date(b"29 Feb 2024 23:59:59"), Some(1_709_251_199));
    }

    #[test]
    fn rejects_malformed_dates() {
        for text in [
            "",
            "tomorrow",
            "0",
            // A part is missing.
            "21 Oct 2015",
            "Oct 2015 07:28:00",
            "21 2015 07:28:00",
            "21 Oct 07:28:00",
            "21 Oct 2015 07:28",
            "21 Oct 2015 07: 28:00",
            // A part is out of range, or the day does not exist.
            "0 Oct 2015 07:28:00",
            "32 Oct 2015 07:28:00",
            "31 Nov 2015 07:28:00",
            "29 Feb 2015 07:28:00",
            "21 Oct 1600 07:28:00",
            "21 Oct 2015 24:28:00",
            "21 Oct 2015 07:60:00",
            "21 Oct 2015 07:28:60",
            "21 Oct 2015 91:22:33 07:28:00",
            // A part has too many digits, or is none.
            "021 Oct 2015 07:28:00",
            "21 Oct 20150 07:28:00",
            "21 Oct 2015 007:28:00",
            "21 Oct 2015 07:28:000",
            "21 Ok 2015 07:28:00",
            "21 10 2015 07:28:00",
            "\u{e4}21 Oct 2015 07:28:00",
        ] {
            assert_eq!(parse_date(text.as_bytes()), None, "{text}");
        }
    }
}
