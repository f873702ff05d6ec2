//! A comparison as text for a terminal: its verdict as a sentence, and a line for each metric.

use crate::comparison_result::ComparisonResult;
use crate::{Compared, Comparison, Settings};

use super::sheet::intervals::interval_that_decides;
use super::sheet::verdict::describe_estimate;
use crate::sheet::comparison_sheet;
use sixmark_report::gate_text::write_gates;
use sixmark_sheet::Sheet;
use sixmark_sheet::terminal;

/// Returns the whole report except for warnings. It ends with a line feed.
pub fn comparison_text(result: &ComparisonResult) -> String {
    let sheet = Sheet { warnings: Vec::new(), ..comparison_sheet("", result) };
    let mut text = terminal::sheet_text(&sheet);
    write_gates(&mut text, &result.gates);
    text
}

/// Describes the estimate of the primary metric from the pairs so far, as text for a terminal:
/// `response.p50 +2.1 %, 95 % interval +0.3 % to +4.1 %`.
pub fn estimate_text(comparison: &Comparison) -> String {
    terminal::plain(&describe_estimate(comparison))
}

/// Describes the interval that decides the verdict on a metric, as text for a terminal: `95 %
/// interval +1.9 % to +5.0 %`. `None` if there is no estimate.
pub fn interval_text(of: &Compared, settings: &Settings) -> Option<String> {
    interval_that_decides(of, settings).map(|said| terminal::plain(&said))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{comparison, comparison_result};
    use crate::judge::with_noise;
    use sixmark_document::verdict::Estimate;

    /// Returns a comparison of A with itself, whose median has this interval.
    fn noise(low: f64, high: f64) -> Comparison {
        let mut noise = Comparison { b: "ipv6".into(), ..comparison() };
        noise.metrics[0].ratio = Some(Estimate { value: 1.01, low, high });
        noise
    }

    #[test]
    fn prints_the_noise_floor_below_the_verdict() {
        let mut result = comparison_result();
        assert!(!comparison_text(&result).contains("Noise floor"));
        result.noise = Some(noise(0.97, 1.02));
        result.comparison = with_noise(comparison(), &noise(0.97, 1.02));
        let text = comparison_text(&result);
        let said = "Noise floor: IPv6 differs from itself by up to 3.1 % in median response (+1.0 %,\n\
                    95 % interval -3.0 % to +2.0 %, 12 pairs).\n";
        assert!(text.contains(said), "{text}");
        assert!(text.find("WORSE") < text.find("Noise floor"), "{text}");
        result.comparison = comparison();
        let text = comparison_text(&result);
        assert!(
            text.contains("Noise floor: unknown, IPv6 can't be compared with itself"),
            "{text}"
        );
    }
}
