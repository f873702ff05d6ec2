//! Numbers as people read them: three digits that matter, and a unit.

/// A whole number with its thousands apart.
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

/// A duration in microseconds, in the unit that suits it.
pub fn duration_us(us: f64) -> String {
    match us {
        us if us < 999.5 => format!("{} us", three(us)),
        us if us < 999.5e3 => format!("{} ms", three(us / 1e3)),
        us => format!("{} s", three(us / 1e6)),
    }
}

/// Bytes in decimal units, as network rates have them.
pub fn bytes(value: f64) -> String {
    let (scale, unit) = match value {
        v if v < 999.5 => (1.0, "B"),
        v if v < 999.5e3 => (1e3, "kB"),
        v if v < 999.5e6 => (1e6, "MB"),
        _ => (1e9, "GB"),
    };
    format!("{} {unit}", three(value / scale))
}

/// Three significant digits where there are decimals to leave out.
fn three(value: f64) -> String {
    match value {
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => format!("{v:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(write_count), ["0", "999", "1,000", "1,234,567"]);
        let durations = [0.0, 9.996, 99.96, 999.4, 999.6, 2_500_000.0].map(duration_us);
        assert_eq!(durations, ["0.00 us", "10.0 us", "100 us", "999 us", "1.00 ms", "2.50 s"]);
        assert_eq!(
            [12.0, 4_096.0, 1e7, 2.5e9].map(bytes),
            ["12.0 B", "4.10 kB", "10.0 MB", "2.50 GB"]
        );
    }
}
