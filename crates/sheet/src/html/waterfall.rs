//! Drawings of the steps of a waterfall: each begins where the one before it ended.

use maud::{Markup, html};

use crate::table::StepOf;

/// The least width of a bar, in percent: a step of nothing remains visible.
const LEAST: f64 = 0.5;

/// Returns a drawing of a step between two shares of the width.
pub(super) fn draw_step([from, to]: [f64; 2], of: StepOf) -> Markup {
    let percent = |share: f64| 100.0 * share.clamp(0.0, 1.0);
    let (low, high) = (percent(from.min(to)), percent(from.max(to)));
    let wide = (high - low).max(LEAST);
    let kind = match of {
        StepOf::Whole(place) => format!("whole p{place}"),
        StepOf::Cause => "cause".to_owned(),
        StepOf::Part => "part".to_owned(),
    };
    html! {
        svg.waterfall aria-hidden="true" width="100%" height="20" {
            rect class=(kind) x=(format!("{:.2}%", low.min(100.0 - LEAST))) y="4" width=(format!("{wide:.2}%")) height="12" {}
            line.reached x1=(format!("{:.2}%", percent(to))) x2=(format!("{:.2}%", percent(to))) y1="0" y2="20" {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_a_step_in_either_direction_and_keeps_an_empty_one_visible() {
        let slower = draw_step([0.5, 0.75], StepOf::Cause).into_string();
        assert!(slower.contains(r#"class="cause" x="50.00%" y="4" width="25.00%""#), "{slower}");
        let faster = draw_step([0.75, 0.5], StepOf::Part).into_string();
        assert!(faster.contains(r#"class="part" x="50.00%" y="4" width="25.00%""#), "{faster}");
        let nothing = draw_step([1.0, 1.0], StepOf::Whole(1)).into_string();
        assert!(
            nothing.contains(r#"class="whole p1" x="99.50%" y="4" width="0.50%""#),
            "{nothing}"
        );
    }
}
