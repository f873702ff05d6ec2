//! Notes on measured results that contradict the published ones.

use sixmark_design::study_result::{ComparisonEntry, RatioFinding, StudyComparison};

/// Returns a sentence for each contradiction; none if the results agree, or if nothing was
/// published.
pub(super) fn notes(of: &StudyComparison) -> impl Iterator<Item = String> {
    [turned(of), gone(of)].into_iter().flatten()
}

/// Returns the direction of the published figures; `None` if none has one, or if they disagree.
fn direction(published: &[ComparisonEntry]) -> Option<RatioFinding> {
    let shown = |finding| published.iter().any(|entry| entry.finding == finding);
    match (shown(RatioFinding::Higher), shown(RatioFinding::Lower)) {
        (true, false) => Some(RatioFinding::Higher),
        (false, true) => Some(RatioFinding::Lower),
        _ => None,
    }
}

/// Notes that a direction is opposite to the published one. The whole interval must be beyond the
/// margin, because a difference that does not matter contradicts nothing.
fn turned(comparison: &StudyComparison) -> Option<String> {
    let published = direction(&comparison.published)?;
    let margin = comparison.margin_percent;
    let against = |entry: &ComparisonEntry| {
        entry.ratio.is_some_and(|ratio| match published {
            RatioFinding::Higher => ratio.is_below(margin),
            _ => ratio.is_above(margin),
        })
    };
    let rows = rows(&comparison.entries, against)?;
    Some(format!("The direction{rows} is opposite to the published figures."))
}

/// Notes that figures are equivalent although the published ones differ.
fn gone(comparison: &StudyComparison) -> Option<String> {
    direction(&comparison.published)?;
    let rows = rows(&comparison.entries, |entry| entry.finding == RatioFinding::Equivalent)?;
    let margin = comparison.margin_percent;
    Some(format!("No difference beyond {margin} %{rows}, unlike the published figures."))
}

/// Names the rows for which `is` returns true; empty if these are all rows, `None` if there are
/// none.
fn rows(entries: &[ComparisonEntry], is: impl Fn(&ComparisonEntry) -> bool) -> Option<String> {
    let labels: Vec<&str> = entries.iter().filter(|e| is(e)).map(|e| e.label.as_str()).collect();
    match labels.len() {
        0 => None,
        all if all == entries.len() => Some(String::new()),
        _ => Some(format!(" in {}", labels.join("; "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixmark_design::study_result::MeanRatio;

    fn entry(label: &str, finding: RatioFinding, [low, high]: [f64; 2]) -> ComparisonEntry {
        let ratio =
            Some(MeanRatio { value: (low * high).sqrt(), low: Some(low), high: Some(high) });
        let (label, sentence) = (label.into(), "s".into());
        ComparisonEntry {
            label,
            at: Vec::new(),
            pairs: 3,
            higher: 0,
            ratio,
            finding,
            sentence,
            why: None,
        }
    }

    /// Returns the notes on measured entries beside published figures of one direction.
    fn said(entries: Vec<ComparisonEntry>, published: RatioFinding) -> String {
        let comparison = StudyComparison {
            name: "c".into(),
            title: "C".into(),
            measure: "goodput".parse().unwrap(),
            factor: "family".into(),
            a: "ipv6".into(),
            b: "ipv4".into(),
            interaction: None,
            paired_by: vec!["size".into()],
            margin_percent: 5.0,
            entries,
            published: vec![entry("", published, [1.1, 1.2])],
        };
        notes(&comparison).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn reports_a_direction_opposite_to_the_published_one() {
        let said = |published| said(vec![entry("x", RatioFinding::Lower, [0.8, 0.95])], published);
        assert!(said(RatioFinding::Higher).contains("opposite"));
        assert_eq!(
            (said(RatioFinding::Lower), said(RatioFinding::Unshown)),
            (String::new(), String::new())
        );
    }

    #[test]
    fn does_not_call_a_difference_within_the_margin_opposite() {
        let little = entry("nginx", RatioFinding::Equivalent, [0.995, 0.999]);
        let some = entry("apache", RatioFinding::Lower, [0.93, 0.98]);
        let both = said(vec![little.clone(), some.clone()], RatioFinding::Higher);
        assert_eq!(both, "No difference beyond 5 % in nginx, unlike the published figures.");
        let much = entry("caddy", RatioFinding::Lower, [0.5, 0.6]);
        let all = said(vec![little, some, much], RatioFinding::Higher);
        let turned = "The direction in caddy is opposite to the published figures.";
        assert!(all.contains(turned), "{all}");
    }
}
