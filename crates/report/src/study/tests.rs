#![cfg(test)]

use super::*;
use sixmark_model::study::result::{Improvement, Row, Statistic};

fn column(label: &str, measure: &str, unit: &str) -> Column {
    let measure = measure.parse().unwrap();
    Column { label: label.into(), measure, unit: unit.into(), family: None, at: Vec::new() }
}

fn value(measured: f64, half: Option<f64>, published: Option<f64>) -> Value {
    Value {
        measured: Some(measured),
        low: half.map(|half| measured - half),
        high: half.map(|half| measured + half),
        n: 3,
        published,
    }
}

fn sample() -> Table {
    Table {
        name: "t".into(),
        title: "A table".into(),
        at: vec![At { factor: "server".into(), level: "nginx".into() }],
        factors: vec!["ratio".into()],
        columns: vec![column("sent", "sent", ""), column("life", "lifetime.mean", "ms")],
        rows: vec![Row {
            levels: vec!["1:1".into()],
            values: vec![value(5_000.0, None, Some(4_536.0)), value(1.5, Some(0.25), None)],
        }],
        improvement: None,
        statistic: Statistic::Mean,
        published: Some("p".into()),
        remarks: vec!["A remark | with a bar".into()],
    }
}

#[test]
fn published_figures_stand_below_the_measured_ones() {
    let text = table(&sample(), Style::Text);
    let rows = ["sent     life [ms]", "5,000  1.500 ±0.250", "published  4,536             -"];
    assert!(rows.iter().all(|row| text.contains(row)), "{text}");
    assert!(text.starts_with("\nA table (nginx)\nratio "), "{text}");
    assert!(text.ends_with("published: table p\nA remark | with a bar\n"), "{text}");
}

#[test]
fn improvement_stands_below_the_rows_that_it_is_about() {
    let mut all = sample();
    let row = |levels: [&str; 2], values| Row { levels: levels.map(str::to_owned).into(), values };
    let two = |of: f64| vec![value(of, None, None), value(of, None, None)];
    all.factors = vec!["block".into(), "family".into()];
    all.rows = [("64K", "ipv4"), ("64K", "ipv6"), ("256K", "ipv4"), ("256K", "ipv6")]
        .map(|(block, family)| row([block, family], two(1.0)))
        .into();
    let better = |block, percent| {
        row(
            [block, "ipv6"],
            vec![value(percent, Some(2.0), Some(13.8)), value(percent, None, None)],
        )
    };
    let rows = vec![better("64K", 5.0), better("256K", -7.0)];
    let [factor, of, over] = ["family", "ipv6", "ipv4"].map(str::to_owned);
    all.improvement = Some(Improvement { factor, of, over, rows, unlike: None });
    let text = table(&all, Style::Text);
    let lines: Vec<Vec<&str>> =
        text.lines().map(|line| line.split_whitespace().collect()).collect();
    let rows = &lines[3..];
    assert_eq!(rows[2].join(" "), "64K % improvement +5.0 [+3.0, +7.0] +5.0", "{text}");
    assert_eq!(rows[3].join(" "), "published +13.8 -", "{text}");
    assert_eq!(rows[6].join(" "), "256K % improvement -7.0 [-9.0, -5.0] -7.0", "{text}");
    assert!(text.contains("IPv6 over IPv4, of the means"), "{text}");
}

#[test]
fn markdown_keeps_its_cells_apart() {
    let text = table(&sample(), Style::Markdown);
    assert!(text.contains("| ratio | sent | life [ms] |\n| --- | ---: | ---: |\n"), "{text}");
    assert!(text.contains("A remark \\| with a bar"), "{text}");
}

#[test]
fn a_direction_that_turned_is_said() {
    let compared = |published| turning(vec![entry("x", Finding::Lower, [0.8, 0.95])], published);
    let said = |published| comparison(&compared(published), Style::Text).contains("other way");
    assert!(said(Finding::Higher));
    assert!(!said(Finding::Lower) && !said(Finding::Unshown));
}

#[test]
fn a_difference_within_the_margin_contradicts_nobody() {
    let little = entry("nginx", Finding::Equivalent, [0.995, 0.999]);
    let some = entry("apache", Finding::Lower, [0.93, 0.98]);
    let text = |entries| comparison(&turning(entries, Finding::Higher), Style::Text);
    let both = text(vec![little.clone(), some.clone()]);
    assert!(!both.contains("other way"), "{both}");
    assert!(both.contains("The published difference is not there, within 5 % in nginx."), "{both}");
    let much = entry("caddy", Finding::Lower, [0.5, 0.6]);
    let all = text(vec![little, some, much]);
    assert!(all.contains("the other way than the published figures have it in caddy."), "{all}");
}

fn entry(label: &str, finding: Finding, [low, high]: [f64; 2]) -> Entry {
    let ratio = Some(Ratio { value: (low * high).sqrt(), low: Some(low), high: Some(high) });
    let (label, sentence) = (label.into(), "s".into());
    Entry { label, pairs: 3, higher: 0, ratio, finding, sentence }
}

/// Measured entries beside published figures of one direction.
fn turning(entries: Vec<Entry>, published: Finding) -> StudyComparison {
    StudyComparison {
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
    }
}

#[test]
fn figures_have_four_digits_that_matter() {
    for (value, text) in [
        (0.0, "0.000"),
        (0.012_345, "0.01235"),
        (1.234_56, "1.235"),
        (12.345_6, "12.35"),
        (123.456, "123.5"),
        (1_234.56, "1,235"),
        (-1_234.56, "-1,235"),
        (-1.5, "-1.500"),
    ] {
        assert_eq!(four(value), text);
    }
}
