//! Computes tables, charts and comparisons from cells.

mod beside;
mod charts;
mod compared;
mod improvement;
mod interaction;
mod missing;
mod pairs;
mod why;

use crate::analyse;
use crate::average::{Average, average};
use crate::claims::{test_claims, test_published_claims};
use crate::group_view::GroupViews;
use crate::observation::Observation;
use beside::Beside;
use sixmark_design::levels::LevelLabels;
use sixmark_design::looks::StudyUntil;
use sixmark_design::spec::{
    ChartSpec, ColumnSpec, ComparisonSpec, FAMILY, Outputs, PERCENT, PublishedFigures, Study,
    TableSpec,
};
use sixmark_design::study_result::{
    At, CellResult, Chart, ClaimResult, Row, Statistic, StudyComparison, Table, TableColumn,
    TableValue,
};
use sixmark_tally::metric::{Bounds, Metric};
use sixmark_units::family::Family;

/// Returns the tables, charts and comparisons of a study.
pub fn outputs(
    study: &Study,
    cells: &[CellResult],
) -> (Vec<Table>, Vec<Chart>, Vec<StudyComparison>) {
    let views = GroupViews::new(study, cells);
    let published = study.published.as_ref();
    let Outputs { tables: of_tables, charts, .. } = &study.outputs;
    // A table that does not name a factor is split by it.
    let table = |spec: &TableSpec| {
        let view = views.of(spec.group.as_deref());
        view.map_or(Vec::new(), |view| tables(&view.study, spec, view.seen.all(), published))
    };
    let chart = |spec: &ChartSpec| {
        let view = views.of(spec.group.as_deref())?;
        let named =
            spec.series.iter().chain([&spec.x]).chain(spec.only.iter().map(|at| &at.factor));
        let chart = charts::chart(&view.study, spec, view.seen.of_output(named), published);
        Some(chart).filter(|_| has_levels(&view.study, &spec.only))
    };
    let all =
        (of_tables.iter().flat_map(table).collect(), charts.iter().filter_map(chart).collect());
    (all.0, all.1, compare_all(study, &views))
}

/// Returns true if the form of a study has all of these levels.
fn has_levels(study: &Study, only: &[At]) -> bool {
    only.iter().all(|at| study.level_names(&at.factor).contains(&at.level.as_str()))
}

/// Tests the claims of a study on its cells and on the published figures.
pub fn claims(study: &Study, cells: &[CellResult]) -> Vec<ClaimResult> {
    test_claims(study, cells, None)
}

/// Tests them at each look of a study that goes on until they are decided; once if there is none.
pub fn claims_at_looks(
    study: &Study,
    cells: &[CellResult],
    until: Option<&StudyUntil>,
) -> Vec<ClaimResult> {
    test_claims(study, cells, until)
}

/// Tests the claims of the published study on its own figures alone.
pub fn published_claims(study: &Study) -> Vec<ClaimResult> {
    test_published_claims(study)
}

/// Returns only the comparisons of a study.
pub fn comparisons(study: &Study, cells: &[CellResult]) -> Vec<StudyComparison> {
    compare_all(study, &GroupViews::new(study, cells))
}

fn compare_all(study: &Study, views: &GroupViews<'_>) -> Vec<StudyComparison> {
    let again = study.published.as_ref().map(analyse::published);
    let compare = |spec: &ComparisonSpec| {
        let view = views.of(spec.group.as_deref())?;
        let fixed = spec.only.iter().map(|at| &at.factor);
        let other = spec.interaction.iter().map(|levels| &levels.factor);
        let named = spec.by.iter().chain([&spec.factor]).chain(fixed).chain(other);
        Some(compared::compare_levels(
            &view.study,
            spec,
            view.seen.of_output(named),
            again.as_ref(),
        ))
    };
    study.outputs.comparisons.iter().filter_map(compare).collect()
}

/// Returns all combinations of the levels of some factors, in the order of the file.
fn combinations(study: &Study, factors: &[String]) -> Vec<Vec<At>> {
    let mut all = vec![Vec::new()];
    for factor in factors {
        let levels = study.level_names(factor);
        let with = |at: Vec<At>| {
            let next =
                levels.iter().map(|level| At { factor: factor.clone(), level: (*level).into() });
            next.map(|next| at.iter().cloned().chain([next]).collect()).collect::<Vec<Vec<At>>>()
        };
        all = all.into_iter().flat_map(with).collect();
    }
    all
}

/// Returns those factors that labels name: the factor of imports only once it has several levels.
fn labelled(study: &Study, factors: &[String]) -> Vec<String> {
    let is_single =
        |name: &&String| study.imports.as_ref() == Some(*name) && study.level_names(name).len() < 2;
    factors.iter().filter(|name| !is_single(name)).cloned().collect()
}

/// Returns the factors with several levels that are not in `named`, and `family` unless it is
/// named.
fn others(study: &Study, named: &[&str]) -> Vec<String> {
    let factors = study.factors.iter().filter(|factor| factor.levels.len() > 1);
    let names = factors.map(|factor| factor.name.clone());
    let mut others: Vec<String> = names.filter(|name| !named.contains(&name.as_str())).collect();
    if !named.contains(&FAMILY) && !others.iter().any(|name| name == FAMILY) {
        others.push(FAMILY.to_owned());
    }
    others
}

/// Averages the figures of a measure over all observations at these levels.
fn measured_value(
    seen: &[Observation<'_>],
    at: &[At],
    measure: Metric,
    statistic: Statistic,
) -> Option<Average> {
    let here = seen.iter().filter(|one| one.is_at(at));
    let values: Vec<f64> = here.filter_map(|one| one.cell.figure(one.family, measure)).collect();
    average(&values, statistic, measure.bounds())
}

/// Averages the shares of one count in another over all observations at these levels.
fn measured_share(
    seen: &[Observation<'_>],
    at: &[At],
    [part, whole]: [Metric; 2],
    statistic: Statistic,
) -> Option<Average> {
    let here = seen.iter().filter(|one| one.is_at(at));
    let share = |one: &Observation<'_>| {
        let [part, whole] = [part, whole].map(|of| one.cell.figure(one.family, of));
        whole.filter(|whole| *whole > 0.0).and_then(|whole| Some(part? / whole))
    };
    let bounds = Bounds { least: 0.0, most: 1.0 };
    average(&here.filter_map(share).collect::<Vec<f64>>(), statistic, bounds)
}

fn tables(
    study: &Study,
    spec: &TableSpec,
    seen: &[Observation<'_>],
    published: Option<&PublishedFigures>,
) -> Vec<Table> {
    let fixed = spec.only.iter().map(|at| &at.factor);
    let named: Vec<&str> =
        spec.rows.iter().chain(&spec.columns).chain(fixed).map(String::as_str).collect();
    let beside = Beside::new(study, published, &spec.published);
    let splits = combinations(study, &others(study, &named)).into_iter();
    let table = |split: Vec<At>| {
        let at: Vec<At> = spec.only.iter().cloned().chain(split).collect();
        make_table(study, spec, seen, at, &beside)
    };
    let tables = splits.map(table);
    // An excluded combination, or a family that no cell loads, has no table.
    tables.filter(|table| !table.rows.is_empty()).collect()
}

fn make_table(
    study: &Study,
    spec: &TableSpec,
    seen: &[Observation<'_>],
    at: Vec<At>,
    beside: &Beside,
) -> Table {
    let across = combinations(study, &labelled(study, &spec.columns));
    let columns: Vec<TableColumn> = spec
        .measures
        .iter()
        .flat_map(|measure| across.iter().map(|at| column(measure, at, &study.labels)))
        .collect();
    let rows = combinations(study, &spec.rows).into_iter().filter_map(|levels| {
        let value = |column: &TableColumn| {
            let here: Vec<At> = at.iter().chain(&levels).chain(&column.at).cloned().collect();
            cell_value(seen, &here, column, spec.statistic, beside)
        };
        let values: Vec<TableValue> = columns.iter().map(value).collect();
        // What was sent and never arrived is a row too.
        let known = |value: &TableValue| value.measured.is_some() || value.missing.is_some();
        let levels = levels.into_iter().map(|at| at.level).collect();
        values.iter().any(known).then_some(Row { levels, values })
    });
    let rows: Vec<Row> = rows.collect();
    let levels = spec.improvement.as_ref().filter(|_| !rows.is_empty());
    let improvement = levels
        .map(|levels| improvement::improvement(study, spec, seen, &at, &columns, (levels, beside)));
    Table {
        improvement,
        name: spec.name.clone(),
        title: spec.title.clone(),
        factors: spec.rows.clone(),
        rows,
        at,
        columns,
        statistic: spec.statistic,
        published: beside::label(&spec.published, &study.labels),
        beside: beside.columns(&study.labels),
        remarks: spec.remarks.clone(),
    }
}

fn column(spec: &ColumnSpec, at: &[At], labels: &LevelLabels) -> TableColumn {
    let levels = labels.levels(at);
    let label =
        if levels.is_empty() { spec.label.clone() } else { format!("{} {levels}", spec.label) };
    let family = at.iter().find(|at| at.factor == FAMILY).and_then(|at| family_of_level(&at.level));
    let (measure, of, unit) = (spec.measure, spec.of, spec.unit.name.to_owned());
    TableColumn { label, measure, of, unit, family, at: at.to_vec() }
}

fn family_of_level(level: &str) -> Option<Family> {
    match level {
        "ipv6" => Some(Family::Ipv6),
        "ipv4" => Some(Family::Ipv4),
        _ => None,
    }
}

fn cell_value(
    seen: &[Observation<'_>],
    at: &[At],
    column: &TableColumn,
    statistic: Statistic,
    beside: &Beside,
) -> TableValue {
    let (scale, found, published) = match column.of {
        None => {
            let scale = column.measure.unit(&column.unit).map_or(1.0, |unit| unit.scale);
            let published = beside.shown(at, column.measure, (&column.unit, scale));
            (scale, measured_value(seen, at, column.measure, statistic), published)
        }
        Some(of) => {
            let share = [column.measure, of];
            let published = beside.shares(at, share);
            (PERCENT.scale, measured_share(seen, at, share, statistic), published)
        }
    };
    let interval = found.and_then(|found| found.interval);
    let missing = match found {
        Some(_) => None,
        None => missing::why_missing(seen, at, column.measure),
    };
    TableValue {
        measured: found.map(|found| found.value / scale),
        missing,
        low: interval.map(|(low, _)| low / scale),
        high: interval.map(|(_, high)| high / scale),
        n: found.map_or(0, |found| found.n),
        published,
    }
}

fn side_of(spec: &ComparisonSpec, level: &str) -> At {
    At { factor: spec.factor.clone(), level: level.to_owned() }
}

#[cfg(test)]
pub(crate) mod tests;
