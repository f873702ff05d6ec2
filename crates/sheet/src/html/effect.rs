//! Drawings of estimates and their intervals. All estimates of a table share one scale.

use maud::{Markup, html};

use crate::table::EffectScale;
use crate::write::write_count;
use sixmark_document::verdict::Estimate;

/// Returns the labels of the ends and the middle of the scale, which are shown below the column's
/// heading.
pub(super) fn axis(scale: &EffectScale) -> Markup {
    let [low, middle, high] = if scale.ratios {
        let [low, high] = [scale.lowest(), scale.reach].map(|change| end_ratio(1.0 + change));
        [low, "1".to_owned(), high]
    } else {
        let [low, high] = [-scale.lowest(), scale.reach].map(effect_percent);
        [format!("−{low}"), "0".to_owned(), format!("+{high}")]
    };
    html! {
        span.axis aria-hidden="true" {
            span { (low) } span { (middle) } span { (high) }
        }
    }
}

/// Formats the ratio at an end of the scale: with two decimals, with two significant digits below
/// 0.1, as an integer from 10 on.
fn end_ratio(ratio: f64) -> String {
    match ratio {
        of if of >= 10.0 => write_count(of.round() as u64),
        of if of >= 0.1 => format!("{of:.2}"),
        of => {
            let digits = (1 - of.log10().floor() as i32).clamp(0, 9) as usize;
            format!("{of:.digits$}")
        }
    }
}

/// Returns a drawing of the margin, the interval and the estimate. What exceeds the scale is cut
/// off at its edge.
pub(super) fn drawn(estimate: &Estimate, margin: f64, scale: &EffectScale) -> Markup {
    let reach = scale.reach.ln_1p();
    // A ratio cannot change by less than -1, but a difference of shares may be as low.
    let at = |change: f64| 50.0 + 50.0 * (change.max(-1.0).ln_1p() / reach).clamp(-1.0, 1.0);
    let [low, value, high] = [estimate.low, estimate.value, estimate.high].map(at);
    let to = at(margin);
    let from = 100.0 - to;
    let wide = to - from;
    html! {
        svg.effect aria-hidden="true" width="100%" height="20" {
            rect.margin x=(bar_share(from)) y="0" width=(bar_share(wide)) height="20" {}
            line.zero x1="50%" x2="50%" y1="0" y2="20" {}
            line.interval x1=(bar_share(low)) x2=(bar_share(high)) y1="10" y2="10" {}
            @if (scale.lowest()..=scale.reach).contains(&estimate.value) {
                circle.value cx=(bar_share(value)) cy="10" r="4" {}
            }
            // Arrows show that the interval continues beyond the scale.
            @if estimate.low < scale.lowest() {
                path.beyond d="M8 5 L2 10 L8 15" {}
            }
            @if estimate.high > scale.reach {
                svg x="100%" overflow="visible" { path.beyond d="M-8 5 L-2 10 L-8 15" {} }
            }
        }
    }
}

fn bar_share(percent: f64) -> String {
    format!("{percent:.2}%")
}

fn effect_percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

#[cfg(test)]
mod tests {
    use super::end_ratio;

    #[test]
    fn writes_the_scale_ends_of_ratios_with_enough_digits() {
        let ends = [0.000_174, 0.042, 0.977, 1.024, 5.84, 10.0, 5_842.3].map(end_ratio);
        assert_eq!(ends, ["0.00017", "0.042", "0.98", "1.02", "5.84", "10", "5,842"]);
    }
}
