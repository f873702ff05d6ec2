//! Numbers as a page has them.

use sixmark_document::timing::Summary;
use sixmark_document::verdict::Verdict;
use sixmark_units::quantity as number;

/// A line as a sentence of a page.
pub fn write_sentence(line: &str) -> String {
    format!("{}.", capitalised(line).replace('\'', "’"))
}

/// With a capital at the start.
pub fn capitalised(line: &str) -> String {
    let mut letters = line.chars();
    let first = letters.next().map_or(String::new(), |first| first.to_uppercase().to_string());
    format!("{first}{}", letters.as_str())
}

/// A duration in microseconds.
pub fn write_time(us: f64) -> String {
    together(number::duration_us(us).replace(" us", " µs"))
}

/// Bytes a second.
pub fn write_rate(bytes_per_s: f64) -> String {
    together(number::bytes(bytes_per_s) + "/s")
}

/// A number of bytes.
pub fn write_bytes(bytes: f64) -> String {
    together(number::bytes(bytes))
}

/// A number that may be large, without decimals where they say nothing.
pub fn per_s(value: f64) -> String {
    number::write_per_s(value)
}

/// A whole number.
pub fn write_count(value: u64) -> String {
    number::write_count(value)
}

/// A share (0 to 1) in percent.
pub fn write_percent(share: f64) -> String {
    together(number::write_percent(share))
}

/// A change as a share, in percent with its sign: 0.034 is +3.4 %.
pub fn change(share: f64) -> String {
    let text = match share * 100.0 {
        p if p.abs() >= 999.5 => format!("{}{} %", sign(p), write_count(p.abs().round() as u64)),
        p if p.abs() >= 99.95 => format!("{p:+.0} %"),
        p => format!("{p:+.1} %").replace("-0.0 %", "+0.0 %"),
    };
    together(text.replace('-', "−"))
}

fn sign(value: f64) -> char {
    if value < 0.0 { '-' } else { '+' }
}

/// The quantile at `q` (0 to 1), in percent.
pub fn quantile(q: f64) -> String {
    let text = format!("{:.6}", q * 100.0);
    together(format!("{} %", text.trim_end_matches('0').trim_end_matches('.')))
}

/// A number and its unit stay on one line.
pub fn together(text: String) -> String {
    text.replace(' ', "\u{a0}")
}

/// Four digits that matter, thousands apart.
pub fn figure(value: f64) -> String {
    let digits = match value.abs() {
        v if v == 0.0 || v >= 1e3 => 0,
        v => (3 - v.log10().floor() as i32).clamp(0, 6) as usize,
    };
    if digits == 0 && (0.0..1e15).contains(&value) {
        return write_count(value.round() as u64);
    }
    let text = format!("{value:.digits$}").replace('-', "−");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Writes the figure `name` of some durations, which is `us`: `> 2.00 s` where only a lower bound is
/// known, since it falls among exchanges that were unanswered at the end.
pub fn write_bound(of: &Summary, name: &str, us: f64, write: impl Fn(f64) -> String) -> String {
    let is_bound = match name {
        "mean" => of.at_least.is_some(),
        _ => of.is_lower_bound(us),
    };
    if is_bound { format!("> {}", write(us)) } else { write(us) }
}

/// A verdict in a word.
pub(super) fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Equivalent => "equivalent",
        Verdict::Inconclusive => "inconclusive",
        Verdict::NotComparable => "not comparable",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        let plain = |text: String| text.replace('\u{a0}', " ");
        assert_eq!([12.3, 12_300.0].map(write_time).map(plain), ["12.3 µs", "12.3 ms"]);
        let changes = [0.034, -0.0001, -0.12].map(change).map(plain);
        assert_eq!(changes, ["+3.4 %", "+0.0 %", "−12.0 %"]);
        assert_eq!([1.234, 42.69].map(change).map(plain), ["+123 %", "+4,269 %"]);
        let quantiles = [0.5, 0.999, 0.99999].map(quantile).map(plain);
        assert_eq!(quantiles, ["50 %", "99.9 %", "99.999 %"]);
    }
}
