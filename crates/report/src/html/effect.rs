//! An estimate with its interval, drawn beside the others of its table on one scale.

use maud::{Markup, html};

use crate::sheet::table::EffectScale;
use sixmark_model::comparison::Estimate;

/// Ends of the scale, beneath the column's head.
pub(super) fn axis(scale: &EffectScale) -> Markup {
    let reach = effect_percent(scale.reach);
    html! {
        span.axis aria-hidden="true" {
            span { "−" (reach) } span { "0" } span { "+" (reach) }
        }
    }
}

/// The margin, the interval and the estimate. What reaches further than the scale ends at its edge.
pub(super) fn drawn(estimate: &Estimate, scale: &EffectScale) -> Markup {
    let at = |share: f64| 50.0 + 50.0 * (share / scale.reach).clamp(-1.0, 1.0);
    let [low, value, high] = [estimate.low, estimate.value, estimate.high].map(at);
    let [from, to] = [-scale.margin, scale.margin].map(at);
    let wide = to - from;
    html! {
        svg.effect aria-hidden="true" width="100%" height="20" {
            rect.margin x=(bar_share(from)) y="0" width=(bar_share(wide)) height="20" {}
            line.zero x1="50%" x2="50%" y1="0" y2="20" {}
            line.interval x1=(bar_share(low)) x2=(bar_share(high)) y1="10" y2="10" {}
            @if estimate.value.abs() <= scale.reach {
                circle.value cx=(bar_share(value)) cy="10" r="4" {}
            }
            // Arrows where the interval goes on.
            @if estimate.low < -scale.reach {
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
