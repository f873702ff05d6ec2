//! Numbers and words as reports show them.

use sixmark_document::timing::Summary;
use sixmark_document::verdict::Verdict;
use sixmark_units::quantity as number;

/// Returns a line as a sentence: with a capital letter, a full stop and typographic apostrophes.
pub fn write_sentence(line: &str) -> String {
    format!("{}.", capitalised(line).replace('\'', "’"))
}

/// Returns a line with its first letter capitalised.
pub fn capitalised(line: &str) -> String {
    let mut letters = line.chars();
    let first = letters.next().map_or(String::new(), |first| first.to_uppercase().to_string());
    format!("{first}{}", letters.as_str())
}

/// Formats a duration, given in microseconds.
pub fn write_time(us: f64) -> String {
    together(number::duration_us(us))
}

/// Formats a rate in bytes per second.
pub fn write_rate(bytes_per_s: f64) -> String {
    together(number::bytes(bytes_per_s) + "/s")
}

/// Formats a number of bytes.
pub fn write_bytes(bytes: f64) -> String {
    together(number::bytes(bytes))
}

/// The factor from which a change is written as a factor rather than in percent.
const FACTOR: f64 = 2.0;

/// How changes are written. Those that belong together, such as an estimate and the ends of its
/// interval, have one form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeForm {
    /// In percent with a sign: `+3.4 %`.
    Percent,
    /// As a factor: `× 962`, `÷ 2,500`.
    Factor,
}

impl ChangeForm {
    /// Returns the form for changes of which `share` is the most important.
    pub fn of(share: f64) -> ChangeForm {
        if factor_of(share).is_some() { ChangeForm::Factor } else { ChangeForm::Percent }
    }

    /// Formats a relative change in this form.
    pub fn write(self, share: f64) -> String {
        match (self, 1.0 + share) {
            (ChangeForm::Factor, of) if of >= 1.0 => together(format!("× {}", times(of))),
            (ChangeForm::Factor, of) if of > 0.0 => together(format!("÷ {}", times(of.recip()))),
            _ => share_difference(share),
        }
    }
}

/// Formats a number of events per second: with one decimal below 100, as an integer above.
pub fn per_s(value: f64) -> String {
    number::write_per_s(value)
}

/// Formats an integer, with a comma between groups of three digits.
pub fn write_count(value: u64) -> String {
    number::write_count(value)
}

/// Formats a ratio, or an end of its interval, with three decimals from 0.1 to 100, else with four
/// significant digits.
pub fn write_ratio(ratio: f64) -> String {
    if (0.1..100.0).contains(&ratio) { format!("{ratio:.3}") } else { figure(ratio) }
}

/// Formats a share (0 to 1) in percent.
pub fn write_percent(share: f64) -> String {
    together(number::write_percent(share))
}

/// Formats a relative change: in percent with its sign (0.034 becomes `+3.4 %`), or as a factor if
/// it is twofold or more (961.3 becomes `× 962`, -0.9996 becomes `÷ 2,500`).
pub fn change(share: f64) -> String {
    ChangeForm::of(share).write(share)
}

/// Formats a relative change without its direction as a factor, if it is twofold or more: 961.3
/// and -0.99896 become `962`. Returns `None` for a smaller change.
fn factor_of(share: f64) -> Option<String> {
    match 1.0 + share {
        of if of >= FACTOR => Some(times(of)),
        of if of > 0.0 && of <= 1.0 / FACTOR => Some(times(of.recip())),
        _ => None,
    }
}

/// Formats a factor: with one decimal below 100, as an integer from there on.
pub fn times(factor: f64) -> String {
    match factor {
        of if of < 99.95 => format!("{of:.1}"),
        of => write_count(of.round() as u64),
    }
}

/// Formats a difference of two shares in percentage points with its sign: 0.034 becomes `+3.4 %`.
pub fn share_difference(share: f64) -> String {
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

/// Formats the position `q` (0 to 1) of a quantile in percent: 0.999 becomes `99.9 %`.
pub fn quantile(q: f64) -> String {
    let text = format!("{:.6}", q * 100.0);
    together(format!("{} %", text.trim_end_matches('0').trim_end_matches('.')))
}

/// Replaces spaces by no-break spaces, so that a number and its unit stay on one line.
pub fn together(text: String) -> String {
    text.replace(' ', "\u{a0}")
}

/// Formats a number with four significant digits, or with all integer digits, in groups of three,
/// from 1,000 on.
pub fn figure(value: f64) -> String {
    let digits = match value.abs() {
        v if v == 0.0 || v >= 1e3 => 0,
        v => (3 - v.log10().floor() as i32).clamp(0, 6) as usize,
    };
    if digits == 0 && (0.0..1e15).contains(&value) {
        return write_count(value.round() as u64);
    }
    let text = format!("{value:.digits$}").replace('-', "−");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Groups the integer digits of each number in a text, from 1,000 on, and leaves its other digits as
/// they are: `8752.1 to 8615.50` becomes `8,752.1 to 8,615.50`.
pub fn grouped(text: &str) -> String {
    let number = |word: &str| {
        let digits = word.strip_prefix('-').unwrap_or(word);
        let end = digits.find('.').unwrap_or(digits.len());
        let sign = if digits.len() < word.len() { "−" } else { "" };
        match digits[..end].parse() {
            Ok(whole) => format!("{sign}{}{}", write_count(whole), &digits[end..]),
            Err(_) => word.to_owned(),
        }
    };
    text.split(' ').map(number).collect::<Vec<_>>().join(" ")
}

/// Formats the figure `name` of a summary, whose value is `us`. A value that is only a lower bound,
/// because it depends on exchanges that were unanswered when the load ended, is preceded by `>`: `>
/// 2.00 s`.
pub fn write_bound(of: &Summary, name: &str, us: f64, write: impl Fn(f64) -> String) -> String {
    let is_bound = match name {
        "mean" => of.at_least.is_some(),
        _ => of.is_lower_bound(us),
    };
    if is_bound { format!("> {}", write(us)) } else { write(us) }
}

/// Returns the word for a verdict.
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
    fn formats_times_changes_and_quantiles() {
        let plain = |text: String| text.replace('\u{a0}', " ");
        assert_eq!([12.3, 12_300.0].map(write_time).map(plain), ["12.3 us", "12.3 ms"]);
        let changes = [0.034, -0.0001, -0.12].map(change).map(plain);
        assert_eq!(changes, ["+3.4 %", "+0.0 %", "−12.0 %"]);
        assert_eq!([0.934, 42.69].map(change).map(plain), ["+93.4 %", "× 43.7"]);
        assert_eq!([961.0, -0.4, 0.2].map(factor_of), [Some("962".to_owned()), None, None]);
        let ends = [1.7, 2.3, -0.2].map(|end| ChangeForm::of(2.0).write(end)).map(plain);
        assert_eq!(ends, ["× 2.7", "× 3.3", "÷ 1.2"]);
        let ends = [-0.81, 2.2].map(|end| ChangeForm::of(0.015).write(end)).map(plain);
        assert_eq!(ends, ["−81.0 %", "+220 %"]);
        let far = [961.32, -0.9996, -0.999_999_9, -1.0].map(change).map(plain);
        assert_eq!(far, ["× 962", "÷ 2,500", "÷ 10,000,000", "−100 %"]);
        assert_eq!([0.034, 7.5].map(share_difference).map(plain), ["+3.4 %", "+750 %"]);
        let quantiles = [0.5, 0.999, 0.99999].map(quantile).map(plain);
        assert_eq!(quantiles, ["50 %", "99.9 %", "99.999 %"]);
        assert_eq!(grouped("8752.10 to 8615.5"), "8,752.10 to 8,615.5");
        assert_eq!(["-0.21", "7522", "0.00", "-"].map(grouped), ["−0.21", "7,522", "0.00", "-"]);
    }
}
