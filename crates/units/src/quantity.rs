//! Numbers as text for people: three significant digits and a unit.

/// Formats an integer with a comma between groups of three digits.
pub fn write_count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a duration, given in microseconds, in us, ms or s, whichever suits its size.
pub fn duration_us(us: f64) -> String {
    match us {
        us if us < 999.5 => format!("{} us", three(us)),
        us if us < 999.5e3 => format!("{} ms", three(us / 1e3)),
        us => format!("{} s", three(us / 1e6)),
    }
}

/// Formats a number of bytes in decimal units (B, kB, MB, GB), as is usual for network rates.
pub fn bytes(value: f64) -> String {
    let (scale, unit) = match value {
        v if v < 999.5 => (1.0, "B"),
        v if v < 999.5e3 => (1e3, "kB"),
        v if v < 999.5e6 => (1e6, "MB"),
        _ => (1e9, "GB"),
    };
    format!("{} {unit}", three(value / scale))
}

/// Formats a number of events per second: with one decimal below 100, as an integer above.
pub fn write_per_s(value: f64) -> String {
    if value < 99.95 { format!("{value:.1}") } else { write_count(value.round() as u64) }
}

/// Formats a share, 0 to 1, in percent.
pub fn write_percent(share: f64) -> String {
    match share * 100.0 {
        p if p == 0.0 || p.abs() >= 9.95 => format!("{p:.0} %"),
        p if p.abs() >= 0.095 => format!("{p:.1} %").replace(".0 %", " %"),
        p => format!("{p:.2} %"),
    }
}

/// Formats a duration of which only the size is known, in whole seconds, minutes, hours or days:
/// `20 minutes`.
pub fn write_about(seconds: f64) -> String {
    let rounded = |number: f64| number.round().max(1.0) as u64;
    match seconds {
        s if s < 119.5 => format!("{} s", rounded(s)),
        s if s < 119.5 * 60.0 => format!("{} minutes", rounded(s / 60.0)),
        s if s < 47.5 * 3_600.0 => format!("{} hours", rounded(s / 3_600.0)),
        s => format!("{} days", write_count(rounded(s / 86_400.0))),
    }
}

/// Formats a number with three significant digits; integer digits are never rounded away.
fn three(value: f64) -> String {
    match value {
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => format!("{v:.0}"),
    }
}

/// Formats a number with its noun in the singular or plural.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", write_count(number), if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_counts_durations_bytes_and_shares() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(write_count), ["0", "999", "1,000", "1,234,567"]);
        let durations = [0.0, 9.996, 99.96, 999.4, 999.6, 2_500_000.0].map(duration_us);
        assert_eq!(durations, ["0.00 us", "10.0 us", "100 us", "999 us", "1.00 ms", "2.50 s"]);
        assert_eq!(
            [12.0, 4_096.0, 1e7, 2.5e9].map(bytes),
            ["12.0 B", "4.10 kB", "10.0 MB", "2.50 GB"]
        );
        let shares = [0.0, 0.05, 0.034, 0.0004, 0.5].map(write_percent);
        assert_eq!(shares, ["0 %", "5 %", "3.4 %", "0.04 %", "50 %"]);
        assert_eq!([12.34, 1_234.5].map(write_per_s), ["12.3", "1,235"]);
        let about = [0.2, 27.4, 119.6, 1_210.0, 9_000.0, 1.8e5].map(write_about);
        assert_eq!(about, ["1 s", "27 s", "2 minutes", "20 minutes", "3 hours", "2 days"]);
    }
}
