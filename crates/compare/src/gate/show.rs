//! Formatting of a gate's figures, with enough digits to distinguish them.

use sixmark_result::expression::Dimension;
use sixmark_units::quantity::write_count;

/// The usual number of significant digits, and the number beyond which figures only differ by
/// rounding.
const DIGITS: std::ops::RangeInclusive<usize> = 3..=12;

/// Formats two values that were compared, such that they look alike only if they are equal.
pub(super) fn pair(left: f64, right: f64, of: Dimension) -> [String; 2] {
    let mut both = [show_value(left, of), show_value(right, of)];
    for digits in DIGITS {
        both = [left, right].map(|value| show_digits(value, of, digits));
        if left == right || both[0] != both[1] {
            break;
        }
    }
    both
}

/// Formats one value.
pub(super) fn show_value(value: f64, of: Dimension) -> String {
    show_digits(value, of, *DIGITS.start())
}

fn show_digits(value: f64, of: Dimension, digits: usize) -> String {
    let sign = if value < 0.0 { "-" } else { "" };
    let size = value.abs();
    let (number, unit) = match of {
        Dimension::Time => scaled(size, &TIMES, digits),
        Dimension::Bytes => scaled(size, &SIZES, digits),
        Dimension::BytesPerS => {
            let (number, unit) = scaled(size, &SIZES, digits);
            (number, format!("{unit}/s"))
        }
        Dimension::Rate => (significant(size, digits), "/s".to_owned()),
        Dimension::Share => (significant(size * 100.0, digits), " %".to_owned()),
        Dimension::Number | Dimension::Bare => (significant(size, digits), String::new()),
        Dimension::Count => (counted(size, digits), String::new()),
    };
    format!("{sign}{number}{unit}")
}

/// Units and their values, the largest first.
type Scale = [(f64, &'static str)];

const TIMES: [(f64, &str); 3] = [(1.0, " s"), (1e-3, " ms"), (1e-6, " us")];

const SIZES: [(f64, &str); 4] = [(1e9, " GB"), (1e6, " MB"), (1e3, " kB"), (1.0, " B")];

/// Formats a value in the largest unit that it contains at least once, else in the smallest.
fn scaled(size: f64, scale: &Scale, digits: usize) -> (String, String) {
    let fits = scale.iter().find(|&&(worth, _)| size / worth >= 0.999_5);
    let (worth, unit) = fits.or(scale.last()).copied().unwrap_or((1.0, ""));
    (significant(size / worth, digits), unit.to_owned())
}

fn counted(size: f64, digits: usize) -> String {
    if size.fract() == 0.0 { show_whole(size) } else { significant(size, digits) }
}

/// Formats `digits` significant digits, or all digits before the decimal point if there are more.
fn significant(size: f64, digits: usize) -> String {
    if size == 0.0 {
        return "0".to_owned();
    }
    let before = size.log10().floor();
    // Values far below one also get significant digits: a p-value of 0.0000123 is not 0.
    let decimals = (digits as f64 - 1.0 - before).clamp(0.0, 15.0) as usize;
    match decimals {
        0 => show_whole(size.round()),
        decimals => format!("{size:.decimals$}"),
    }
}

/// Formats a whole number with thousands separators if it fits into an integer.
fn show_whole(size: f64) -> String {
    if size < 1e18 { write_count(size as u64) } else { format!("{size:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_figures_with_readable_units() {
        for (value, of, expected) in [
            (0.0123, Dimension::Time, "12.3 ms"),
            (-0.000_000_3, Dimension::Time, "-0.300 us"),
            (90.0, Dimension::Time, "90.0 s"),
            (0.0, Dimension::Time, "0 us"),
            (519e6, Dimension::BytesPerS, "519 MB/s"),
            (12.0, Dimension::Bytes, "12.0 B"),
            (126_820.4, Dimension::Rate, "126,820/s"),
            (0.002, Dimension::Share, "0.200 %"),
            (1.1, Dimension::Number, "1.10"),
            (0.000_012_34, Dimension::Number, "0.0000123"),
            (1_234_567.0, Dimension::Count, "1,234,567"),
            (12.5, Dimension::Count, "12.5"),
            (1e300, Dimension::Number, "1e300"),
        ] {
            assert_eq!(show_value(value, of), expected);
        }
    }

    #[test]
    fn adds_digits_until_different_figures_look_different() {
        assert_eq!(pair(0.010_004, 0.01, Dimension::Time), ["10.004 ms", "10.000 ms"]);
        assert_eq!(pair(0.01, 0.01, Dimension::Time), ["10.0 ms", "10.0 ms"]);
        assert_eq!(pair(1.0, 2.0, Dimension::Count), ["1", "2"]);
    }
}
