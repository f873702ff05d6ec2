//! Recomputation of published figures.

use std::collections::BTreeMap;

use crate::average::entry;
use sixmark_design::levels::{label_level, label_levels};
use sixmark_design::spec::{
    AnalysisSpec, AnalysisSubject, FAMILY, PublishedFigures, ShareOf, SharesSpec,
};
use sixmark_design::study_result::{
    Analysis, At, ComparisonEntry, PrintedFigure, Published, PublishedRow, PublishedShare,
    PublishedTable, RatioFinding, TableColumn,
};
use sixmark_document::verdict::Estimate;
use sixmark_sheet::write::figure;
use sixmark_tally::metric::Metric;
use sixmark_units::family::Family;

/// The quantile of the normal distribution for an interval of 95 %.
const NORMAL: f64 = 1.959_964;

/// One published figure with its levels.
pub struct PublishedFigure {
    /// Its level of each factor, including the family if the column names one.
    pub at: Vec<At>,
    /// Its family; `None` if the column does not name one.
    pub family: Option<Family>,
    /// What it measures.
    pub measure: Metric,
    /// The value, in the base unit of the measure; `None` if only a range is known.
    pub value: Option<f64>,
    /// The ends of the range in the base unit, if only a range is known.
    pub range: Option<[f64; 2]>,
    /// The figure as printed, in `unit`.
    pub printed: PrintedFigure,
    /// The name of the unit that it was printed in; `%` for an improvement.
    pub unit: String,
}

impl PublishedFigure {
    /// Returns the figure in a unit, given by its name and its size in the base unit: as printed if
    /// it was printed in this unit, else converted.
    pub fn shown_in(&self, unit: &str, scale: f64) -> PrintedFigure {
        if self.unit == unit {
            return self.printed.clone();
        }
        let value = self.value.map(|value| value / scale);
        let range = self.range.map(|ends| ends.map(|end| end / scale));
        let [low, high] = [0, 1].map(|end| range.map(|ends| ends[end]));
        let printed = match (value, range) {
            (_, Some([low, high])) => format!("{} to {}", figure(low), figure(high)),
            (value, None) => value.map_or_else(String::new, figure),
        };
        PrintedFigure { printed, value, low, high, derived: self.printed.derived }
    }
}

/// Returns the published study, with its analyses recomputed.
pub fn published(figures: &PublishedFigures) -> Published {
    let PublishedFigures { title, source, conditions, remarks, tables, analyses } = figures;
    Published {
        title: title.clone(),
        source: source.clone(),
        conditions: conditions.clone(),
        remarks: remarks.clone(),
        tables: tables.clone(),
        analyses: analyses.iter().map(|spec| analysis(spec, tables)).collect(),
    }
}

/// Returns the figures of a table one by one, without those that were not printed; none for a table
/// of improvements.
pub fn published_figures(table: &PublishedTable) -> Vec<PublishedFigure> {
    if table.improvements { Vec::new() } else { figures_of(table) }
}

/// Returns the figures of a table of improvements, in percent; none for another table.
pub fn published_improvements(table: &PublishedTable) -> Vec<PublishedFigure> {
    if table.improvements { figures_of(table) } else { Vec::new() }
}

fn figures_of(table: &PublishedTable) -> Vec<PublishedFigure> {
    let of_row = |row: &PublishedRow| -> Vec<PublishedFigure> {
        let at: Vec<At> = table.factors.iter().zip(&row.levels).map(at).collect();
        let of_column = |(column, printed): (&TableColumn, &Option<PrintedFigure>)| {
            let printed = printed.clone()?;
            let scale = if table.improvements { 1.0 } else { scale(column) };
            Some(PublishedFigure {
                at: at.iter().chain(&column.at).cloned().collect(),
                family: column.family,
                measure: column.measure,
                value: printed.value.map(|value| value * scale),
                range: printed.range().map(|ends| ends.map(|end| end * scale)),
                unit: column.unit.clone(),
                printed,
            })
        };
        table.columns.iter().zip(&row.values).filter_map(of_column).collect()
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
    let drawn = drawn(&ratios, &shares);
    let conclusion = [drawn, spec.conclusion.clone()].into_iter().filter(|text| !text.is_empty());
    Analysis {
        title: spec.title.clone(),
        method,
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
        // A range has no figure that could be compared.
        let (Some(family), Some(value)) = (figure.family, figure.value) else { continue };
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
        pair[usize::from(family == Family::Ipv4)] = Some(value);
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
        figures.iter().find(is).and_then(|figure| figure.value)
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

/// Writes the conclusion: whether the shares differ, or which ratios are above or below 1.
fn drawn(ratios: &[ComparisonEntry], shares: &[PublishedShare]) -> String {
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
    if parts.is_empty() { String::new() } else { format!("{}.", parts.join("; ")) }
}
