//! An estimate with its interval, drawn beside the others of its table on one scale.

use crate::sheet::table::EffectScale;
use sixmark_model::comparison::Estimate;

/// Ends of the scale, beneath the column's head.
pub(super) fn axis(scale: &EffectScale) -> String {
    let reach = percent(scale.reach);
    format!(
        "<span class=\"axis\" aria-hidden=\"true\"><span>−{reach}</span><span>0</span>\
         <span>+{reach}</span></span>"
    )
}

/// The margin, the interval and the estimate. What reaches further than the scale ends at its edge.
pub(super) fn drawn(estimate: &Estimate, scale: &EffectScale) -> String {
    let at = |share: f64| 50.0 + 50.0 * (share / scale.reach).clamp(-1.0, 1.0);
    let [low, value, high] = [estimate.low, estimate.value, estimate.high].map(at);
    let [from, to] = [-scale.margin, scale.margin].map(at);
    let wide = to - from;
    format!(
        "<svg class=\"effect\" aria-hidden=\"true\" width=\"100%\" height=\"20\">\
         <rect class=\"margin\" x=\"{from:.2}%\" y=\"0\" width=\"{wide:.2}%\" height=\"20\"/>\
         <line class=\"zero\" x1=\"50%\" x2=\"50%\" y1=\"0\" y2=\"20\"/>\
         <line class=\"interval\" x1=\"{low:.2}%\" x2=\"{high:.2}%\" y1=\"10\" y2=\"10\"/>\
         {}{}</svg>",
        dot(estimate, scale, value),
        beyond(estimate, scale)
    )
}

/// The estimate, where it is on the scale.
fn dot(estimate: &Estimate, scale: &EffectScale, at: f64) -> String {
    match estimate.value.abs() <= scale.reach {
        true => format!("<circle class=\"value\" cx=\"{at:.2}%\" cy=\"10\" r=\"4\"/>"),
        false => String::new(),
    }
}

/// Arrows where the interval goes on.
fn beyond(estimate: &Estimate, scale: &EffectScale) -> String {
    let left = "<path class=\"beyond\" d=\"M8 5 L2 10 L8 15\"/>";
    let right = "<svg x=\"100%\" overflow=\"visible\"><path class=\"beyond\" d=\"M-8 5 L-2 10 L-8 15\"/></svg>";
    let arrow = |beyond: bool, arrow: &str| if beyond { arrow.to_owned() } else { String::new() };
    arrow(estimate.low < -scale.reach, left) + &arrow(estimate.high > scale.reach, right)
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}
