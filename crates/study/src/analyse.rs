//! Recomputation of published figures.

use std::collections::BTreeMap;

use super::average::entry;
use super::levels::{label_level, label_levels};
use crate::spec::{AnalysisSpec, AnalysisSubject, FAMILY, PublishedFigures, ShareOf, SharesSpec};
use crate::study_result::{
    Analysis, At, ComparisonEntry, Published, PublishedShare, PublishedTable, RatioFinding,
    TableColumn,
};
use sixmark_document::verdict::Estimate;
use sixmark_record::metric::Metric;
use sixmark_units::family::Family;

/// The quantile of the normal distribution for an interval of 95 %.
const NORMAL: f64 = 1.959_964;

/// One published figure with its levels, in the base unit of its measure.
pub struct PublishedFigure {
    /// Its level of each factor, including the family if the column names one.
    pub at: Vec<At>,
    /// Its family; `None` if the column does not name one.
    pub family: Option<Family>,
    /// What it measures.
    pub measure: Metric,
    /// The value, in the base unit of the measure.
    pub value: f64,
    /// The ends of the range, if a range was printed; `value` is then its middle.
    pub range: Option<[f64; 2]>,
}

/// Returns the published study, with its analyses recomputed.
pub fn published(figures: &PublishedFigures) -> Published {
    let PublishedFigures { title, source, conditions, findings, remarks, tables, analyses } =
        figures;
    Published {
        title: title.clone(),
        source: source.clone(),
        conditions: conditions.clone(),
        findings: findings.clone(),
        remarks: remarks.clone(),
        tables: tables.clone(),
        analyses: analyses.iter().map(|spec| analysis(spec, tables)).collect(),
    }
}

/// Returns the figures of a table one by one, without those that were not printed.
pub fn published_figures(table: &PublishedTable) -> Vec<PublishedFigure> {
    let of_row = |row: &crate::study_result::PublishedRow| -> Vec<PublishedFigure> {
        let at: Vec<At> = table.factors.iter().zip(&row.levels).map(at).collect();
        let columns = table.columns.iter().zip(&row.values).enumerate();
        let figure = |(number, (column, value)): (usize, (&TableColumn, &Option<f64>))| {
            let at = at.iter().chain(&column.at).cloned().collect();
            let (family, measure) = (column.family, column.measure);
            let range = row.ranges.get(number).copied().flatten();
            let range = range.map(|ends| ends.map(|end| end * scale(column)));
            Some(PublishedFigure { at, family, measure, value: (*value)? * scale(column), range })
        };
        columns.filter_map(figure).collect()
    };
    table.rows.iter().flat_map(of_row).collect()
}

fn at((factor, level): (&String, &String)) -> At {
    At { factor: factor.clone(), level: level.clone() }
}

fn scale(column: &TableColumn) -> f64 {
    column.measure.unit(&column.unit).map_or(1.0, |unit| unit.scale)
}

fn analysis(spec: &AnalysisSpec, tables: &[PublishedTable]) -> Analysis {
    let table = tables.iter().find(|table| table.name == spec.table);
    let figures = table.map_or(Vec::new(), published_figures);
    let (ratios, shares, method) = match &spec.of {
        AnalysisSubject::Ratio { measure, by } => {
            let (entries, paired_by) = ratios(&figures, *measure, by);
            (entries, Vec::new(), ratio_method(*measure, &paired_by))
        }
        AnalysisSubject::Shares(of) => {
            (Vec::new(), analyse_shares(&figures, of), shares_method(of))
        }
    };
    let drawn = drawn(&ratios, &shares, &spec.claim);
    let conclusion = [drawn, spec.conclusion.clone()].into_iter().filter(|text| !text.is_empty());
    Analysis {
        title: spec.title.clone(),
        method,
        claim: spec.claim.clone(),
        ratios,
        shares,
        conclusion: conclusion.collect::<Vec<_>>().join(" "),
    }
}

fn ratio_method(measure: Metric, paired_by: &[String]) -> String {
    format!(
        "geometric mean of IPv6's {measure} over IPv4's, paired by {}, with Student's t interval \
         of 95 % on the logarithms",
        paired_by.join(" and ")
    )
}

fn shares_method(of: &SharesSpec) -> String {
    format!(
        "difference of the shares of {} in {}, with a normal interval of 95 %",
        of.part, of.whole
    )
}

/// Returns one entry for each combination of the levels of `by`, and the other factors, by which
/// the figures are paired.
fn ratios(
    figures: &[PublishedFigure],
    measure: Metric,
    by: &[String],
) -> (Vec<ComparisonEntry>, Vec<String>) {
    type Pairs<'a> = BTreeMap<Vec<&'a str>, [Option<f64>; 2]>;
    let mut groups: Vec<(Vec<String>, Pairs<'_>)> = Vec::new();
    let mut paired_by: Vec<String> = Vec::new();
    for figure in figures.iter().filter(|figure| figure.measure == measure) {
        let Some(family) = figure.family else { continue };
        let split = |at: &&At| by.contains(&at.factor);
        let group: Vec<String> = figure.at.iter().filter(split).map(label_level).collect();
        let others = figure.at.iter().filter(|at| !split(at) && at.factor != FAMILY);
        paired_by.extend(others.clone().map(|at| at.factor.clone()));
        let key: Vec<&str> = others.map(|at| at.level.as_str()).collect();
        let place = groups.iter().position(|(known, _)| *known == group).unwrap_or_else(|| {
            groups.push((group, Pairs::new()));
            groups.len() - 1
        });
        let pair = groups[place].1.entry(key).or_default();
        pair[usize::from(family == Family::Ipv4)] = Some(figure.value);
    }
    paired_by.sort();
    paired_by.dedup();
    let better = measure.higher_is_better();
    let entries = groups.into_iter().map(|(group, pairs)| {
        let pairs = pairs.into_values().filter_map(|[a, b]| a.zip(b));
        entry(&group.join(", "), ["IPv6", "IPv4"], &pairs.collect::<Vec<_>>(), better, None)
    });
    (entries.collect(), paired_by)
}

fn analyse_shares(figures: &[PublishedFigure], of: &SharesSpec) -> Vec<PublishedShare> {
    of.pairs.iter().filter_map(|(a, b)| share_of_figures(figures, of, [a, b])).collect()
}

fn share_of_figures(
    figures: &[PublishedFigure],
    of: &SharesSpec,
    sides: [&ShareOf; 2],
) -> Option<PublishedShare> {
    let found = |side: &ShareOf, measure: Metric| {
        let is = |figure: &&PublishedFigure| {
            figure.measure == measure
                && figure.family == Some(side.family)
                && side.at.iter().all(|at| figure.at.contains(at))
        };
        figures.iter().find(is).map(|figure| figure.value)
    };
    let counts = |side: &ShareOf| Some((found(side, of.part)?, found(side, of.whole)?));
    let [(x, n), (y, m)] = [counts(sides[0])?, counts(sides[1])?];
    let (a, b) = (x / n, y / m);
    // Wald's interval. With thousands of observations on each side, better intervals hardly differ.
    let half = NORMAL * (a * (1.0 - a) / n + b * (1.0 - b) / m).sqrt();
    let value = a - b;
    let name = |side: &ShareOf| format!("{} at {}", side.family, label_levels(&side.at));
    let label = format!("{}: {} against {}", of.part, name(sides[0]), name(sides[1]));
    let difference = Estimate { value, low: value - half, high: value + half };
    Some(PublishedShare { label, a, b, difference, differs: value.abs() > half })
}

/// Writes the conclusion: whether the shares differ, or whether the ratios confirm the claim.
fn drawn(ratios: &[ComparisonEntry], shares: &[PublishedShare], claim: &str) -> String {
    if !shares.is_empty() {
        return match shares.iter().filter(|share| share.differs).count() {
            0 => "The shares do not differ.".to_owned(),
            some => format!("{some} of {} shares differ.", shares.len()),
        };
    }
    if let [only] = ratios {
        return format!("{}.", only.sentence);
    }
    let of = |finding: RatioFinding| {
        let found: Vec<_> =
            ratios.iter().filter(|e| e.finding == finding).map(|e| e.label.as_str()).collect();
        found.join(", ")
    };
    let parts = [
        (RatioFinding::Higher, "IPv6 is higher for"),
        (RatioFinding::Lower, "lower for"),
        (RatioFinding::Unshown, "inconclusive for"),
    ];
    let parts: Vec<String> = parts
        .iter()
        .map(|&(finding, text)| (text, of(finding)))
        .filter(|(_, labels)| !labels.is_empty())
        .map(|(text, labels)| format!("{text} {labels}"))
        .collect();
    let all =
        !ratios.is_empty() && ratios.iter().all(|entry| entry.finding == RatioFinding::Higher);
    match (claim.is_empty(), all) {
        (true, _) => format!("{}.", parts.join("; ")),
        (false, true) => format!("The claim is confirmed: {}.", parts.join("; ")),
        (false, false) => format!("The claim does not hold for all: {}.", parts.join("; ")),
    }
}
