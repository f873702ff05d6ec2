//! What was sent and never arrived is shown, and labels are those of the study.

use super::*;

#[test]
fn keeps_table_rows_without_any_response() {
    let text = format!("{SIZES}[[tables]]\nname = 't'\nrows = ['size']\nmeasures = ['goodput']\n");
    let study = study(&text);
    let cells = counted(&study, |at| if size(at) == 1.0 { 10 } else { 0 });
    let (tables, ..) = outputs(&study, &cells);
    let levels: Vec<_> = tables[0].rows.iter().map(|row| row.levels[0].as_str()).collect();
    assert_eq!(levels, ["1", "2"]);
}

#[test]
fn lists_a_comparison_in_which_a_side_got_no_response() {
    let text = format!(
        "{SIZES}[[comparisons]]\nname = 'c'\nmeasure = 'goodput'\nby = ['size']\n\
         [labels]\nsize = {{ label = 'file', unit = 'B' }}\n"
    );
    let study = study(&text);
    let ipv6_at_two = |at: &[At]| {
        let is_ipv6 = at.iter().any(|at| at.level == "ipv6");
        if size(at) == 2.0 && is_ipv6 { 0 } else { 10 }
    };
    let compared = &comparisons(&study, &counted(&study, ipv6_at_two))[0];
    let labels: Vec<_> = compared.entries.iter().map(|entry| entry.label.as_str()).collect();
    assert_eq!(labels, ["file 1.00 B", "file 2.00 B"]);
    let entry = &compared.entries[1];
    assert_eq!((entry.pairs, entry.finding), (0, RatioFinding::NotComparable));
    assert_eq!(entry.sentence, "not comparable: no response arrived: IPv6");
    assert_eq!((entry.at[0].factor.as_str(), entry.at[0].level.as_str()), ("size", "2"));
}
