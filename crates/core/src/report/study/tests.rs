#![cfg(test)]

use super::*;
use crate::study::result::{Row, Statistic};

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
fn markdown_keeps_its_cells_apart() {
    let text = table(&sample(), Style::Markdown);
    assert!(text.contains("| ratio | sent | life [ms] |\n| --- | ---: | ---: |\n"), "{text}");
    assert!(text.contains("A remark \\| with a bar"), "{text}");
}

#[test]
fn a_direction_that_turned_is_said() {
    let entry = |finding| Entry {
        label: "x".into(),
        pairs: 3,
        higher: 0,
        ratio: Some(Ratio { value: 0.9, low: Some(0.8), high: Some(0.95) }),
        finding,
        sentence: "s".into(),
    };
    let compared = |published| StudyComparison {
        name: "c".into(),
        title: "C".into(),
        measure: "goodput".parse().unwrap(),
        factor: "family".into(),
        a: "ipv6".into(),
        b: "ipv4".into(),
        interaction: None,
        paired_by: vec!["size".into()],
        entries: vec![entry(Finding::Lower)],
        published: vec![entry(published)],
    };
    let said = |published| comparison(&compared(published), Style::Text).contains("other way");
    assert!(said(Finding::Higher));
    assert!(!said(Finding::Lower) && !said(Finding::Unshown));
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
